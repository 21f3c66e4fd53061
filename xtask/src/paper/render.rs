//! The document: the published tables with our rows beside them, from the results alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use relatum::benchmark::{Dataset, PUBLISHED_TYPES, Published};
use relatum::report::grouped;
use relatum::store::write_atomically;

use super::args::Name;
use super::pictures;
use super::results::{Measured, RowResult, Store};

const HEAD: &str = "\
# The paper's tables and figures

*Complex Query Answering with Neural Link Predictors* (ICLR 2021), its tables and figures, published and measured here. \
`cargo xtask paper` writes this file from [paper/results](paper/results), trains and measures what is missing there, \
and says with `--plan` what is left; do not edit it by hand.

Hits@3 on the Query2Box test queries: filtered, ties at their mean rank, the mean over the hard answers of a query, \
then over queries, then over types. Settings are chosen by type on validation queries only. A `*` marks a figure of \
a part of the queries, evenly spread, which the remark below its table counts; – is not measured yet. The published \
ip and up rows of CQD-Beam are too low, because the published code does not join the branches of ip and drops the \
union of up; the authors' port mends that.
";

/// Writes the document and its pictures into a folder.
pub(super) fn write(store: &Store, docs: &Path) -> anyhow::Result<()> {
    let folder = docs.join("paper");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let measured = all(store)?;
    let put = |path: &Path, text: &str| write_atomically(path, |out| out.write_all(text.as_bytes()));
    for (name, svg) in pictures::of(&measured) {
        put(&folder.join(name), &svg)?;
    }
    Ok(put(&docs.join("paper.md"), &markdown(&measured))?)
}

/// The results of every dataset, in the order of the paper.
pub(super) fn all(store: &Store) -> anyhow::Result<Vec<(Name, Measured)>> {
    let datasets = [Name::Fb15k, Name::Fb15k237, Name::Nell995];
    datasets.into_iter().map(|dataset| Ok((dataset, store.all(dataset)?))).collect()
}

/// The whole document.
pub(super) fn markdown(measured: &[(Name, Measured)]) -> String {
    let mut text = HEAD.to_owned();
    let section = |text: &mut String, title: &str, of: &dyn Fn(Name, &Measured) -> String| {
        let _ = write!(text, "\n## {title}\n");
        for (dataset, measured) in measured {
            let body = of(*dataset, measured);
            if !body.is_empty() {
                let _ = write!(text, "\n### {}\n\n{body}", dataset.title());
            }
        }
    };
    section(&mut text, "Main results (table 2)", &main);
    section(&mut text, "By rank (appendix A)", &ranks);
    section(&mut text, "Time (appendix B)", &timing);
    section(&mut text, "DistMult (appendix C)", &distmult);
    section(&mut text, "Two explained questions (figure 2)", &examples);
    section(&mut text, "Settings that were chosen", &settings);
    text
}

/// All methods: each at the largest rank that there is.
fn main(dataset: Name, measured: &Measured) -> String {
    let Some(published) = Dataset::named(dataset.title()) else { return String::new() };
    let mut table = Table::new("");
    for (method, system, rank) in
        [("gqe", "GQE", 800), ("query2box", "Query2Box", 400), ("paper-co", "CQD-CO", 1000)]
    {
        table.published(system, published.row(system, rank));
        table.ours(system, measured.largest("complex", method));
    }
    table.published("CQD-Beam", Some(&published.main_beam));
    table.published("CQD-Beam, authors' port", published.row("CQD-Beam, authors' port", 1000));
    table.ours("CQD-Beam", measured.largest("complex", "paper-beam"));
    table.ours("best", measured.largest("complex", "best"));
    table.ours("best with rules", measured.largest("complex", "best-rules"));
    table.finish()
}

/// The paper's methods by rank, with the picture.
fn ranks(dataset: Name, measured: &Measured) -> String {
    let Some(published) = Dataset::named(dataset.title()) else { return String::new() };
    let mut table = Table::new("");
    for (method, system) in [("paper-co", "CQD-CO"), ("paper-beam", "CQD-Beam")] {
        for rank in pictures::ranks(published, measured, method, system) {
            if let Some(row) = published.row(system, rank) {
                table.published(system, Some(row));
            }
            match measured.at("complex", method, rank) {
                Some(row) => table.ours(system, Some(row)),
                None => table.missing(&format!("{system}, rank {rank}")),
            }
        }
    }
    let picture = format!("\n![Mean Hits@3 by rank](paper/{})\n", pictures::ranks_file(dataset));
    table.finish() + &picture
}

fn timing(dataset: Name, measured: &Measured) -> String {
    let Some(timing) = &measured.timing else { return "Not measured yet.\n".to_owned() };
    let mut text = format!(
        "Milliseconds a query, one at a time, the ten best answers: the median over {} validation queries of a type, \
         of the best of three; the link predictor has rank {}. {}, {} threads.\n\n",
        timing.queries, timing.rank, timing.machine, timing.threads
    );
    let _ = write!(text, "| | {} |\n|{}\n", PUBLISHED_TYPES.join(" | "), " --- |".repeat(10));
    for row in &timing.rows {
        let of =
            |shape: &&str| row.milliseconds.get(*shape).map_or("–".to_owned(), |ms| format!("{ms:.2}"));
        let cells: Vec<String> = PUBLISHED_TYPES.iter().map(of).collect();
        let _ = writeln!(text, "| {} | {} |", row.method, cells.join(" | "));
    }
    text + &format!("\n![Milliseconds a query by type](paper/{})\n", pictures::timing_file(dataset))
}

fn distmult(dataset: Name, measured: &Measured) -> String {
    let Some(published) = Dataset::named(dataset.title()) else { return String::new() };
    let mut table = Table::new("CQD-Beam with ");
    table.published("ComplEx", published.row("CQD-Beam", 1000));
    let ours = measured.largest("distmult", "paper-beam");
    // Both at the same rank, or the comparison says nothing.
    let complex = match ours {
        Some(row) => measured.at("complex", "paper-beam", row.rank),
        None => measured.largest("complex", "paper-beam"),
    };
    table.ours("ComplEx", complex);
    table.published("DistMult", published.row("CQD-Beam, DistMult", 1000));
    table.ours("DistMult", ours);
    table.finish()
}

fn examples(dataset: Name, measured: &Measured) -> String {
    if dataset != Name::Fb15k237 {
        return String::new();
    }
    let Some(examples) = &measured.examples else { return "Not asked yet.\n".to_owned() };
    let mut text = format!("{} of {} (rank {}).\n", examples.setting, examples.model, examples.rank);
    for asked in &examples.questions {
        let [between, target] = &asked.variables;
        let _ = write!(
            text,
            "\n**{}**\n\n    {}\n\n| rank | {target} | {between} | score | correct |\n|{}\n",
            asked.words,
            asked.query,
            " --- |".repeat(5)
        );
        for (place, answer) in asked.answers.iter().enumerate() {
            let correct = answer.correct.map_or("–", |correct| if correct { "yes" } else { "no" });
            let [named, through] = [&answer.answer, &answer.through].map(|name| name.replace('|', "\\|"));
            let _ =
                writeln!(text, "| {} | {named} | {through} | {:.4} | {correct} |", place + 1, answer.score);
        }
        let _ = write!(text, "\nThe paper: {}.\n\n```text\n{}\n```\n", asked.published, asked.explained);
    }
    text
}

/// Which setting was chosen for which type.
fn settings(_: Name, measured: &Measured) -> String {
    let mut text = String::new();
    for row in measured.rows.iter().filter(|row| row.method != row.model) {
        let of = |shape: &&str| {
            let cell = row.cells.get(*shape)?;
            let on =
                if cell.chosen_on > 0 { format!(" (on {})", grouped(cell.chosen_on)) } else { String::new() };
            Some(format!("{shape} `{}`{on}", cell.setting))
        };
        let each: Vec<String> = PUBLISHED_TYPES.iter().filter_map(of).collect();
        let _ = writeln!(text, "- {} of {}: {}", row.method, row.model, each.join(", "));
    }
    text
}

impl Measured {
    /// The row of a method at a rank.
    pub(super) fn at(&self, predictor: &str, method: &str, rank: usize) -> Option<&RowResult> {
        self.of(predictor, method).find(|row| row.rank == rank)
    }

    /// The row of a method at its largest rank.
    fn largest(&self, predictor: &str, method: &str) -> Option<&RowResult> {
        self.of(predictor, method).max_by_key(|row| row.rank)
    }

    /// The rows of a method; the predictor of a baseline is itself.
    pub(super) fn of<'a, 'b>(
        &'a self,
        predictor: &'b str,
        method: &'b str,
    ) -> impl Iterator<Item = &'a RowResult> + use<'a, 'b> {
        self.rows.iter().filter(move |row| {
            row.method == method && (row.predictor == predictor || row.predictor == method)
        })
    }
}

/// A table of Hits@3 by type, with remarks about our rows below it.
struct Table {
    text: String,
    prefix: &'static str,
    remarks: Vec<String>,
}

impl Table {
    fn new(prefix: &'static str) -> Self {
        let types = PUBLISHED_TYPES.join(" | ");
        let text = format!("| | mean | {types} |\n|{}\n", " --- |".repeat(PUBLISHED_TYPES.len() + 2));
        Self { text, prefix, remarks: Vec::new() }
    }

    fn published(&mut self, system: &str, row: Option<&Published>) {
        let Some(row) = row else { return };
        let rank = row.rank.map_or_else(String::new, |rank| format!(", rank {rank}"));
        let cells = std::iter::once(row.mean()).chain(row.hits_at_3).map(digits);
        self.line(&format!("{}{system}{rank}, published", self.prefix), cells);
    }

    fn ours(&mut self, system: &str, row: Option<&RowResult>) {
        let Some(row) = row else { return self.missing(system) };
        let name = format!("{}{system}, rank {}, ours", self.prefix, row.rank);
        let cell = |shape: &&str| {
            let Some(cell) = row.cells.get(*shape) else { return "–".to_owned() };
            digits(cell.hits_at_3) + if cell.is_whole() { "" } else { "\\*" }
        };
        let part = row.cells.values().any(|cell| !cell.is_whole());
        let mean = row.mean().map_or("–".to_owned(), digits);
        let mean = if part && row.mean().is_some() { mean + "\\*" } else { mean };
        self.line(&name, std::iter::once(mean).chain(PUBLISHED_TYPES.iter().map(cell)));
        self.remarks.push(remark(&name, row));
    }

    fn missing(&mut self, system: &str) {
        let _ = write!(self.text, "| {}{system}, ours | not measured yet |", self.prefix);
        self.text += &" |".repeat(PUBLISHED_TYPES.len());
        self.text.push('\n');
    }

    fn line(&mut self, name: &str, cells: impl Iterator<Item = String>) {
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(self.text, "| {name} | {} |", cells.join(" | "));
    }

    fn finish(mut self) -> String {
        if !self.remarks.is_empty() {
            self.text.push('\n');
        }
        for remark in &self.remarks {
            let _ = writeln!(self.text, "- {remark}");
        }
        self.text
    }
}

/// What the figures of a row rest on.
fn remark(name: &str, row: &RowResult) -> String {
    let mut text = format!("{name}: model {}, {}", row.model, row.recipe);
    let valid = row.valid_mrr.map_or_else(String::new, |mrr| format!(", validation MRR {}", digits(mrr)));
    let _ = write!(text, "; epoch {}{valid}", row.epoch);
    let chosen: BTreeSet<usize> =
        row.cells.values().map(|cell| cell.chosen_on).filter(|on| *on > 0).collect();
    if let (Some(least), Some(most)) = (chosen.first(), chosen.last()) {
        let range =
            if least == most { grouped(*most) } else { format!("{} to {}", grouped(*least), grouped(*most)) };
        let what = if row.method == row.model { "model" } else { "settings" };
        let _ = write!(text, "; {what} chosen on {range} validation queries a type");
    }
    let parts: BTreeSet<(usize, usize)> =
        row.cells.values().filter(|cell| !cell.is_whole()).map(|cell| (cell.queries, cell.of)).collect();
    if !parts.is_empty() {
        let each: Vec<String> =
            parts.iter().map(|(some, all)| format!("{} of {}", grouped(*some), grouped(*all))).collect();
        let _ = write!(text, "; \\* {} queries", each.join(" or "));
    }
    text
}

/// A share with three digits, as tables have it.
fn digits(value: f64) -> String {
    let text = format!("{value:.3}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}
