//! Tokens → a query with names.

use super::lexer::{Lexer, Token, keyword, syntax};
use super::{MAX_BYTES, MAX_DEPTH};
use crate::query::between::{self, ParsedBetween};
use crate::query::error::QueryError;
use crate::query::formula::{Atom, Formula, ParsedQuery, Term, Variable, VariableId};
use crate::query::name::Name;
use crate::query::place::Place;
use crate::query::sparql;
use crate::query::statement::ParsedStatement;

/// Reads a query in the text syntax.
///
/// ```
/// let query = relatum::query::syntax::parse("?D : ∃P. interacts(D,P) ∧ ¬assoc(P, 'type 2')")?;
/// assert_eq!(query.to_string(), r#"?D : exists P. interacts(D, P) and not assoc(P, "type 2")"#);
/// # Ok::<(), relatum::query::QueryError>(())
/// ```
pub fn parse(text: &str) -> Result<ParsedQuery, QueryError> {
    if text.len() > MAX_BYTES {
        return Err(QueryError::TooLarge { what: "bytes", count: text.len(), limit: MAX_BYTES });
    }
    parse_any(text)?.into_query()
}

/// Where the two arguments of an atom of this text stand.
pub fn argument_places(text: &str, atom: Place) -> Option<[Place; 2]> {
    let range = atom.range();
    let mut lexer = Lexer::new(text.get(range.clone())?);
    let mut next = || lexer.token().ok();
    let (_relation, (open, _)) = (next()?, next()?);
    let (_, subject) = next()?;
    let (comma, _) = next()?;
    let (_, object) = next()?;
    let there = |place: Place| Place::new(place.range().start + range.start..place.range().end + range.start);
    (open == Token::Open && comma == Token::Comma).then(|| [there(subject), there(object)])
}

/// Anything that can be asked, with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// `?A : φ`
    Query(ParsedQuery),
    /// `φ`
    Statement(ParsedStatement),
    /// `?R : R(a, b)`
    Between(ParsedBetween),
}

impl Parsed {
    /// The question for entities; a mistake if it is anything else.
    pub fn into_query(self) -> Result<ParsedQuery, QueryError> {
        match self {
            Self::Query(query) => Ok(query),
            Self::Statement(statement) => Err(QueryError::NoTarget { place: extent(&statement.formula) }),
            Self::Between(between) => Err(QueryError::SeeksRelations { place: between.place }),
        }
    }
}

/// Reads whatever can be asked in the text syntax.
///
/// ```
/// use relatum::query::syntax::{Parsed, parse_any};
///
/// assert!(matches!(parse_any("stars(Alien, Weaver)")?, Parsed::Statement(_)));
/// assert!(matches!(parse_any("?R : R(Alien, Weaver)")?, Parsed::Between(_)));
/// # Ok::<(), relatum::query::QueryError>(())
/// ```
pub fn parse_any(text: &str) -> Result<Parsed, QueryError> {
    if text.len() > MAX_BYTES {
        return Err(QueryError::TooLarge { what: "bytes", count: text.len(), limit: MAX_BYTES });
    }
    match Parser::new(text).beginning() {
        Beginning::Target => question(text),
        Beginning::Formula => statement(text).map(Parsed::Statement),
        // `x:r(a, b)` is a statement whose relation has a prefix, or a question for x.
        Beginning::Either => match question(text) {
            Ok(Parsed::Query(query)) if !uses(&query.formula, query.target) => {
                statement(text).map(Parsed::Statement)
            }
            Err(error) => statement(text).map(Parsed::Statement).map_err(|_| error),
            asked => asked,
        },
    }
}

/// Whether a text that begins with a parenthesis is a formula, not the tuple that it could also be: `(not
/// …`, `(exists …`, `(name(…`.
pub fn opens_a_formula(text: &str) -> bool {
    let mut parser = Parser::new(text.trim_start_matches(|c: char| c == '(' || c.is_whitespace()));
    matches!(parser.beginning(), Beginning::Formula | Beginning::Either)
}

/// What the first words of a text say about its kind.
enum Beginning {
    Target,
    Formula,
    Either,
}

fn question(text: &str) -> Result<Parsed, QueryError> {
    let mut parser = Parser::new(text);
    let target = parser.target()?;
    parser.advance()?;
    let formula = parser.formula()?;
    parser.expect_end()?;
    if let Some(variable) = parser.relation_variable(&formula) {
        return match formula {
            Formula::Atom(Atom {
                subject: Term::Entity(subject),
                object: Term::Entity(object),
                place,
                ..
            }) if variable.id == target => {
                let target = parser.variables.swap_remove(target.index());
                Ok(Parsed::Between(ParsedBetween { target, subject, object, place }))
            }
            _ => Err(between::refused(variable.place)),
        };
    }
    Ok(Parsed::Query(ParsedQuery { target, variables: parser.variables, formula }))
}

fn statement(text: &str) -> Result<ParsedStatement, QueryError> {
    let mut parser = Parser::new(text);
    parser.advance()?;
    let formula = parser.formula()?;
    parser.expect_end()?;
    match parser.relation_variable(&formula) {
        Some(variable) => Err(between::refused(variable.place)),
        None => Ok(ParsedStatement { variables: parser.variables, formula }),
    }
}

/// Whether an atom has this variable on one of its sides.
fn uses(formula: &Part, id: VariableId) -> bool {
    let mut uses = false;
    formula.for_each_atom(&mut |atom| uses |= atom.variables().any(|other| other == id));
    uses
}

/// From the first atom of a formula to its last.
fn extent(formula: &Part) -> Place {
    let mut extent: Option<Place> = None;
    formula.for_each_atom(&mut |atom| extent = Some(extent.map_or(atom.place, |it| it.to(atom.place))));
    extent.unwrap_or_default()
}

/// A variable of the question in the place of a relation.
struct RelationVariable {
    id: VariableId,
    place: Place,
    /// Whether it is written with `?`. Without, it may be a relation of the same name.
    marked: bool,
}

/// A formula with names.
type Part = Formula<Name, Name>;

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token,
    place: Place,
    depth: usize,
    variables: Vec<Variable>,
    /// The variables that may be used here, the innermost last.
    scope: Vec<VariableId>,
    /// The relations that have the name of a variable in scope.
    relation_variables: Vec<RelationVariable>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            lexer: Lexer::new(text),
            token: Token::End,
            place: Place::default(),
            depth: 0,
            variables: Vec::new(),
            scope: Vec::new(),
            relation_variables: Vec::new(),
        }
    }

    /// What the text begins with. This uses tokens up: a parser that was asked cannot parse afterwards.
    fn beginning(&mut self) -> Beginning {
        let mut first = self.lexer.clone();
        if !self.text.trim_start().starts_with('?')
            && let Ok((token, _)) = first.token()
        {
            let colon = matches!(self.lexer.variable(), Ok(Some(_)))
                && matches!(self.lexer.token(), Ok((Token::Colon, _)));
            let open = matches!(first.token(), Ok((Token::Open, _)));
            match token {
                Token::Name { .. } if open && colon => return Beginning::Either,
                Token::Name { .. } if open => return Beginning::Formula,
                Token::Not | Token::Exists | Token::Open if !colon => return Beginning::Formula,
                _ => {}
            }
        }
        Beginning::Target
    }

    /// The last variable in the place of a relation. One without `?` that also stands on a side of an atom
    /// is an entity, and the relation of its name is one of the graph: `?genre : genre(Alien, genre)`.
    fn relation_variable(&mut self, formula: &Part) -> Option<RelationVariable> {
        self.relation_variables.retain(|variable| variable.marked || !uses(formula, variable.id));
        self.relation_variables.pop()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        (self.token, self.place) = self.lexer.token()?;
        Ok(())
    }

    /// `?A :`
    fn target(&mut self) -> Result<VariableId, QueryError> {
        let help = "a question begins with its target, `?X : relation(\"a name\", X)`; a statement has none, \
                    `relation(\"a name\", \"another\")`";
        let Some((name, place)) = self.lexer.variable()? else {
            self.advance()?;
            return Err(self.unexpected("the target of the query", Some(help)));
        };
        self.refuse_keyword(&name, place)?;
        let target = self.introduce(name, place)?;
        self.advance()?;
        if self.token == Token::Colon {
            return Ok(target);
        }
        if is_sparql(self.text) {
            let help = "this looks like SPARQL: name SPARQL as its language";
            return Err(self.unexpected("`:` after the target", Some(help)));
        }
        Err(self.unexpected("`:` after the target", Some(help)))
    }

    fn formula(&mut self) -> Result<Part, QueryError> {
        let mut parts = vec![self.conjunct()?];
        while self.token == Token::Or {
            self.advance()?;
            parts.push(self.conjunct()?);
        }
        Ok(Formula::or(parts))
    }

    fn conjunct(&mut self) -> Result<Part, QueryError> {
        let mut parts = vec![self.factor()?];
        while matches!(self.token, Token::And | Token::Comma) {
            self.advance()?;
            parts.push(self.factor()?);
        }
        Ok(Formula::and(parts))
    }

    fn factor(&mut self) -> Result<Part, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(QueryError::TooDeep { limit: MAX_DEPTH, place: self.place });
        }
        let factor = match &self.token {
            Token::Not => {
                self.advance()?;
                Ok(self.factor()?.negate())
            }
            Token::Exists => self.exists(),
            Token::Open => self.parenthesis(),
            Token::Name { .. } => self.atom(),
            Token::Variable(name) if self.lexer.is_open() && self.in_scope(name).is_some() => self.atom(),
            Token::Variable(name) => {
                let help = format!("a variable stands inside of an atom: `relation({name}, …)`");
                Err(self.unexpected("an atom", Some(&help)))
            }
            Token::And | Token::Or | Token::Comma => {
                let help = "a name that is a word of the language is put into double quotes";
                Err(self.unexpected("an atom, `not`, `exists` or `(`", Some(help)))
            }
            _ => Err(self.unexpected("an atom, `not`, `exists` or `(`", None)),
        };
        self.depth -= 1;
        factor
    }

    fn parenthesis(&mut self) -> Result<Part, QueryError> {
        let open = self.place;
        self.advance()?;
        let inner = self.formula()?;
        if self.token != Token::Close {
            let mut error = self.unexpected("`and`, `or` or `)`", None);
            if self.token == Token::End {
                error = syntax("`)`", "the end of the query", open, Some("this parenthesis is never closed"));
            }
            return Err(error);
        }
        self.advance()?;
        Ok(inner)
    }

    /// `exists V, U. φ`; the current token is `exists`.
    fn exists(&mut self) -> Result<Part, QueryError> {
        let outer = self.scope.len();
        let mut introduced = Vec::new();
        loop {
            if let Some((name, place)) = self.lexer.variable()? {
                self.refuse_keyword(&name, place)?;
                introduced.push(self.introduce(name, place)?);
                continue;
            }
            self.advance()?;
            match self.token {
                Token::Comma => {}
                Token::Dot | Token::Colon if !introduced.is_empty() => break,
                _ if introduced.is_empty() => {
                    return Err(self.unexpected("a variable after `exists`", Some("write `exists X. …`")));
                }
                _ => {
                    let help = "a dot stands between the variables and the formula: `exists X. …`";
                    return Err(self.unexpected("`.` after the variables", Some(help)));
                }
            }
        }
        self.advance()?;
        let body = self.formula()?;
        self.scope.truncate(outer);
        Ok(Formula::exists(introduced, body))
    }

    /// `name(term, term)`; the current token is the name, or a variable that stands for it.
    fn atom(&mut self) -> Result<Part, QueryError> {
        let start = self.place;
        let (name, bare, marked) = match std::mem::replace(&mut self.token, Token::End) {
            Token::Name { name, bare } => (name, bare, false),
            Token::Variable(name) => (Name::text(name), true, true),
            _ => return Err(self.unexpected("an atom", None)),
        };
        if let Some(id) = self.in_scope(&name.text).filter(|_| bare) {
            self.relation_variables.push(RelationVariable { id, place: start, marked });
        }
        let relation = name.at(start);
        self.advance()?;
        let quantifier = relation.text.eq_ignore_ascii_case("forall") || relation.text.starts_with('∀');
        if quantifier && self.token != Token::Open {
            let help = "there is no `forall`: write `not exists X. not …` and say in it what X can be";
            let found = format!("`{}`", relation.text);
            return Err(syntax("an atom, `not`, `exists` or `(`", &found, start, Some(help)));
        }
        let help = "an atom is `relation(subject, object)`; a name with blanks is put into double quotes";
        self.expect(&Token::Open, "`(` after the relation", help)?;
        let subject = self.term()?;
        if self.token == Token::Close {
            let help = "a relation has two sides: `relation(subject, object)`";
            return Err(self.unexpected("`,` and a second argument", Some(help)));
        }
        self.expect(&Token::Comma, "`,` between the arguments", help)?;
        let object = self.term()?;
        let end = self.place;
        if self.token == Token::Comma {
            let help = "a relation has two sides: `relation(subject, object)`";
            return Err(self.unexpected("`)` after two arguments", Some(help)));
        }
        self.expect(&Token::Close, "`)` after the arguments", help)?;
        Ok(Formula::Atom(Atom { relation, subject, object, place: start.to(end) }))
    }

    fn term(&mut self) -> Result<Term<Name>, QueryError> {
        let place = self.place;
        let term = match &self.token {
            Token::Variable(name) => match self.in_scope(name) {
                Some(id) => Term::Variable(id),
                None => return Err(QueryError::NeverIntroduced { name: name.clone(), place }),
            },
            Token::Name { name, bare } => match self.in_scope(&name.text).filter(|_| *bare) {
                Some(id) => Term::Variable(id),
                None => Term::Entity(name.clone().at(place)),
            },
            Token::And | Token::Or | Token::Not | Token::Exists => {
                let help = "a name that is a word of the language is put into double quotes";
                return Err(self.unexpected("a name or a variable", Some(help)));
            }
            _ => return Err(self.unexpected("a name or a variable", None)),
        };
        self.advance()?;
        Ok(term)
    }

    fn in_scope(&self, name: &str) -> Option<VariableId> {
        self.scope.iter().rev().copied().find(|id| self.variables[id.index()].name == name)
    }

    fn introduce(&mut self, name: String, place: Place) -> Result<VariableId, QueryError> {
        if let Some(earlier) = self.in_scope(&name) {
            let first = self.variables[earlier.index()].place;
            return Err(QueryError::IntroducedTwice { name, first, place });
        }
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(Variable { name, place });
        self.scope.push(id);
        Ok(id)
    }

    fn refuse_keyword(&self, name: &str, place: Place) -> Result<(), QueryError> {
        if keyword(name).is_none() {
            return Ok(());
        }
        let found = format!("`{name}`, a word of the language");
        let help = if is_sparql(self.text) {
            "this looks like SPARQL: name SPARQL as its language"
        } else {
            "choose another name"
        };
        Err(syntax("the name of a variable", &found, place, Some(help)))
    }

    fn expect(&mut self, token: &Token, expected: &str, help: &str) -> Result<(), QueryError> {
        if self.token != *token {
            return Err(self.unexpected(expected, Some(help)));
        }
        self.advance()
    }

    fn expect_end(&self) -> Result<(), QueryError> {
        match self.token {
            Token::End => Ok(()),
            Token::Close => Err(self.unexpected("the end of the query", Some("no parenthesis is open here"))),
            _ => Err(self.unexpected("`and`, `or` or the end of the query", None)),
        }
    }

    fn unexpected(&self, expected: &str, help: Option<&str>) -> QueryError {
        let rest = self.text.get(self.place.range().start..).unwrap_or_default();
        if let Some(arrow) = ARROWS.into_iter().find(|arrow| rest.starts_with(arrow)) {
            let start = self.place.range().start;
            let place = Place::new(start..start + arrow.len());
            let help = "there is no implication: write `not (…) or …`";
            return syntax(expected, &format!("`{arrow}`"), place, Some(help));
        }
        let found = match self.text.get(self.place.range()) {
            None | Some("") => "the end of the query".to_owned(),
            Some(text) => format!("`{text}`"),
        };
        syntax(expected, &found, self.place, help)
    }
}

/// How implication is written elsewhere.
const ARROWS: [&str; 7] = ["->", "=>", "→", "⇒", "<->", "<=>", "implies"];

fn is_sparql(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    sparql::opens(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::name::NameKind;

    fn canonical(text: &str) -> String {
        parse(text).map_or_else(
            |error| error.diagnostic().render(text, crate::query::Style::Plain),
            |q| q.to_string(),
        )
    }

    #[test]
    fn words_symbols_and_signs_mean_the_same() {
        let expected = r"?D : exists P. i(D, P) and (a(P, x) or a(P, y)) and not t(D, z)";
        for text in [
            "?D : exists P. i(D, P) and (a(P, x) or a(P, y)) and not t(D, z)",
            "D: ∃P.i(D,P) ∧ (a(P,x) ∨ a(P,y)) ∧ ¬t(D,z)",
            "?D : EXISTS ?P . i(?D, ?P) & (a(?P, x) | a(?P, y)) & !t(?D, z)",
            "?D: exists P: i(D, P), (a(P, x) || a(P, y)), ! t(D, z)",
            "?D : # the drug\n  exists P.\n i(D, P) && ((a(P, x) or (a(P, y)))) and not (t(D, z)) # done",
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn and_binds_more_tightly_than_or_and_exists_reaches_to_the_end() {
        assert_eq!(canonical("?A : p(a,A) or q(b,A) and r(c,A)"), "?A : p(a, A) or q(b, A) and r(c, A)");
        assert_eq!(
            canonical("?A : p(a,A) and exists V. q(b,V) or r(V,A)"),
            "?A : p(a, A) and (exists V. q(b, V) or r(V, A))"
        );
        assert_eq!(
            canonical("?A : exists V. exists U. p(V,U) , q(U,A)"),
            "?A : exists V, U. p(V, U) and q(U, A)"
        );
    }

    fn any(text: &str) -> String {
        match parse_any(text) {
            Ok(Parsed::Query(query)) => format!("question {query}"),
            Ok(Parsed::Statement(statement)) => format!("statement {statement}"),
            Ok(Parsed::Between(between)) => format!("relations {between}"),
            Err(error) => error.diagnostic().render(text, crate::query::Style::Plain),
        }
    }

    #[test]
    fn a_formula_without_target_is_a_statement() {
        for (text, said) in [
            ("r(a, b)", "r(a, b)"),
            (r#""is a"("A film", 'b')"#, r#""is a"("A film", b)"#),
            ("<http://x.org/p>(#3, dbr:Berlin)", "<http://x.org/p>(#3, dbr:Berlin)"),
            ("not r(a, b) & ∃X. r(a, X)", "not r(a, b) and (exists X. r(a, X))"),
            ("exists X. r(a, X)", "exists X. r(a, X)"),
            ("(r(a, b) or r(b, a)) and r(c, c)", "(r(a, b) or r(b, a)) and r(c, c)"),
            // The name is a prefix, not a target.
            ("dbo:starring(dbr:Alien, x)", r#""dbo:starring"(dbr:Alien, x)"#),
        ] {
            assert_eq!(any(text), format!("statement {said}"), "{text}");
        }
        assert_eq!(any("A:r(a, A)"), "question ?A : r(a, A)");
    }

    #[test]
    fn the_target_may_be_a_relation_between_two_names() {
        for text in [r#"?R : R("a b", c)"#, r#"R : R("a b", c)"#, r#"?R : ?R("a b", c)"#] {
            assert_eq!(any(text), r#"relations ?R : R("a b", c)"#, "{text}");
        }
        // Relations are often called like what they lead to.
        assert_eq!(any("?genre : genre(Alien, genre)"), "question ?genre : \"genre\"(Alien, genre)");
        assert_eq!(any("?R : R(\"R\", x)"), "relations ?R : R(\"R\", x)");
    }

    #[test]
    fn a_relation_variable_in_a_larger_question_is_refused_where_it_stands() {
        insta::assert_snapshot!(any("?R : R(a, b) and stars(a, b)"), @r#"
        error: a variable for a relation in this question is not supported
          |
        1 | ?R : R(a, b) and stars(a, b)
          |      ^ here
          |
          = help: which relations hold can be asked of two named things, and of nothing else: `?R : R("one name", "another name")`
        "#);
        for (text, at) in [
            ("?R : exists X. R(a, X)", "R(a, X)"),
            ("?R : not R(a, b)", "R(a, b)"),
            ("?A : exists R. R(a, A)", "R(a, A)"),
            ("?A : ?A(A, b)", "?A(A, b)"),
            ("exists R. R(a, b)", "R(a, b)"),
            ("?A : exists R. stars(a, A) and ?R(a, A)", "?R(a, A)"),
        ] {
            let Err(QueryError::Refused { place: Some(place), .. }) = parse_any(text) else {
                panic!("{text}: {}", any(text));
            };
            assert!(text[place.range().start..].starts_with(at), "{text}: {:?}", place.range());
        }
    }

    #[test]
    fn names_may_be_words_quoted_iris_prefixed_or_ids() {
        assert_eq!(
            canonical(
                r#"?A : /film/x./y/z(/m/0_1, A) and "is \"it\""('Crohn\'s', A) and <http://x.org/p>(dbr:Berlin, A) and #07(#3, A)"#
            ),
            r#"?A : /film/x./y/z(/m/0_1, A) and "is \"it\""(Crohn's, A) and <http://x.org/p>(dbr:Berlin, A) and #7(#3, A)"#
        );
        assert_eq!(canonical(r#"?A : r("\u00e9\n\t\U0001F600", A)"#), "?A : r(\"é\\n\\t😀\", A)");
    }

    #[test]
    fn a_quoted_name_is_never_a_variable_and_is_printed_so() {
        assert_eq!(canonical(r#"?A : r("A", A) and s("and", A)"#), r#"?A : r("A", A) and s("and", A)"#);
    }

    #[test]
    fn kind_is_kept_for_names() {
        let query = parse("?A : r(<http://x>, A)").unwrap();
        let Formula::Atom(atom) = query.formula else { panic!("an atom") };
        assert!(matches!(atom.subject, Term::Entity(Name { kind: NameKind::Iri, .. })));
    }

    #[test]
    fn thousands_of_parentheses_are_refused_and_do_not_overflow() {
        let text = format!("?A : {}r(a, A){}", "(".repeat(5000), ")".repeat(5000));
        assert!(matches!(parse(&text), Err(QueryError::TooDeep { .. })));
        let text = format!("?A : {}r(a, A)", "not ".repeat(100_000));
        assert!(matches!(parse(&text), Err(QueryError::TooDeep { .. })));
    }
}
