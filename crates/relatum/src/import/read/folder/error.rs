//! What can be wrong with a benchmark folder.

use std::io;
use std::path::PathBuf;

use crate::import::pickle::PickleError;

/// Why a benchmark folder could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The operating system could not read a file. Check its permissions.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be read as a pickle. The message of the source says what to do.
    #[error("cannot read {}: {source}", path.display())]
    Pickle {
        /// The file.
        path: PathBuf,
        /// What is wrong with the pickle.
        source: PickleError,
    },
    /// A file is needed because of another one that is there. Add it, or take the other away.
    #[error("{} is missing: expected it beside {because}; add it, or take {because} away", path.display())]
    Missing {
        /// The file that is not there.
        path: PathBuf,
        /// The file that needs it.
        because: String,
    },
    /// Nothing says how many entities and relations there are. Add `stats.txt` or the files of names.
    #[error(
        "{} has neither stats.txt nor {names}: expected one of them to say how many {kind} there are; \
         add stats.txt with the lines 'numentity: N' and 'numrelations: M'",
        path.display()
    )]
    NoCount {
        /// The folder.
        path: PathBuf,
        /// The file of names that would do as well.
        names: String,
        /// `entities` or `relations`.
        kind: &'static str,
    },
    /// A line of `stats.txt`, or of a file of edges, is not what it should be. Correct the line.
    #[error("{}:{line}: expected {expected}, found {found:?}; correct the line", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What should have stood there.
        expected: &'static str,
        /// The beginning of what stood there.
        found: String,
    },
    /// `stats.txt` counts more things than the files can mention. Correct it.
    #[error(
        "{} counts {count} {kind}: expected no more than the folder's {bytes} bytes could mention; correct it, \
         or add the file of names",
        path.display()
    )]
    Implausible {
        /// `stats.txt`.
        path: PathBuf,
        /// `entities` or `relations`.
        kind: &'static str,
        /// What it says.
        count: u64,
        /// The size of all files.
        bytes: u64,
    },
    /// `stats.txt` and a file of names disagree. Correct the one that is wrong.
    #[error("stats.txt counts {stats} {kind}, but {} names {names}; correct the one that is wrong", path.display())]
    Inconsistent {
        /// The file of names.
        path: PathBuf,
        /// `entities` or `relations`.
        kind: &'static str,
        /// What `stats.txt` says.
        stats: u64,
        /// How many the file names.
        names: usize,
    },
    /// The names do not belong to the ids 0, 1, 2, …. Number them without gaps.
    #[error("{}: expected names for the ids 0 to {last}, one each, found {found}; number them without gaps", path.display())]
    NameGap {
        /// The file of names.
        path: PathBuf,
        /// The last id that should be there.
        last: usize,
        /// What was found instead.
        found: String,
    },
    /// The relations do not come in pairs. Add the missing inverse.
    #[error(
        "{} has {count} relations: expected an even number, because relation 2i + 1 is the inverse of 2i; \
         add the missing inverse, or bring the edges as a TSV file",
        path.display()
    )]
    OddRelations {
        /// The folder.
        path: PathBuf,
        /// How many there are.
        count: usize,
    },
    /// A value in a pickle has another form than these files have. Write the file again.
    #[error("{}: expected {expected}, found {found}; write the file again in that form", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What should have stood there.
        expected: String,
        /// The beginning of what stood there.
        found: String,
    },
    /// An id is not below the number of entities or relations. Correct the file or the count.
    #[error(
        "{}: {place} names the {kind} {id}: expected an id below {count}, the number of them; \
         correct the file, or stats.txt and the names",
        path.display()
    )]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// The query or the line.
        place: String,
        /// `entity` or `relation`.
        kind: &'static str,
        /// The id.
        id: u32,
        /// How many there are.
        count: usize,
    },
    /// A query of the list has no answer. Add its answers, or take it out of the list.
    #[error("{}: expected answers to the query {query}, found none; add them, or take the query out of the list", path.display())]
    NoAnswers {
        /// The file of answers.
        path: PathBuf,
        /// The query as a nested tuple.
        query: String,
    },
    /// The file uses the same sets or names over and over, so that a small file would fill the memory.
    /// No pickler writes this: do not trust the file.
    #[error(
        "{} asks for more copies of its sets or names than its size allows; no pickler writes this: do not trust the file",
        path.display()
    )]
    TooManyCopies {
        /// The file.
        path: PathBuf,
    },
}
