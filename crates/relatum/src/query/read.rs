//! All stages in one call, for those who have a text and a graph.

use std::fmt::{Display, Formatter};

use super::between::Between;
use super::check::Checked;
use super::diagnostics::Style;
use super::error::QueryError;
use super::normal_form::Limits;
use super::place::Place;
use super::sparql::Request;
use super::statement::CheckedStatement;
use super::syntax::Parsed;
use super::{shapes, sparql, syntax};
use crate::graph::{Graph, Prefixes};

/// In which language a query is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `?D : exists P. interacts(D, P) and …`
    Text,
    /// `SELECT ?d WHERE { … }`
    Sparql,
    /// `[[7,[0]],[9,[3]]]`, the form of the benchmark files
    Tuple,
}

impl Syntax {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Text, Self::Sparql, Self::Tuple];

    /// The name: `text`, `sparql` or `tuple`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Sparql => "sparql",
            Self::Tuple => "tuple",
        }
    }

    /// What a text looks like: SPARQL begins with one of its words, tuples with a bracket that is not the
    /// parenthesis of a statement.
    pub fn detect(text: &str) -> Self {
        let text = text.trim_start();
        if text.starts_with(['[', '{']) || (text.starts_with('(') && !syntax::opens_a_formula(text)) {
            Self::Tuple
        } else if sparql::looks_like(text) {
            Self::Sparql
        } else {
            Self::Text
        }
    }

    /// Reads a text in this language; names are not looked up yet.
    pub fn parse(self, text: &str, prefixes: &Prefixes) -> Result<Request, QueryError> {
        let whole = |parsed| Request { parsed, limit: None, offset: 0, selected: Vec::new() };
        match self {
            Self::Text => syntax::parse_any(text).map(whole),
            Self::Tuple => shapes::parse(text).map(|query| whole(Parsed::Query(query))),
            Self::Sparql => sparql::parse_any(text, prefixes),
        }
    }
}

/// A query that was read, and what was asked of its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The query with its normal form.
    pub checked: Checked,
    /// How many answers are wanted, if the query says so (`LIMIT`).
    pub limit: Option<usize>,
    /// How many of the best answers to leave out (`OFFSET`).
    pub offset: usize,
}

/// Anything that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Which things? `?A : φ`, SELECT, a tuple.
    Entities(Question),
    /// Is it true? A formula without target, ASK.
    Truth(CheckedStatement),
    /// Which relations? `?R : R(a, b)`, `SELECT ?r { e:a ?r e:b }`.
    Relations {
        /// The two things.
        between: Between,
        /// How many answers are wanted, if the query says so (`LIMIT`).
        limit: Option<usize>,
        /// How many of the best answers to leave out (`OFFSET`).
        offset: usize,
    },
}

/// Everything that is wrong with a query, with the text that it is wrong in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The text of the query.
    pub source: String,
    /// The mistakes, at least one.
    pub errors: Vec<QueryError>,
}

/// Reads a query and checks it against a graph.
///
/// ```
/// use relatum::graph::{GraphBuilder, Split};
/// use relatum::query::{read, Limits, Syntax};
///
/// let mut builder = GraphBuilder::default();
/// builder.add(Split::Train, "Bad Boys", "stars", "Martin Lawrence");
/// builder.add(Split::Train, "Bad Boys", "genre", "comedy");
/// let (graph, _) = builder.finish();
/// let text = r#"?G : exists F. stars(F, "Martin Lawrence") and genre(F, G)"#;
/// let question = read(text, Syntax::Text, &graph, Limits::default())?;
/// assert_eq!(question.checked.shape.unwrap().name(), "2p");
/// # Ok::<(), relatum::query::Mistakes>(())
/// ```
///
/// A statement or a question for relations is refused; [`read_any`] reads those too.
pub fn read(text: &str, language: Syntax, graph: &Graph, limits: Limits) -> Result<Question, Mistakes> {
    let mistake = |error| Mistakes { source: text.to_owned(), errors: vec![error] };
    match read_any(text, language, graph, limits)? {
        Asked::Entities(question) => Ok(question),
        Asked::Truth(_) => Err(mistake(QueryError::NoTarget { place: whole(text) })),
        Asked::Relations { between, .. } => Err(mistake(QueryError::SeeksRelations { place: between.place })),
    }
}

/// Reads whatever can be asked and checks it against a graph.
///
/// ```
/// use relatum::graph::{GraphBuilder, Split};
/// use relatum::query::{Asked, Limits, Syntax, read_any};
///
/// let mut builder = GraphBuilder::default();
/// builder.add(Split::Train, "Alien", "stars", "Sigourney Weaver");
/// let (graph, _) = builder.finish();
/// let asked = |text| read_any(text, Syntax::detect(text), &graph, Limits::default());
/// assert!(matches!(asked(r#"?F : stars(F, "Sigourney Weaver")"#)?, Asked::Entities(_)));
/// assert!(matches!(asked(r#"stars(Alien, "Sigourney Weaver")"#)?, Asked::Truth(_)));
/// assert!(matches!(asked(r#"ASK { e:Alien r:stars "Sigourney Weaver" }"#)?, Asked::Truth(_)));
/// assert!(matches!(asked(r#"?R : R(Alien, "Sigourney Weaver")"#)?, Asked::Relations { .. }));
/// # Ok::<(), relatum::query::Mistakes>(())
/// ```
pub fn read_any(text: &str, language: Syntax, graph: &Graph, limits: Limits) -> Result<Asked, Mistakes> {
    let mistakes = |errors| Mistakes { source: text.to_owned(), errors };
    let mistake = |error| mistakes(vec![in_another_language(text, language, error)]);
    let Request { parsed, limit, offset, .. } = language.parse(text, &graph.prefixes).map_err(mistake)?;
    let asked = match parsed {
        Parsed::Query(query) => {
            let checked = query.resolve(graph).and_then(|query| query.check(limits));
            checked.map(|checked| Asked::Entities(Question { checked, limit, offset }))
        }
        Parsed::Statement(statement) => {
            statement.resolve(graph).and_then(|statement| statement.check(limits)).map(Asked::Truth)
        }
        Parsed::Between(between) => {
            between.resolve(graph).map(|between| Asked::Relations { between, limit, offset })
        }
    };
    asked.map_err(mistakes)
}

/// The text without the blanks around it.
fn whole(text: &str) -> Place {
    let start = text.len() - text.trim_start().len();
    Place::new(start..text.trim_end().len())
}

/// The mistake, with a hint where the text looks like another language than the one it was read in.
fn in_another_language(text: &str, language: Syntax, error: QueryError) -> QueryError {
    if language == Syntax::Sparql {
        return match sparql::wrong_beginning(text) {
            Some(place) => QueryError::Syntax {
                expected: "SELECT, ASK or PREFIX, as SPARQL begins".to_owned(),
                found: match &text[place.range()] {
                    "" => "the end".to_owned(),
                    word => format!("`{word}`"),
                },
                help: Some(
                    "if it is not SPARQL, name no language: text and tuples are recognised by their beginning"
                        .to_owned(),
                ),
                place,
            },
            None => error,
        };
    }
    match error {
        // No text has a brace outside quotes, and no tuple has a variable.
        QueryError::Syntax { expected, found, place, .. } if text.contains('{') && text.contains('?') => {
            let help = "if this is SPARQL, begin with SELECT, ASK or PREFIX, or name SPARQL as its language";
            QueryError::Syntax { expected, found, help: Some(help.to_owned()), place }
        }
        error => error,
    }
}

impl Mistakes {
    /// Every mistake with its line and caret.
    pub fn render(&self, style: Style) -> String {
        let rendered = self.errors.iter().map(|error| error.diagnostic().render(&self.source, style));
        rendered.collect::<Vec<_>>().join("\n\n")
    }
}

impl Display for Mistakes {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl std::error::Error for Mistakes {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::testing::tiny_graph;

    fn said(text: &str, language: Syntax) -> String {
        read(text, language, &tiny_graph(&[]), Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn a_question_in_another_language_than_the_named_one_gets_a_hint() {
        insta::assert_snapshot!(said("  ?A : r0(e0, A)", Syntax::Sparql), @r"
        error: expected SELECT, ASK or PREFIX, as SPARQL begins, found `?A`
          |
        1 |   ?A : r0(e0, A)
          |   ^^ expected SELECT, ASK or PREFIX, as SPARQL begins
          |
          = help: if it is not SPARQL, name no language: text and tuples are recognised by their beginning
        ");
        insta::assert_snapshot!(said("[0,[0]]", Syntax::Sparql), @r"
        error: expected SELECT, ASK or PREFIX, as SPARQL begins, found `[`
          |
        1 | [0,[0]]
          | ^ expected SELECT, ASK or PREFIX, as SPARQL begins
          |
          = help: if it is not SPARQL, name no language: text and tuples are recognised by their beginning
        ");
        insta::assert_snapshot!(said("?a WHERE { ?a r:r0 e:e0 }", Syntax::Text), @r"
        error: expected `:` after the target, found `WHERE`
          |
        1 | ?a WHERE { ?a r:r0 e:e0 }
          |    ^^^^^ expected `:` after the target
          |
          = help: if this is SPARQL, begin with SELECT, ASK or PREFIX, or name SPARQL as its language
        ");
        assert!(said("{ ?a r:r0 e:e0 }", Syntax::Tuple).contains("or name SPARQL as its language"));
        assert!(said("", Syntax::Sparql).contains("found the end"));
        // What begins like SPARQL is wrong further on.
        assert!(said("SELECT ?a WHERE { ?a r:r0 }", Syntax::Sparql).contains("this is not SPARQL"));
    }
}
