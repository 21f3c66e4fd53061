//! `relatum benchmark`: the paper's table for a project, and ours beside it.

mod fair;
mod formats;
mod pictures;
mod table;
pub(super) mod work;

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use relatum::benchmark::{Dataset, Family, QueryGroup, Setting};
use relatum::graph::Split;
use relatum::project::Project;

use super::train::use_threads;
use crate::exit::Misuse;
use crate::{output, signals};
use fair::Basis;
use table::{Measured, Report, Row};
use work::{Bench, Task, Tuning};

/// Measure how well benchmark queries are answered, by type, beside what was published
///
/// Every hard answer is ranked among all entities, the other answers left out. Settings are chosen
/// by type on the validation queries (see `relatum tune`), results reported on the split asked for.
/// Where that is validation itself, settings are chosen on every other query of a type, and the
/// queries between are reported. What is finished is kept: the same command goes on where it was
/// stopped.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  relatum benchmark fb15k-237/
  relatum benchmark fb15k-237/ --method best --types 2p,3p --limit 500
  relatum benchmark fb15k-237/ --setting 'beam k=64 product softmax-count train'
  relatum benchmark fb15k-237/ --by-missing-links --plots pictures/")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    model: Option<String>,
    /// How to answer: what the paper does, or the best there is [default: paper,best]
    #[arg(long, value_delimiter = ',', value_name = "METHOD,…")]
    method: Vec<Method>,
    /// Answer with one fixed setting instead; may be given several times
    #[arg(long, value_parser = |text: &str| text.parse::<Setting>())]
    setting: Vec<Setting>,
    /// The queries to report on [default: test, or valid where there are no test queries]
    #[arg(long, value_parser = ["valid", "test"])]
    split: Option<String>,
    /// The types of query [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    types: Vec<String>,
    /// At most so many queries of each type, evenly spread
    #[arg(long, value_name = "N", value_parser = super::settings::positive)]
    limit: Option<usize>,
    /// How many validation queries of each type to choose settings on; what was chosen on fewer is
    /// chosen again
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = super::settings::positive)]
    tune_on: usize,
    /// Split the figures by how many links of a hard answer the training graph lacks
    #[arg(long)]
    by_missing_links: bool,
    /// Draw bars by type, time by type, accuracy by k and by rank into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "markdown")]
    csv: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    /// CQD-Beam and CQD-CO with the paper's choices
    Paper,
    /// CQD-Beam with the paper's choices
    PaperBeam,
    /// CQD-CO with the paper's choices
    PaperCo,
    /// Exact search, calibrated, training edges trusted
    Best,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    signals::watch()?;
    let project = Project::open(&args.dir)?;
    let split = match args.split.as_deref() {
        Some("valid") => Split::Valid,
        None if project.queries().of(Split::Test).is_none() => Split::Valid,
        _ => Split::Test,
    };
    work::queries(&project, split)?;
    let (folder, stored) = work::load(&project, args.model.as_deref())?;
    let mut bench = Bench::new(&project, &folder, &stored)?;
    let groups = bench.groups(split, &args.types)?;
    if groups.is_empty() {
        return Err(Misuse(format!("there are no {split} queries of these types")).into());
    }
    let methods = methods(args);
    let mut rows = Vec::new();
    for &family in &methods {
        let types: Vec<String> = groups.iter().map(|group| group.shape.clone()).collect();
        let chosen_on = |group: &QueryGroup| fair::parts(split, true, group).0;
        let tuned = bench.tuned(&Tuning {
            family,
            types: &types,
            part: &chosen_on,
            queries: args.tune_on,
            again: false,
        })?;
        let how = |group: &QueryGroup| {
            let choice = tuned.types.get(&group.shape)?;
            Some((choice.setting, Basis::of(choice, chosen_on(group))))
        };
        rows.push(row(&mut bench, args, split, &groups, family.name(), &how)?);
    }
    for setting in &args.setting {
        let how = |_: &QueryGroup| Some((*setting, Basis::Given));
        rows.push(row(&mut bench, args, split, &groups, &setting.to_string(), &how)?);
    }
    bench.finish();
    let report = Report {
        model: format!("{} ({}, rank {})", folder.name(), stored.card.model, stored.card.rank),
        split,
        limit: args.limit,
        dataset: Dataset::of(project.graph()),
        types: groups.iter().map(|group| group.shape.as_str()).collect(),
        rows,
    };
    for warning in report.warnings() {
        output::say(&format!("warning: {warning}"));
    }
    let mut out = output::out(args.json || args.csv);
    if args.json {
        writeln!(out, "{:#}", report.json())?;
    } else if args.csv {
        write!(out, "{}", report.csv())?;
    } else if args.markdown {
        write!(out, "{}", report.markdown())?;
    } else {
        write!(out, "{}", report.text())?;
    }
    // After the table: some of the pictures take longer than it did.
    drop(out);
    if let Some(dir) = &args.plots {
        pictures::draw(dir, &project, args, split, &report)?;
    }
    Ok(())
}

/// The methods asked for, each once.
fn methods(args: &Args) -> Vec<Family> {
    let all = if args.method.is_empty() && args.setting.is_empty() {
        vec![Method::Paper, Method::Best]
    } else {
        args.method.clone()
    };
    let mut families: Vec<Family> = Vec::new();
    for method in all {
        let of_method: &[Family] = match method {
            Method::Paper => &[Family::PaperBeam, Family::PaperContinuous],
            Method::PaperBeam => &[Family::PaperBeam],
            Method::PaperCo => &[Family::PaperContinuous],
            Method::Best => &[Family::Best],
        };
        for &family in of_method {
            if !families.contains(&family) {
                families.push(family);
            }
        }
    }
    families
}

/// A method on every type, answered as `how` says.
fn row(
    bench: &mut Bench<'_>,
    args: &Args,
    split: Split,
    groups: &[&QueryGroup],
    label: &str,
    how: &dyn Fn(&QueryGroup) -> Option<(Setting, Basis)>,
) -> anyhow::Result<Row> {
    let mut row = Row { method: label.to_owned(), cells: Vec::new() };
    for &group in groups {
        let Some((setting, basis)) = how(group) else { continue };
        let (_, part) = fair::parts(split, !methods(args).is_empty(), group);
        let (limit, by_missing) = (args.limit, args.by_missing_links);
        let cell = bench.measure(&Task { label, split, group, part, limit, setting, by_missing })?;
        let (shape, of) = (group.shape.clone(), part.size(group.len()));
        row.cells.push(Measured { shape, setting, cell, part, of, basis });
    }
    Ok(row)
}
