//! All stages in one call, for those who have a text and a graph.

use std::fmt::{Display, Formatter};

use super::check::Checked;
use super::diagnostics::Style;
use super::error::QueryError;
use super::formula::ParsedQuery;
use super::normal_form::Limits;
use super::{shapes, sparql, syntax};
use crate::graph::Graph;

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
    /// What a text looks like: SPARQL begins with one of its words, tuples with a bracket.
    pub fn detect(text: &str) -> Self {
        let text = text.trim_start();
        if text.starts_with(['[', '(', '{']) {
            Self::Tuple
        } else if sparql::looks_like(text) {
            Self::Sparql
        } else {
            Self::Text
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
pub fn read(text: &str, language: Syntax, graph: &Graph, limits: Limits) -> Result<Question, Mistakes> {
    let mistakes = |errors| Mistakes { source: text.to_owned(), errors };
    let mistake = |error| mistakes(vec![in_another_language(text, language, error)]);
    let (parsed, limit, offset): (ParsedQuery, _, _) = match language {
        Syntax::Text => (syntax::parse(text).map_err(mistake)?, None, 0),
        Syntax::Tuple => (shapes::parse(text).map_err(mistake)?, None, 0),
        Syntax::Sparql => {
            let select = sparql::parse(text, &graph.prefixes).map_err(mistake)?;
            (select.query, select.limit, select.offset)
        }
    };
    let checked = parsed.resolve(graph).and_then(|query| query.check(limits)).map_err(mistakes)?;
    Ok(Question { checked, limit, offset })
}

/// A mistake in what was taken for a language that it is not, said as such.
fn in_another_language(text: &str, language: Syntax, error: QueryError) -> QueryError {
    if language == Syntax::Sparql {
        return match sparql::wrong_beginning(text) {
            Some(place) => QueryError::Syntax {
                expected: "SELECT or PREFIX, as SPARQL begins".to_owned(),
                found: match &text[place.range()] {
                    "" => "the end".to_owned(),
                    word => format!("`{word}`"),
                },
                help: Some("leave --sparql out: text and tuples are known by how they begin".to_owned()),
                place,
            },
            None => error,
        };
    }
    match error {
        // No text has a brace outside quotes, and no tuple has a variable.
        QueryError::Syntax { expected, found, place, .. } if text.contains('{') && text.contains('?') => {
            let help = "SPARQL begins with SELECT or PREFIX; with --sparql it is read as such in any case";
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
    fn a_question_in_another_language_than_was_said_is_told_so_where_it_begins() {
        insta::assert_snapshot!(said("  ?A : r0(e0, A)", Syntax::Sparql), @r"
        error: expected SELECT or PREFIX, as SPARQL begins, found `?A`
          |
        1 |   ?A : r0(e0, A)
          |   ^^ expected SELECT or PREFIX, as SPARQL begins
          |
          = help: leave --sparql out: text and tuples are known by how they begin
        ");
        insta::assert_snapshot!(said("[0,[0]]", Syntax::Sparql), @r"
        error: expected SELECT or PREFIX, as SPARQL begins, found `[`
          |
        1 | [0,[0]]
          | ^ expected SELECT or PREFIX, as SPARQL begins
          |
          = help: leave --sparql out: text and tuples are known by how they begin
        ");
        insta::assert_snapshot!(said("?a WHERE { ?a r:r0 e:e0 }", Syntax::Text), @r"
        error: expected `:` after the target, found `WHERE`
          |
        1 | ?a WHERE { ?a r:r0 e:e0 }
          |    ^^^^^ expected `:` after the target
          |
          = help: SPARQL begins with SELECT or PREFIX; with --sparql it is read as such in any case
        ");
        assert!(said("{ ?a r:r0 e:e0 }", Syntax::Tuple).contains("with --sparql it is read as such"));
        assert!(said("", Syntax::Sparql).contains("found the end"));
        // What begins like SPARQL is wrong further on.
        assert!(said("SELECT ?a WHERE { ?a r:r0 }", Syntax::Sparql).contains("this is not SPARQL"));
    }
}
