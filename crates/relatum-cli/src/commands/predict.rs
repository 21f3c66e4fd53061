//! `relatum predict`: the most likely edges that the graph does not hold.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use relatum::answer::{PredictProgress, score_text};
use relatum::control::{Cancel, Control};
use relatum::engine::Sought;
use relatum::model::Calibration;
use relatum::report::MissingEdge;
use relatum::search::Evidence;
use relatum::{Engine, Options};

use super::ask::{AUTO, Auto, evidences, parse_positive, warn_of_model};
use crate::exit::Stopped;
use crate::{output, signals};

/// Find the most likely edges that the graph does not hold, best first
///
/// Bounds prove that no other edge is more likely, without scoring every pair. The output is a table with a
/// header that `relatum init` reads, so predictions can become a graph, or part of one. Both ends of an edge are
/// of the kinds that stand there in the training edges, unless --unseen allows others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum predict movies/ --relation has_genre --top 20
  relatum predict movies/ --about 'Martin Lawrence'
  relatum predict movies/ --min-truth 0.8 > likely.tsv")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Only edges along this relation
    #[arg(long, allow_hyphen_values = true)]
    relation: Option<String>,
    /// Only edges of this entity, in both directions, each read from the entity
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    about: Option<String>,
    /// Only edges that are at least so true [default: 0]
    #[arg(long, value_name = "TRUTH", default_value_t = 0.0, hide_default_value = true, value_parser = parse_truth, allow_negative_numbers = true)]
    min_truth: f32,
    /// How many edges [default: 100, or with --min-truth as many as there are]
    #[arg(long, value_name = "N", value_parser = parse_positive, allow_negative_numbers = true)]
    top: Option<usize>,
    /// How scores become truth values: softmax-count, softmax, sigmoid, or fitted and adaptive after `relatum
    /// calibrate`; auto: as tuned for questions of one edge, else softmax-count
    #[arg(long, default_value = AUTO, value_parser = [AUTO, "softmax-count", "softmax", "sigmoid", "adaptive", "fitted"])]
    calibration: String,
    /// Include edges between entities of other kinds; the truth of an edge to another kind is multiplied by W
    /// [default: 0]
    #[arg(long, value_name = "W", value_parser = parse_truth, allow_negative_numbers = true)]
    unseen: Option<f32>,
    /// What speaks for an edge: the model, the rules of `relatum rules`, or both together, as when asking; auto: both
    /// where the project has rules, else the model, which takes less time
    #[arg(long, default_value = AUTO, value_parser = evidences())]
    evidence: Auto<Evidence>,
    /// The name of the rules [default: default]
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Print JSON, one line an edge
    #[arg(long)]
    json: bool,
}

/// The names of the columns, which `init` recognises.
const HEADER: &str = "head\trelation\ttail\ttruth\n";
/// How many edges are listed by default.
const TOP: usize = 100;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::open(&args.dir)?;
    warn_of_model(&args.dir, &engine, args.model.as_deref())?;
    let sought =
        Sought { relation: args.relation.clone(), about: args.about.clone(), min_truth: args.min_truth };
    let many = if args.min_truth > 0.0 { usize::MAX } else { TOP };
    let options = Options {
        model: args.model.clone(),
        calibration: Calibration::from_name(&args.calibration),
        unseen: args.unseen,
        evidence: args.evidence.0,
        rules: args.rules.clone(),
        top: Some(args.top.unwrap_or(many)),
        ..Options::default()
    };
    signals::watch()?;
    let bar = progress_bar();
    let shown = bar.clone();
    let control = Control::default()
        .with_cancel(Cancel::when(signals::stop_requested))
        .on(move |progress: &PredictProgress| shown.set_message(message(progress)));
    let is_terminal = std::io::stdout().is_terminal();
    let mut out = output::out(args.json || !is_terminal);
    let (mut written, mut count) = (Ok(()), 0usize);
    let outcome = engine.predict(&sought, &options, &control, |edge| {
        if written.is_ok() {
            let header = if args.json || count > 0 { "" } else { HEADER };
            let line = if args.json { json(&edge) } else { row(&edge) };
            written = bar.suspend(|| writeln!(out, "{header}{line}").and_then(|()| out.flush()));
            count += 1;
            if written.is_err() {
                control.cancel_token().cancel();
            }
        }
    });
    bar.finish_and_clear();
    written?;
    let outcome = outcome?;
    if count == 0 && !args.json {
        write!(out, "{HEADER}")?;
    }
    let edges = output::counted(outcome.found as u64, "edge");
    let (rows, all) = (output::grouped(outcome.rows), output::counted(outcome.rows_of_all as u64, "row"));
    if signals::stop_requested() {
        let proven = output::grouped(outcome.proven);
        output::say(&format!("stopped: {edges} found, the first {proven} proven; {rows} of {all} scored"));
        return Err(Stopped.into());
    }
    // Truth values with rules are others than those of the model alone.
    let by = match outcome.evidence.as_str() {
        "both" => " by model and rules",
        "rules" => " by rules",
        _ => "",
    };
    output::say(&format!("{edges}{by}, {}; {rows} of {all} scored", outcome.certainty));
    Ok(())
}

fn row(edge: &MissingEdge) -> String {
    let MissingEdge { subject, relation, object, truth, .. } = edge;
    format!("{}\t{}\t{}\t{}", subject.name, relation.name, object.name, score_text(*truth))
}

fn json(edge: &MissingEdge) -> String {
    // Names and numbers only: there is nothing that could fail.
    serde_json::to_string(edge).unwrap_or_default()
}

fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn message(progress: &PredictProgress) -> String {
    let (bounded, of) = (output::grouped(progress.bounded), output::grouped(progress.of));
    let (rows, found) = (output::grouped(progress.rows), output::grouped(progress.found));
    format!("{bounded} of {of} rows bounded · {rows} scored · {found} edges proven")
}

fn parse_truth(text: &str) -> Result<f32, String> {
    let truth = text.parse().ok().filter(|truth| (0.0..=1.0).contains(truth));
    truth.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
