//! A reply as SPARQL results, in the format that the client prefers.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oxrdf::{Literal, NamedNode, Term, Variable};
use relatum::Reply;
use relatum::query::sparql::{KNOWN, SCORE, entity_iri, relation_iri};
use relatum::report::AskedFor;
use sparesults::{QueryResultsFormat, QueryResultsSerializer};

use crate::problem::Problem;

/// ASK is answered with true if the statement is at least so true.
const HALF: f32 = 0.5;

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Xml,
    Csv,
    Tsv,
}

impl Format {
    pub(super) const ALL: [Self; 4] = [Self::Json, Self::Xml, Self::Csv, Self::Tsv];

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/sparql-results+json",
            Self::Xml => "application/sparql-results+xml",
            Self::Csv => "text/csv",
            Self::Tsv => "text/tab-separated-values",
        }
    }

    /// Other names by which clients ask for it.
    fn also(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["application/json"],
            Self::Xml => &["application/xml", "text/xml"],
            Self::Csv | Self::Tsv => &[],
        }
    }

    /// How closely a range of `Accept` names it: by its own name, by another, by its type, or as anything.
    fn closeness(self, range: &str) -> Option<u8> {
        let kind = self.media_type().split('/').next().unwrap_or_default();
        match range {
            _ if range == self.media_type() => Some(3),
            _ if self.also().contains(&range) => Some(2),
            "*/*" => Some(0),
            _ if range.strip_suffix("/*") == Some(kind) => Some(1),
            _ => None,
        }
    }

    /// The format that the client prefers. What names a format most closely counts for it, so that one with q=0 is not
    /// given even where `*/*` would allow it. Among equal preferences the closest counts, then the first that was
    /// named, then the first of ours.
    pub(super) fn accepted(headers: &HeaderMap) -> Result<Self, Problem> {
        let accept: Vec<&str> =
            headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        if accept.is_empty() {
            return Ok(Self::Json);
        }
        let accept = accept.join(",");
        let wishes: Vec<(String, f32)> = accept.split(',').map(wish).collect();
        let of = |format: Self| {
            let close = wishes.iter().enumerate().filter_map(|(place, (range, quality))| {
                Some((format.closeness(range)?, std::cmp::Reverse(place), *quality))
            });
            close.max_by_key(|&(closeness, place, _)| (closeness, place))
        };
        let mut best: Option<(f32, u8, std::cmp::Reverse<usize>, Self)> = None;
        for format in Self::ALL {
            if let Some((closeness, place, quality)) = of(format).filter(|(.., quality)| *quality > 0.0)
                && best.is_none_or(|(q, c, p, _)| {
                    quality > q || (quality.to_bits() == q.to_bits() && (closeness, place) > (c, p))
                })
            {
                best = Some((quality, closeness, place, format));
            }
        }
        best.map(|(.., format)| format).ok_or_else(|| {
            let ours = Self::ALL.map(Self::media_type).join(", ");
            let detail = format!("the request accepts `{accept}`; results are given as {ours}");
            Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", detail)
        })
    }

    /// The reply as a response; `selected` are the variables in the order of the query.
    pub(super) fn response(self, reply: &Reply, selected: &[String]) -> Result<Response, Problem> {
        let lost = |error: &dyn std::error::Error| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "lost", error.to_string())
        };
        let format = match self {
            Self::Json => QueryResultsFormat::Json,
            Self::Xml => QueryResultsFormat::Xml,
            Self::Csv => QueryResultsFormat::Csv,
            Self::Tsv => QueryResultsFormat::Tsv,
        };
        let serializer = QueryResultsSerializer::from_format(format);
        let body = if reply.asked == AskedFor::Truth {
            let judged = reply.judged.as_ref();
            let holds = judged.is_some_and(|it| it.known == Some(true) || it.truth >= HALF);
            serializer.serialize_boolean_to_writer(Vec::new(), holds).map_err(|error| lost(&error))?
        } else {
            let variables: Vec<Variable> = selected.iter().map(Variable::new_unchecked).collect();
            let mut solutions = serializer
                .serialize_solutions_to_writer(Vec::new(), variables.clone())
                .map_err(|error| lost(&error))?;
            for row in rows(reply) {
                let values =
                    variables.iter().filter_map(|variable| Some((variable, row.value(variable, reply)?)));
                let values: Vec<(&Variable, Term)> = values.collect();
                solutions
                    .serialize(values.iter().map(|(name, term)| (*name, term)))
                    .map_err(|error| lost(&error))?;
            }
            solutions.finish().map_err(|error| lost(&error))?
        };
        let content_type = match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
            other => other.media_type(),
        };
        Ok(([(header::CONTENT_TYPE, content_type)], body).into_response())
    }
}

/// One range of `Accept` in lower case, and its quality.
fn wish(text: &str) -> (String, f32) {
    let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
    let range = parts.next().unwrap_or_default();
    let quality = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse().ok()).unwrap_or(1.0);
    (range, quality)
}

struct Row {
    term: Term,
    score: f32,
    known: Option<bool>,
}

impl Row {
    fn value(&self, variable: &Variable, reply: &Reply) -> Option<Term> {
        let name = variable.as_str();
        if reply.target.as_deref() == Some(name) {
            return Some(self.term.clone());
        }
        match name {
            // The shortest decimal that is the same 32-bit number, as in other output.
            SCORE => {
                Some(Literal::new_typed_literal(self.score.to_string(), oxrdf::vocab::xsd::DOUBLE).into())
            }
            KNOWN => self.known.map(|known| Literal::from(known).into()),
            _ => None,
        }
    }
}

fn rows(reply: &Reply) -> Vec<Row> {
    let answers = reply.answers.iter().map(|answer| Row {
        term: term(&answer.entity.name, entity_iri),
        score: answer.score,
        known: answer.known,
    });
    let relations = reply.relations.iter().map(|answer| Row {
        term: term(&answer.relation.name, relation_iri),
        score: answer.score,
        known: Some(answer.known.is_some()),
    });
    answers.chain(relations).collect()
}

/// A name of the graph as a term: an IRI or a literal as it is, any other name as an IRI made of it.
fn term(name: &str, made: fn(&str) -> String) -> Term {
    if name.starts_with('"')
        && let Ok(literal) = name.parse::<Literal>()
    {
        return literal.into();
    }
    if name.contains(':')
        && let Ok(iri) = NamedNode::new(name)
    {
        return iri.into();
    }
    NamedNode::new_unchecked(made(name)).into()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn accepted(accept: &str) -> Option<Format> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_str(accept).unwrap());
        Format::accepted(&headers).ok()
    }

    #[test]
    fn the_preferred_format_is_given() {
        assert_eq!(accepted("text/csv"), Some(Format::Csv));
        assert_eq!(accepted("text/csv;q=0.5, application/sparql-results+xml"), Some(Format::Xml));
        assert_eq!(accepted("image/png, */*;q=0.1"), Some(Format::Json));
        assert_eq!(accepted("Text/Tab-Separated-Values; charset=utf-8"), Some(Format::Tsv));
        assert_eq!(accepted("image/png"), None);
        assert_eq!(accepted("text/csv;q=0"), None);
        assert_eq!(accepted("application/sparql-results+json;q=0, */*"), Some(Format::Xml));
        assert_eq!(accepted("*/*, text/*;q=0, application/*;q=0"), None);
        assert_eq!(accepted("text/*"), Some(Format::Csv));
        assert_eq!(accepted("text/csv;Q=0, text/*"), Some(Format::Tsv));
        assert_eq!(accepted("text/csv, application/sparql-results+xml"), Some(Format::Csv));
        assert_eq!(accepted("*/*, application/xml"), Some(Format::Xml), "what is named goes before anything");
        assert_eq!(Format::accepted(&HeaderMap::new()).unwrap(), Format::Json);
    }

    #[test]
    fn names_are_terms() {
        assert_eq!(term("http://x.org/a", entity_iri).to_string(), "<http://x.org/a>");
        assert_eq!(
            term("Bad Boys (1995)", entity_iri).to_string(),
            "<urn:relatum:e:Bad%20Boys%20%281995%29>"
        );
        assert_eq!(term("Alien: a film", entity_iri).to_string(), "<urn:relatum:e:Alien%3A%20a%20film>");
        assert_eq!(term("\"1979\"@en", entity_iri).to_string(), "\"1979\"@en");
    }
}
