//! `relatum ask`: answers, with reasons.

mod flags;
mod many;
mod progress;

use std::io::Write;
use std::path::{Path, PathBuf};

use relatum::report::AskedFor;
use relatum::{Engine, Error, Reply};

use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

pub(super) use flags::{AUTO, Auto, Flags, evidences, parse_positive, parse_seconds};
pub(super) use many::next_line;
pub(super) use progress::watched;

/// Answer questions with a trained model
///
/// A question is text, `?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)`, a SPARQL SELECT or
/// ASK, or a nested tuple of the benchmark files. A formula without target, `stars("Alien (1979)", "Sigourney
/// Weaver")`, asks how true it is; `?R : R("Alien (1979)", "Ridley Scott")` which relations hold. Many
/// questions, one a line, come from a file with --file or from standard input with `-`; each is answered by
/// one line of JSON, in the same order, and one that is wrong does not stop the others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum ask movies/ '?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)' --explain
  relatum ask movies/ 'has_genre(\"Alien (1979)\", Comedy)'
  relatum ask movies/ '?F : directed_by(F, \"Stanley Kubrick\")' --dot | dot -Tsvg > answers.svg
  relatum ask movies/ --file questions.txt --top 3 > answers.jsonl")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The question, or - for many from standard input
    #[arg(allow_hyphen_values = true, required_unless_present = "file")]
    query: Option<String>,
    /// A file of questions, one a line; blank lines and lines that begin with # are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    file: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = match (&args.query, &args.file) {
        (Some(query), _) if query == "-" => None,
        (query, _) => query.as_deref(),
    };
    if query.is_none() && args.flags.dot {
        let message = "--dot draws the answers to one question; many questions are answered as JSON lines";
        return Err(Misuse(message.to_owned()).into());
    }
    // The questions are opened and the options checked before the model is loaded, which may take long.
    let questions = if query.is_none() { Some(many::Questions::open(args.file.as_deref())?) } else { None };
    args.flags.options().resolve(None, None).map_err(Error::from)?;
    let engine = Engine::open(&args.dir)?;
    warn(&args.dir, &engine, &args.flags)?;
    if let Some(questions) = questions {
        return many::answer(&engine, &args.flags, questions);
    }
    let query = query.unwrap_or_default();
    // From now on Ctrl-C ends the search, and the best answers so far are printed.
    signals::watch()?;
    let reply = watched(&engine, args.flags.control(), |control| {
        engine.ask_within(query, &args.flags.options(), control)
    })?;
    if args.flags.dot && reply.asked != AskedFor::Entities {
        let message = "--dot draws the answers to a question for entities: leave it out";
        return Err(Misuse(message.to_owned()).into());
    }
    let mut out = output::out(args.flags.json);
    write!(out, "{}", rendered(&reply, &args.flags)?)?;
    out.flush()?;
    if signals::stop_requested() { Err(Stopped.into()) } else { Ok(()) }
}

/// Warns on standard error if the training of the model that will answer is not finished.
pub(super) fn warn(dir: &Path, engine: &Engine, flags: &Flags) -> anyhow::Result<()> {
    warn_of_model(dir, engine, flags.model.as_deref())
}

/// The same for the model of a name.
pub(super) fn warn_of_model(dir: &Path, engine: &Engine, name: Option<&str>) -> anyhow::Result<()> {
    let model = engine.model(name)?;
    if let Some(position) = &model.unfinished {
        let warning = super::model::warning(dir, &model.name, &model.card, position);
        output::say(&format!("warning: {warning}"));
    }
    Ok(())
}

/// The reply as the flags want it.
pub(super) fn rendered(reply: &Reply, flags: &Flags) -> anyhow::Result<String> {
    if flags.json {
        return Ok(serde_json::to_string_pretty(reply)? + "\n");
    }
    Ok(if flags.dot { reply.to_dot() } else { reply.to_string() })
}
