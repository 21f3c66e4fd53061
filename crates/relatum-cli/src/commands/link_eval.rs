//! `relatum link-eval`: how well the model predicts edges it has not seen.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use relatum::Engine;
use relatum::engine::LinkEvalOptions;
use relatum::graph::Split;
use relatum::model::Ties;
use relatum::report::{End, LinkEvaluation, Metrics};
use relatum::search::Evidence;
use relatum::train::rules::RuleWeights;

use super::model;
use super::train::use_threads;
use crate::{output, signals};

/// Measure filtered MRR and Hits@1/3/10 of a model, in both directions and by relation
///
/// Every edge of the split is predicted from both its ends among all entities except other true
/// answers. Candidates with the same score share the mean of their ranks.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The edges to predict [default: test, or valid where there are no test edges]
    #[arg(long)]
    split: Option<SplitName>,
    /// What speaks for an edge: the model, the rules that `relatum rules` mined, or both together
    #[arg(long, default_value = "model", value_parser = evidence)]
    evidence: Evidence,
    /// The name of the rules [default: default]
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// Which rank an answer gets among candidates with the same score
    #[arg(long, default_value = "mean")]
    ties: TiesName,
    /// How many relations to list; 0 for all
    #[arg(long, default_value_t = 25)]
    relations: usize,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON, with all relations
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SplitName {
    Train,
    Valid,
    Test,
}

#[derive(Clone, Copy, ValueEnum)]
enum TiesName {
    /// The mean of the ranks they take together
    Mean,
    /// The worst of these ranks, as in programs that count every candidate with at least the same score
    Pessimistic,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let control = signals::watched_control()?;
    let engine = Engine::open(&args.dir)?;
    let options = LinkEvalOptions {
        model: args.model.clone(),
        split: args.split.map(|split| match split {
            SplitName::Train => Split::Train,
            SplitName::Valid => Split::Valid,
            SplitName::Test => Split::Test,
        }),
        ties: match args.ties {
            TiesName::Mean => Ties::Mean,
            TiesName::Pessimistic => Ties::Pessimistic,
        },
        pairs: None,
        evidence: args.evidence,
        rules: args.rules.clone(),
    };
    if args.evidence != Evidence::Rules {
        let open = engine.model(options.model.as_deref())?;
        model::warn_if_unfinished(&args.dir, &open);
        let both = args.evidence == Evidence::Both;
        // Rules that were named must be there, even where the model alone is measured.
        let named = both || options.rules.is_some();
        let rules = if named { Some(engine.rules(options.rules.as_deref())?) } else { None };
        let rules = rules.filter(|_| both);
        if let Some(rules) = rules.filter(|rules| engine.rule_weights(&open, rules).is_none()) {
            output::say(&format!(
                "note: how much the rules `{}` count beside `{}` was not learned, so all relations have the weight \
                 {}: `relatum rules {} --weigh --name {} --model {}` learns it",
                rules.name,
                open.name,
                RuleWeights::DEFAULT,
                output::typed(&args.dir),
                rules.name,
                open.name
            ));
        }
    }
    let found = engine.link_eval(&options, &control)?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &found)?;
        writeln!(out)?;
        return Ok(());
    }
    write!(out, "{}", as_text(&found, args.relations))?;
    Ok(())
}

fn evidence(name: &str) -> Result<Evidence, String> {
    Evidence::from_name(name).ok_or_else(|| "expected model, rules or both".to_owned())
}

const HEADER: [&str; 6] = ["", "predictions", "MRR", "H@1", "H@3", "H@10"];

fn as_text(found: &LinkEvaluation, limit: usize) -> String {
    let LinkEvaluation { model, predictor, rank, split, .. } = found;
    let how = match found.ties {
        Ties::Pessimistic => "ties take their worst rank",
        Ties::Mean => "ties take their mean rank",
    };
    let what = match found.evidence.as_str() {
        "rules" => format!("rules `{model}`"),
        "both" => format!("{model} ({predictor}, rank {rank}) with rules"),
        _ => format!("{model} ({predictor}, rank {rank})"),
    };
    let mut text = format!("{what} on {split}: filtered, {how}\n");
    let mut table = output::table(&HEADER, &[1, 2, 3, 4, 5]);
    table.add_row(cells("all".to_owned(), &found.overall));
    if found.heads.count > 0 {
        table.add_row(cells("tails".to_owned(), &found.tails));
        table.add_row(cells("heads".to_owned(), &found.heads));
    }
    table.add_row(cells("mean of queries".to_owned(), &found.queries));
    text += &output::render(&table);
    text.push('\n');
    let mut table = output::table(&HEADER, &[1, 2, 3, 4, 5]);
    let mut relations: Vec<_> = found.relations.iter().collect();
    relations.sort_by_key(|row| std::cmp::Reverse(row.metrics.count));
    let shown = if limit == 0 { relations.len() } else { limit };
    for row in relations.iter().take(shown) {
        let heads = if row.predicts == End::Heads { " (heads)" } else { "" };
        table.add_row(cells(format!("{}{heads}", row.text), &row.metrics));
    }
    text += &output::render(&table);
    if relations.len() > shown {
        let left = output::grouped(relations.len() - shown);
        text += &format!("  … and {left} more (--relations 0 lists all)\n");
    }
    text
}

fn cells(name: String, metrics: &Metrics) -> Vec<String> {
    let mut cells = vec![name, output::grouped(metrics.count), format!("{:.4}", metrics.mrr)];
    cells.extend(metrics.hits().map(|hits| format!("{hits:.4}")));
    cells
}
