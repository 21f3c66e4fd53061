//! Endpoints with their descriptions, and the OpenAPI document made from them.

use std::collections::BTreeMap;

use axum::Router;
use axum::routing::MethodRouter;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::Shared;
use crate::problem::Problem;

type Make = fn(&mut SchemaGenerator) -> Schema;

/// What one method of an endpoint takes and returns.
pub(crate) struct Operation {
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    about: &'static str,
    params: Option<Make>,
    body: Vec<(&'static str, Make)>,
    gives: Vec<(&'static str, Option<Make>)>,
}

/// An operation with its name only; the methods below add the rest.
pub(crate) fn operation(method: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation { method, id, summary, about: "", params: None, body: Vec::new(), gives: Vec::new() }
}

impl Operation {
    /// Adds a longer description.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The parameters of its URL are the fields of a type.
    pub(crate) fn params<T: JsonSchema>(self) -> Self {
        Self { params: Some(T::json_schema), ..self }
    }

    /// It takes a JSON body.
    pub(crate) fn body<T: JsonSchema>(self) -> Self {
        self.body_of("application/json", SchemaGenerator::subschema_for::<T>)
    }

    /// It takes a JSON array or JSON lines. Only the lines have a schema for their items: an array may hold anything,
    /// because an item that is wrong gets an answer of its own.
    pub(crate) fn lines<T: JsonSchema>(self) -> Self {
        self.body_of("application/json", SchemaGenerator::subschema_for::<Vec<Value>>)
            .body_of("application/x-ndjson", SchemaGenerator::subschema_for::<T>)
    }

    /// It takes a body of a content type.
    pub(crate) fn body_of(mut self, content_type: &'static str, schema: Make) -> Self {
        self.body.push((content_type, schema));
        self
    }

    /// It returns JSON.
    pub(crate) fn gives<T: JsonSchema>(self) -> Self {
        self.streams::<T>("application/json")
    }

    /// It returns a stream of a content type, whose parts are JSON of a type.
    pub(crate) fn streams<T: JsonSchema>(mut self, content_type: &'static str) -> Self {
        self.gives.push((content_type, Some(SchemaGenerator::subschema_for::<T>)));
        self
    }

    /// It returns something other than JSON.
    pub(crate) fn text(mut self, content_type: &'static str) -> Self {
        self.gives.push((content_type, None));
        self
    }
}

/// Endpoints with their handlers and descriptions.
#[derive(Default)]
pub(crate) struct Described {
    endpoints: Vec<(&'static str, Vec<Operation>)>,
    router: Router<Shared>,
}

impl Described {
    /// Adds an endpoint.
    pub(crate) fn add<const N: usize>(
        &mut self,
        path: &'static str,
        handler: MethodRouter<Shared>,
        operations: [Operation; N],
    ) {
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, handler);
        self.endpoints.push((path, operations.into()));
    }

    /// The router, and the document that describes it.
    pub(crate) fn finish(self) -> (Router<Shared>, Value) {
        (self.router, Document::new().of(&self.endpoints))
    }
}

/// Types that are read and types that are written get separate schemas: a field with a default may be omitted in
/// the former, and is always there in the latter.
struct Document {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Document {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Self {
            read: settings().for_deserialize().into_generator(),
            written: settings().for_serialize().into_generator(),
        }
    }

    fn of(mut self, endpoints: &[(&'static str, Vec<Operation>)]) -> Value {
        let mut paths = Map::new();
        for (path, operations) in endpoints {
            let methods: Map<String, Value> = operations
                .iter()
                .map(|operation| (operation.method.to_owned(), self.operation(path, operation)))
                .collect();
            paths.insert((*path).to_owned(), methods.into());
        }
        self.written.subschema_for::<Problem>();
        let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
        for generator in [&mut self.read, &mut self.written] {
            schemas.extend(generator.take_definitions(true));
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Relatum",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Answers logical questions over an incomplete knowledge graph, and explains every answer.",
                "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            },
            "security": [{}, { "token": [] }],
        })
    }

    fn operation(&mut self, path: &str, operation: &Operation) -> Value {
        let mut described = json!({
            "operationId": operation.id,
            "summary": operation.summary,
            "responses": self.responses(operation),
        });
        if !operation.about.is_empty() {
            described["description"] = operation.about.into();
        }
        let parameters = self.parameters(path, operation);
        if !parameters.is_empty() {
            described["parameters"] = parameters.into();
        }
        if !operation.body.is_empty() {
            let bodies = operation.body.iter();
            let content: Map<String, Value> = bodies
                .map(|(kind, make)| ((*kind).to_owned(), json!({ "schema": make(&mut self.read) })))
                .collect();
            described["requestBody"] = json!({ "required": true, "content": content });
        }
        described
    }

    fn parameters(&mut self, path: &str, operation: &Operation) -> Vec<Value> {
        let in_path = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Value> = in_path
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        let Some(make) = operation.params else { return parameters };
        let schema = make(&mut self.read);
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, schema) in fields {
            let mut parameter = json!({ "name": name, "in": "query", "schema": without_null(schema) });
            if required.contains(&name.as_str().into()) {
                parameter["required"] = true.into();
            }
            if let Some(about) = parameter["schema"].as_object_mut().and_then(|it| it.remove("description")) {
                parameter["description"] = about;
            }
            parameters.push(parameter);
        }
        parameters
    }

    fn responses(&mut self, operation: &Operation) -> Value {
        let gives = operation.gives.iter();
        let content: Map<String, Value> = gives
            .map(|(kind, make)| {
                let media = match make {
                    // A stream has many values; each is of the schema.
                    Some(make) if *kind == "text/event-stream" => {
                        let data = json!({
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": make(&mut self.written),
                        });
                        let event = json!({ "type": "string" });
                        json!({ "schema": { "type": "object", "properties": { "event": event, "data": data } } })
                    }
                    Some(make) if *kind != "application/json" => {
                        let schema = make(&mut self.written);
                        json!({ "schema": { "type": "string", "x-each": schema } })
                    }
                    Some(make) => json!({ "schema": make(&mut self.written) }),
                    None => json!({ "schema": { "type": "string" } }),
                };
                ((*kind).to_owned(), media)
            })
            .collect();
        json!({
            "200": { "description": "Done", "content": content },
            "default": {
                "description": "Why it was not done",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            },
        })
    }
}

/// A parameter of a URL is present or absent, never null.
fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|it| it != "null");
        if let [one] = types.as_slice() {
            schema["type"] = one.clone();
        }
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|it| !it.is_null());
    }
    if let Some(any) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        any.retain(|it| it.get("type").is_none_or(|kind| kind != "null"));
    }
    if schema.get("default").is_some_and(Value::is_null)
        && let Some(object) = schema.as_object_mut()
    {
        object.remove("default");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_document_leads_somewhere() {
        let (_, document) = crate::api::endpoints().finish();
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > 20);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        let parameters = &document["paths"]["/api/v1/ask"]["get"]["parameters"];
        let named = |name: &str| parameters.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(named("question")["required"], true);
        assert_eq!(named("t_norm")["schema"]["enum"], json!(["godel", "product", "lukasiewicz"]));
        let model = &document["paths"]["/api/v1/models/{name}"]["get"]["parameters"][0];
        assert_eq!((&model["name"], &model["in"]), (&json!("name"), &json!("path")));
    }

    fn collect(value: &Value, references: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                references.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| collect(value, references));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, references)),
            _ => {}
        }
    }
}
