//! `relatum sample`: new benchmark queries from a graph with splits.

use std::io::Write;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use relatum::Error;
use relatum::benchmark::{
    Pattern, PatternError, QueriesFound, QueryGroup, QuerySet, Sampled, Sampler, Sampling, Walks,
};
use relatum::export::write_betae;
use relatum::graph::{Graph, Split};
use relatum::model::Reciprocals;
use relatum::project::{Project, Queries};
use relatum::query::Shape;
use relatum::store::Staging;
use serde_json::json;

use super::train::use_threads;
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// Sample benchmark queries from a graph with splits, and store them in the project
///
/// Queries are found by walking back from a random answer, as the published generators do. A query
/// for validation has easy answers, which the training edges give, and at least one hard answer,
/// which needs a validation edge; for test, one that needs a test edge. No query comes twice, none
/// has two equal branches or a hop that the next one undoes. In a type with negation the held-out
/// edges refute an answer that the others give, which stays among the easy ones, as in the published
/// files; in a question of your own the negation takes some answer away.
///
/// Where the graph cannot supply as many queries as are wanted, those that were found are kept, a
/// warning says so, and the exit code is 0; it is 1 if there are none at all.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum sample movies/ --count 1000
  relatum sample movies/ --types 2p,3p,pni --count 500 --split test --replace
  relatum sample movies/ --query '?G : exists F. stars(F, _) and has_genre(F, G)' --add
  relatum sample movies/ --types 4p,5p --add --show 3
  relatum sample movies/ --query \"(('e',('r','r')),('e',('r','r')))\" --betae movies-betae/ --replace")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Query types, separated by commas: 1p 2p 3p 4p 5p 2i 3i ip pi 2u up 2in 3in inp pin pni
    /// [default: the fourteen of the literature, unless there is a --query]
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
    /// A question with _ in place of entities and relations, or a skeleton of the BetaE files
    #[arg(long, value_name = "QUESTION")]
    query: Vec<String>,
    /// How many queries of each type
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// For validation or for test [default: both, as far as there are edges]
    #[arg(long)]
    split: Option<SplitName>,
    /// Equal seeds give equal queries
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many answers a query may have, easy and hard together
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    max_answers: u32,
    /// How many walks to try for each type [default: 1000 for each query, at least 100000, until
    /// 100000 in a row find nothing new]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    attempts: Option<u64>,
    /// Keep the queries that the project has, and add types that it has not
    #[arg(long, conflicts_with = "replace")]
    add: bool,
    /// Replace the queries that the project has for the split
    #[arg(long)]
    replace: bool,
    /// Also write graph and queries as a new folder in the form of BetaE; a question in words is there
    /// as the type that it has
    #[arg(long, value_name = "FOLDER")]
    betae: Option<PathBuf>,
    /// Print so many queries of each type in words, with their answers
    #[arg(long, default_value_t = 0, value_name = "N")]
    show: usize,
    /// Print JSON
    #[arg(long, conflicts_with = "show")]
    json: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum SplitName {
    Valid,
    Test,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let project = Project::open(&args.dir)?;
    let graph = project.graph();
    let patterns = patterns(args, graph)?;
    let splits = splits(args, graph)?;
    for &split in &splits {
        refuse_to_replace(args, &project, split, &patterns)?;
    }
    let staging = args.betae.as_deref().map(Staging::begin).transpose()?;
    signals::watch()?;
    let mut samples = Vec::new();
    for &split in &splits {
        samples.extend(sample(args, graph, split, &patterns)?);
    }
    report(args, graph, &samples)?;
    anyhow::ensure!(
        samples.iter().any(|(_, sampled)| !sampled.group.is_empty()),
        "no query was found, so nothing was written: try other --types, more --attempts or more --max-answers"
    );
    let queries = merged(args, &project, &splits, samples);
    if let Some(staging) = staging {
        let left_out = write_betae(staging.path(), graph, &with_the_others(&project, &queries))?;
        for shape in left_out {
            output::say(&format!(
                "warning: {shape} has none of the structures of the BetaE files: its queries are in {}, not in the \
                 BetaE folder",
                output::typed(&args.dir)
            ));
        }
        Project::replace_queries(&args.dir, &queries)?;
        staging.finish()?;
    } else {
        Project::replace_queries(&args.dir, &queries)?;
    }
    Ok(())
}

fn patterns(args: &Args, graph: &Graph) -> anyhow::Result<Vec<Pattern>> {
    let mut texts: Vec<&str> = args.types.iter().map(|name| name.trim()).collect();
    if texts.is_empty() && args.query.is_empty() {
        texts.extend(Shape::ALL.iter().map(|shape| shape.name()));
    }
    texts.extend(args.query.iter().map(String::as_str));
    let mut patterns: Vec<Pattern> = Vec::new();
    for text in texts {
        let pattern = Pattern::parse(text, graph).map_err(|error| match error {
            PatternError::Mistakes(mistakes) => anyhow::Error::from(Error::from(mistakes)),
            other => Misuse(other.to_string()).into(),
        })?;
        if patterns.iter().any(|other| other.name() == pattern.name()) {
            return Err(Misuse(format!("{} is given twice: once is enough", pattern.name())).into());
        }
        patterns.push(pattern);
    }
    Ok(patterns)
}

fn splits(args: &Args, graph: &Graph) -> anyhow::Result<Vec<Split>> {
    let wanted = match args.split {
        Some(SplitName::Valid) => vec![Split::Valid],
        Some(SplitName::Test) => vec![Split::Test],
        None => vec![Split::Valid, Split::Test],
    };
    let there: Vec<Split> = wanted.iter().copied().filter(|&split| !graph.edges(split).is_empty()).collect();
    if there.is_empty() {
        let names: Vec<&str> = wanted.iter().map(|split| split.name()).collect();
        let message = format!(
            "{} has no {} edges, so there is nothing that a hard answer could need: make it with `relatum init … --split 0.9/0.05/0.05`",
            args.dir.display(),
            names.join(" or ")
        );
        return Err(Misuse(message).into());
    }
    Ok(there)
}

fn refuse_to_replace(
    args: &Args,
    project: &Project,
    split: Split,
    patterns: &[Pattern],
) -> anyhow::Result<()> {
    let Some(set) = project.queries().of(split) else { return Ok(()) };
    let dir = args.dir.display();
    if args.add {
        if let Some(pattern) = patterns.iter().find(|pattern| set.group(pattern.name()).is_some()) {
            let name = pattern.name();
            return Err(Misuse(format!(
                "{dir} has {split} queries of type {name} already: leave it out, or --replace all {split} queries"
            ))
            .into());
        }
    } else if !args.replace {
        let count = output::counted(set.len() as u64, "query");
        return Err(Misuse(format!(
            "{dir} has {count} for {split} already: --add types to them, or --replace them"
        ))
        .into());
    }
    Ok(())
}

fn sample(
    args: &Args,
    graph: &Graph,
    split: Split,
    patterns: &[Pattern],
) -> anyhow::Result<Vec<(Split, Sampled)>> {
    let sampler = Sampler::new(graph, split);
    let count = args.count as usize;
    let mut how = Sampling { max_answers: args.max_answers as usize, ..Sampling::of(count, args.seed) };
    if let Some(attempts) = args.attempts {
        // Who says how many walks means so many.
        (how.attempts, how.patience) = (attempts as usize, attempts as usize);
    }
    let style = ProgressStyle::with_template("{prefix:>5} {msg} {wide_bar} {pos}/{len}")?;
    let mut samples = Vec::new();
    for pattern in patterns {
        let bar = ProgressBar::new(count as u64).with_style(style.clone()).with_prefix(split.name());
        bar.set_message(pattern.name().to_owned());
        let shown = bar.clone();
        let control = signals::control().on(move |it: &QueriesFound| shown.set_position(it.found as u64));
        let sampled = sampler.sample(pattern, &how, &control);
        bar.finish_and_clear();
        if signals::stop_requested() {
            output::say("stopped; nothing was written");
            return Err(Stopped.into());
        }
        if sampled.group.len() < count {
            output::say(&format!("warning: {}", shortfall(split, &how, &sampled)));
        }
        samples.push((split, sampled));
    }
    Ok(samples)
}

/// How many were found, and what became of the other walks.
fn shortfall(split: Split, how: &Sampling, sampled: &Sampled) -> String {
    let Sampled { group, walks } = sampled;
    let Walks { tried, stuck, degenerate, pointless, too_many, easy, repeated, in_vain } = *walks;
    let mut reasons = [
        (stuck, "led nowhere"),
        (degenerate, "had equal branches"),
        (pointless, "had a negation that refutes nothing"),
        (too_many, "had too many answers"),
        (easy, "had no hard answer"),
        (repeated, "gave a query that was there"),
    ];
    reasons.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(count, _)| *count > 0)
        .take(3)
        .map(|&(count, reason)| format!("{} {reason}", output::grouped(count)))
        .collect();
    let given_up = if in_vain >= how.patience && tried < how.attempts {
        format!(", given up as the last {} found none that is new", output::grouped(in_vain))
    } else {
        String::new()
    };
    format!(
        "{} of {} {split} queries of type {} found in {} walks{given_up}: {}",
        output::grouped(group.len()),
        output::grouped(how.count),
        group.shape,
        output::grouped(tried),
        reasons.join(", "),
    )
}

/// What each split is to have from now on.
fn merged(args: &Args, project: &Project, splits: &[Split], samples: Vec<(Split, Sampled)>) -> Queries {
    let mut queries = Queries::default();
    let mut samples = samples.into_iter().peekable();
    for &split in splits {
        let kept = project.queries().of(split).filter(|_| args.add);
        let mut groups = kept.map(|set| set.groups.clone()).unwrap_or_default();
        while let Some((_, sampled)) = samples.next_if(|(of, _)| *of == split) {
            if !sampled.group.is_empty() {
                groups.push(sampled.group);
            }
        }
        if groups.is_empty() {
            continue;
        }
        match split {
            Split::Valid => queries.valid = Some(QuerySet { groups }),
            Split::Test => queries.test = Some(QuerySet { groups }),
            Split::Train => {}
        }
    }
    queries
}

/// The queries as the project will have them.
fn with_the_others(project: &Project, queries: &Queries) -> Queries {
    let now = project.queries().clone();
    Queries { valid: queries.valid.clone().or(now.valid), test: queries.test.clone().or(now.test) }
}

fn report(args: &Args, graph: &Graph, samples: &[(Split, Sampled)]) -> anyhow::Result<()> {
    let mut out = output::out(args.json);
    if args.json {
        let rows: Vec<_> = samples.iter().map(|(split, sampled)| as_json(*split, sampled)).collect();
        writeln!(out, "{:#}", json!(rows))?;
        return Ok(());
    }
    let mut table = output::table(
        &["type", "split", "queries", "easy answers a query", "hard answers a query", "walks"],
        &[2, 3, 4, 5],
    );
    for (split, Sampled { group, walks }) in samples {
        let mean = |answers: usize| match group.len() {
            0 => "–".to_owned(),
            queries => format!("{:.1}", answers as f64 / queries as f64),
        };
        table.add_row([
            group.shape.clone(),
            split.to_string(),
            output::grouped(group.len()),
            mean(group.easy.items.len()),
            mean(group.hard.items.len()),
            output::grouped(walks.tried),
        ]);
    }
    write!(out, "{}", output::render(&table))?;
    for (_, sampled) in samples {
        show(args.show, graph, &sampled.group, &mut out)?;
    }
    Ok(())
}

fn as_json(split: Split, Sampled { group, walks }: &Sampled) -> serde_json::Value {
    json!({
        "type": group.shape,
        "skeleton": group.skeleton,
        "split": split.name(),
        "queries": group.len(),
        "easy_answers": group.easy.items.len(),
        "hard_answers": group.hard.items.len(),
        "walks": {
            "tried": walks.tried,
            "stuck": walks.stuck,
            "degenerate": walks.degenerate,
            "pointless_negation": walks.pointless,
            "too_many_answers": walks.too_many,
            "no_hard_answer": walks.easy,
            "repeated": walks.repeated,
            "in_vain_at_the_end": walks.in_vain,
        },
    })
}

/// Some queries in words.
fn show(count: usize, graph: &Graph, group: &QueryGroup, out: &mut impl Write) -> anyhow::Result<()> {
    if count == 0 || group.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n── {}", group.shape)?;
    let template = group.template()?;
    let relations = Reciprocals::of(graph);
    for index in 0..count.min(group.len()) {
        let Some(query) = template.fill(group.query(index), &relations) else { continue };
        writeln!(out, "  {}", query.named(graph))?;
        for (kind, answers) in [("easy", group.easy(index)), ("hard", group.hard(index))] {
            let names: Vec<String> = answers.iter().take(5).map(|&id| graph.entity_text(id)).collect();
            let more = if answers.len() > names.len() { " · …" } else { "" };
            writeln!(out, "    {kind} ({}): {}{more}", answers.len(), names.join(" · "))?;
        }
    }
    Ok(())
}
