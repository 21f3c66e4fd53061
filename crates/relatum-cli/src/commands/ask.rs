//! `relatum ask`: answers, with reasons.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use relatum::answer::{Answers, Ask, Explanation, Method, ask};
use relatum::graph::Graph;
use relatum::logic::{Negation, TNorm};
use relatum::model::{Calibration, Model, ModelFolder};
use relatum::plan::{Plan, PlanOptions, Statistics};
use relatum::query::{Limits, Mistakes, Question, Syntax, read};
use relatum::search::beam::Width;
use relatum::search::continuous::ContinuousSettings;
use relatum::search::{Budget, Certainty, Known, Logic, SearchError};
use relatum::store::Project;
use serde_json::{Value, json};

use super::plan::misuse;
use crate::exit::Misuse;

/// Answer a question with a trained model
///
/// The question is text, `?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)`, a SPARQL
/// SELECT, or a nested tuple of the benchmark files. `-` reads questions from standard input, one a
/// line, and prints one line of JSON for each.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The question, or - for many
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// The question is SPARQL, whatever it looks like
    #[arg(long)]
    sparql: bool,
    /// How to search: auto is exact where the question is a tree, else a beam; continuous
    /// optimises vectors in place of entities
    #[arg(long, default_value = "auto", value_parser = ["auto", "exact", "beam", "continuous"])]
    method: String,
    /// How many assignments a beam keeps
    #[arg(long, default_value_t = 64)]
    k: usize,
    /// Let each assignment of a beam keep k values by the atoms' own truth, as the paper does
    #[arg(long)]
    paper: bool,
    /// How truth values combine: godel, product or lukasiewicz
    #[arg(long, default_value = "product", value_parser = parse_t_norm)]
    t_norm: TNorm,
    /// How scores become truth values: sigmoid, minmax, softmax, softmax-count,
    /// adaptive (after `relatum calibrate`) or raw; continuous
    /// optimisation has sigmoid for its default
    #[arg(long, default_value = "softmax-count", value_parser = parse_calibration)]
    #[arg(default_value_if("method", "continuous", "sigmoid"))]
    calibration: Calibration,
    /// Negate as 1 - min(1, C·truth)
    #[arg(long, value_name = "C", default_value_t = 1.0, value_parser = parse_scale)]
    negation_scale: f32,
    /// Which stored edges count as true: all, those of train only, or none
    #[arg(long, default_value = "trust", value_parser = ["trust", "train", "ignore"])]
    known: String,
    /// How many answers
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Leave out what the stored edges already say
    #[arg(long)]
    new_only: bool,
    /// Show why each answer is one
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The name of the model
    #[arg(long, default_value = ModelFolder::DEFAULT)]
    model: String,
    /// Stop after so many seconds with what was found
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Stop after so many scored rows with what was found
    #[arg(long, value_name = "ROWS")]
    max_rows: Option<usize>,
}

fn parse_t_norm(text: &str) -> Result<TNorm, String> {
    TNorm::from_name(text).ok_or_else(|| "expected godel, product or lukasiewicz".to_owned())
}

fn parse_calibration(text: &str) -> Result<Calibration, String> {
    let names: Vec<&str> = Calibration::ALL.iter().map(|calibration| calibration.name()).collect();
    Calibration::from_name(text).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale: &f32| scale.is_finite() && *scale > 0.0);
    scale.ok_or_else(|| "expected a number above 0".to_owned())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds".to_owned())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let model = ModelFolder::of(&project, &args.model)?.load(&project)?.model;
    let graph = project.graph();
    let asker = Asker { args, graph, model: &model, statistics: Statistics::new(graph) };
    let mut out = std::io::stdout().lock();
    if args.query == "-" {
        for line in std::io::stdin().lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let answered = match asker.answer(&line) {
                Ok((question, answers)) => as_json(&line, graph, &question, &answers),
                // One bad question must not lose the answers to the others.
                Err(Failure::Mistakes(mistakes)) => json!({ "query": line, "error": mistakes.to_string() }),
                Err(Failure::Search(error)) => json!({ "query": line, "error": error.to_string() }),
            };
            writeln!(out, "{answered}")?;
        }
        return Ok(());
    }
    let (question, answers) = asker.answer(&args.query).map_err(|failure| match failure {
        Failure::Mistakes(mistakes) => misuse(&mistakes),
        Failure::Search(error @ SearchError::NotANumber) => error.into(),
        Failure::Search(error) => Misuse(error.to_string()).into(),
    })?;
    if args.json {
        writeln!(out, "{:#}", as_json(&args.query, graph, &question, &answers))?;
    } else {
        write!(out, "{}", as_text(graph, &question, &answers, args.new_only))?;
    }
    Ok(())
}

/// Everything that many questions share.
struct Asker<'a> {
    args: &'a Args,
    graph: &'a Graph,
    model: &'a Model,
    statistics: Statistics<'a>,
}

enum Failure {
    Mistakes(Mistakes),
    Search(SearchError),
}

impl Asker<'_> {
    fn answer(&self, text: &str) -> Result<(Question, Answers), Failure> {
        let args = self.args;
        let syntax = if args.sparql { Syntax::Sparql } else { Syntax::detect(text) };
        let question = read(text, syntax, self.graph, Limits::default()).map_err(Failure::Mistakes)?;
        let options = PlanOptions { beam: args.k.max(1), rank_all: args.paper };
        let plan = Plan::new(&question.checked, &self.statistics, options);
        let wanted = question.limit.unwrap_or(args.top);
        let how = Ask {
            method: match args.method.as_str() {
                "exact" => Method::Exact,
                "beam" => Method::Beam,
                "continuous" => Method::Continuous,
                _ if args.paper => Method::Beam,
                _ => Method::Auto,
            },
            width: Width { k: args.k, paper: args.paper },
            continuous: ContinuousSettings::default(),
            logic: Logic { t_norm: args.t_norm, negation: Negation { scale: args.negation_scale } },
            calibration: args.calibration,
            known: match args.known.as_str() {
                "ignore" => Known::Ignore,
                "train" => Known::TRAIN,
                _ => Known::ALL,
            },
            top: wanted.saturating_add(question.offset),
            new_only: args.new_only,
            explain: args.explain,
            budget: Budget {
                rows: args.max_rows,
                until: args.timeout.map(|timeout| Instant::now() + timeout),
            },
        };
        let mut answers = ask(&plan, self.model, self.graph, &how).map_err(Failure::Search)?;
        answers.answers.drain(..question.offset.min(answers.answers.len()));
        Ok((question, answers))
    }
}

fn certainty_text(answers: &Answers) -> String {
    match answers.certainty {
        Certainty::Exact { within } if within > 0.0 => format!("proven exact to {within:.0e}"),
        Certainty::Exact { .. } => "proven exact".to_owned(),
        Certainty::Beam => "the best of a beam".to_owned(),
        Certainty::Continuous { steps } => format!("continuous optimisation, {steps} steps"),
        Certainty::Stopped => "stopped early: the best so far".to_owned(),
    }
}

pub(super) fn as_text(graph: &Graph, question: &Question, answers: &Answers, new_only: bool) -> String {
    let shape = question.checked.shape.map_or("general", |shape| shape.name());
    let mut text = format!(
        "{}\n{shape}, {}, {} rows scored\n\n",
        question.checked.query.named(graph),
        certainty_text(answers),
        answers.rows
    );
    if answers.answers.is_empty() {
        text += if new_only { "no new answer\n" } else { "no answer\n" };
    }
    for (rank, answer) in answers.answers.iter().enumerate() {
        let known = if answer.known { "known" } else { "predicted" };
        let place = rank + 1 + question.offset;
        text +=
            &format!("{place:>3}. {:<50} {:.4}  {known}\n", graph.entity_shown(answer.entity), answer.score);
        if let Some(explanation) = &answer.explanation {
            text += &explanation_text(graph, question, explanation);
        }
    }
    text
}

fn explanation_text(graph: &Graph, question: &Question, explanation: &Explanation) -> String {
    let normal_form = &question.checked.normal_form;
    let mut lines = Vec::new();
    if explanation.branch_scores.len() > 1 {
        let scores: Vec<String> =
            explanation.branch_scores.iter().map(|score| format!("{score:.4}")).collect();
        lines.push(format!(
            "alternative {} of {} ({})",
            explanation.branch + 1,
            scores.len(),
            scores.join(", ")
        ));
    }
    for atom in &explanation.atoms {
        let edge = atom.edge;
        let known = atom.known.map_or_else(|| "predicted".to_owned(), |split| format!("known, {split}"));
        let not = if atom.negated { "not " } else { "" };
        lines.push(format!(
            "{not}{}({}, {})  {:.4}  {known}",
            graph.relation_text(edge.relation),
            graph.entity_text(edge.head),
            graph.entity_text(edge.tail),
            atom.truth
        ));
    }
    for truth in &explanation.sub_queries {
        lines.push(format!("not a sub-query  {truth:.4}"));
    }
    for other in &explanation.alternatives {
        let values = other.assignment.iter().filter(|(id, _)| *id != normal_form.target);
        let values: Vec<String> = values
            .map(|&(id, value)| format!("{} = {}", normal_form.variable_name(id), graph.entity_text(value)))
            .collect();
        if !values.is_empty() {
            lines.push(format!("or by {}  {:.4}", values.join(", "), other.score));
        }
    }
    let last = lines.len().saturating_sub(1);
    let branch = |index| if index == last { "└─" } else { "├─" };
    lines.iter().enumerate().map(|(index, line)| format!("     {} {line}\n", branch(index))).collect()
}

fn as_json(text: &str, graph: &Graph, question: &Question, answers: &Answers) -> Value {
    let name = |id| graph.entities.name(id);
    let normal_form = &question.checked.normal_form;
    let assignment = |values: &[(relatum::query::VariableId, relatum::graph::EntityId)]| {
        let pairs =
            values.iter().map(|&(id, value)| (normal_form.variable_name(id).to_owned(), json!(name(value))));
        pairs.collect::<serde_json::Map<_, _>>()
    };
    let explained = |explanation: &Explanation| {
        let atom = |atom: &relatum::answer::ExplainedAtom| {
            json!({
                "relation": graph.relations.name(atom.edge.relation),
                "subject": name(atom.edge.head),
                "object": name(atom.edge.tail),
                "negated": atom.negated,
                "truth": atom.truth,
                "known": atom.known.map(relatum::graph::Split::name),
            })
        };
        let other = |other: &relatum::answer::Alternative| json!({ "assignment": assignment(&other.assignment), "score": other.score });
        json!({
            "branch": explanation.branch,
            "branch_scores": explanation.branch_scores,
            "score": explanation.score,
            "assignment": assignment(&explanation.assignment),
            "atoms": explanation.atoms.iter().map(atom).collect::<Vec<_>>(),
            "sub_queries": explanation.sub_queries,
            "alternatives": explanation.alternatives.iter().map(other).collect::<Vec<_>>(),
        })
    };
    let answer = |answer: &relatum::answer::Answer| {
        json!({
            "name": name(answer.entity),
            "label": graph.entities.label(answer.entity),
            "score": answer.score,
            "known": answer.known,
            "explanation": answer.explanation.as_ref().map(explained),
        })
    };
    json!({
        "query": text,
        "shape": question.checked.shape.map_or("general", |shape| shape.name()),
        "certainty": certainty_text(answers),
        "rows": answers.rows,
        "answers": answers.answers.iter().map(answer).collect::<Vec<_>>(),
    })
}
