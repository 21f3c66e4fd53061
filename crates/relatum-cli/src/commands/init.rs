//! `relatum init`: files in, a project folder out.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use relatum::Engine;
use relatum::engine::{Made, Making, Sources};
use relatum::graph::{BuildReport, Graph, Shares, Split, SplitReport};
use relatum::import::read::{BytesRead, Columns, FileReport, FolderReport, Format, Header, ReadOptions};

use crate::{output, signals};

/// Make a project folder from files of triples, or from a benchmark folder
///
/// Reads TSV, CSV, N-Triples, Turtle, N-Quads, TriG, RDF/XML and JSON-LD, each also as .gz and .zst, standard input
/// as `-`, folders of the Query2Box and BetaE benchmarks, and folders with files named train.*,
/// valid.* and test.*.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum init movies/ triples.tsv --split 0.9/0.05/0.05
  relatum init people/ facts.ttl more.nt.gz
  zcat big.tsv.gz | relatum init big/ -
  relatum init trade/ deals.csv --columns seller,kind,buyer
  relatum init kg/ --train a.tsv --valid b.tsv --test c.tsv --labels names.tsv")]
pub(crate) struct Args {
    /// The project folder to make
    dir: PathBuf,
    /// Files of triples (they go to train), or one benchmark folder
    files: Vec<PathBuf>,
    /// A file of triples for training
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// A file of triples for validation
    #[arg(long, value_name = "FILE")]
    valid: Vec<PathBuf>,
    /// A file of triples for testing
    #[arg(long, value_name = "FILE")]
    test: Vec<PathBuf>,
    /// Hold out random shares for validation and testing, as in 0.9/0.05/0.05
    #[arg(long, value_name = "SHARES")]
    split: Option<Shares>,
    /// The seed of --split
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Display labels: two columns, name and label
    #[arg(long, value_name = "FILE")]
    labels: Vec<PathBuf>,
    /// The columns of head, relation and tail, by position or by name, as in 1,2,3 or s,p,o
    #[arg(long)]
    columns: Option<Columns>,
    /// Whether the first line of a table names its columns [default: guessed from the table]
    #[arg(long, value_name = "yes|no", num_args = 0..=1, default_missing_value = "yes", conflicts_with = "no_header")]
    header: Option<YesNo>,
    /// The same as --header no
    #[arg(long, hide = true)]
    no_header: bool,
    /// The format of the files, instead of the one that name and content suggest
    #[arg(long, value_parser = parse_format, value_name = "tsv|csv|nt|ttl|nq|trig|rdf|jsonld")]
    format: Option<Format>,
    /// Keep RDF literals as entities
    #[arg(long)]
    literals: bool,
    /// Read this named graph of N-Quads, TriG or JSON-LD, instead of the default graph
    #[arg(long, value_name = "IRI")]
    graph: Option<String>,
    /// Skip lines that are not triples, and report them
    #[arg(long)]
    skip_bad_lines: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum YesNo {
    Yes,
    No,
}

/// `--header` once had no value, and may still stand alone before a file.
pub(crate) fn with_value_of_header(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.peekable();
    let mut complete = Vec::new();
    while let Some(argument) = arguments.next() {
        let valued = arguments.peek().is_some_and(|next| next == "yes" || next == "no");
        let alone = argument == "--header" && complete.get(1).is_some_and(|it| it == "init") && !valued;
        complete.push(if alone { "--header=yes".into() } else { argument });
    }
    complete
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let bar = Arc::new(Mutex::new(ProgressBar::hidden()));
    let (shown, grows) = (Arc::clone(&bar), Arc::clone(&bar));
    let control = signals::watched_control()?
        .on(move |step: &Making| show(&mut shown.lock().unwrap_or_else(PoisonError::into_inner), step))
        .on(move |read: &BytesRead| grows.lock().unwrap_or_else(PoisonError::into_inner).inc(read.0));
    let made = Engine::create(&args.dir, &args.sources(), &control);
    bar.lock().unwrap_or_else(PoisonError::into_inner).finish_and_clear();
    let (engine, made) = made?;
    for note in notes(&made, engine.graph()) {
        output::say(&format!("note: {note}"));
    }
    summarise(args, engine.graph())
}

/// Shows how far the making is.
fn show(bar: &mut ProgressBar, step: &Making) {
    match step {
        Making::Begins { .. } if !std::io::stderr().is_terminal() => {}
        Making::Begins { bytes: Some(bytes) } => {
            let template = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} left  {wide_msg}";
            *bar = ProgressBar::new(*bytes).with_style(style(template));
        }
        Making::Begins { bytes: None } => {
            *bar = ProgressBar::new_spinner().with_style(style("{spinner} {elapsed} {wide_msg}"));
        }
        Making::Reading(file) => bar.set_message(file.clone()),
        Making::Sorting => bar.set_message("sorting"),
        Making::Writing => bar.set_message("writing"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Args {
    fn header(&self) -> Header {
        match self.header {
            Some(YesNo::Yes) => Header::Present,
            Some(YesNo::No) => Header::Absent,
            None if self.no_header => Header::Absent,
            None => Header::Auto,
        }
    }

    fn sources(&self) -> Sources {
        let plain = self.files.iter().map(|path| (Split::Train, path));
        let named = [(Split::Train, &self.train), (Split::Valid, &self.valid), (Split::Test, &self.test)];
        let named = named.into_iter().flat_map(|(split, paths)| paths.iter().map(move |path| (split, path)));
        Sources {
            files: plain.chain(named).map(|(split, path)| (split, path.clone())).collect(),
            labels: self.labels.clone(),
            hold_out: self.split,
            seed: self.seed,
            reading: ReadOptions {
                format: self.format,
                columns: self.columns.clone(),
                header: self.header(),
                literals: self.literals,
                graph: self.graph.as_deref().map(|iri| iri.trim_matches(['<', '>']).to_owned()),
                skip_bad_lines: self.skip_bad_lines,
            },
        }
    }
}

/// What people should know about the files that were read, in the order of reading.
fn notes(made: &Made, graph: &Graph) -> Vec<String> {
    let mut notes: Vec<String> = made.folder.iter().flat_map(folder_notes).collect();
    notes.extend(made.files.iter().flat_map(file_notes));
    for (path, report) in &made.labels {
        let file = path.display();
        notes.push(format!("{file}: {} given", output::counted(report.used, "label")));
        if report.bad_lines > 0 {
            notes.push(format!("{file}: {} skipped", output::counted(report.bad_lines, "bad line")));
        }
        if report.unused > 0 {
            let unused = output::counted(report.unused, "label");
            notes.push(format!("{file}: {unused} of names that are not in the graph left out"));
        }
    }
    notes.extend(made.split.iter().flat_map(|report| split_notes(report, made.triples)));
    notes.extend(build_notes(graph, made.built));
    notes
}

fn folder_notes(report: &FolderReport) -> Vec<String> {
    let notes = [
        (report.without_mate, "edge", "without the edge back along the inverse relation"),
        (report.renamed_entities, "entity", "renamed: the name was taken by another"),
        (report.renamed_relations, "relation", "renamed: the name was taken by another"),
        (report.repeated_queries, "query", "listed more than once, kept once"),
        (report.unasked_answers, "answer", "to queries that are in no list left out"),
    ];
    let met = notes.into_iter().filter(|(count, ..)| *count > 0);
    met.map(|(count, noun, rest)| format!("{} {rest}", output::counted(count as u64, noun))).collect()
}

fn file_notes(report: &FileReport) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, noun: &str, rest: &str| {
        if count > 0 {
            notes.push(format!("{}: {} {rest}", report.file, output::counted(count, noun)));
        }
    };
    note(report.bad_lines, "bad line", "skipped");
    note(report.literals, "triple", "with a literal left out (--literals keeps them)");
    let graphs =
        format!("of other graphs left out ({}; --graph reads one)", report.other_graph_names.join(", "));
    note(report.other_graphs, "quad", &graphs);
    if let Some((header, why)) = &report.guessed_header {
        notes.push(format!(
            "{}: the first line ({header}) is taken for a header, because {why}; --header no reads it as a triple",
            report.file
        ));
    }
    if let Some(columns) = &report.taken_columns {
        notes.push(format!(
            "{}: head, relation and tail are the columns {columns}; --columns takes others",
            report.file
        ));
    }
    if !report.other_prefixes.is_empty() {
        let prefixes: Vec<String> = report.other_prefixes.iter().map(|prefix| format!("{prefix}:")).collect();
        notes.push(format!(
            "{}: {} mean something else in an earlier file, whose meaning stays",
            report.file,
            prefixes.join(", ")
        ));
    }
    for (line, problem) in &report.bad_examples {
        notes.push(format!("  {}:{line}: {problem}", report.file));
    }
    notes
}

fn split_notes(report: &SplitReport, triples: usize) -> Vec<String> {
    let mut notes = repeated_note(report.repeated);
    for split in report.too_small() {
        let triples = output::counted(triples as u64, "triple");
        notes.push(format!(
            "{split} is empty: its share of {triples} is less than one half; give it a greater share, or files of its own"
        ));
    }
    if report.short > 0 {
        let short = output::counted(report.short as u64, "triple");
        notes.push(format!(
            "the held-out part is {short} smaller than asked: every other triple is the last of an entity or relation"
        ));
    }
    notes
}

fn repeated_note(repeated: usize) -> Vec<String> {
    match repeated {
        0 => Vec::new(),
        count => vec![format!("{} left out", output::counted(count as u64, "repeated triple"))],
    }
}

fn build_notes(graph: &Graph, report: BuildReport) -> Vec<String> {
    let mut notes = repeated_note(report.repeated);
    if report.leaked > 0 {
        let leaked = output::counted(report.leaked as u64, "triple");
        notes.push(format!("{leaked} of valid or test left out: an earlier split holds them"));
    }
    for split in [Split::Valid, Split::Test] {
        let (entities, relations) = graph.unseen(split);
        if entities + relations > 0 {
            let entities = output::counted(entities as u64, "entity");
            let relations = output::counted(relations as u64, "relation");
            notes.push(format!("{split} has {entities} and {relations} that are not in train: nothing can be learnt about them"));
        }
    }
    notes
}

fn summarise(args: &Args, graph: &Graph) -> anyhow::Result<()> {
    let mut out = output::out(false);
    let [train, valid, test] = Split::ALL.map(|split| output::grouped(graph.edges(split).len()));
    let (entities, relations) = (graph.entities.len() as u64, graph.relations.len() as u64);
    let dir = args.dir.display();
    writeln!(
        out,
        "made {dir}: {}, {}",
        output::counted(entities, "entity"),
        output::counted(relations, "relation")
    )?;
    writeln!(out, "  edges: {train} train, {valid} valid, {test} test")?;
    if args.split.is_none() && [Split::Valid, Split::Test].iter().all(|&split| graph.edges(split).is_empty())
    {
        writeln!(
            out,
            "  nothing is held out; --split 0.9/0.05/0.05 would let you measure what a model has learnt"
        )?;
    }
    writeln!(out, "next: relatum stats {dir}, relatum find {dir} TEXT, relatum describe {dir} NAME")?;
    Ok(())
}
