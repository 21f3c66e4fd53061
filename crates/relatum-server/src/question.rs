//! A question as a request carries it: its text, the engine's options, and its limits.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use relatum::Options;
use relatum::control::{Cancel, Control};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use crate::problem::Problem;
use crate::settings::Limits;

/// A question with the options of the engine beside it, all in one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AskBody {
    /// The question.
    pub question: String,
    /// How to answer it.
    pub options: Options,
    /// How many rows may be scored.
    pub max_rows: Option<usize>,
    /// How long the search may take.
    pub max_seconds: Option<f64>,
}

/// The same with the entity that is to be explained.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExplainBody {
    /// The question.
    pub ask: AskBody,
    /// The entity.
    pub entity: String,
}

impl AskBody {
    /// Reads the fields of an object; those that are not known are refused. `before` are fields of the same object
    /// that were read already.
    fn of<E: Error>(mut fields: Map<String, Value>, before: &[&str]) -> Result<Self, E> {
        let question = take(&mut fields, "question")?.ok_or_else(|| E::missing_field("question"))?;
        let max_rows = take(&mut fields, "max_rows")?;
        let max_seconds: Option<f64> = take(&mut fields, "max_seconds")?;
        if max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds < 0.0) {
            return Err(E::custom("max_seconds must be 0 or more"));
        }
        if let Some(unknown) = fields.keys().find(|name| !OF_OPTIONS.contains(*name)) {
            let all = ["question"].iter().chain(before).copied().chain(OF_OPTIONS.iter().map(String::as_str));
            let all: Vec<&str> = all.chain(["max_rows", "max_seconds"]).collect();
            return Err(E::custom(format!("unknown field `{unknown}`; the fields are {}", all.join(", "))));
        }
        let options = Options::deserialize(Value::Object(fields)).map_err(E::custom)?;
        Ok(Self { question, options, max_rows, max_seconds })
    }

    /// Refuses a question beyond the limits of the server; where it has no limits of its own, it gets the server's.
    pub(crate) fn within(mut self, limits: &Limits) -> Result<Self, Problem> {
        let beyond = |what: &str, asked: String, most: String| {
            let detail = format!("{what} may be at most {most} here, but is {asked}");
            Problem::bad("limit", detail).remedy("GET /api/v1/info has the limits of this server")
        };
        if self.question.len() > limits.question_bytes {
            let (asked, most) = (self.question.len().to_string(), limits.question_bytes.to_string());
            let problem = beyond("the bytes of a question", asked, most);
            return Err(problem.with_status(StatusCode::PAYLOAD_TOO_LARGE));
        }
        let numbers = [
            ("max_branches", self.options.max_branches, limits.branches),
            ("k", self.options.k, limits.k),
            ("top", self.options.top, limits.top),
            ("max_rows", self.max_rows, limits.rows),
        ];
        for (what, asked, most) in numbers {
            if let Some(asked) = asked.filter(|&asked| asked > most) {
                return Err(beyond(what, asked.to_string(), most.to_string()));
            }
        }
        if let Some(seconds) = self.max_seconds.filter(|&seconds| seconds > limits.seconds) {
            return Err(beyond("max_seconds", seconds.to_string(), limits.seconds.to_string()));
        }
        self.max_rows.get_or_insert(limits.rows);
        self.max_seconds.get_or_insert(limits.seconds);
        Ok(self)
    }

    /// The limits of the search, counted from now.
    pub(crate) fn control(&self, cancel: Cancel) -> Control {
        let control = Control::default().with_cancel(cancel);
        let control = self.max_rows.into_iter().fold(control, Control::with_rows);
        let until = self.max_seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        until.into_iter().fold(control, Control::with_deadline)
    }
}

fn take<T: for<'de> Deserialize<'de>, E: Error>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, E> {
    let value = fields.remove(name).filter(|value| !value.is_null());
    value.map(|value| T::deserialize(value).map_err(E::custom)).transpose()
}

/// The fields of the engine's options.
static OF_OPTIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema = schemars::schema_for!(Options);
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flat_map(Map::keys).cloned().collect()
});

impl<'de> Deserialize<'de> for AskBody {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(Map::deserialize(from)?, &[])
    }
}

impl<'de> Deserialize<'de> for ExplainBody {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(from)?;
        let entity = take(&mut fields, "entity")?.ok_or_else(|| D::Error::missing_field("entity"))?;
        Ok(Self { ask: AskBody::of(fields, &["entity"])?, entity })
    }
}

impl JsonSchema for AskBody {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AskBody".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Options::json_schema(generator);
        add(
            &mut schema,
            "max_rows",
            &json_schema!({
                "description": "How many rows may be scored; if omitted, as many as the server allows.",
                "type": ["integer", "null"], "minimum": 0
            }),
        );
        add(
            &mut schema,
            "max_seconds",
            &json_schema!({
                "description": "How many seconds the search may take; then it ends with the best so far. If omitted, as long as the server allows.",
                "type": ["number", "null"], "minimum": 0
            }),
        );
        add(
            &mut schema,
            "question",
            &json_schema!({
                "description": "The question: text, SPARQL or a tuple of the benchmark files.",
                "type": "string"
            }),
        );
        schema.insert("required".to_owned(), vec!["question"].into());
        schema.insert(
            "description".to_owned(),
            "A question, and how to answer it. An omitted option is chosen: \
            as tuned for the type of question and the model, or else by default."
                .into(),
        );
        schema
    }
}

impl JsonSchema for ExplainBody {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExplainBody".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = AskBody::json_schema(generator);
        add(
            &mut schema,
            "entity",
            &json_schema!({
                "description": "The entity that is to be explained as an answer, by name or label.",
                "type": "string"
            }),
        );
        schema.insert("required".to_owned(), vec!["question", "entity"].into());
        schema
    }
}

fn add(schema: &mut Schema, name: &str, property: &Schema) {
    let object = schema.ensure_object();
    let properties = object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(name.to_owned(), property.as_value().clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<AskBody, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_question_carries_the_options_of_the_engine() {
        let ask =
            read(r#"{"question": "?X : r(a, X)", "k": 3, "method": "beam", "max_seconds": 1.5}"#).unwrap();
        assert_eq!(
            (ask.question.as_str(), ask.options.k, ask.max_seconds),
            ("?X : r(a, X)", Some(3), Some(1.5))
        );
        assert!(read(r#"{"k": 3}"#).unwrap_err().contains("missing field `question`"));
        assert!(read(r#"{"question": "a", "kk": 3}"#).unwrap_err().contains("unknown field `kk`"));
        assert!(read(r#"{"question": 7}"#).unwrap_err().contains("invalid type"));
        assert!(read(r#"{"question": "a", "max_seconds": -1}"#).is_err());
        let explain: ExplainBody =
            serde_json::from_str(r#"{"question": "q", "entity": "e", "top": 1}"#).unwrap();
        assert_eq!((explain.entity.as_str(), explain.ask.options.top), ("e", Some(1)));
        let unknown = serde_json::from_str::<ExplainBody>(r#"{"question": "q", "entity": "e", "kk": 1}"#);
        let said = unknown.unwrap_err().to_string();
        assert!(said.contains("the fields are question, entity, calibration, "), "{said}");
    }

    #[test]
    fn values_beyond_the_limits_are_refused_and_omitted_ones_get_the_limits() {
        let limits = Limits { k: 10, rows: 7, seconds: 2.0, question_bytes: 5, ..Limits::default() };
        let ask = |json: &str| read(json).unwrap().within(&limits);
        let open = ask(r#"{"question": "q"}"#).unwrap();
        assert_eq!((open.max_rows, open.max_seconds), (Some(7), Some(2.0)));
        let refused = ask(r#"{"question": "q", "k": 11}"#).unwrap_err();
        assert_eq!((refused.status, refused.detail.as_str()), (400, "k may be at most 10 here, but is 11"));
        assert_eq!(ask(r#"{"question": "123456"}"#).unwrap_err().status, 413);
        assert!(ask(r#"{"question": "q", "max_seconds": 3}"#).is_err());
    }

    #[test]
    fn the_schema_has_all_fields_and_no_others() {
        let schema = schemars::schema_for!(ExplainBody);
        let properties = schema.get("properties").and_then(Value::as_object).unwrap();
        for name in ["question", "entity", "k", "t_norm", "max_seconds", "explain"] {
            assert!(properties.contains_key(name), "{name}");
        }
        assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)));
    }
}
