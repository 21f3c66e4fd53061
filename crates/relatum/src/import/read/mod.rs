//! Readers: from files of many kinds to one [`GraphBuilder`].
//!
//! A [`Reader`] takes files one after another. `source` opens and decompresses them, `format`
//! guesses what they are, `delimited` (with `lines`, `csv` and `columns`) and `rdf` read them.
//! Benchmark folders are read as a whole: [`folders`] recognises them, [`query2box`] and
//! [`betae`] read them.

pub mod betae;
mod columns;
mod csv;
mod delimited;
mod elements;
mod error;
mod folder;
pub mod folders;
mod foreign;
mod format;
mod header;
mod lines;
pub mod query2box;
mod rdf;
mod separators;
mod source;
mod watch;

use std::path::Path;

pub use columns::{Columns, Header, TableColumn};
pub use error::{Emptiness, LineProblem, ReadError};
pub use folder::{BenchmarkFolder, FolderError, FolderReport};
pub use format::Format;
pub use header::HeaderSign;
pub use source::BytesRead;

use self::columns::{Layout, layout, quoted};
use self::delimited::{Text, read_rows};
use self::header::FirstRows;
use self::rdf::{BlankNodes, RdfLabels, RdfReader};
use self::source::Source;
use crate::control::Control;
use crate::graph::{GraphBuilder, Split, Triple};

/// How to read files.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, instead of the one that name and content suggest.
    pub format: Option<Format>,
    /// Which columns of a table to take.
    pub columns: Option<Columns>,
    /// Whether tables have a header.
    pub header: Header,
    /// Keep RDF literals as entities.
    pub literals: bool,
    /// The IRI of the named graph to read from RDF datasets, instead of the default graph.
    pub graph: Option<String>,
    /// Skip lines that are not triples, and report them.
    pub skip_bad_lines: bool,
}

/// What was found in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// The file, as it was given.
    pub file: String,
    /// What it was read as.
    pub format: String,
    /// Triples taken.
    pub triples: u64,
    /// Bad lines skipped, of which the first few are described in `bad_examples`.
    pub bad_lines: u64,
    /// The first bad lines, with their numbers.
    pub bad_examples: Vec<(u64, LineProblem)>,
    /// RDF: triples with a literal that were left out.
    pub literals: u64,
    /// RDF: triples that gave a label.
    pub labels: u64,
    /// RDF: quads of other graphs that were left out.
    pub other_graphs: u64,
    /// RDF: the first few of these graphs.
    pub other_graph_names: Vec<String>,
    /// RDF: prefixes that an earlier file uses for something else; those of the earlier file stay.
    pub other_prefixes: Vec<String>,
    /// Tables: the first line, if it was guessed to be a header, and why.
    pub guessed_header: Option<(String, HeaderSign)>,
    /// Tables: the names of the three columns that were taken, if there are more and nobody chose among them.
    pub taken_columns: Option<String>,
}

/// Collects the triples of several files.
pub struct Reader<'a> {
    builder: GraphBuilder,
    labels: RdfLabels,
    options: ReadOptions,
    control: &'a Control,
    blank_nodes: BlankNodes,
    /// The headers of tables so far, their fields with tabs between.
    headers: Vec<String>,
}

impl<'a> Reader<'a> {
    /// A reader that adds to a builder. Listeners hear [`BytesRead`]; a reading that is cancelled ends with
    /// [`ReadError::Stopped`].
    pub fn new(builder: GraphBuilder, options: ReadOptions, control: &'a Control) -> Self {
        Self {
            builder,
            labels: RdfLabels::default(),
            options,
            control,
            blank_nodes: BlankNodes::default(),
            headers: Vec::new(),
        }
    }

    /// Reads one file, or standard input for `-`, into a split.
    pub fn read(&mut self, path: &Path, split: Split) -> Result<FileReport, ReadError> {
        let source = Source::open(path, self.control)?;
        let format = match self.options.format {
            Some(format) => format,
            None if source.start.trim_ascii().is_empty() => {
                return Err(empty(&source.name, Emptiness::Blank));
            }
            None => Format::guess(path, &source)?,
        };
        let mut report =
            FileReport { file: source.name.clone(), format: format.to_string(), ..FileReport::default() };
        let mut problems = Problems::new(&source.name, self.options.skip_bad_lines);
        if self.options.graph.is_some() && !matches!(format, Format::NQuads | Format::TriG | Format::JsonLd) {
            return Err(ReadError::NoGraphs { file: source.name, format: format.to_string() });
        }
        if format.is_rdf() {
            let mut rdf = RdfReader {
                builder: &mut self.builder,
                labels: &mut self.labels,
                split,
                keep_literals: self.options.literals,
                graph: self.options.graph.as_deref(),
                blank_nodes: &mut self.blank_nodes,
            };
            rdf.blank_nodes.next_file();
            rdf.read(source, format, &mut problems, &mut report)?;
        } else {
            self.read_table(source, format, split, &mut problems, &mut report)?;
        }
        report.bad_lines = problems.count;
        report.bad_examples = problems.examples;
        if report.triples == 0 {
            return Err(empty(&report.file.clone(), why_empty(report)));
        }
        Ok(report)
    }

    /// Reads display labels: two columns, name and label. Reports how many were used, and how many are for
    /// names that are not in the graph. Call it after all triples are read.
    pub fn read_labels(&mut self, path: &Path) -> Result<LabelReport, ReadError> {
        // Labels from a file of labels take precedence over those in files of triples.
        std::mem::take(&mut self.labels).apply(&mut self.builder);
        let source = Source::open(path, self.control)?;
        if source.start.trim_ascii().is_empty() {
            return Err(ReadError::NoLabels { file: source.name });
        }
        let format = match Format::guess(path, &source)? {
            Format::Csv => Format::Csv,
            _ => Format::Tsv,
        };
        let mut problems = Problems::new(&source.name, self.options.skip_bad_lines);
        let mut report = LabelReport::default();
        let builder = &mut self.builder;
        let label = |rows: &[[Text<'_>; 2]]| {
            for [name, label] in rows {
                let (entity, relation) =
                    (builder.find_entity(name.as_str()), builder.find_relation(name.as_str()));
                if let Some(entity) = entity {
                    builder.label_entity(entity, label.as_str());
                }
                if let Some(relation) = relation {
                    builder.label_relation(relation, label.as_str());
                }
                if entity.is_some() || relation.is_some() {
                    report.used += 1;
                } else {
                    report.unused += 1;
                }
            }
            Ok(())
        };
        read_rows(source, format, Layout::plain(), label, |line, problem| problems.meet(line, problem))?;
        report.bad_lines = problems.count;
        Ok(report)
    }

    /// The builder with everything that was read.
    pub fn into_builder(mut self) -> GraphBuilder {
        self.labels.apply(&mut self.builder);
        self.builder
    }

    fn read_table(
        &mut self,
        source: Source<'_>,
        format: Format,
        split: Split,
        problems: &mut Problems,
        report: &mut FileReport,
    ) -> Result<(), ReadError> {
        let layout = self.table_layout(&source, format, report)?;
        let builder = &mut self.builder;
        let file = source.name.clone();
        let add = |rows: &[[Text<'_>; 3]]| {
            if !builder.has_room(rows.len()) {
                return Err(ReadError::TooManyNames { file: file.clone() });
            }
            builder.warm_entities(rows.iter().flat_map(|[head, _, tail]| [head.mark, tail.mark]));
            for [head, relation, tail] in rows {
                let triple = Triple {
                    head: builder.entity_marked(head.bytes, head.mark),
                    relation: builder.relation_marked(relation.bytes, relation.mark),
                    tail: builder.entity_marked(tail.bytes, tail.mark),
                };
                builder.add_ids(split, triple);
            }
            report.triples += rows.len() as u64;
            Ok(())
        };
        read_rows(source, format, layout, add, |line, problem| problems.meet(line, problem))
    }
}

impl Reader<'_> {
    /// Where head, relation and tail are in a table, and whether it has a header.
    fn table_layout(
        &mut self,
        source: &Source<'_>,
        format: Format,
        report: &mut FileReport,
    ) -> Result<Layout<3>, ReadError> {
        let ReadOptions { columns, header, skip_bad_lines, .. } = &self.options;
        let rows = FirstRows::of(&source.start, source.is_whole(), format);
        let first = rows.first();
        let (layout, sign) = layout(&source.name, &rows, columns.as_ref(), *header, &self.headers)?;
        if layout.is_plain() && first.len() > 3 && !skip_bad_lines {
            return Err(ReadError::WhichColumns {
                file: source.name.clone(),
                line: rows.line,
                found: first.len(),
                first: quoted(&first),
                columns: rows.suggestion(layout.has_header),
            });
        }
        if layout.has_header {
            self.headers.push(first.join("\t"));
        }
        if let Some(sign) = sign {
            report.guessed_header = Some((first.join(", "), sign));
        }
        if columns.is_none() && layout.has_header && first.len() > 3 {
            report.taken_columns = Some(layout.positions.map(|at| first[at]).join(", "));
        }
        Ok(layout)
    }
}

/// The result of reading a file of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelReport {
    /// Labels given to an entity or a relation.
    pub used: u64,
    /// Labels of names that are not in the graph.
    pub unused: u64,
    /// Bad lines skipped.
    pub bad_lines: u64,
}

/// Bad lines: the first one ends the reading, or all are counted and the first few kept.
struct Problems {
    file: String,
    skip: bool,
    count: u64,
    examples: Vec<(u64, LineProblem)>,
}

impl Problems {
    const EXAMPLES: usize = 5;

    fn new(file: &str, skip: bool) -> Self {
        Self { file: file.to_owned(), skip, count: 0, examples: Vec::new() }
    }

    fn meet(&mut self, line: u64, problem: LineProblem) -> Result<(), ReadError> {
        if !self.skip {
            return Err(ReadError::BadLine { file: self.file.clone(), line, problem });
        }
        self.count += 1;
        if self.examples.len() < Self::EXAMPLES {
            self.examples.push((line, problem));
        }
        Ok(())
    }
}

fn empty(file: &str, why: Emptiness) -> ReadError {
    ReadError::Empty { file: file.to_owned(), why }
}

fn why_empty(report: FileReport) -> Emptiness {
    match report {
        FileReport { bad_lines: 1.., bad_examples, .. } => match bad_examples.into_iter().next() {
            Some((line, problem)) => Emptiness::BadLines { line, problem },
            None => Emptiness::Nothing,
        },
        FileReport { literals: 1.., .. } => Emptiness::Literals,
        FileReport { other_graphs: 1.., other_graph_names, .. } => Emptiness::OtherGraphs(other_graph_names),
        _ => Emptiness::Nothing,
    }
}

#[cfg(test)]
mod tests;
