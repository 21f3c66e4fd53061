//! Tools for assistants, by the Model Context Protocol: on standard input and output, or at `/mcp`.
//!
//! The tools call the same code as the API; their schemas are those of the types that are read. A question with
//! mistakes is answered with the places of the mistakes and what to write instead, so that the next try is right.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use relatum::report::{AskedFor, Check, Diagnostic};
use relatum::{Engine, Reply};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{DescribeParams, FindParams, described, found, plan};
use crate::app::{App, Shared};
use crate::input::{bytes, content_type};
use crate::problem::Problem;
use crate::question::{AskBody, ExplainBody};
use crate::server::ServerError;
use crate::settings::Settings;
use crate::shape::fit;
use crate::stdio;

const INSTRUCTIONS: &str = "\
Relatum answers logical questions over an incomplete knowledge graph: it combines stored edges with predicted ones and \
explains every answer. Write a question as `?X : formula`. A formula is built of atoms `relation(subject, object)` with \
`and`, `or`, `not` and `exists V, W.`; the target ?X and the names after `exists` are variables, everything else is a \
name of the graph, in double quotes where it has spaces or signs: \
`?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)`. \
Without a target it is a statement, and the answer says how true it is: `has_genre(\"Alien (1979)\", Comedy)`. \
`?R : R(\"a\", \"b\")` asks which relations hold. Call `relations` to see what relations there are and in which \
direction they run, `find` for the exact names of entities. Cite the explanation of an answer; an atom that is \
`predicted` is a guess of the model with that truth, one that is `known` is stored in the graph.";

/// Serves the tools on standard input and output until the input ends.
pub fn serve_stdio(engine: Engine, settings: &Settings) -> Result<(), ServerError> {
    if let Some(model) = &settings.model {
        engine.model(Some(model))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let tools = Tools { app: Arc::new(App::new(engine, settings)?) };
    let served: Result<(), std::io::Error> = runtime.block_on(async {
        let lines = stdio::checked(tokio::io::stdin(), tokio::io::stdout());
        let service = rmcp::serve_server(tools, lines.transport).await.map_err(std::io::Error::other)?;
        service.waiting().await.map_err(std::io::Error::other)?;
        // What was answered last is still on its way.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), lines.written).await;
        Ok(())
    });
    // A thread of the runtime may still be waiting for standard input, so the runtime is not joined.
    runtime.shutdown_background();
    Ok(served?)
}

/// The same over HTTP, as a route. Bodies are read under the same limits of time and size as everywhere.
pub(crate) fn http(app: &Shared) -> MethodRouter<Shared> {
    let service = service(app);
    let handle = async move |State(app): State<Shared>, request: Request| -> Result<Response, Problem> {
        let (head, body) = request.into_parts();
        let body = bytes(body, app.limits.body_bytes).await?;
        let answer = service.handle(Request::from_parts(head, Body::from(body))).await;
        let answer = answer.map(Body::new);
        if refused_in_words(&answer) { Ok(as_problem(answer).await) } else { Ok(answer) }
    };
    axum::routing::any(handle)
}

/// Whether a request was refused by a plain text, as one that is not of the protocol is.
fn refused_in_words(answer: &Response) -> bool {
    let failed = answer.status().is_client_error() || answer.status().is_server_error();
    failed && content_type(answer.headers()).is_none_or(|it| !it.ends_with("json"))
}

/// The same as a problem, with its headers.
async fn as_problem(answer: Response) -> Response {
    let (head, body) = answer.into_parts();
    let said = bytes(body, 4096).await.unwrap_or_default();
    let detail = match std::str::from_utf8(&said) {
        Ok(said) if !said.trim().is_empty() => said.trim().to_owned(),
        _ => "this is no request of the Model Context Protocol".to_owned(),
    };
    let mut response = Problem::new(head.status, "mcp", detail).into_response();
    for (name, value) in &head.headers {
        if ![header::CONTENT_TYPE, header::CONTENT_LENGTH].contains(name) {
            response.headers_mut().append(name.clone(), value.clone());
        }
    }
    response
}

fn service(app: &Shared) -> StreamableHttpService<Tools, LocalSessionManager> {
    // Host names are checked for the whole server, not here.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(app.limits.body_bytes);
    let app = Shared::clone(app);
    let tools = move || Ok(Tools { app: Shared::clone(&app) });
    StreamableHttpService::new(tools, Arc::new(LocalSessionManager::default()), config)
}

/// The tools of one project.
#[derive(Clone)]
pub(crate) struct Tools {
    app: Shared,
}

/// No arguments.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("relatum", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: tools(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match request.name.as_ref() {
            "ask" => self.ask(arguments).await,
            "explain" => self.explain(arguments).await,
            "plan" => self.plan(arguments).await,
            "find" => self.find(arguments).await,
            "describe" => self.describe(arguments).await,
            "relations" => self.relations(arguments).await,
            other => return Err(ErrorData::invalid_params(format!("there is no tool `{other}`"), None)),
        };
        Ok(result.unwrap_or_else(|problem| failed(&problem)).into())
    }
}

impl Tools {
    async fn ask(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        let mut ask: AskBody = read(arguments)?;
        ask.options.explain = true;
        let reply = self.app.ask(ask, false, |control| control).await?;
        Ok(given(&reply, cited(&reply)))
    }

    async fn explain(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        let reply = self.app.explain(read::<ExplainBody>(arguments)?).await?;
        Ok(given(&reply, cited(&reply)))
    }

    async fn plan(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        let ask: AskBody = read(arguments)?;
        let check: Check = self.app.look(move |app| plan(app, ask)).await?;
        let text = check.plan.as_ref().map_or_else(
            || "a statement or a question for relations has no plan".to_owned(),
            ToString::to_string,
        );
        Ok(given(&check, text))
    }

    async fn find(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        let params: FindParams = read(arguments)?;
        let found = self.app.look(move |app| Ok(found(app, &params))).await?;
        let kind =
            if found.nearest { "no name contains it; the nearest names" } else { "write them like this" };
        let names = found.entities.iter().chain(&found.relations);
        let lines: Vec<String> =
            names.map(|it| format!("{} ({}, {} edges)", it.write, it.kind.name(), it.edges)).collect();
        Ok(given(&found, format!("{kind}:\n{}", lines.join("\n"))))
    }

    async fn describe(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        let description = described(&self.app, read::<DescribeParams>(arguments)?).await?;
        let mut text = description.to_string();
        for edge in description.predicted.iter().flatten() {
            let (subject, object) = (edge.subject.shown(), edge.object.shown());
            text += &format!("\n  predicted {}({subject}, {object}) {:.4}", edge.relation.text, edge.truth);
        }
        Ok(given(&description, text))
    }

    async fn relations(&self, arguments: Value) -> Result<CallToolResult, Problem> {
        read::<Nothing>(arguments)?;
        let app = Shared::clone(&self.app);
        let (relations, samples) = self.app.look(move |_| Ok(sampled(&app))).await?;
        let lines = relations.iter().zip(&samples).map(|(relation, sample)| {
            let name = relatum::query::syntax::name_text(&relation.text);
            format!("{name} ({}, {} edges), such as {sample}", relation.cardinality, relation.edges)
        });
        Ok(given(&serde_json::json!({ "relations": relations }), lines.collect::<Vec<_>>().join("\n")))
    }
}

/// The relations, each with an edge that shows in which direction it runs.
fn sampled(app: &App) -> (Vec<relatum::report::RelationStats>, Vec<String>) {
    use relatum::engine::Look;
    use relatum::query::syntax::name_text;
    let relations = app.stats().by_relation.clone();
    let look = Look { relation: true, limit: Some(1), ..Look::default() };
    let sample = |name: &str| {
        let described = app.engine.describe(name, &look).ok()?;
        let edge = described.relations.first()?.edges.first()?;
        let (head, tail) = (name_text(&edge.head_text), name_text(&edge.tail_text));
        Some(format!("{}({head}, {tail})", name_text(&described.text)))
    };
    let samples = relations.iter().map(|it| sample(&it.name).unwrap_or_default()).collect();
    (relations, samples)
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    fit(arguments).map_err(|error| Problem::bad("parameters", format!("the arguments do not fit: {error}")))
}

/// A result as data, and as a text that an assistant can quote.
fn given(data: &impl Serialize, text: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(data).ok();
    result
}

/// The reply as the command prints it, with a line if there is no answer.
fn cited(reply: &Reply) -> String {
    let nothing = reply.asked == AskedFor::Entities && reply.answers.is_empty();
    if nothing { format!("{reply}no answer: nothing makes one true\n") } else { reply.to_string() }
}

/// A problem as text: each mistake with its place and what to write instead.
fn failed(problem: &Problem) -> CallToolResult {
    let mut text = format!("{}: {}", problem.title(), problem.detail);
    for diagnostic in &problem.diagnostics {
        text += &mistake(diagnostic);
    }
    if let Some(remedy) = &problem.remedy {
        text += &format!("\n{remedy}");
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(problem).ok();
    result
}

fn mistake(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.labels.first().map_or_else(String::new, |label| {
        let start = label.span.start;
        format!(" at line {}, column {}: {}", start.line, start.column, label.text)
    });
    let mut text = format!("\n- {}{place}", diagnostic.message);
    for help in &diagnostic.help {
        text += &format!("; {help}");
    }
    for suggestion in diagnostic.suggestions.iter().take(3) {
        text += &format!("; write {}", suggestion.replacement);
    }
    text
}

fn tools() -> Vec<Tool> {
    vec![
        tool::<AskBody>(
            "ask",
            "Answer a question, with an explanation of every answer to cite. \
            `?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)`: target before the colon, other variables after \
            `exists`, atoms `relation(subject, object)`, `and or not`, names with spaces in double quotes. Without a target it is a \
            statement: how true is it? Leave out all options but `question` and `top` unless there is a reason; `new_only` leaves \
            out answers that stored edges alone give.",
        ),
        tool::<ExplainBody>(
            "explain",
            "Explain one entity as an answer to a question: how true it is that it is one, by which \
            assignment, and which of the atoms are stored or predicted.",
        ),
        tool::<FindParams>(
            "find",
            "Find entities and relations by a part of their name, or the nearest names, as they must be \
            written in a question.",
        ),
        tool::<DescribeParams>(
            "describe",
            "Show the stored edges of an entity in both directions, or what a relation connects; with \
            `predicted`, also the most likely missing ones.",
        ),
        tool::<Nothing>(
            "relations",
            "List the relations with their cardinalities and an edge of each, which shows in which \
            direction it runs. Call it before you write the first question.",
        ),
        tool::<AskBody>("plan", "Check a question and show how it would be answered, without searching."),
    ]
}

fn tool<T: JsonSchema>(name: &'static str, about: &'static str) -> Tool {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object: JsonObject = schema.as_object().cloned().unwrap_or_default();
    // A tool without arguments has an object as its schema too.
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    let mut tool = Tool::new(name, about, object);
    tool.annotations = Some(ToolAnnotations::new().read_only(true).open_world(false));
    tool
}
