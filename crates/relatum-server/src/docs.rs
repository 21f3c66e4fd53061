//! A reference for people, made from the OpenAPI document: plain HTML, without script or resources of other hosts.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

const STYLE: &str = include_str!("docs.css");

/// The style sheet of the reference.
pub(crate) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// The reference as a response.
pub(crate) fn response(html: String) -> Response {
    let policy = HeaderValue::from_static(
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, html).into_response()
}

/// The reference of a document.
pub(crate) fn html(document: &Value) -> String {
    let info = &document["info"];
    let mut body = format!(
        "<h1>{} <small>{}</small></h1><p>{}</p><p>The same for programs: <a href=\"/openapi.json\">/openapi.json</a> \
         (OpenAPI 3.1).</p>",
        text(&info["title"]),
        text(&info["version"]),
        text(&info["description"]),
    );
    for (path, methods) in fields(&document["paths"]) {
        for (method, operation) in fields(methods) {
            body += &of_operation(path, method, operation);
        }
    }
    body += "<h2 id=\"schemas\">Schemas</h2>";
    for (name, schema) in fields(&document["components"]["schemas"]) {
        body += &format!(
            "<details id=\"{0}\"><summary><code>{0}</code></summary>{1}</details>",
            escaped(name),
            of_schema(schema)
        );
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>Relatum API</title><link rel=\"stylesheet\" \
         href=\"/docs/style.css\"></head><body><main>{body}</main></body></html>"
    )
}

fn of_operation(path: &str, method: &str, operation: &Value) -> String {
    let mut html = format!(
        "<details class=\"operation\" id=\"{id}\"><summary><b class=\"{method}\">{upper}</b> <code>{path}</code> \
         {summary}</summary><p>{about}</p>",
        id = text(&operation["operationId"]),
        upper = method.to_uppercase(),
        path = escaped(path),
        summary = text(&operation["summary"]),
        about = text(&operation["description"]),
    );
    if let Some(parameters) = operation["parameters"].as_array() {
        html += "<h4>Parameters</h4><table>";
        for parameter in parameters {
            let required = parameter["required"].as_bool().unwrap_or_default();
            html +=
                &row(&text(&parameter["name"]), required, &parameter["schema"], &parameter["description"]);
        }
        html += "</table>";
    }
    for (kind, media) in fields(&operation["requestBody"]["content"]) {
        html += &format!("<h4>Body, {}</h4><p>{}</p>", escaped(kind), kind_of(&media["schema"]));
    }
    for (status, response) in fields(&operation["responses"]) {
        for (kind, media) in fields(&response["content"]) {
            let status = if status == "default" { "Otherwise" } else { status.as_str() };
            html += &format!("<h4>{status}, {}</h4><p>{}</p>", escaped(kind), kind_of(&media["schema"]));
        }
    }
    html + "</details>"
}

fn of_schema(schema: &Value) -> String {
    let mut html = format!("<p>{}</p>", text(&schema["description"]));
    let properties = fields(&schema["properties"]);
    if properties.is_empty() {
        return html + &format!("<p>{}</p>", kind_of(schema));
    }
    html += "<table>";
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in properties {
        html += &row(
            &escaped(name),
            required.contains(&name.as_str().into()),
            property,
            &property["description"],
        );
    }
    html + "</table>"
}

fn row(name: &str, required: bool, schema: &Value, about: &Value) -> String {
    let mark = if required { " <em>required</em>" } else { "" };
    format!("<tr><th><code>{name}</code>{mark}</th><td>{}</td><td>{}</td></tr>", kind_of(schema), text(about))
}

/// The type of a schema in a few words, with links to other schemas.
fn kind_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = escaped(reference.rsplit('/').next().unwrap_or_default());
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    if let Some(each) = schema.get("x-each") {
        return format!("many, each {}", kind_of(each));
    }
    if let Some(content) = schema.get("contentSchema") {
        return format!("JSON: {}", kind_of(content));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = schema[key].as_array() {
            return kinds.iter().map(kind_of).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| format!("<code>{}</code>", escaped(&value.to_string())))
            .collect::<Vec<_>>()
            .join(" ");
    }
    if let Some(constant) = schema.get("const") {
        return format!("<code>{}</code>", escaped(&constant.to_string()));
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", kind_of(&schema["items"])),
        Value::String(kind) if kind == "object" => {
            let properties = fields(&schema["properties"]).into_iter();
            let parts: Vec<String> = properties
                .map(|(name, it)| format!("<code>{}</code>: {}", escaped(name), kind_of(it)))
                .collect();
            format!("object {{ {} }}", parts.join(", "))
        }
        Value::String(kind) => escaped(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(escaped).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn fields(value: &Value) -> Vec<(&String, &Value)> {
    value.as_object().map(Map::iter).into_iter().flatten().collect()
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
