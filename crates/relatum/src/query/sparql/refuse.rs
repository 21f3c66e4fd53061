//! What SPARQL can say and a logical question cannot, each with its name and what to do instead.

use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};

use super::locate::Locator;
use crate::query::error::QueryError;
use crate::query::place::Place;

pub(super) fn refused(construct: &str, instead: &str, place: Option<Place>) -> QueryError {
    QueryError::Refused { construct: construct.to_owned(), instead: instead.to_owned(), place }
}

/// A pattern that cannot be read as a logical condition.
pub(super) fn pattern(mut pattern: &GraphPattern, locator: &Locator<'_>) -> QueryError {
    // `SELECT (COUNT(?x) AS ?n)` is an expression over an aggregate: the aggregate is what to name.
    while let GraphPattern::Extend { inner, .. } = pattern
        && matches!(inner.as_ref(), GraphPattern::Extend { .. } | GraphPattern::Group { .. })
    {
        pattern = inner;
    }
    let (construct, words, instead): (_, &[&str], _) = match pattern {
        GraphPattern::LeftJoin { .. } => {
            ("OPTIONAL", &["OPTIONAL"], "leave the block out: what is optional does not restrict the answers")
        }
        GraphPattern::Graph { .. } => ("GRAPH", &["GRAPH"], "leave it out: a project has one graph"),
        GraphPattern::Service { .. } => {
            ("SERVICE", &["SERVICE"], "leave it out: only this project's graph is asked")
        }
        GraphPattern::Extend { .. } => (
            "BIND (or an expression with AS)",
            &["BIND", "AS"],
            "write the name itself, or VALUES ?x { name }",
        ),
        GraphPattern::Group { .. } => (
            "an aggregate or GROUP BY",
            &["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "GROUP", "HAVING"],
            "ask for the entities and count the answers",
        ),
        GraphPattern::Values { .. } => {
            ("VALUES inside of UNION", &["VALUES"], "write the name itself in this alternative")
        }
        _ => {
            let place = locator.nth_word(&["SELECT"], 1);
            return refused("a sub-query with SELECT", "write its pattern in the outer query", place);
        }
    };
    refused(construct, instead, locator.word(words))
}

/// A path that is not made of `/`, `|` and `^`.
pub(super) fn path(path: &PropertyPathExpression, locator: &Locator<'_>) -> QueryError {
    let fixed = "write out the lengths that you mean: r:part_of | r:part_of/r:part_of";
    match path {
        PropertyPathExpression::ZeroOrMore(_) => {
            refused("the property-path closure `*`", fixed, locator.path_sign(&["*"]))
        }
        PropertyPathExpression::OneOrMore(_) => {
            refused("the property-path closure `+`", fixed, locator.path_sign(&["+"]))
        }
        PropertyPathExpression::ZeroOrOne(_) => {
            refused("the optional path `?`", "write the step itself", locator.path_sign(&["?"]))
        }
        _ => refused(
            "the negated property set `!`",
            "name the relations that you mean: r:a | r:b",
            locator.sign(&["!"]),
        ),
    }
}

/// A filter that is not made of EXISTS, NOT EXISTS, `&&`, `||` and `!`.
pub(super) fn expression(expression: &Expression, locator: &Locator<'_>) -> QueryError {
    let only = "only EXISTS and NOT EXISTS can be filtered by; a condition on names is written as VALUES ?x { name }";
    let filter = locator.word(&["FILTER", "HAVING"]);
    let (construct, place) = match expression {
        // The parser reads `a != b` as `!(a = b)`.
        Expression::Equal(..) if locator.operator("!=").is_some() => {
            ("FILTER with !=", locator.operator("!="))
        }
        Expression::Equal(..) => ("FILTER with =", filter),
        Expression::SameTerm(..) => ("FILTER with sameTerm", locator.word(&["sameTerm"]).or(filter)),
        Expression::Greater(..)
        | Expression::GreaterOrEqual(..)
        | Expression::Less(..)
        | Expression::LessOrEqual(..) => ("FILTER with a comparison", filter),
        Expression::In(..) => ("FILTER with IN", locator.word(&["IN"]).or(filter)),
        Expression::Bound(_) => ("FILTER with BOUND", locator.word(&["BOUND"]).or(filter)),
        Expression::If(..) => ("FILTER with IF", locator.word(&["IF"]).or(filter)),
        Expression::Coalesce(_) => ("FILTER with COALESCE", locator.word(&["COALESCE"]).or(filter)),
        Expression::FunctionCall(function, _) => {
            let name = function.to_string();
            let construct = format!("FILTER with the function {name}");
            return refused(&construct, only, locator.word(&[&name]).or(filter));
        }
        Expression::Add(..)
        | Expression::Subtract(..)
        | Expression::Multiply(..)
        | Expression::Divide(..)
        | Expression::UnaryPlus(_)
        | Expression::UnaryMinus(_) => ("FILTER with arithmetic", filter),
        _ => ("FILTER with a value", filter),
    };
    refused(construct, only, place)
}
