//! Choices that have names: how they are read from data, and what a schema says of them.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

use crate::answer::Method;
use crate::baseline::Kind;
use crate::logic::TNorm;
use crate::model::Calibration;
use crate::plan::Union;
use crate::query::Syntax;
use crate::search::{Evidence, Known};

/// A choice that a caller makes by its name.
pub(super) trait Named: Sized {
    /// The names that there are.
    fn names() -> Vec<&'static str>;
    /// The choice that a name stands for.
    fn of(name: &str) -> Option<Self>;
    /// Why a name that means something elsewhere is no choice here.
    fn refusal(_: &str) -> Option<String> {
        None
    }
}

/// Reads a name; for serde.
pub(super) fn one<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let name = Cow::<str>::deserialize(from)?;
    T::of(&name).ok_or_else(|| D::Error::custom(unknown::<T>(&name)))
}

/// Reads a name, or nothing; for serde.
pub(super) fn perhaps<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    let Some(name) = Option::<Cow<str>>::deserialize(from)? else { return Ok(None) };
    T::of(&name).map(Some).ok_or_else(|| D::Error::custom(unknown::<T>(&name)))
}

fn unknown<T: Named>(name: &str) -> String {
    let expected = format!("expected one of {}, found `{name}`", T::names().join(", "));
    T::refusal(name).map_or(expected.clone(), |why| format!("{expected}: {why}"))
}

/// The names as a JSON Schema.
pub(super) fn schema<T: Named>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": T::names() })
}

/// The names, or nothing, as a JSON Schema.
pub(super) fn perhaps_schema<T: Named>(_: &mut SchemaGenerator) -> Schema {
    let mut values: Vec<serde_json::Value> = T::names().into_iter().map(Into::into).collect();
    values.push(serde_json::Value::Null);
    json_schema!({ "type": ["string", "null"], "enum": values })
}

impl Named for Method {
    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }

    fn refusal(name: &str) -> Option<String> {
        Kind::refusal(name)
    }
}

impl Named for TNorm {
    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Calibration {
    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Union {
    fn names() -> Vec<&'static str> {
        [Self::AtTheEnd, Self::InPlace].map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Known {
    fn names() -> Vec<&'static str> {
        [Self::ALL, Self::Trust(2), Self::TRAIN, Self::Ignore].map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Evidence {
    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Syntax {
    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|syntax| syntax.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::logic::TNorm;
    use crate::search::Known;

    #[test]
    fn options_are_read_from_data_by_name() {
        let json = r#"{ "method": "beam", "k": 8, "t_norm": "godel", "known": "train", "union": null }"#;
        let options: Options = serde_json::from_str(json).unwrap();
        assert_eq!((options.method.name(), options.k), ("beam", Some(8)));
        assert_eq!(
            (options.t_norm, options.known, options.union),
            (Some(TNorm::Godel), Some(Known::TRAIN), None)
        );
    }

    #[test]
    fn unknown_options_and_names_are_refused() {
        let said = |json: &str| serde_json::from_str::<Options>(json).unwrap_err().to_string();
        assert!(said(r#"{ "tnorm": "godel" }"#).contains("unknown field `tnorm`"));
        let wrong = said(r#"{ "t_norm": "mean" }"#);
        assert!(wrong.contains("expected one of godel, product, lukasiewicz, found `mean`"), "{wrong}");
        let baseline = said(r#"{ "method": "gqe" }"#);
        assert!(
            baseline.contains("`gqe` is a baseline") && baseline.contains("explains nothing"),
            "{baseline}"
        );
    }
}
