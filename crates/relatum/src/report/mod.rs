//! What was asked and what was answered, with names in place of ids.
//!
//! A [`Reply`] is what every door hands out: it needs no graph to be read, it is serialisable, and the text
//! for people ([`Display`](std::fmt::Display)), the JSON (`serde`) and the Graphviz drawing
//! ([`Reply::to_dot`]) are made from it alone. A [`Check`] says the same of a question that was read but not
//! searched, a [`Description`] what hangs on a name; JSON Schemas of all of them are in `docs/schema`.

mod check;
mod dot;
mod formula;
mod look;
mod make;
mod measures;
mod numbers;
mod progress;
mod reply;
mod rules;
#[cfg(test)]
mod testing;
mod text;

pub use check::{Check, Diagnostic, Label, Position, Severity, Span, Suggestion};
pub use formula::{FormulaAtom, FormulaTerm, FormulaTree, TermKind};
pub use look::{
    Candidate, CandidateKind, Completion, Description, Direction, Edge, EdgeCounts, EdgesOf, Found,
    FoundName, GraphStats, Kind, MissingEdge, QueryCounts, RelationStats, SourceFile, Spread,
};
pub(crate) use make::{Names, entity, of_answers, of_judgement, of_relations, relation};
pub use measures::{End, LinkEvaluation, Metrics, RelationEvaluation};
pub use numbers::{counted, grouped};
pub use progress::{Progress, Scored};
pub use reply::{
    Alternative, Answer, AskedFor, Atom, Binding, Certainty, Clause, Entity, Existence, Explanation, Judged,
    Relation, RelationAnswer, Reply, RuleReason, Settings, Stop, StoredEdge, SubQuery, Ways, Why, Witness,
};
pub use rules::{RuleList, ShownRule};
