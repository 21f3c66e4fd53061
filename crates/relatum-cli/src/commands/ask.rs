//! `relatum ask`: answers, with reasons.

mod flags;
mod many;
mod show;

use std::io::Write;
use std::path::PathBuf;

use relatum::answer::{Answers, Ask, ask};
use relatum::benchmark::{Family, Results, Setting, Tuned};
use relatum::graph::Graph;
use relatum::model::{Model, ModelFolder};
use relatum::plan::{Plan, PlanOptions, Statistics};
use relatum::query::{Mistakes, Question, Style, Syntax, read};
use relatum::search::SearchError;
use relatum::store::Project;

use super::plan::{message, misuse};
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

pub(super) use flags::Flags;
pub(super) use many::next_line;
pub(super) use show::{Columns, as_json, as_text, explanation_text, header};

/// Answer questions with a trained model
///
/// A question is text, `?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)`, a SPARQL
/// SELECT, or a nested tuple of the benchmark files. Many questions, one a line, come from a file
/// with --file or from standard input with `-`; each is answered by one line of JSON, in the same
/// order, and one that is wrong does not stop the others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum ask movies/ '?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)' --explain
  relatum ask movies/ '?F : directed_by(F, \"Stanley Kubrick\")' --dot | dot -Tsvg > answers.svg
  relatum ask movies/ --file questions.txt --top 3 > answers.jsonl")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The question, or - for many from standard input
    #[arg(allow_hyphen_values = true, required_unless_present = "file")]
    query: Option<String>,
    /// A file of questions, one a line; blank lines and lines that begin with # are passed over
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
    // Before the model, which may take long to load, and so that a wrong path is no half-done work.
    let questions = if query.is_none() { Some(many::Questions::open(args.file.as_deref())?) } else { None };
    args.flags.refuse_nonsense()?;
    let project = Project::open(&args.dir)?;
    let asker = Asker::new(&project, &args.flags.model)?;
    if let Some(questions) = questions {
        return many::answer(&asker, &args.flags, questions);
    }
    let query = query.unwrap_or_default();
    // From now on Ctrl-C ends the search with what it has found.
    signals::watch()?;
    let (question, answers) = asker.answer(query, &args.flags).map_err(Failure::into_error)?;
    let mut out = output::out(args.flags.json);
    write!(out, "{}", rendered(&asker, query, &question, &answers, &args.flags))?;
    out.flush()?;
    if signals::stop_requested() { Err(Stopped.into()) } else { Ok(()) }
}

/// The answers as the flags want them.
pub(super) fn rendered(
    asker: &Asker<'_>,
    query: &str,
    question: &Question,
    answers: &Answers,
    flags: &Flags,
) -> String {
    let graph = asker.graph;
    if flags.json {
        format!("{:#}\n", as_json(query, graph, question, &asker.how(question, flags), answers))
    } else if flags.dot {
        answers.to_dot(&question.checked.normal_form, graph, question.offset + 1)
    } else {
        as_text(
            graph,
            question,
            answers,
            flags.new_only,
            flags.caveat().or_else(|| asker.remark(question, flags)),
        )
    }
}

/// Everything that many questions share.
pub(super) struct Asker<'a> {
    pub(super) graph: &'a Graph,
    pub(super) model: Model,
    statistics: Statistics<'a>,
    /// What `relatum tune` chose by type of question; none where it never ran for this model.
    tuned: Option<Tuned>,
}

/// Why there is no answer.
pub(super) enum Failure {
    Mistakes(Mistakes),
    Search(SearchError),
}

impl Failure {
    /// The error to end with.
    pub(super) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Mistakes(mistakes) => misuse(&mistakes),
            Self::Search(error @ SearchError::NotANumber) => error.into(),
            Self::Search(error) => Misuse(error.to_string()).into(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mistakes(mistakes) => f.write_str(&message(mistakes, Style::Plain)),
            Self::Search(error) => error.fmt(f),
        }
    }
}

impl<'a> Asker<'a> {
    pub(super) fn new(project: &'a Project, name: &str) -> anyhow::Result<Self> {
        let graph = project.graph();
        let folder = ModelFolder::of(project, name)?;
        let model = folder.load(project)?.model;
        let results = Results::find(folder.dir(), &model);
        // What was tuned is a help that can be done without: everything has a default.
        let results = results.unwrap_or_else(|error| {
            output::say(&format!("warning: what `relatum tune` chose is not used: {error}"));
            None
        });
        let tuned = results.and_then(|results| results.tuned(Family::Best).cloned());
        Ok(Self { graph, model, statistics: Statistics::new(graph), tuned })
    }

    /// What people should know of how the answers came about.
    fn remark(&self, question: &Question, flags: &Flags) -> Option<String> {
        let Setting { t_norm, calibration, sharpness, .. } = self.tuned(question, flags)?;
        let shape = question.checked.shape?.name();
        let sharpness = if sharpness.to_bits() == 1f32.to_bits() {
            String::new()
        } else {
            format!(", sharpness {sharpness}")
        };
        Some(format!("tuned for {shape} questions: {t_norm}, {calibration}{sharpness}"))
    }

    /// What was tuned for questions of this type, if the flags leave it open.
    pub(super) fn tuned(&self, question: &Question, flags: &Flags) -> Option<&Setting> {
        let shape = question.checked.shape?.name();
        let choice = self.tuned.as_ref()?.types.get(shape)?;
        Some(&choice.setting).filter(|_| flags.wants_tuning())
    }

    pub(super) fn read(&self, text: &str, flags: &Flags) -> Result<Question, Failure> {
        let syntax = if flags.sparql { Syntax::Sparql } else { Syntax::detect(text) };
        read(text, syntax, self.graph, flags.limits()).map_err(Failure::Mistakes)
    }

    pub(super) fn plan(&self, question: &Question, flags: &Flags) -> Plan {
        let options =
            PlanOptions { beam: flags.k(), either_side: flags.either_side, ..PlanOptions::default() };
        Plan::new(&question.checked, &self.statistics, options)
    }

    /// What the engine is told; the time for the answer begins now.
    pub(super) fn how(&self, question: &Question, flags: &Flags) -> Ask {
        let wanted = flags.wanted(question.limit);
        flags.resolve(wanted.saturating_add(question.offset), self.tuned(question, flags))
    }

    pub(super) fn answer(&self, text: &str, flags: &Flags) -> Result<(Question, Answers), Failure> {
        let question = self.read(text, flags)?;
        let answers = self.answer_question(&question, flags)?;
        Ok((question, answers))
    }

    pub(super) fn answer_question(&self, question: &Question, flags: &Flags) -> Result<Answers, Failure> {
        let plan = self.plan(question, flags);
        let mut answers =
            ask(&plan, &self.model, self.graph, &self.how(question, flags)).map_err(Failure::Search)?;
        answers.answers.drain(..question.offset.min(answers.answers.len()));
        Ok(answers)
    }
}
