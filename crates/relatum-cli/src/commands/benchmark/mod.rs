//! `relatum benchmark`: the paper's table for a project, and ours beside it.

mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use relatum::Engine;
use relatum::baseline::Kind;
use relatum::benchmark::{BenchmarkReport, Family, ReportTable, Setting};
use relatum::control::Control;
use relatum::engine::{BenchmarkOptions, MEASURED_PAIRS};
use relatum::graph::Split;
use relatum::store::write_atomically;

use super::train::use_threads;
use crate::{output, signals};
pub(super) use watch::watched;

/// Measure how well benchmark queries are answered, by type, beside the published figures
///
/// Every hard answer is ranked among all entities except the other answers. Settings are chosen by
/// type on the validation queries (see `relatum tune`), and results are reported on the chosen split.
/// If that is validation itself, settings are chosen on every other query of a type, and the queries
/// between are reported. Finished results are kept: the same command goes on where it was stopped.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  relatum benchmark fb15k-237/
  relatum benchmark fb15k-237/ --method best --types 2p,3p --limit 500
  relatum benchmark fb15k-237/ --method gqe,query2box,paper,best
  relatum benchmark fb15k-237/ --setting 'beam k=64 product softmax-count train'
  relatum benchmark fb15k-237/ --by-missing-links --plots pictures/")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How to answer: as the paper does, or with the best settings [default: paper,best]
    #[arg(long, value_delimiter = ',', value_name = "METHOD,…")]
    method: Vec<Method>,
    /// Baselines by the names that they were trained under, where these are not those of their kinds
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    baseline: Vec<String>,
    /// Answer with one fixed setting instead; may be given several times
    #[arg(long, value_parser = |text: &str| text.parse::<Setting>())]
    setting: Vec<Setting>,
    /// The queries to report on [default: test, or valid where there are no test queries]
    #[arg(long)]
    split: Option<SplitName>,
    /// The types of query [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    types: Vec<String>,
    /// At most so many queries of each type, evenly spread
    #[arg(long, value_name = "N", value_parser = super::settings::positive)]
    limit: Option<usize>,
    /// How many validation queries of each type to choose settings on; what was chosen on fewer is
    /// chosen again
    /// [default: as many as tell the settings apart, from 100 to 1600; see `relatum tune --help`]
    #[arg(long, value_name = "N", value_parser = super::settings::positive)]
    tune_on: Option<usize>,
    /// Split the figures by how many links of a hard answer the training graph lacks
    #[arg(long)]
    by_missing_links: bool,
    /// Draw bars by type, time by type, how reliable truth values are, accuracy by k and by rank into this folder, as SVG
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
    /// The same with the rules of `relatum rules` beside the model
    BestRules,
    /// GQE, as `relatum train --baseline gqe` trained it
    Gqe,
    /// Query2Box, as `relatum train --baseline query2box` trained it
    #[value(name = "query2box")]
    Query2Box,
}

impl Method {
    /// The baseline that it is, if it is one.
    fn baseline(self) -> Option<Kind> {
        match self {
            Self::Gqe => Some(Kind::Gqe),
            Self::Query2Box => Some(Kind::Query2Box),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum SplitName {
    Valid,
    Test,
}

impl Args {
    fn options(&self) -> BenchmarkOptions {
        let families = self.method.iter().flat_map(|method| match method {
            Method::Paper => &[Family::PaperBeam, Family::PaperContinuous][..],
            Method::PaperBeam => &[Family::PaperBeam],
            Method::PaperCo => &[Family::PaperContinuous],
            Method::Best => &[Family::Best],
            Method::BestRules => &[Family::BestRules],
            Method::Gqe | Method::Query2Box => &[],
        });
        let kinds = self.method.iter().filter_map(|method| Some(method.baseline()?.name().to_owned()));
        let mut baselines: Vec<String> = Vec::new();
        for name in kinds.chain(self.baseline.iter().cloned()) {
            if !baselines.contains(&name) {
                baselines.push(name);
            }
        }
        BenchmarkOptions {
            model: self.model.clone(),
            families: families.copied().collect(),
            settings: self.setting.clone(),
            baselines,
            split: self.split.map(|split| match split {
                SplitName::Valid => Split::Valid,
                SplitName::Test => Split::Test,
            }),
            types: self.types.clone(),
            limit: self.limit,
            tune_on: self.tune_on,
            by_missing_links: self.by_missing_links,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let control = signals::watched_control()?;
    let engine = Engine::open(&args.dir)?;
    let options = args.options();
    let report = watched(control.clone(), |control| engine.benchmark(&options, control))?;
    for warning in &report.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let mut out = output::out(args.json || args.csv);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else if args.csv {
        write!(out, "{}", report.to_csv())?;
    } else if args.markdown {
        write!(out, "{}", report.to_markdown())?;
    } else {
        write!(out, "{}", as_text(&report))?;
    }
    // The pictures come after the table, because some of them take longer than it did.
    drop(out);
    if let Some(dir) = &args.plots {
        draw(dir, &engine, &options, &report, &control)?;
    }
    Ok(())
}

fn as_text(report: &BenchmarkReport) -> String {
    let mut text = report.heading().join("\n") + "\n";
    for table in &report.tables() {
        if !table.title.is_empty() {
            text += &format!("\n{}\n", table.title);
        }
        text += &format!("\n{}", output::render(&as_table(table)));
    }
    text
}

fn as_table(table: &ReportTable) -> comfy_table::Table {
    let header: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let right: Vec<usize> = (0..header.len()).filter(|&column| table.is_figures(column)).collect();
    let mut shown = output::table(&header, &right);
    shown.add_rows(&table.rows);
    shown
}

fn draw(
    dir: &Path,
    engine: &Engine,
    options: &BenchmarkOptions,
    report: &BenchmarkReport,
    control: &Control,
) -> anyhow::Result<()> {
    use anyhow::Context;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let save = |name: &str, svg: &str| {
        write_atomically(&dir.join(name), |file| file.write_all(svg.as_bytes())).map_err(relatum::Error::from)
    };
    save("accuracy.svg", &report.accuracy_svg())?;
    save("time.svg", &report.time_svg())?;
    let dir_text = output::typed(dir);
    if !options.asks_a_predictor() {
        output::say(&format!(
            "drew accuracy.svg and time.svg in {dir_text}; the other pictures are about link predictors"
        ));
        return Ok(());
    }
    // Queries may come without the edges that their answers need.
    let has_edges = !engine.graph().edges(report.split).is_empty();
    if has_edges {
        let measured = engine.reliability(options.model.as_deref(), report.split, MEASURED_PAIRS, control)?;
        save("reliability.svg", &measured.svg(&report.model))?;
    }
    let drawn = if has_edges { "accuracy.svg, time.svg, reliability.svg" } else { "accuracy.svg, time.svg" };
    let by_k = watched(control.clone(), |control| engine.accuracy_by_k_svg(options, control))?;
    save("k.svg", &by_k)?;
    let by_rank = watched(control.clone(), |control| engine.accuracy_by_rank_svg(options, control))?;
    match by_rank {
        Some(svg) => {
            save("rank.svg", &svg)?;
            output::say(&format!("drew {drawn}, k.svg and rank.svg in {dir_text}"));
        }
        None => output::say(&format!(
            "drew {drawn} and k.svg in {dir_text}; rank.svg needs models of at least two ranks"
        )),
    }
    Ok(())
}
