//! `relatum-cluster ask`: answers, with the lists of a cluster.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use relatum::answer::SharedSource;
use relatum::control::Control;
use relatum::search::SearchError;
use relatum::{Engine, Error, Options};
use relatum_cluster::health;
use relatum_cluster::rounds::Rounds;
use relatum_cluster::source::ClusterSource;
use serde_json::{Value, json};

use super::questions::{self, Line};
use super::{opened, runtime, shards_of};
use crate::exit::{self, Misuse, say};

/// Answer questions with the lists of a cluster
///
/// The same questions, the same answers and the same JSON as `relatum ask --method lists`. Many questions, one a line,
/// come from a file and are answered side by side: those that ask at the same moment share a round.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scheduler, host:port
    scheduler: String,
    /// The project folder: its graph, and the model whose shards the cluster scores
    dir: PathBuf,
    /// The question
    #[arg(required_unless_present = "file", allow_hyphen_values = true)]
    query: Option<String>,
    /// A file of questions, one a line, or - for standard input; answers are lines of JSON in the same order
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    file: Option<PathBuf>,
    /// The place of the shards [default: where `relatum-cluster shard` wrote them]
    #[arg(long, value_name = "FOLDER")]
    shards: Option<String>,
    /// Give up when the scheduler has had no executors for so long
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    wait: u64,
    /// How many questions are answered side by side
    #[arg(long, default_value_t = 64, value_parser = parse_batch)]
    batch: usize,
    #[command(flatten)]
    flags: Flags,
    /// One question as JSON too
    #[arg(long)]
    json: bool,
}

/// How to answer; what is left out is chosen as `relatum ask` does.
#[derive(Clone, Debug, clap::Args)]
struct Flags {
    /// The name of the model [default: the project's]
    #[arg(long)]
    model: Option<String>,
    /// How many answers
    #[arg(long)]
    top: Option<usize>,
    /// Say why each answer is one
    #[arg(long)]
    explain: bool,
    /// Leave out answers that stored edges alone give
    #[arg(long)]
    new_only: bool,
    /// How truth values combine: godel, product or lukasiewicz
    #[arg(long)]
    t_norm: Option<String>,
    /// How scores become truth values: softmax-count, softmax, fitted, sigmoid, minmax or adaptive
    #[arg(long)]
    calibration: Option<String>,
    /// Which stored edges count as true: all, train+valid, train or none
    #[arg(long)]
    known: Option<String>,
    /// The factor of predictions of a wrong kind
    #[arg(long)]
    unseen: Option<f32>,
    /// How much a negated atom counts: 1 − min(1, c·φ)
    #[arg(long, value_name = "C")]
    negation_scale: Option<f32>,
    /// The rules that speak beside the model [default: those named default, if there are any]
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// What speaks for an edge that is not stored: model, rules or both
    #[arg(long)]
    evidence: Option<String>,
    /// End each question after so many seconds with the best so far; a round that is on its way is waited for
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    timeout: Option<Duration>,
}

impl Flags {
    /// The engine's own names decide what a word means, and its message says what it could be.
    fn options(&self) -> anyhow::Result<Options> {
        let mut fields = json!({ "explain": self.explain, "new_only": self.new_only, "method": "lists" });
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields[name] = value;
            }
        };
        set("model", self.model.clone().map(Value::from));
        set("top", self.top.map(Value::from));
        set("t_norm", self.t_norm.clone().map(Value::from));
        set("calibration", self.calibration.clone().map(Value::from));
        set("known", self.known.clone().map(Value::from));
        set("unseen", self.unseen.map(Value::from));
        set("negation_scale", self.negation_scale.map(Value::from));
        set("rules", self.rules.clone().map(Value::from));
        set("evidence", self.evidence.clone().map(Value::from));
        let options: Options = serde_json::from_value(fields).map_err(|error| Misuse(error.to_string()))?;
        let resolved = options.resolve(None, None).map_err(Error::from)?;
        if !resolved.ask.calibration.is_truth() {
            return Err(Error::from(SearchError::RawScores).into());
        }
        Ok(options)
    }

    fn control(&self) -> Control {
        let until = self.timeout.and_then(|limit| Instant::now().checked_add(limit));
        until.map_or_else(Control::default, |until| Control::default().with_deadline(until))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // What can be wrong with the command is said before anything is waited for.
    let options = args.flags.options()?;
    let questions = args.file.as_deref().map(questions::read).transpose()?;
    let address = health::checked_address(&args.scheduler)?;
    let engine = opened(&args.dir)?;
    if let Some(query) = &args.query {
        engine.read(query, &options)?;
    }
    let threads = runtime()?;
    let wait = Duration::from_secs(args.wait);
    let rounds = threads.block_on(async {
        let (place, manifest) =
            shards_of(&engine, args.flags.model.as_deref(), args.shards.as_deref()).await?;
        Ok::<_, anyhow::Error>(Rounds::connect(&address, &place, manifest, wait).await?)
    })?;
    let source = Arc::new(ClusterSource::new(&engine, rounds, threads)?);
    if let Some(questions) = questions {
        return many(args, &engine, &source, &options, &questions);
    }
    let shared = SharedSource(source);
    let reply = engine.ask_from(
        &shared,
        args.query.as_deref().unwrap_or_default(),
        &options,
        &args.flags.control(),
    )?;
    let text = if args.json { serde_json::to_string_pretty(&reply)? + "\n" } else { reply.to_string() };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Answers every line, in their order, each as soon as it and all before it are there.
fn many(
    args: &Args,
    engine: &Engine,
    source: &Arc<ClusterSource>,
    options: &Options,
    questions: &[Line],
) -> anyhow::Result<()> {
    let shared = SharedSource(Arc::clone(source) as _);
    let next = AtomicUsize::new(0);
    let (sender, answers) = mpsc::channel();
    let began = Instant::now();
    let mut failed = 0;
    std::thread::scope(|scope| {
        for _ in 0..args.batch.min(questions.len()) {
            let (sender, next, shared) = (sender.clone(), &next, &shared);
            scope.spawn(move || {
                while let Some(line) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = line.number;
                    let answer = answered(engine, shared, options, &args.flags, line);
                    if sender.send((at, answer)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = std::collections::BTreeMap::new();
        let mut waited_for = questions.iter().map(|line| line.number);
        let mut expected = waited_for.next();
        let mut done = 0;
        let mut out = std::io::stdout().lock();
        for (at, answer) in answers {
            early.insert(at, answer);
            while let Some((json, is_answer)) = expected.and_then(|at| early.remove(&at)) {
                writeln!(out, "{json}")?;
                out.flush()?;
                done += 1;
                failed += usize::from(!is_answer);
                expected = waited_for.next();
            }
            progress(done, questions.len(), source, began);
        }
        Ok::<(), std::io::Error>(())
    })?;
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    let totals = source.totals();
    say(&format!(
        "{} questions in {:.1} s: {} rounds of {} rows in all, {:.1} MB between tasks",
        questions.len(),
        began.elapsed().as_secs_f64(),
        totals.rounds,
        totals.rows,
        totals.bytes as f64 / 1e6
    ));
    if let Some(failure) = source.failure() {
        anyhow::bail!(
            "{failed} of {} questions have no answer, and the output says why under \"error\": {failure}",
            questions.len()
        );
    }
    if failed > 0 {
        anyhow::bail!(
            "{failed} of {} questions could not be answered: the output says why under \"error\"",
            questions.len()
        );
    }
    Ok(())
}

fn answered(
    engine: &Engine,
    source: &SharedSource,
    options: &Options,
    flags: &Flags,
    line: &Line,
) -> (Value, bool) {
    let query = line.text.as_deref().unwrap_or_default();
    let outcome = match &line.text {
        Err(error) => Err(error.clone()),
        Ok(text) => engine.ask_from(source, text, options, &flags.control()).map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
            exit::remedy(&error).map_or(text.clone(), |remedy| format!("{text} ({remedy})"))
        }),
    };
    let outcome = outcome.and_then(|reply| serde_json::to_value(reply).map_err(|error| error.to_string()));
    let is_answer = outcome.is_ok();
    let mut json = outcome.unwrap_or_else(|error| json!({ "query": query, "error": error }));
    json["line"] = json!(line.number);
    (json, is_answer)
}

fn progress(done: usize, all: usize, source: &ClusterSource, began: Instant) {
    if std::io::stderr().is_terminal() {
        let (rounds, seconds) = (source.totals().rounds, began.elapsed().as_secs_f64());
        eprint!("\r{done} of {all} questions · {rounds} rounds · {seconds:.0} s ");
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a number of seconds, from 0 to 1000000000".to_owned())
}

fn parse_batch(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=1024).contains(count))
        .ok_or_else(|| "expected a number from 1 to 1024".to_owned())
}
