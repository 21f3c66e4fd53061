//! JSON of another shape than expected: which field is wrong, and what belongs there, in words.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Objects with more fields than this are not searched for the wrong one: it takes a try for each.
const MOST_FIELDS: usize = 64;

/// Reads a value; if it does not fit, says which field is wrong and what was expected there.
pub(crate) fn fit<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    let kept = value.as_object().filter(|fields| fields.len() <= MOST_FIELDS).cloned();
    T::deserialize(value).map_err(|error| {
        let error = error.to_string();
        let field = kept.and_then(|fields| wrong_field::<T>(&fields, &error));
        let said = in_words(&error);
        field.map_or_else(|| said.clone(), |field| format!("`{field}`: {said}"))
    })
}

/// The field without which the error is another one; one that must be there only if it is no other.
fn wrong_field<T: DeserializeOwned>(fields: &Map<String, Value>, error: &str) -> Option<String> {
    // These name their field themselves.
    if error.starts_with("missing field") || error.starts_with("unknown field") {
        return None;
    }
    let without = |name: &String| {
        let mut others = fields.clone();
        others.remove(name);
        T::deserialize(Value::Object(others)).err().map(|other| other.to_string())
    };
    let (mut required, mut found) = (None, None);
    for name in fields.keys() {
        match without(name) {
            Some(other) if other == error => {}
            Some(other) if other.starts_with("missing field") => required = required.or(Some(name)),
            _ => found = found.or(Some(name)),
        }
    }
    found.or(required).cloned()
}

/// An error of serde without its names for types: `invalid type: string "x", expected usize` becomes `expected a whole
/// number, 0 or more, but got the string "x"`.
pub(crate) fn in_words(error: &str) -> String {
    let wrong = error.strip_prefix("invalid type: ").or_else(|| error.strip_prefix("invalid value: "));
    let Some((found, expected)) = wrong.and_then(|it| it.rsplit_once(", expected ")) else {
        return error.to_owned();
    };
    let expected = match expected {
        "usize" | "u64" | "u32" => "a whole number, 0 or more",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other if other == "a map" || other.starts_with("struct ") => "an object with fields",
        other => other,
    };
    let found = match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" => "null".to_owned(),
        other => {
            let plain = other.replace('`', "");
            format!("the {}", plain.replace("floating point ", "number ").replace("integer ", "number "))
        }
    };
    format!("expected {expected}, but got {found}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::AskBody;

    #[test]
    fn the_wrong_field_is_named_and_what_belongs_there_is_said_in_words() {
        let said = |value: Value| fit::<AskBody>(value).unwrap_err();
        let question = "?X : r(a, X)";
        assert_eq!(
            said(json!({ "question": question, "k": 3, "top": "x" })),
            "`top`: expected a whole number, 0 or more, but got the string \"x\""
        );
        assert_eq!(
            said(json!({ "question": question, "top": -1 })),
            "`top`: expected a whole number, 0 or more, but got the number -1"
        );
        assert_eq!(
            said(json!({ "question": question, "explain": 1 })),
            "`explain`: expected true or false, but got the number 1"
        );
        assert_eq!(said(json!({ "question": 7 })), "`question`: expected a string, but got the number 7");
        assert_eq!(said(json!([])), "expected an object with fields, but got a list");
        let method = said(json!({ "question": question, "method": "guess" }));
        assert!(method.starts_with("`method`: expected one of auto, "), "{method}");
        let unknown = said(json!({ "question": question, "tap": 3 }));
        assert!(unknown.starts_with("unknown field `tap`; the fields are question, "), "{unknown}");
        assert!(unknown.contains("max_seconds") && unknown.contains("t_norm"), "{unknown}");
        assert_eq!(said(json!({ "top": 3 })), "missing field `question`");
    }
}
