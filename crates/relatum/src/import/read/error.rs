//! What can be wrong with a file of triples.

use std::io;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file. Check the spelling and the current folder.
    #[error("there is no file {file}: check the spelling, and the folder you are in")]
    NotFound {
        /// The name that was given.
        file: String,
    },
    /// The operating system could not read the file.
    #[error("cannot read {file}: {source}{}", may_not(source))]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed file is cut off or damaged. Fetch or make it again.
    #[error("{file} is a damaged {codec} file ({what}): fetch it again, or compress it again")]
    Compression {
        /// The file.
        file: String,
        /// `gzip` or `zstd`.
        codec: &'static str,
        /// What the decoder said.
        what: String,
    },
    /// After the end of the compressed data there are other bytes: two files in one, or a download with
    /// something behind it.
    #[error(
        "{file} has {count} or more bytes after the end of its gzip data that are not gzip (they begin with {start}): \
         cut them off, for example with `gzip -dc {file} > FILE`, or fetch it again"
    )]
    TrailingBytes {
        /// The file.
        file: String,
        /// How many, at least.
        count: usize,
        /// How they begin.
        start: String,
    },
    /// A format of tables or graphs that cannot be read: convert it.
    #[error("{file} is {what}, which is not read: convert it, for example with `{command}`")]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// A command that turns it into what is read.
        command: String,
    },
    /// A document has a mistake, and its format cannot be read past one. Correct it.
    #[error("{file}{}: {message}; correct the document: {format} cannot be read past a mistake", at_line(*line))]
    BadDocument {
        /// The file.
        file: String,
        /// The line, counted from 1, where the parser says it.
        line: Option<u64>,
        /// What the parser expected.
        message: String,
        /// What the file was read as.
        format: String,
    },
    /// A JSON-LD document refers to a context on the web, which is never fetched.
    #[error(
        "{file} refers to a context on the web, and nothing is fetched from there: write the context into the file, \
         or expand it first, for example with `jsonld expand FILE > expanded.jsonld`"
    )]
    RemoteContext {
        /// The file.
        file: String,
    },
    /// An RDF document asks for more than its size allows. Do not trust the file.
    #[error("{file} has {what}: no RDF tool writes this, and it could fill the memory")]
    Excess {
        /// The file.
        file: String,
        /// What it has.
        what: String,
    },
    /// A named graph was asked for, but the format of the file has no named graphs.
    #[error("{file} is {format}, which has no named graphs: only N-Quads, TriG and JSON-LD have them")]
    NoGraphs {
        /// The file.
        file: String,
        /// What it is.
        format: String,
    },
    /// The file holds nothing that could be a triple.
    #[error("{file} holds no triples{why}")]
    Empty {
        /// The file.
        file: String,
        /// What it holds instead.
        why: Emptiness,
    },
    /// Neither the name nor the content says what the file is.
    #[error(
        "cannot tell what {file} is (it begins with {start}): expected triples as TSV, CSV, N-Triples, \
         Turtle, N-Quads, TriG, RDF/XML or JSON-LD; say which of them it is"
    )]
    UnknownFormat {
        /// The file.
        file: String,
        /// How it begins.
        start: String,
    },
    /// A column that was asked for by name is not in the header.
    #[error("{file} has no column '{name}': its first line names {found}")]
    NoColumn {
        /// The file.
        file: String,
        /// The name that was asked for.
        name: String,
        /// The names that are there.
        found: String,
    },
    /// A table has more than three columns and does not say which are head, relation and tail.
    #[error(
        "{file}:{line}: expected 3 columns, found {found} ({first}): take three of them as head, relation and \
         tail, for example {columns}"
    )]
    WhichColumns {
        /// The file.
        file: String,
        /// Its first line that is not blank, from 1.
        line: u64,
        /// How many columns that has.
        found: usize,
        /// Its fields.
        first: String,
        /// Three columns that could be meant.
        columns: String,
    },
    /// A line is not a triple. Correct it, or skip such lines.
    #[error("{file}:{line}: {problem}; correct the line, or skip such lines")]
    BadLine {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// A file of labels cannot be read.
    #[error("while reading labels: {0}")]
    Labels(Box<Self>),
    /// A file of labels is empty. It should have two columns, name and label.
    #[error("{file} is empty: expected lines with two columns, name and label")]
    NoLabels {
        /// The file.
        file: String,
    },
    /// One statement is longer than any RDF tool writes them.
    #[error(
        "{file} holds a statement longer than 16 MiB: is it the RDF that its name or the given format says?"
    )]
    TooLong {
        /// The file.
        file: String,
    },
    /// Ids have 32 bits. Read a part of the graph.
    #[error("{file} brings the graph to more than 4,294,967,295 names: read fewer files, or a part of it")]
    TooManyNames {
        /// The file.
        file: String,
    },
    /// The reading was cancelled. Nothing was kept.
    #[error("stopped before the end; nothing was kept")]
    Stopped,
    /// A split was asked for that cannot be made.
    #[error(transparent)]
    Split(#[from] crate::graph::SplitError),
}

/// Why a file holds no triples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Emptiness {
    /// Nothing that could be read.
    #[error("")]
    Nothing,
    /// No bytes, or white space alone.
    #[error(": it is empty")]
    Blank,
    /// Only bad lines, the first of which is described.
    #[error(": all its lines are bad (line {line}: {problem})")]
    BadLines {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// Only RDF triples with literals: keep literals as entities.
    #[error(": all its objects are literals, which are left out unless they are kept as entities")]
    Literals,
    /// Only quads of other graphs than the one that was asked for: ask for one of these.
    #[error(": all its quads are in other graphs ({}), of which one can be read", .0.join(", "))]
    OtherGraphs(Vec<String>),
}

/// What is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Too few or too many fields.
    #[error("expected {expected} columns, found {found}{}", columns_hint(*expected, *found))]
    Columns {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A field has no text in it.
    #[error("column {column} is empty")]
    EmptyField {
        /// The column, counted from 1.
        column: usize,
    },
    /// The bytes are not UTF-8.
    #[error("column {column} is not UTF-8 text (save the file as UTF-8)")]
    NotUtf8 {
        /// The column, counted from 1.
        column: usize,
    },
    /// A NUL byte: the file is binary, or UTF-16.
    #[error("column {column} holds a NUL byte (is the file binary, or UTF-16?)")]
    Nul {
        /// The column, counted from 1.
        column: usize,
    },
    /// A line break or another control character: in CSV, most likely a quote that is never closed.
    #[error("column {column} holds a line break or another control character (is a quote left open?)")]
    Control {
        /// The column, counted from 1.
        column: usize,
    },
    /// The line is longer than any name can be.
    #[error("the line is longer than {} KiB (is this a file of triples?)", super::lines::MAX_LINE >> 10)]
    TooLong,
    /// The RDF syntax is broken.
    #[error("{message}")]
    Syntax {
        /// What the parser expected.
        message: String,
    },
}

fn at_line(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}

fn may_not(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => " (you may not read it: ask its owner, or change its permissions)",
        io::ErrorKind::IsADirectory => " (name the files in it)",
        _ => "",
    }
}

fn columns_hint(expected: usize, found: usize) -> &'static str {
    match found {
        _ if found > expected && expected == 3 => " (say which columns to take, such as 1,2,3)",
        1 => " (are the columns separated by tabs, or by commas in a .csv file, and all quotes closed?)",
        _ => "",
    }
}
