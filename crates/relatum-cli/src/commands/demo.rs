//! `relatum demo`: the embedded films, unpacked and asked.

use std::io::Write;
use std::path::{Path, PathBuf};

use relatum::graph::{Graph, Split, Triple, films};
use relatum::store::{Project, Queries, Source, Staging, StoreError};

use crate::output;

/// Unpack the embedded graph of films and ask it three questions
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder to make; one that an earlier demo made is used again
    #[arg(default_value = "relatum-demo")]
    dir: PathBuf,
}

/// A relation asked for one of its ends.
enum Question {
    Tails(&'static str, &'static str, &'static str),
    Heads(&'static str, &'static str, &'static str),
}

const QUESTIONS: [Question; 3] = [
    Question::Heads("Which films star Martin Lawrence?", "stars", "Martin Lawrence"),
    Question::Heads("What did Alfred Hitchcock direct?", "directed_by", "Alfred Hitchcock"),
    Question::Tails("What genres does Bad Boys (1995) have?", "Bad Boys (1995)", "has_genre"),
];

/// True, and not in the training graph: what a stored graph alone cannot answer.
const HELD_OUT: (&str, &str, &str) = ("Bad Boys (1995)", "has_genre", "Thriller");

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = open_or_make(&args.dir)?;
    let graph = project.graph();
    let dir = output::typed(&args.dir);
    let mut out = std::io::stdout().lock();
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
    for question in &QUESTIONS {
        let (text, formula, answers) = answer(graph, question)?;
        writeln!(out, "\n{text}\n  {formula}")?;
        writeln!(out, "  {} known: {}", answers.len(), answers.join(" · "))?;
    }
    let (head, relation, tail) = HELD_OUT;
    let fact =
        Triple { head: graph.entity(head)?, relation: graph.relation(relation)?, tail: graph.entity(tail)? };
    if graph.edges(Split::Test).contains(fact) {
        writeln!(
            out,
            "\nThe graph does not say {relation}({head}, {tail}), though it is so: one of the held-out facts."
        )?;
    }
    writeln!(out, "\nGo on with:")?;
    writeln!(out, "  relatum stats {dir}")?;
    writeln!(out, "  relatum find {dir} hitchcock")?;
    writeln!(out, "  relatum describe {dir} 'Martin Lawrence'")?;
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

fn answer(graph: &Graph, question: &Question) -> anyhow::Result<(&'static str, String, Vec<String>)> {
    let train = graph.edges(Split::Train);
    let (text, formula, found): (_, _, Vec<_>) = match *question {
        Question::Tails(text, head, relation) => {
            let formula = format!("?A : {relation}('{head}', A)");
            (text, formula, train.tails(graph.entity(head)?, graph.relation(relation)?).collect())
        }
        Question::Heads(text, relation, tail) => {
            let formula = format!("?A : {relation}(A, '{tail}')");
            (text, formula, train.heads(graph.relation(relation)?, graph.entity(tail)?).collect())
        }
    };
    let mut answers: Vec<String> = found.into_iter().map(|entity| graph.entity_text(entity)).collect();
    answers.sort();
    Ok((text, formula, answers))
}
