//! Turns Python arguments into options of the engine.

use std::fmt::Display;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBoolMethods, PyDict, PyString};
use relatum::Options;
use relatum::answer::Method;
use relatum::baseline::Kind;
use relatum::control::Control;
use relatum::graph::Split;
use relatum::logic::TNorm;
use relatum::model::Calibration;
use relatum::plan::Union;
use relatum::query::Syntax;
use relatum::search::{Evidence, Known};

use crate::errors::wrong;

/// How to answer, and within which limits, read from the keyword arguments of a call. An argument that is `None`
/// is left to the engine.
pub(crate) struct Asking {
    pub(crate) options: Options,
    rows: Option<usize>,
    timeout: Option<Duration>,
}

impl Asking {
    pub(crate) fn read(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut asking = Self { options: Options::default(), rows: None, timeout: None };
        let Some(arguments) = arguments else { return Ok(asking) };
        let options = &mut asking.options;
        for (name, value) in arguments {
            if value.is_none() {
                continue;
            }
            let name = name.cast::<PyString>()?.to_str()?;
            let argument = Argument { name, value: &value };
            match name {
                "syntax" => options.syntax = Some(argument.one_of(&SYNTAXES)?),
                "model" => options.model = Some(argument.text()?),
                "method" => {
                    if let Some(refusal) = Kind::refusal(&argument.text()?) {
                        return Err(wrong(&refusal));
                    }
                    options.method = argument.named(Method::from_name, &Method::ALL.map(Method::name))?;
                }
                "k" => options.k = Some(argument.count()?),
                "paper" => options.paper = argument.switch()?,
                "either_side" => options.either_side = argument.switch()?,
                "t_norm" => {
                    options.t_norm = Some(argument.named(TNorm::from_name, &TNorm::ALL.map(TNorm::name))?);
                }
                "calibration" => {
                    let names = Calibration::ALL.map(Calibration::name);
                    options.calibration = Some(argument.named(Calibration::from_name, &names)?);
                }
                "sharpness" => options.sharpness = Some(argument.number()?),
                "negation_scale" => options.negation_scale = Some(argument.number()?),
                "evidence" => {
                    let names = Evidence::ALL.map(Evidence::name);
                    options.evidence = Some(argument.named(Evidence::from_name, &names)?);
                }
                "rules" => options.rules = Some(argument.text()?),
                "unseen" => options.unseen = Some(argument.number()?),
                "known" => {
                    let names = ["all", "train+valid", "train", "none"];
                    options.known = Some(argument.named(Known::from_name, &names)?);
                }
                "union" => {
                    let names = [Union::AtTheEnd, Union::InPlace].map(Union::name);
                    options.union = Some(argument.named(Union::from_name, &names)?);
                }
                "top" => options.top = Some(argument.count()?),
                "new_only" => options.new_only = argument.switch()?,
                "explain" => options.explain = argument.switch()?,
                "max_branches" => options.max_branches = Some(argument.count()?),
                "max_rows" => asking.rows = Some(argument.count()?),
                "timeout" => asking.timeout = Some(argument.seconds()?),
                _ => return Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'"))),
            }
        }
        Ok(asking)
    }

    /// A control with the limits that were given, counted from now on.
    pub(crate) fn within(&self, control: Control) -> Control {
        let control = self.rows.into_iter().fold(control, Control::with_rows);
        self.timeout.into_iter().fold(control, |control, time| control.with_deadline(Instant::now() + time))
    }
}

const SYNTAXES: [(&str, Syntax); 3] =
    [("text", Syntax::Text), ("sparql", Syntax::Sparql), ("tuple", Syntax::Tuple)];

/// One keyword argument, with its name for messages.
struct Argument<'a, 'py> {
    name: &'a str,
    value: &'a Bound<'py, PyAny>,
}

impl Argument<'_, '_> {
    fn wrong_type(&self, expected: &str) -> PyErr {
        let found = self.value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("`{}` must be {expected}, not {found}", self.name))
    }

    fn wrong_value(&self, expected: impl Display, found: impl Display) -> PyErr {
        wrong(&format!("`{}` must be {expected}, not {found}", self.name))
    }

    fn text(&self) -> PyResult<String> {
        let text = self.value.cast::<PyString>().map_err(|_| self.wrong_type("a str"))?;
        Ok(text.to_str()?.to_owned())
    }

    fn named<T>(&self, from_name: impl Fn(&str) -> Option<T>, names: &[&str]) -> PyResult<T> {
        let text = self.text()?;
        from_name(&text)
            .ok_or_else(|| self.wrong_value(format!("one of {}", names.join(", ")), format!("'{text}'")))
    }

    fn one_of<T: Copy>(&self, values: &[(&str, T)]) -> PyResult<T> {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let find = |name: &str| values.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        self.named(find, &names)
    }

    fn switch(&self) -> PyResult<bool> {
        self.value.cast::<PyBool>().map(PyBoolMethods::is_true).map_err(|_| self.wrong_type("True or False"))
    }

    fn count(&self) -> PyResult<usize> {
        count(self.value).map_err(|error| match error {
            CountError::Type => self.wrong_type("an int"),
            CountError::Range(found) => self.wrong_value("a whole number of at least 0", found),
        })
    }

    fn number(&self) -> PyResult<f32> {
        if self.value.is_instance_of::<PyBool>() {
            return Err(self.wrong_type("a number"));
        }
        self.value.extract::<f64>().map(|number| number as f32).map_err(|_| self.wrong_type("a number"))
    }

    fn seconds(&self) -> PyResult<Duration> {
        // Thirty years: an instant far beyond that cannot be expressed, and nobody would wait for it.
        const MOST: f64 = 1e9;
        let seconds = f64::from(self.number()?);
        if !(0.0..=MOST).contains(&seconds) {
            return Err(self.wrong_value("a number of seconds, from 0 to 1e9", seconds));
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}

enum CountError {
    Type,
    Range(String),
}

fn count(value: &Bound<'_, PyAny>) -> Result<usize, CountError> {
    if value.is_instance_of::<PyBool>() {
        return Err(CountError::Type);
    }
    // Like `operator.index` of Python: NumPy's integers are accepted, a float that happens to be whole is not.
    let index = value.call_method0("__index__").map_err(|_| CountError::Type)?;
    index.extract().map_err(|_| CountError::Range(index.to_string()))
}

/// A count given as an argument; a negative one is a `ValueError`, not an overflow.
pub(crate) struct Count(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        count(&value).map(Self).map_err(|error| match error {
            CountError::Type => PyTypeError::new_err(format!(
                "expected an int, not {}",
                value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
            )),
            CountError::Range(found) => wrong(&format!("expected a whole number of at least 0, not {found}")),
        })
    }
}

/// A split by its name.
pub(crate) fn split(name: &str) -> PyResult<Split> {
    Split::ALL
        .into_iter()
        .find(|split| split.name() == name)
        .ok_or_else(|| wrong(&format!("expected the split 'train', 'valid' or 'test', not '{name}'")))
}
