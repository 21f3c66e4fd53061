//! The pictures of a benchmark.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use relatum::benchmark::plots::{Series, bars, lines};
use relatum::benchmark::{QueryGroup, Search, Setting};
use relatum::graph::Split;
use relatum::project::ModelFolder;
use relatum::project::Project;
use relatum::store::write_atomically;

use super::fair::parts;
use super::table::{Report, Row, published_name};
use super::work::{self, Bench, Task};
use super::{Args, methods};
use crate::output;

/// The widths of the picture of accuracy by k.
const WIDTHS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
/// The most queries of each type for the pictures that need more than the table has.
const SAMPLE: usize = 300;

pub(super) fn draw(
    dir: &Path,
    project: &Project,
    args: &Args,
    split: Split,
    report: &Report<'_>,
) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    save(dir, "accuracy.svg", &accuracy(report))?;
    save(dir, "time.svg", &time(report))?;
    save(dir, "k.svg", &by_k(project, args, split, report)?)?;
    let dir_text = output::typed(dir);
    match by_rank(project, args, split)? {
        Some(svg) => {
            save(dir, "rank.svg", &svg)?;
            output::say(&format!("drew accuracy.svg, time.svg, k.svg and rank.svg in {dir_text}"));
        }
        None => output::say(&format!(
            "drew accuracy.svg, time.svg and k.svg in {dir_text}; rank.svg takes models of two ranks or more"
        )),
    }
    Ok(())
}

fn save(dir: &Path, name: &str, svg: &str) -> anyhow::Result<()> {
    use std::io::Write;
    Ok(write_atomically(&dir.join(name), |file| file.write_all(svg.as_bytes()))?)
}

fn categories(report: &Report<'_>) -> Vec<String> {
    report.types.iter().map(|shape| (*shape).to_owned()).chain(["mean".to_owned()]).collect()
}

fn accuracy(report: &Report<'_>) -> String {
    let mut series: Vec<Series<Option<f64>>> = report.rows.iter().map(|row| of_row(report, row)).collect();
    // Of each published system its largest: the picture has to stay legible.
    for row in report.published() {
        let larger =
            |other: &relatum::benchmark::Published| other.system == row.system && other.rank > row.rank;
        if report.published().iter().any(larger) {
            continue;
        }
        let values = report.types.iter().map(|shape| row.of_type(shape));
        let known: Vec<f64> = values.clone().flatten().collect();
        let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        series.push(Series { name: published_name(row), values: values.chain([mean]).collect() });
    }
    let cells = report.rows.iter().flat_map(|row| &row.cells);
    let counts: Vec<usize> = cells.map(|cell| cell.cell.metrics.count).collect();
    let title =
        format!("Hits@3 by type of query, {}, model {}", queries(report.split, &counts), report.model);
    bars(&title, "H@3", &categories(report), &series)
}

fn of_row(report: &Report<'_>, row: &Row) -> Series<Option<f64>> {
    let of = |shape: &&str| {
        let cell = row.cells.iter().find(|cell| cell.shape == **shape);
        cell.map(|cell| cell.cell.metrics.hits[1])
    };
    let values = report.types.iter().map(of).chain([Some(row.mean().hits[1])]).collect();
    Series { name: row.method.clone(), values }
}

fn time(report: &Report<'_>) -> String {
    let of_row = |row: &Row| {
        let of = |shape: &&str| {
            let cell = row.cells.iter().find(|cell| cell.shape == **shape);
            cell.map(|cell| 1000.0 * cell.cell.seconds / cell.cell.metrics.count.max(1) as f64)
        };
        Series { name: row.method.clone(), values: report.types.iter().map(of).collect() }
    };
    let series: Vec<Series<Option<f64>>> = report.rows.iter().map(of_row).collect();
    let types: Vec<String> = report.types.iter().map(|shape| (*shape).to_owned()).collect();
    bars("Milliseconds a query, many side by side, every entity ranked", "ms", &types, &series)
}

/// Accuracy of the types with variables against the width of the beam.
fn by_k(project: &Project, args: &Args, split: Split, report: &Report<'_>) -> anyhow::Result<String> {
    let (folder, stored) = work::load(project, args.model.as_deref())?;
    let mut bench = Bench::new(project, &folder, &stored)?;
    let mut counts = Vec::new();
    let mut series = Vec::new();
    for group in bench.groups(split, &args.types)? {
        if !["2p", "3p", "ip", "pi", "up", "inp", "pin", "pni", "4p", "5p"].contains(&group.shape.as_str()) {
            continue;
        }
        let mut values = Vec::new();
        for k in WIDTHS {
            let setting = Setting { search: Search::Exact { floor: 0.0, k }, ..Setting::default() };
            let metrics = bench.measure(&task("k", args, split, group, setting))?.metrics;
            counts.push(metrics.count);
            values.push((k as f64, metrics.hits[1]));
        }
        series.push(Series { name: group.shape.clone(), values });
    }
    bench.finish();
    let title =
        format!("Hits@3 by values of a variable, {}, model {}", queries(split, &counts), report.model);
    Ok(lines(&title, "H@3", "k", &series))
}

/// Accuracy of all models of the project against their rank; none where all have the same rank, of which a
/// picture says nothing.
fn by_rank(project: &Project, args: &Args, split: Split) -> anyhow::Result<Option<String>> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut counts = Vec::new();
    let mut models = Vec::new();
    for name in ModelFolder::list(project) {
        let rank = work::load(project, Some(&name))?.1.card.rank;
        models.push((name, rank));
    }
    if models.iter().all(|(_, rank)| *rank == models[0].1) {
        return Ok(None);
    }
    for (name, _) in models {
        let (folder, stored) = work::load(project, Some(&name))?;
        let mut bench = Bench::new(project, &folder, &stored)?;
        let groups = bench.groups(split, &args.types)?;
        let mut total = 0.0;
        for group in &groups {
            let metrics = bench.measure(&task(&name, args, split, group, Setting::default()))?.metrics;
            counts.push(metrics.count);
            total += metrics.hits[1];
        }
        bench.finish();
        let point = (stored.card.rank as f64, total / groups.len().max(1) as f64);
        points.entry(stored.card.model.clone()).or_default().push(point);
    }
    let series: Vec<Series<(f64, f64)>> = points
        .into_iter()
        .map(|(name, mut values)| {
            values.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
            // Of several models of one rank the best.
            values.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
            Series { name, values }
        })
        .collect();
    let title = format!("Mean Hits@3 by rank, {}, {}", queries(split, &counts), Setting::default());
    Ok(Some(lines(&title, "H@3", "rank", &series)))
}

/// A few of the queries that the table reports.
fn task<'g>(label: &'g str, args: &Args, split: Split, group: &'g QueryGroup, setting: Setting) -> Task<'g> {
    let (_, part) = parts(split, !methods(args).is_empty(), group);
    let limit = Some(args.limit.map_or(SAMPLE, |limit| limit.min(SAMPLE)));
    Task { label, split, group, part, limit, setting, by_missing: false }
}

/// How many queries a picture rests on.
fn queries(split: Split, counts: &[usize]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} {split} queries a type"),
        (Some(1), _) => format!("1 {split} query a type"),
        (Some(count), _) => format!("{count} {split} queries a type"),
        _ => format!("no {split} queries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_the_true_number_of_queries() {
        let said = |counts: &[usize]| queries(Split::Test, counts);
        assert_eq!(said(&[6, 6]), "6 test queries a type");
        assert_eq!(said(&[300, 17]), "17 to 300 test queries a type");
        assert_eq!(said(&[1]), "1 test query a type");
        assert_eq!(said(&[]), "no test queries");
    }
}
