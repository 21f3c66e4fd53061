//! `relatum demo`: the embedded films, unpacked, trained on, asked and explained.

mod figure;

use std::io::Write;
use std::path::{Path, PathBuf};

use relatum::control::Control;
use relatum::engine::{RuleOptions, TrainingBegins};
use relatum::graph::{Graph, Split, films};
use relatum::model::{Model, Ties};
use relatum::project::{ModelFolder, Outcome, Project, Queries, RuleFolder, Source};
use relatum::search::Known;
use relatum::store::{Staging, StoreError};
use relatum::train::{GivenSettings, evaluate};
use relatum::{Engine, Options};
use relatum_server::Settings;

use super::model;
use super::training::Watch;
use crate::exit::Stopped;
use crate::{output, signals};

/// Unpack the embedded graph of films, train on it, ask it, and explain
///
/// Everything happens in one folder, which is an ordinary project afterwards.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder to make; one that an earlier demo made is used again
    #[arg(default_value = "relatum-demo")]
    dir: PathBuf,
    /// Then serve it, with its page, at `http://127.0.0.1:7878`
    #[arg(long)]
    serve: bool,
}

/// A question that the paper explains in a figure. Its other one, about Thomas Aquinas, is not about films.
const PAPERS_OWN: &str = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;

/// What is asked, and in which words.
const QUESTIONS: [(&str, &str); 4] = [
    ("In what genres of films did Martin Lawrence appear? (the paper's own example)", PAPERS_OWN),
    (
        "Who directed a film with Robert De Niro or Al Pacino?",
        r#"?D : exists F. directed_by(F, D) and (stars(F, "Robert De Niro") or stars(F, "Al Pacino"))"#,
    ),
    (
        "Who has played both in a film with Martin Lawrence and in one with Eddie Murphy?",
        r#"?A : exists F, G. stars(F, "Martin Lawrence") and stars(F, A) and stars(G, "Eddie Murphy") and stars(G, A)"#,
    ),
    (
        "Which crime films of Martin Scorsese are without Leonardo DiCaprio?",
        r#"?F : directed_by(F, "Martin Scorsese") and has_genre(F, Crime) and not stars(F, "Leonardo DiCaprio")"#,
    ),
];

/// Enough to predict well, and done in seconds.
const RANK: usize = 50;
const EPOCHS: usize = 20;
const COOL_DOWN: usize = 4;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::of(open_or_make(&args.dir)?);
    let graph = engine.graph();
    let dir = output::typed(&args.dir);
    let mut out = output::out(false);
    let [train, valid, test] = Split::ALL.map(|split| graph.edges(split).len() as u64);
    writeln!(out, "{dir}: well-known films, from Wikidata (CC0)")?;
    writeln!(
        out,
        "  {}, {}, {}; {} more are held out: true, but not in the graph",
        output::counted(graph.entities.len() as u64, "entity"),
        output::counted(graph.relations.len() as u64, "relation"),
        output::counted(train, "fact"),
        output::grouped(valid + test),
    )?;
    out.flush()?;
    self::train(&engine)?;
    recovered(&engine.model(Some(ModelFolder::DEFAULT))?.model, graph, &mut out)?;
    out.flush()?;
    self::rules(&engine, &mut out)?;
    for (words, text) in QUESTIONS {
        writeln!(out, "\n── {words}")?;
        answer(&engine, text, &mut out)?;
        if text == PAPERS_OWN {
            figure::print(&engine, text, &mut out)?;
        }
    }
    if args.serve {
        writeln!(out)?;
        out.flush()?;
        drop(out);
        return super::serve::listen(&args.dir, engine, Settings::default());
    }
    writeln!(out, "\nGo on with:")?;
    writeln!(out, "  relatum serve {dir}")?;
    writeln!(out, "  relatum ask {dir} '?G : has_genre(\"Alien (1979)\", G)' --known train --explain")?;
    writeln!(out, "  relatum repl {dir}")?;
    writeln!(out, "  relatum plan {dir} '?F : directed_by(F, \"Stanley Kubrick\")'")?;
    writeln!(out, "  relatum describe {dir} 'Martin Lawrence'")?;
    writeln!(out, "  relatum rules {dir} --show has_genre")?;
    writeln!(out, "  relatum train {dir} --model better")?;
    Ok(())
}

/// Trains the demo's model, unless an earlier demo did.
fn train(engine: &Engine) -> anyhow::Result<()> {
    let settings = GivenSettings {
        rank: Some(RANK),
        epochs: Some(EPOCHS),
        cool_down: Some(COOL_DOWN),
        eval_every: Some(EPOCHS),
        patience: Some(0),
        ..GivenSettings::default()
    };
    let watch = Watch::default();
    let control = signals::watched_control()?.on(introduce);
    let name = ModelFolder::DEFAULT;
    let trained = engine.train_if_missing(Some(name), &settings, &watch.over(control));
    watch.end();
    let dir = engine.project().dir();
    let Some(trained) = trained? else {
        // Somebody may have trained another model in its place.
        let open = engine.model(Some(name))?;
        if let Some(position) = &open.unfinished {
            output::say(&format!("warning: {}", model::warning(dir, name, &open.card, position)));
        }
        return Ok(());
    };
    if trained.outcome == Outcome::Interrupted {
        let dir = output::typed(dir);
        output::say(&format!("stopped {}; `relatum demo {dir}` goes on from here", trained.position));
        return Err(Stopped.into());
    }
    Ok(())
}

/// Mines rules that say why an edge is likely, unless an earlier demo did.
fn rules(engine: &Engine, out: &mut impl Write) -> anyhow::Result<()> {
    let name = RuleFolder::DEFAULT;
    let begun = engine.rules(Some(name));
    if begun.as_ref().is_ok_and(|rules| rules.card.finished) {
        return Ok(());
    }
    writeln!(out, "\n── Mining rules, which say why an edge is likely")?;
    out.flush()?;
    let options =
        RuleOptions { name: Some(name.to_owned()), restart: begun.is_ok(), ..RuleOptions::default() };
    let made = engine.mine_rules(&options, &signals::control())?;
    if !made.finished {
        output::say(&format!(
            "stopped; `relatum demo {}` goes on from here",
            output::typed(engine.project().dir())
        ));
        return Err(Stopped.into());
    }
    let weighed = engine.weigh_rules(Some(ModelFolder::DEFAULT), Some(name), &signals::control())?;
    let rules = output::counted(made.rules as u64, "rule");
    match weighed {
        Some(weights) => writeln!(
            out,
            "  {rules}; MRR on the validation facts: {:.3} by the predictor, {:.3} with rules beside it",
            weights.mrr[0], weights.mrr[1]
        )?,
        None => writeln!(out, "  {rules}")?,
    }
    Ok(())
}

fn introduce(begins: &TrainingBegins) {
    let mut text =
        format!("\n── Training a link predictor on single edges: ComplEx, rank {RANK}, {EPOCHS} epochs\n");
    if begins.resumed.is_some() {
        text += &format!("  going on where it was interrupted, {}\n", begins.position);
    }
    // Where standard output is closed, what comes later fails.
    let _ = write!(output::out(false), "{text}");
}

/// How many held-out facts the model finds among its first three guesses.
fn recovered(model: &Model, graph: &Graph, out: &mut impl Write) -> anyhow::Result<()> {
    let report = evaluate(model, graph, Split::Test, Ties::Mean);
    let all = report.overall;
    let found = (all.hits[1] * all.count as f64).round() as u64;
    writeln!(
        out,
        "  {} of the held-out facts, asked for from either end among all {}: {} of {} times in the top 3",
        output::grouped(graph.edges(Split::Test).len() as u64),
        output::counted(graph.entities.len() as u64, "entity"),
        output::grouped(found),
        output::grouped(all.count as u64),
    )?;
    Ok(())
}

/// Answers from the training graph and the model alone: the held-out facts are not looked at, but for saying
/// which predictions they confirm.
fn answer(engine: &Engine, text: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let from_training = Options { known: Some(Known::TRAIN), top: Some(5), ..Options::default() };
    let known = engine.ask(text, &from_training)?.answers.into_iter();
    let known: Vec<String> =
        known.filter(|answer| answer.known == Some(true)).map(|answer| answer.entity.shown()).collect();
    if !known.is_empty() {
        writeln!(out, "  already in the graph: {} …", known.join(" · "))?;
    }
    let new = Options { new_only: true, explain: true, top: Some(3), ..from_training };
    let new = engine.ask(text, &new)?;
    write!(out, "{new}")?;
    let with_all = Options { known: Some(Known::ALL), ..Options::default() };
    let mut confirmed = Vec::new();
    for answer in &new.answers {
        let all = engine.explain(text, &answer.entity.name, &with_all, &Control::default())?;
        if all.answers.first().is_some_and(|answer| answer.known == Some(true)) {
            confirmed.push(answer.entity.shown());
        }
    }
    match (new.answers.is_empty(), confirmed.is_empty()) {
        (true, _) => {}
        (_, true) => writeln!(out, "  held-out facts confirm none of these predictions")?,
        _ => writeln!(out, "  confirmed by held-out facts: {}", confirmed.join(" · "))?,
    }
    Ok(())
}

fn open_or_make(dir: &Path) -> anyhow::Result<Project> {
    let (graph, _) = films().finish();
    match Staging::begin(dir) {
        Ok(staging) => {
            let facts = Split::ALL.iter().map(|&split| graph.edges(split).len() as u64).sum();
            let source = Source {
                name: "embedded films".to_owned(),
                format: "TSV".to_owned(),
                split: None,
                triples: facts,
            };
            Project::create(staging, &graph, &Queries::default(), vec![source])?;
        }
        Err(exists @ StoreError::Exists(_)) => {
            // Only what is exactly the demo is used again; anything else there is somebody's own.
            let same = Project::open(dir).is_ok_and(|project| project.graph() == &graph);
            if !same {
                return Err(exists.into());
            }
        }
        Err(other) => return Err(other.into()),
    }
    Ok(Project::open(dir)?)
}
