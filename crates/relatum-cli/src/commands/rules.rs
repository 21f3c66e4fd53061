//! `relatum rules`: mines rules and shows them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use relatum::control::Control;
use relatum::engine::{RuleOptions, RulesMade, ShowRules};
use relatum::model::rules::RuleError;
use relatum::report::{RuleList, ShownRule};
use relatum::train::rules::{MiningProgress, MiningStage, RuleWeights};
use relatum::{Engine, Error};

use super::train::use_threads;
use crate::exit::Stopped;
use crate::{output, signals};

/// The flags that say how to mine: whoever does something else would give them in vain.
const MINING: [&str; 6] = ["seconds", "paths", "seed", "max_length", "max_memory", "resume"];

/// Mine rules, a second kind of evidence that says why an edge is likely; or show, read and write them
///
/// Rules between two variables have up to three atoms, `h(X, Y) ← b1(X, A), b2(A, Y)`; rules with constants say
/// `h(X, c) ← b(X, d)`, `h(X, c) ← b(X, A)`, or what most things have, `h(X, c)`. Counts are exact but for bodies
/// of three atoms, which are found by drawing paths around training edges and judged by a sample. Which rules
/// say the same thing, and how much rules count beside the model, is learned on validation edges.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum rules movies/                                     mine, then learn what they count
  relatum rules movies/ --show has_genre --about 'Eddie Murphy'
  relatum rules movies/ --export rules.txt                  in the form that AnyBURL reads
  relatum rules movies/ --import rules.txt --name by-hand
  relatum rules movies/ --delete by-hand
  relatum link-eval movies/ --evidence both
  relatum ask movies/ '?F : directed_by(F, \"Stanley Kubrick\")' --evidence both --explain")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the rules
    #[arg(long, value_name = "NAME", default_value = "default")]
    name: String,
    /// Draw paths for bodies of three atoms for so many seconds, once the shorter ones are counted; what is then found
    /// depends on the machine. Clusters are learned after that
    #[arg(long, value_name = "S", conflicts_with = "paths", value_parser = clap::value_parser!(u64).range(1..=864_000))]
    seconds: Option<u64>,
    /// Draw so many paths for bodies of three atoms [default: 8000 for each relation]
    #[arg(long, value_name = "N")]
    paths: Option<u64>,
    /// What is drawn: an equal seed and number of paths give equal bytes [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// The most atoms of a body [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    max_length: Option<u8>,
    /// Megabytes for the training edges as mining needs them and, at 160 bytes a rule, for the rules that are held: where
    /// there is not room for all of them, each relation keeps its most confident ones. The graph itself, tables of counts
    /// and the learning of clusters come on top [default: 2048, or of a run that is resumed, as it was begun]
    #[arg(long, value_name = "MB")]
    max_memory: Option<usize>,
    /// Go on with a run that was stopped, as it was begun, or draw more --paths, or --seconds longer, after one that was
    /// not
    #[arg(long, conflicts_with = "restart")]
    resume: bool,
    /// Replace rules of the same name
    #[arg(long)]
    restart: bool,
    /// Show the rules that predict this relation, the most confident first
    #[arg(long, value_name = "RELATION", conflicts_with_all = MINING)]
    #[arg(conflicts_with_all = ["import", "export", "weigh", "restart", "model"])]
    show: Option<String>,
    /// Show only rules that speak of this entity
    #[arg(long, value_name = "ENTITY", requires = "show")]
    about: Option<String>,
    /// How many rules to show
    #[arg(long, value_name = "N", default_value_t = 20, requires = "show")]
    top: usize,
    /// Print the rules that are shown as JSON
    #[arg(long, requires = "show")]
    json: bool,
    /// Print the rules that are shown as comma-separated values
    #[arg(long, requires = "show", conflicts_with = "json")]
    csv: bool,
    /// Read rules from a file instead of mining them: lines of predicted, correct, confidence and rule,
    /// separated by tabs, as `AnyBURL` writes them
    #[arg(long, value_name = "FILE", conflicts_with_all = MINING, conflicts_with = "export")]
    import: Option<PathBuf>,
    /// Write the rules to a file in that form; - for standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = MINING)]
    #[arg(conflicts_with_all = ["restart", "model"])]
    export: Option<PathBuf>,
    /// Learn only how much the rules count beside a model
    #[arg(long, conflicts_with_all = MINING)]
    #[arg(conflicts_with_all = ["import", "export", "restart"])]
    weigh: bool,
    /// Delete these rules, and what every model says of how much they count
    #[arg(long, value_name = "NAME", conflicts_with_all = MINING)]
    #[arg(conflicts_with_all = ["name", "show", "import", "export", "weigh", "restart", "model", "threads"])]
    delete: Option<String>,
    /// The model beside which rules are weighed [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    if let Some(name) = &args.delete {
        engine.delete_rules(name)?;
        output::say(&format!("deleted the rules `{name}`"));
        return Ok(());
    }
    if let Some(relation) = &args.show {
        return show(args, &engine, relation);
    }
    if let Some(file) = &args.export {
        return export(args, &engine, file);
    }
    let control = watched(signals::watched_control()?);
    if args.weigh {
        return weigh(args, &engine, &control, true);
    }
    // A model that was named must be there, and it is before the work that this is said.
    let has_model = match engine.model(args.model.as_deref()) {
        Err(error) if args.model.is_some() => return Err(error.into()),
        model => model.is_ok(),
    };
    let made = match &args.import {
        Some(file) => import(args, &engine, file, &control)?,
        None => mine(args, &engine, &control)?,
    };
    write!(output::out(false), "{}", summary(&made))?;
    if !made.finished {
        output::say(&format!(
            "stopped: `relatum rules {} --name {} --resume` goes on",
            output::typed(&args.dir),
            made.name
        ));
        return Err(Stopped.into());
    }
    if has_model {
        weigh(args, &engine, &control, false)?;
    }
    Ok(())
}

fn mine(args: &Args, engine: &Engine, control: &Control) -> anyhow::Result<RulesMade> {
    let options = RuleOptions {
        name: Some(args.name.clone()),
        seed: args.seed,
        max_length: args.max_length.map(usize::from),
        paths: args.paths,
        time: args.seconds.map(Duration::from_secs),
        memory: args.max_memory.map(|megabytes| megabytes.saturating_mul(1 << 20)),
        resume: args.resume,
        restart: args.restart,
    };
    Ok(engine.mine_rules(&options, control)?)
}

fn import(args: &Args, engine: &Engine, file: &Path, control: &Control) -> anyhow::Result<RulesMade> {
    let source = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let made = engine
        .import_rules(BufReader::new(source), file, Some(&args.name), args.restart, control)
        .map_err(|error| match error {
            // It names the file itself.
            Error::Rules(RuleError::Empty { .. }) => anyhow::Error::from(error),
            error => anyhow::Error::from(error).context(file.display().to_string()),
        })?;
    if let Some((count, line, text)) = &made.passed_over {
        output::say(&format!(
            "note: passed over {} of a form that is not known here, the first in line {line}: {text}",
            output::counted(*count as u64, "rule")
        ));
    }
    Ok(made)
}

fn export(args: &Args, engine: &Engine, file: &Path) -> anyhow::Result<()> {
    if file == Path::new("-") {
        engine.export_rules(Some(&args.name), &mut output::out(true))?;
        return Ok(());
    }
    let exists = || format!("{} is there already: choose another name", file.display());
    anyhow::ensure!(!file.exists(), crate::exit::Misuse(exists()));
    // The rules first: where there are none, no file is made.
    engine.rules(Some(&args.name))?;
    let out = File::create_new(file).with_context(|| format!("cannot write {}", file.display()))?;
    let count = engine.export_rules(Some(&args.name), &mut BufWriter::new(out))?;
    writeln!(output::out(false), "wrote {} to {}", output::counted(count as u64, "rule"), file.display())?;
    Ok(())
}

fn weigh(args: &Args, engine: &Engine, control: &Control, asked: bool) -> anyhow::Result<()> {
    let learned = engine.weigh_rules(args.model.as_deref(), Some(&args.name), control)?;
    let name = args.model.clone().unwrap_or_else(|| engine.default_model());
    let Some(learned) = learned else {
        if signals::stop_requested() {
            output::say("stopped: the weights are as they were");
            return Err(Stopped.into());
        }
        let text = format!(
            "there are no validation edges to learn by how much rules count: they have the weight {}",
            RuleWeights::DEFAULT
        );
        if asked {
            writeln!(output::out(false), "{text}")?;
        } else {
            output::say(&format!("note: {text}"));
        }
        return Ok(());
    };
    let [alone, both] = learned.mrr;
    writeln!(
        output::out(false),
        "weighed beside `{name}`: MRR {alone:.4} by the model alone, {both:.4} with rules, on {} to choose by",
        output::counted(learned.edges as u64, "validation edge")
    )?;
    let silent = learned.weights.iter().filter(|weight| **weight <= 0.0).count();
    if silent > 0 {
        output::say(&format!(
            "note: rules count nothing for {silent} of {} directions of relations, where they rank validation edges \
             no better",
            learned.weights.len()
        ));
    }
    Ok(())
}

fn show(args: &Args, engine: &Engine, relation: &str) -> anyhow::Result<()> {
    let list = engine.show_rules(&ShowRules {
        rules: Some(args.name.clone()),
        relation: relation.to_owned(),
        about: args.about.clone(),
        top: Some(args.top),
    })?;
    let mut out = output::out(args.json || args.csv);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &list)?;
        writeln!(out)?;
    } else if args.csv {
        write!(out, "{}", list.to_csv())?;
    } else {
        write!(out, "{}", as_text(&list))?;
    }
    Ok(())
}

fn as_text(list: &RuleList) -> String {
    let s = if list.found == 1 { "s" } else { "" };
    let about = list.about.as_ref().map(|entity| format!(" and speak{s} of {entity}")).unwrap_or_default();
    let rules = output::counted(list.found as u64, "rule");
    let mut text = format!("{rules} of `{}` predict{s} {}{about}\n", list.name, list.relation);
    for rule in &list.rules {
        text += &format!("{:>7.4}  {}\n         {}\n", rule.confidence, rule.rule, counts(rule));
        for (what, edges) in [("such as", &rule.examples), ("but not", &rule.against)] {
            if !edges.is_empty() {
                text += &format!("         {what} {}\n", edges.join(", "));
            }
        }
    }
    if list.found > list.rules.len() {
        let left = output::grouped(list.found - list.rules.len());
        text += &format!("  … and {left} more (--top {} lists all)\n", list.found);
    }
    text
}

fn counts(rule: &ShownRule) -> String {
    let (correct, predicted) =
        (output::grouped(rule.correct as usize), output::grouped(rule.predicted as usize));
    match rule.error {
        Some(error) => format!("held for about {correct} of {predicted} (± {error:.4} of the share)"),
        None => format!("held for {correct} of {predicted}"),
    }
}

fn summary(made: &RulesMade) -> String {
    let [one, two, three, named] = made.kinds.map(output::grouped);
    let drawn = match made.paths {
        0 => String::new(),
        paths => format!("; {} drawn in all", output::counted(paths, "path")),
    };
    let valid = made.valid.map_or_else(String::new, |(mrr, edges)| {
        format!("; alone they have MRR {mrr:.4} on {}", output::counted(edges as u64, "validation edge"))
    });
    format!(
        "rules `{}`: {} ({one}, {two} and {three} with one, two and three atoms between variables, {named} with \
         constants) in {} of rules that say the same thing{drawn}{valid}\n",
        made.name,
        output::grouped(made.rules),
        output::counted(made.clusters as u64, "cluster"),
    )
}

/// Says now and then how far it is.
fn watched(control: Control) -> Control {
    let last = std::sync::Mutex::new((None, Instant::now()));
    control.on(move |progress: &MiningProgress| {
        let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        // A line for every part of the work, and one every ten seconds.
        if last.0 == Some(progress.stage) && now - last.1 < Duration::from_secs(10) {
            return;
        }
        *last = (Some(progress.stage), now);
        let MiningProgress { done, all, rules, .. } = *progress;
        let of = if all == 0 { String::new() } else { format!(" of {}", output::grouped(all as usize)) };
        let (what, unit) = match progress.stage {
            MiningStage::Constants => ("constants", "relations"),
            MiningStage::Short => ("one and two atoms", "relations"),
            MiningStage::Long => ("three atoms", "paths"),
            MiningStage::Clusters => ("validation", "relations"),
        };
        output::say(&format!(
            "{what:<18} {}{of} {unit}, {}",
            output::grouped(done as usize),
            output::counted(rules as u64, "rule")
        ));
    })
}
