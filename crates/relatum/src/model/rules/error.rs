//! Why a file of rules cannot be read.

use std::path::PathBuf;

use crate::graph::{NameError, visible};
use crate::store::StoreError;

/// Why rules cannot be read, kept or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A line of a file of rules is none; the message has its place. Mend the line.
    #[error("line {line}, column {column}: {problem}")]
    Line {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong there.
        problem: RuleProblem,
    },
    /// A file of rules has no rule in it.
    #[error(
        "{} holds no rule{}: expected lines of predicted, correct, confidence and rule, separated by tabs",
        path.display(),
        if *passed_over > 0 { format!(" of a form that is known here ({passed_over} of others)") } else { String::new() }
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// How many rules it holds that have a form which is not known here.
        passed_over: usize,
    },
    /// There are no rules of this name: mine or import some.
    #[error("there are no rules `{name}` in {}{}: mine some, or read them from a file", dir.display(), others(there))]
    Missing {
        /// The name.
        name: String,
        /// The project.
        dir: PathBuf,
        /// Which there are.
        there: Vec<String>,
    },
    /// The rules are about another graph: mine them again.
    #[error(
        "the rules `{name}` are about another graph (fingerprint {theirs}, this graph has {ours}): mine them \
         again, or take their text to this graph by exporting and importing it"
    )]
    OtherGraph {
        /// The name of the rules.
        name: String,
        /// The project.
        dir: PathBuf,
        /// The fingerprint of their graph.
        theirs: String,
        /// That of this one.
        ours: String,
    },
    /// The file of the rules has rotted, or is none of ours: restore it from a copy, or mine the rules again.
    #[error(
        "the rules `{name}` cannot be read: {} is damaged: {what}: restore it from a copy, or mine the rules again",
        file.display()
    )]
    Damaged {
        /// The name of the rules.
        name: String,
        /// The project.
        dir: PathBuf,
        /// The file.
        file: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// Rules have a name already: choose another, or replace them on purpose.
    #[error("there are rules `{0}` already: choose another name, or begin anew to replace them")]
    Exists(String),
    /// Mining was stopped before and can go on: resume it, or begin anew.
    #[error("the mining of `{name}` was stopped after {paths} paths: resume it, or begin anew to discard it")]
    Unfinished {
        /// The name of the rules.
        name: String,
        /// How far it came.
        paths: u64,
    },
    /// Nothing to go on with.
    #[error("there is nothing to resume: the rules `{0}` are not there, or finished")]
    NothingToResume(String),
    /// A resumed run cannot change what was drawn.
    #[error("the mining of `{name}` was begun with {begun}, not {asked}: leave that open, or begin anew")]
    OtherSettings {
        /// The name of the rules.
        name: String,
        /// What it was begun with.
        begun: String,
        /// What was asked for.
        asked: String,
    },
    /// A name that cannot be one of a file.
    #[error("`{0}` cannot be the name of rules: letters, digits, `-`, `_` and `.` can, with no `.` in front")]
    Name(String),
    /// Another process writes these rules at this moment.
    #[error("another process works on the rules `{0}` at this moment: wait until it has finished")]
    Busy(String),
    /// The graph has no training edges to mine.
    #[error("the graph has no training edges between two things, and rules are found in those")]
    NoEdges,
    /// The memory that may be used is too little to begin with.
    #[error("mining needs at least {needed} MB for this graph, and may use {given}: allow more")]
    Memory {
        /// In megabytes.
        needed: usize,
        /// In megabytes.
        given: usize,
    },
    /// The system refused to read or write a file of another program.
    #[error("a file cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    /// The disk or a file on it is at fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn others(there: &[String]) -> String {
    if there.is_empty() { String::new() } else { format!(" (there are: {})", there.join(", ")) }
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// Too few or too many fields.
    #[error("expected four fields separated by tabs (predicted, correct, confidence, rule), found {0}")]
    Fields(usize),
    /// A number that is none, or out of range.
    #[error("expected {expected}, found `{}`", visible(found))]
    Number {
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Something else than the grammar allows.
    #[error("expected {expected}, found {}", found_text(found))]
    Syntax {
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A name that the graph does not have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The same, of a name that is meant for a variable.
    #[error("{0}; a variable is a single capital letter")]
    LikeAVariable(NameError),
    /// A variable that stands nowhere else.
    #[error(
        "the variable {0} of the head is not in the body: a body leads from one variable of the head to the other"
    )]
    Unbound(char),
    /// The head has two constants, or the same variable twice.
    #[error("the head needs two different variables, or one variable and one entity")]
    Head,
    /// The file is in another encoding: save it as UTF-8.
    #[error("expected text in UTF-8, found the byte 0x{0:02X}, which is none there: save the file as UTF-8")]
    Utf8(u8),
    /// The rule predicts what its body says.
    #[error("the rule is a circle: its body is its head")]
    Circle,
}

fn found_text(found: &str) -> String {
    if found.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", visible(found)) }
}
