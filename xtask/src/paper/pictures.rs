//! The figures, as SVG.

use relatum::benchmark::plots::{Series, bars, lines};
use relatum::benchmark::{Dataset, PUBLISHED_TYPES};

use super::args::Name;
use super::results::Measured;

/// The pictures with the names of their files.
pub(super) fn of(measured: &[(Name, Measured)]) -> Vec<(String, String)> {
    let mut pictures = Vec::new();
    for (dataset, measured) in measured {
        pictures.extend(
            Dataset::named(dataset.title())
                .map(|published| (ranks_file(*dataset), by_rank(published, measured))),
        );
        if let Some(timing) = &measured.timing {
            let types = PUBLISHED_TYPES.map(str::to_owned);
            let series: Vec<Series<Option<f64>>> = timing
                .rows
                .iter()
                .map(|row| Series {
                    name: row.method.clone(),
                    values: types.iter().map(|shape| row.milliseconds.get(shape).copied()).collect(),
                })
                .collect();
            let title = format!("{}: milliseconds a query, rank {}", dataset.title(), timing.rank);
            pictures.push((timing_file(*dataset), bars(&title, "ms", &types, &series)));
        }
    }
    pictures
}

pub(super) fn ranks_file(dataset: Name) -> String {
    format!("ranks-{}.svg", dataset.folder())
}

pub(super) fn timing_file(dataset: Name) -> String {
    format!("timing-{}.svg", dataset.folder())
}

/// The ranks at which a method was published or measured, smallest first.
pub(super) fn ranks(published: &Dataset, measured: &Measured, method: &str, system: &str) -> Vec<usize> {
    let of_paper = published.rows.iter().filter(|row| row.system == system);
    let mut ranks: Vec<usize> = of_paper.filter_map(|row| row.rank.map(|rank| rank as usize)).collect();
    ranks.extend(measured.of("complex", method).map(|row| row.rank));
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// Mean Hits@3 by rank. Our rows count where all nine types were measured.
fn by_rank(published: &Dataset, measured: &Measured) -> String {
    let mut series = Vec::new();
    let systems = [("paper-beam", "CQD-Beam"), ("paper-co", "CQD-CO")];
    for (method, system) in systems.into_iter().chain([("best", "best"), ("best-rules", "best with rules")]) {
        let all = ranks(published, measured, method, system);
        let mut add = |name: String, of: &dyn Fn(usize) -> Option<f64>| {
            let values: Vec<(f64, f64)> =
                all.iter().filter_map(|&rank| Some((rank as f64, of(rank)?))).collect();
            if !values.is_empty() {
                series.push(Series { name, values });
            }
        };
        add(format!("{system}, published"), &|rank| Some(published.row(system, rank)?.mean()));
        add(format!("{system}, ours"), &|rank| measured.at("complex", method, rank)?.mean());
    }
    let title = format!("{}: mean Hits@3 over the nine types by rank", published.name);
    lines(&title, "H@3", "rank", &series)
}
