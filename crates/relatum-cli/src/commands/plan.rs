//! `relatum plan`: shows how a question would be answered, without answering it.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::Graph;
use relatum::plan::Plan;
use relatum::query::{Checked, Style, Syntax};
use relatum::{Engine, Options};

use crate::output;

/// Show how a question would be answered
///
/// Prints its normal form, the order in which its variables are eliminated, from which side each
/// atom is scored, and about how many rows that takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The question, or - to read it from standard input
    ///
    /// `?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)`, a SPARQL SELECT, or a
    /// nested tuple of the benchmark files.
    query: String,
    /// Read the question as SPARQL, whatever it looks like
    #[arg(long)]
    sparql: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "dot")]
    json: bool,
    /// Print the dependency graph for Graphviz
    #[arg(long)]
    dot: bool,
    /// How many values of a variable a beam keeps
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    k: u32,
    /// Plan as `ask --either-side` does: score an atom from whichever side takes fewer rows
    #[arg(long)]
    either_side: bool,
    /// How many alternatives the normal form may have
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    max_branches: u32,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let text = match args.query.as_str() {
        "-" => std::io::read_to_string(std::io::stdin())?,
        query => query.to_owned(),
    };
    let engine = Engine::open(&args.dir)?;
    let graph = engine.graph();
    let options = Options {
        syntax: args.sparql.then_some(Syntax::Sparql),
        k: Some(args.k as usize),
        either_side: args.either_side,
        max_branches: Some(args.max_branches as usize),
        ..Options::default()
    };
    let question = engine.question(&text, &options)?;
    let plan = engine.plan(&question.checked, &options)?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &engine.check_question(&text, &question, &options)?)?;
        writeln!(out)?;
    } else if args.dot {
        write!(out, "{}", plan.describe(graph).to_dot())?;
    } else {
        write!(out, "{}", as_text(&text, &question.checked, &plan, graph))?;
    }
    Ok(())
}

pub(super) fn as_text(source: &str, checked: &Checked, plan: &Plan, graph: &Graph) -> String {
    let query = checked.query.named(graph).to_string();
    let normal_form = checked.normal_form.to_query().named(graph).to_string();
    let mut text = format!("{query}\n");
    if checked.normal_form.branches.len() > 1 && normal_form != query {
        text += &format!("normal form: {normal_form}\n");
    }
    if checked.validity.is_valid_but_for_negation() {
        let negation = if checked.validity.is_valid() { "" } else { ", but for negation" };
        text += &format!(
            "one of the paper's valid queries{negation}: anchors as sources, the target as the only sink, no directed cycle\n"
        );
    }
    text += "\n";
    text += &plan.describe(graph).to_string();
    for note in &checked.validity.notes {
        text += &format!("\n{}\n", note.diagnostic().render(source, Style::Plain));
    }
    text
}
