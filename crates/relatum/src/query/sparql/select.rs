//! A SPARQL text → a query with names and what was asked of its answers.

use rustc_hash::FxHashMap;
use spargebra::algebra::{Expression, GraphPattern, OrderExpression};
use spargebra::{Query as Sparql, SparqlParser};

use super::locate::Locator;
use super::names::{ENTITY_PREFIX, RELATION_PREFIX};
use super::pattern::{Scope, Translator};
use super::tokens::{Token, scan};
use super::{mistake, refuse};
use crate::graph::Prefixes;
use crate::query::error::QueryError;
use crate::query::formula::{ParsedQuery, Variable, in_order};
use crate::query::place::Place;
use crate::query::statement::ParsedStatement;
use crate::query::syntax::{MAX_BYTES, Parsed};

/// How many tokens a query may have and how deep its brackets may be nested: the parser
/// beneath needs stack for both.
const MAX_TOKENS: usize = 4096;
const MAX_BRACKETS: usize = 32;

/// A SELECT query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// The question.
    pub query: ParsedQuery,
    /// How many answers are wanted.
    pub limit: Option<usize>,
    /// How many of the best answers to leave out.
    pub offset: usize,
    /// What was selected, in its order: the target, and beside it `score`, `known` or both.
    pub selected: Vec<String>,
}

/// Reads a SPARQL query. The prefixes of the graph, `e:` and `r:` are declared already.
///
/// ```
/// use relatum::graph::Prefixes;
///
/// let text = r#"SELECT ?g WHERE { ?m r:stars "Martin Lawrence" ; r:has_genre ?g } LIMIT 3"#;
/// let select = relatum::query::sparql::parse(text, &Prefixes::default())?;
/// assert_eq!(select.query.to_string(), r#"?g : exists m. stars(m, "Martin Lawrence") and has_genre(m, g)"#);
/// assert_eq!(select.limit, Some(3));
/// # Ok::<(), relatum::query::QueryError>(())
/// ```
///
/// ASK, and a predicate as the variable that is selected, are refused; [`parse_any`] reads those too.
pub fn parse(text: &str, prefixes: &Prefixes) -> Result<Select, QueryError> {
    let Request { parsed, limit, offset, selected } = parse_any(text, prefixes)?;
    match parsed {
        Parsed::Query(query) => Ok(Select { query, limit, offset, selected }),
        Parsed::Between(between) => Err(QueryError::SeeksRelations { place: between.place }),
        Parsed::Statement(_) => {
            let ask = scan(text, usize::MAX).into_iter().map(|token| token.place);
            let place = ask.into_iter().find(|place| text[place.range()].eq_ignore_ascii_case("ask"));
            Err(QueryError::NoTarget { place: place.unwrap_or_default() })
        }
    }
}

/// What a text asks for, with names; only SPARQL limits its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// SELECT is a question, ASK a statement, and SELECT of the predicate of one triple the question for
    /// relations.
    pub parsed: Parsed,
    /// How many answers are wanted.
    pub limit: Option<usize>,
    /// How many of the best answers to leave out.
    pub offset: usize,
    /// What was selected, in its order: the target, and beside it [`SCORE`], [`KNOWN`] or both; empty for ASK.
    pub selected: Vec<String>,
}

/// The variable that stands for the score of an answer, where it is selected beside the target.
pub const SCORE: &str = "score";

/// The variable that says whether stored edges alone make it an answer, where it is selected beside the target.
pub const KNOWN: &str = "known";

/// Reads whatever can be asked in SPARQL. The prefixes of the graph, `e:` and `r:` are declared already.
///
/// ```
/// use relatum::graph::Prefixes;
/// use relatum::query::sparql::parse_any;
/// use relatum::query::syntax::Parsed;
///
/// let request = parse_any("ASK { e:Alien r:stars ?x }", &Prefixes::default())?;
/// let Parsed::Statement(statement) = request.parsed else { panic!("a statement") };
/// assert_eq!(statement.to_string(), "exists x. stars(Alien, x)");
/// # Ok::<(), relatum::query::QueryError>(())
/// ```
pub fn parse_any(text: &str, prefixes: &Prefixes) -> Result<Request, QueryError> {
    if text.len() > MAX_BYTES {
        return Err(QueryError::TooLarge { what: "bytes", count: text.len(), limit: MAX_BYTES });
    }
    let tokens = scan(text, usize::MAX);
    check_size(text, &tokens)?;
    let mut declared = FxHashMap::default();
    declared.insert("e".to_owned(), ENTITY_PREFIX.to_owned());
    declared.insert("r".to_owned(), RELATION_PREFIX.to_owned());
    declared.extend(prefixes.iter().map(|(prefix, iri)| (prefix.to_owned(), iri.to_owned())));
    let mut parser = SparqlParser::new();
    for (prefix, iri) in &declared {
        // A prefix of the graph whose IRI is malformed cannot be used; the others can.
        if oxrdf::NamedNode::new(iri.as_str()).is_ok() {
            parser = parser.with_prefix(prefix, iri).unwrap_or_default();
        }
    }
    let locator = Locator::new(text, tokens, declared);
    refuse_update(text, &locator)?;
    let query =
        parser.parse_query(text).map_err(|error| mistake::find(text, &locator, &error.to_string()))?;
    let (pattern, dataset, ask) = match query {
        Sparql::Select { pattern, dataset, .. } => (pattern, dataset, false),
        Sparql::Ask { pattern, dataset, .. } => (pattern, dataset, true),
        Sparql::Construct { .. } => return Err(form("CONSTRUCT", &locator)),
        Sparql::Describe { .. } => return Err(form("DESCRIBE", &locator)),
    };
    if dataset.is_some() {
        let place = locator.word(&["FROM"]);
        return Err(refuse::refused("FROM", "leave it out: a project has one graph", place));
    }
    let mut translator = Translator { locator, variables: Vec::new() };
    if ask { statement(&pattern, &mut translator) } else { Modifiers::default().read(&pattern, translator) }
}

/// ASK: the pattern with all its variables quantified.
fn statement(mut pattern: &GraphPattern, translator: &mut Translator<'_>) -> Result<Request, QueryError> {
    if let GraphPattern::Slice { .. } = pattern {
        let place = translator.locator.word(&["LIMIT", "OFFSET"]);
        return Err(refuse::refused("LIMIT or OFFSET in ASK", "leave it out: ASK has one answer", place));
    }
    // ASK wants to know whether there is an answer, so the order of answers does not matter.
    while let GraphPattern::Project { inner, .. }
    | GraphPattern::Distinct { inner }
    | GraphPattern::Reduced { inner }
    | GraphPattern::OrderBy { inner, .. } = pattern
    {
        pattern = inner;
    }
    let Some(formula) = translator.quantified(pattern, &Scope::default())? else {
        return Err(empty_pattern(translator));
    };
    let (variables, formula) = in_order(&translator.variables, &formula, &[]);
    let parsed = Parsed::Statement(ParsedStatement { variables, formula });
    Ok(Request { parsed, limit: None, offset: 0, selected: Vec::new() })
}

fn empty_pattern(translator: &Translator<'_>) -> QueryError {
    let place = translator.locator.sign(&["{"]);
    refuse::refused("an empty pattern", "write at least one triple pattern", place)
}

/// What stands around the pattern, collected from the outside inwards.
#[derive(Default)]
struct Modifiers {
    limit: Option<usize>,
    offset: usize,
    selected: Vec<String>,
}

impl Modifiers {
    fn read(
        mut self,
        mut pattern: &GraphPattern,
        mut translator: Translator<'_>,
    ) -> Result<Request, QueryError> {
        loop {
            match pattern {
                GraphPattern::Slice { inner, start, length } if self.selected.is_empty() => {
                    (self.offset, self.limit) = (*start, *length);
                    pattern = inner;
                }
                // Answers are always distinct.
                GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner }
                    if self.selected.is_empty() =>
                {
                    pattern = inner;
                }
                GraphPattern::Project { inner, variables } if self.selected.is_empty() => {
                    self.selected = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
                    if self.selected.is_empty() {
                        return Err(one_target(&translator.locator, None));
                    }
                    pattern = inner;
                }
                GraphPattern::OrderBy { inner, expression } if !self.selected.is_empty() => {
                    if !by_falling_score(expression) {
                        let place = translator.locator.word(&["ORDER"]);
                        let instead =
                            "answers come by falling score: leave it out, or write ORDER BY DESC(?score)";
                        return Err(refuse::refused("this ORDER BY", instead, place));
                    }
                    pattern = inner;
                }
                _ => break,
            }
        }
        self.question(pattern, &mut translator)
    }

    /// The variable that is selected; `?score` and `?known` may stand beside it.
    fn target(&self, locator: &Locator<'_>) -> Result<String, QueryError> {
        if let [only] = self.selected.as_slice() {
            return Ok(only.clone());
        }
        let mut targets = self.selected.iter().filter(|name| *name != SCORE && *name != KNOWN);
        match (targets.next(), targets.next()) {
            (Some(target), None) => Ok(target.clone()),
            (_, second) => Err(one_target(locator, second.map(String::as_str))),
        }
    }

    /// Refuses a pattern that binds `?score` or `?known` where they are selected beside the target: there they stand
    /// for something else, and the values of the pattern would be lost without a word.
    fn refuse_bound(
        &self,
        target: &str,
        variables: &[Variable],
        locator: &Locator<'_>,
    ) -> Result<(), QueryError> {
        let given = |name: &&String| (*name == SCORE || *name == KNOWN) && *name != target;
        let mut names = self.selected.iter().filter(given);
        let Some(name) = names.find(|name| variables.iter().any(|variable| variable.name == **name)) else {
            return Ok(());
        };
        let what = format!("?{name} in the pattern and beside ?{target} in SELECT");
        let means = if name == SCORE {
            "the score of an answer"
        } else {
            "whether stored edges alone make it an answer"
        };
        let instead =
            format!("beside the target ?{name} is {means}: give the variable of the pattern another name");
        Err(refuse::refused(&what, &instead, locator.last_variable(name)))
    }

    fn question(
        self,
        pattern: &GraphPattern,
        translator: &mut Translator<'_>,
    ) -> Result<Request, QueryError> {
        let (limit, offset) = (self.limit, self.offset);
        let target = &self.target(&translator.locator)?;
        let request = |parsed| Request { parsed, limit, offset, selected: self.selected.clone() };
        if let Some(between) = translator.between(pattern, target)? {
            return Ok(request(Parsed::Between(between)));
        }
        let place = translator.locator.variable(target);
        let id = translator.variable(target, place);
        let formula = translator.quantified(pattern, &Scope::of_target(target, id))?;
        let Some(formula) = formula else {
            return Err(empty_pattern(translator));
        };
        self.refuse_bound(target, &translator.variables, &translator.locator)?;
        let query = ParsedQuery { target: id, variables: std::mem::take(&mut translator.variables), formula };
        Ok(request(Parsed::Query(query.renumbered())))
    }
}

/// Not one variable is selected: the mistake is at the second, or at `*`.
fn one_target(locator: &Locator<'_>, second: Option<&str>) -> QueryError {
    let instead = "select one variable, the one whose values you want (and ?score and ?known, if you like)";
    let select = locator.word(&["SELECT"]);
    let pattern = locator.sign(&["{"]);
    let before = |star: &Place| pattern.is_none_or(|pattern| star.range().start < pattern.range().start);
    let all = locator.sign(&["*"]).filter(before);
    let place = all.or_else(|| second.map(|name| locator.variable(name))).or(select);
    refuse::refused("SELECT of several variables", instead, place)
}

fn by_falling_score(order: &[OrderExpression]) -> bool {
    matches!(order, [OrderExpression::Desc(Expression::Variable(variable))] if variable.as_str() == "score")
}

fn form(name: &str, locator: &Locator<'_>) -> QueryError {
    refuse::refused(
        name,
        "ask with SELECT ?x WHERE { … }, or with ASK { … } whether something is true",
        locator.word(&[name]),
    )
}

fn refuse_update(text: &str, locator: &Locator<'_>) -> Result<(), QueryError> {
    let words = ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
    match locator.word(&words) {
        Some(place) if locator.word(&["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]).is_none() => {
            let name = text.get(place.range()).unwrap_or_default().to_uppercase();
            Err(refuse::refused(
                &format!("the update {name}"),
                "a graph is changed by making it anew from its files, not by queries",
                Some(place),
            ))
        }
        _ => Ok(()),
    }
}

fn check_size(text: &str, tokens: &[Token]) -> Result<(), QueryError> {
    if tokens.len() > MAX_TOKENS {
        return Err(QueryError::TooLarge { what: "tokens", count: tokens.len(), limit: MAX_TOKENS });
    }
    let mut depth = 0usize;
    for token in tokens {
        match &text[token.place.range()] {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACKETS {
            return Err(QueryError::TooDeep { limit: MAX_BRACKETS, place: token.place });
        }
    }
    Ok(())
}
