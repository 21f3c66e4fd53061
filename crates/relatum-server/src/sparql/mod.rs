//! The SPARQL 1.1 protocol at `/sparql`: queries by GET, in a form, or as the body; results in four formats.

mod results;

use std::collections::HashMap;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use relatum::query::sparql::parse_any;
use relatum::query::syntax::Parsed;
use relatum::query::{Mistakes, Syntax};
use relatum::{Error, Options, Reply};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;

use crate::app::Shared;
use crate::input::{bytes, content_type, expect_type, pairs, utf8};
use crate::openapi::{Described, operation};
use crate::problem::Problem;
use crate::question::AskBody;
use results::Format;

const FORM: &str = "application/x-www-form-urlencoded";
const QUERY: &str = "application/sparql-query";

/// The options that may be given beside the query.
const OPTIONS: [&str; 3] = ["model", "known", "new_only"];

/// How many answers a query without LIMIT gets; otherwise every entity would be one, with some score.
const WITHOUT_LIMIT: usize = 100;

/// The parameters of a URL or a form. Others are ignored, because clients send some of their own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "its schema describes what is read")]
struct SparqlParams {
    /// The query; a GET without one gives the description of the service.
    query: Option<String>,
    /// The model that answers; if omitted, the default one.
    model: Option<String>,
    /// Which stored edges count as true: all, train+valid, train or none.
    known: Option<String>,
    /// Leave out answers that stored edges alone give.
    new_only: Option<bool>,
}

/// The endpoint with its description.
pub(crate) fn endpoint(api: &mut Described) {
    let about = "SELECT of one variable (and ?score and ?known), or ASK, over basic graph patterns, UNION, FILTER NOT \
                 EXISTS, MINUS, sequence and inverse paths. The answer to ASK is true where the statement is at least \
                 half true. Without LIMIT there are 100 answers.";
    let give = |mut it: crate::openapi::Operation| {
        for format in Format::ALL {
            it = it.text(format.media_type());
        }
        it
    };
    let string: fn(&mut SchemaGenerator) -> schemars::Schema = SchemaGenerator::subschema_for::<String>;
    api.add(
        "/sparql",
        axum::routing::get(sparql).post(sparql),
        [
            give(
                operation("get", "sparqlByUrl", "Answer a SPARQL query")
                    .about(about)
                    .params::<SparqlParams>(),
            )
            .text("text/turtle"),
            give(
                operation("post", "sparql", "Answer a SPARQL query given as it is or in a form")
                    .about(about)
                    .body_of(QUERY, string)
                    .body_of(FORM, SchemaGenerator::subschema_for::<SparqlParams>),
            ),
        ],
    );
}

/// A query with its options.
#[derive(Default)]
struct Asked {
    query: Option<String>,
    options: HashMap<String, String>,
}

impl Asked {
    fn add(&mut self, text: &str) -> Result<(), Problem> {
        for (name, value) in pairs(text).map_err(|detail| Problem::bad("parameters", detail))? {
            match name.as_str() {
                "query" if self.query.is_some() => {
                    return Err(Problem::bad("parameters", "`query` is given twice"));
                }
                "query" => self.query = Some(value),
                "update" => return Err(Problem::bad("parameters", "a graph cannot be updated by queries")),
                "default-graph-uri" | "named-graph-uri" => {
                    let detail = format!("`{name}` is not supported: a project has one graph");
                    return Err(Problem::bad("parameters", detail));
                }
                _ if self.options.contains_key(&name) && OPTIONS.contains(&name.as_str()) => {
                    return Err(Problem::bad("parameters", format!("`{name}` is given twice")));
                }
                _ => drop(self.options.insert(name, value)),
            }
        }
        Ok(())
    }

    fn options(&self) -> Result<Options, Problem> {
        let mut fields = serde_json::Map::new();
        for name in ["model", "known"] {
            fields.extend(self.options.get(name).map(|value| (name.to_owned(), value.as_str().into())));
        }
        if let Some(value) = self.options.get("new_only") {
            let value = value.parse::<bool>().map_err(|_| {
                Problem::bad("parameters", format!("`new_only` is true or false, not `{value}`"))
            })?;
            fields.insert("new_only".to_owned(), value.into());
        }
        Options::deserialize(serde_json::Value::Object(fields))
            .map_err(|error| Problem::bad("parameters", error.to_string()))
    }
}

async fn sparql(State(app): State<Shared>, request: Request) -> Response {
    let mut response = respond(&app, request).await.into_response();
    // What is given for one `Accept` must not be kept for another.
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

async fn respond(app: &Shared, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let mut asked = Asked::default();
    asked.add(head.uri.query().unwrap_or_default())?;
    if head.method == Method::POST {
        expect_type(&head.headers, &[QUERY, FORM])?;
        let body = bytes(body, app.limits.body_bytes).await?;
        let text = utf8(&body)?;
        match content_type(&head.headers).as_deref() {
            Some(QUERY) if asked.query.is_some() => {
                return Err(Problem::bad("parameters", "the query is given twice"));
            }
            Some(QUERY) => asked.query = Some(text.to_owned()),
            _ => asked.add(text)?,
        }
    }
    let options = asked.options()?;
    let Some(query) = asked.query.take() else {
        if head.method == Method::POST {
            return Err(Problem::bad("parameters", "the form has no field `query`"));
        }
        return Ok(([(header::CONTENT_TYPE, "text/turtle; charset=utf-8")], description(&head.headers))
            .into_response());
    };
    let format = Format::accepted(&head.headers)?;
    answer(app, query, options, format).await
}

async fn answer(app: &Shared, query: String, options: Options, format: Format) -> Result<Response, Problem> {
    if query.len() > app.limits.question_bytes {
        let detail = format!("a query may have at most {} bytes", app.limits.question_bytes);
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", detail));
    }
    let request = parse_any(&query, &app.engine.graph().prefixes)
        .map_err(|error| Error::from(Mistakes { source: query.clone(), errors: vec![error] }))?;
    let most = app.limits.top;
    if let Some(limit) = request.limit.filter(|&limit| limit > most) {
        let detail = format!("LIMIT may be at most {most} here, but is {limit}");
        return Err(Problem::bad("limit", detail).remedy("ask for the rest with OFFSET"));
    }
    let top = match (&request.parsed, request.limit) {
        (Parsed::Statement(_), _) => None,
        // No answer is wanted, so the search is as small as possible, but mistakes are still reported.
        (_, Some(0)) => Some(1),
        (_, limit) => Some(limit.unwrap_or(WITHOUT_LIMIT.min(most))),
    };
    let ask = AskBody {
        question: query,
        options: Options { syntax: Some(Syntax::Sparql), top, ..options },
        ..AskBody::default()
    };
    let nothing_wanted = request.limit == Some(0);
    let reply = app.ask(ask, false, |control| control).await?;
    if nothing_wanted {
        let empty = Reply { answers: Vec::new(), relations: Vec::new(), ..Reply::clone(&reply) };
        return format.response(&empty, &request.selected);
    }
    format.response(&reply, &request.selected)
}

/// What the service is, in Turtle.
fn description(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let plain = host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
    let host = if plain { host } else { "localhost" };
    let formats = ["JSON", "XML", "CSV", "TSV"]
        .map(|name| format!("<http://www.w3.org/ns/formats/SPARQL_Results_{name}>"))
        .join(", ");
    format!(
        "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n\
         <http://{host}/sparql> a sd:Service ;\n    \
         sd:endpoint <http://{host}/sparql> ;\n    \
         sd:supportedLanguage sd:SPARQL11Query ;\n    \
         sd:resultFormat {formats} ;\n    \
         sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] .\n"
    )
}
