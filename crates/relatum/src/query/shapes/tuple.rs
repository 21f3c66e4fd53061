//! Nested tuples → queries: the forms of the Query2Box and BetaE files, as JSON or as Python prints them.

use super::value::{Kind, Value, read, syntax};
use super::{Shape, Step, Structure};
use crate::query::error::QueryError;
use crate::query::formula::{Atom, ParsedQuery};
use crate::query::name::{Name, NameKind};
use crate::query::place::Place;
use crate::query::syntax::MAX_BYTES;

type Named = Structure<Name, Directed>;

/// A relation and from which side it is followed.
#[derive(Clone)]
struct Directed {
    name: Name,
    backwards: bool,
}

/// Reads a query in nested form.
///
/// - `[7,[0,3]]` or `((7,(0,3)),)`: from entity 7 along relation 0, then 3.
/// - `[[7,[0]],[9,[3,-2]]]`: an intersection; -2 (or `"n"`) negates what stands before it.
/// - `[[7,[0]],[9,[3]],[-1]]`: a union, marked by -1 (or `"u"`).
/// - `[[7,[0]],[9,[3]],4]`: Query2Box's projection of an intersection along relation 4.
/// - `{"shape": "2u", "query": [[7,[0]],[9,[3]]]}`: with the shape, for Query2Box unions.
/// - `{"shape": "2p", "anchors": ["Bad Boys"], "relations": ["stars", "born_in"]}`
///
/// Numbers are ids of the graph, strings are names. A relation is followed from subject to object; with `^`
/// in front, as in SPARQL, from object to subject: `["Ridley Scott", ["^directed_by"]]` are films, and
/// `"^#3"` is the relation with id 3 backwards.
pub fn parse(text: &str) -> Result<ParsedQuery, QueryError> {
    if text.len() > MAX_BYTES {
        return Err(QueryError::TooLarge { what: "bytes", count: text.len(), limit: MAX_BYTES });
    }
    let value = read(text)?;
    let place = value.place;
    let structure = match value.kind {
        Kind::Object(entries) => object(&entries, place)?,
        _ => set(&value)?,
    };
    let query = structure.query().ok_or_else(|| {
        let found = "an entity alone or negated";
        syntax("at least one relation after every entity", found, place)
    })?;
    let formula = query.formula.map(&mut |atom| {
        let (mut subject, mut object) = (atom.subject.clone(), atom.object.clone());
        if atom.relation.backwards {
            std::mem::swap(&mut subject, &mut object);
        }
        Atom { relation: atom.relation.name.clone(), subject, object, place: atom.place }
    });
    Ok(ParsedQuery { target: query.target, variables: query.variables, formula })
}

fn object(entries: &[(String, Value)], place: Place) -> Result<Named, QueryError> {
    let get = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let known = ["shape", "query", "anchors", "relations"];
    if let Some((key, value)) = entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        return Err(syntax(
            "`shape` with `query`, or with `anchors` and `relations`",
            &format!("`{key}`"),
            value.place,
        ));
    }
    let shape = match get("shape") {
        None => None,
        Some(Value { kind: Kind::Text(name), place }) => {
            let names: Vec<&str> = Shape::ALL.iter().map(|shape| shape.name()).collect();
            let unknown = || syntax(&format!("one of {}", names.join(" ")), &format!("`{name}`"), *place);
            Some(Shape::from_name(name).ok_or_else(unknown)?)
        }
        Some(other) => return Err(expected("the name of a shape", other)),
    };
    match (shape, get("query"), get("anchors"), get("relations")) {
        (None, Some(query), None, None) => set(query),
        (Some(shape), Some(query), None, None) => {
            let structure = set(query)?;
            let structure =
                if matches!(shape, Shape::U2 | Shape::Up) { as_union(structure) } else { structure };
            if structure.has_shape(shape) {
                return Ok(structure);
            }
            Err(syntax(&format!("a query of the shape {shape}, which is declared"), "another", query.place))
        }
        (Some(shape), None, Some(anchors), Some(relations)) => {
            let (anchors, relations) = (all_of(anchors, name)?, all_of(relations, relation)?);
            let count =
                |(a, r): (usize, usize)| format!("{} and {}", plural(a, "anchor"), plural(r, "relation"));
            let needs = format!("{} for {shape}", count(shape.arity()));
            let found = count((anchors.len(), relations.len()));
            shape.structure(&anchors, &relations).ok_or_else(|| syntax(&needs, &found, place))
        }
        _ => Err(syntax("`query`, or `shape` with `anchors` and `relations`", "neither or both", place)),
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Query2Box writes a union like an intersection; the shape says which it is.
fn as_union(structure: Named) -> Named {
    match structure {
        Structure::All(parts) => Structure::Any(parts),
        Structure::Path(from, steps) => Structure::Path(Box::new(as_union(*from)), steps),
        other => other,
    }
}

fn all_of<T>(value: &Value, read: fn(&Value) -> Result<T, QueryError>) -> Result<Vec<T>, QueryError> {
    match &value.kind {
        Kind::List(items) => items.iter().map(read).collect(),
        _ => Err(expected("a list", value)),
    }
}

fn relation(value: &Value) -> Result<Directed, QueryError> {
    let name = name(value)?;
    Ok(match name.text.strip_prefix('^').filter(|_| name.kind == NameKind::Text) {
        Some(text) => Directed { name: Name::text(text).at(value.place), backwards: true },
        None => Directed { name, backwards: false },
    })
}

fn name(value: &Value) -> Result<Name, QueryError> {
    match &value.kind {
        Kind::Text(text) => Ok(Name::text(text.as_str()).at(value.place)),
        Kind::Number(number) => match u32::try_from(*number) {
            Ok(id) => Ok(Name::number(id).at(value.place)),
            Err(_) => Err(expected("an id of the graph", value)),
        },
        _ => Err(expected("a number or a quoted name", value)),
    }
}

/// The set of entities that a nested list describes.
fn set(value: &Value) -> Result<Named, QueryError> {
    let Kind::List(items) = &value.kind else {
        return name(value).map(Structure::Anchor);
    };
    match items.as_slice() {
        [] => Err(syntax("an entity or a list", "an empty list", value.place)),
        [one] => set(one),
        [parts @ .., mark] if is_union_mark(mark) => {
            Ok(Structure::Any(parts.iter().map(set).collect::<Result<_, _>>()?))
        }
        [from, steps] if is_flat(steps) => {
            let Kind::List(steps) = &steps.kind else { return Err(expected("a list of relations", steps)) };
            let steps: Vec<Step<Directed>> = steps.iter().map(step).collect::<Result<_, _>>()?;
            Ok(steps.into_iter().fold(set(from)?, Structure::then))
        }
        [parts @ .., last]
            if !matches!(last.kind, Kind::List(_))
                && parts.iter().all(|part| matches!(part.kind, Kind::List(_))) =>
        {
            Ok(all(parts)?.then(step(last)?))
        }
        parts => all(parts),
    }
}

fn all(parts: &[Value]) -> Result<Named, QueryError> {
    let mut sets: Vec<Named> = parts.iter().map(set).collect::<Result<_, _>>()?;
    Ok(if sets.len() == 1 { sets.remove(0) } else { Structure::All(sets) })
}

fn step(value: &Value) -> Result<Step<Directed>, QueryError> {
    match &value.kind {
        Kind::Number(-2) => Ok(Step::Not),
        Kind::Text(text) if text == "n" => Ok(Step::Not),
        Kind::Number(number) if *number < 0 => Err(expected("a relation, or -2 for a negation", value)),
        _ => relation(value).map(Step::Relation),
    }
}

fn is_union_mark(value: &Value) -> bool {
    matches!(&value.kind, Kind::List(items) if matches!(items.as_slice(), [one] if match &one.kind {
        Kind::Number(number) => *number == -1,
        Kind::Text(text) => text == "u",
        _ => false,
    }))
}

/// Whether a list has no lists in it: then it is the relations of a path.
fn is_flat(value: &Value) -> bool {
    let flat =
        |items: &[Value]| items.iter().all(|item| !matches!(item.kind, Kind::List(_) | Kind::Object(_)));
    matches!(&value.kind, Kind::List(items) if !items.is_empty() && flat(items))
}

fn expected(what: &str, value: &Value) -> QueryError {
    let found = match &value.kind {
        Kind::Number(number) => format!("`{number}`"),
        Kind::Text(text) => format!("\"{text}\""),
        Kind::List(_) => "a list".to_owned(),
        Kind::Object(_) => "an object".to_owned(),
    };
    syntax(what, &found, value.place)
}
