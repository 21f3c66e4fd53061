//! A closed formula: it has no target, and the answer is how true it is.

use super::check::Checked;
use super::error::QueryError;
use super::formula::{Atom, Formula, Query, Variable, VariableId};
use super::name::Name;
use super::normal_form::{Branch, Limits, Negated};
use crate::graph::{EntityId, RelationId};

/// A formula without a target, such as `stars("Alien (1979)", "Sigourney Weaver")` or
/// `not exists F. stars(F, "Sigourney Weaver") and has_genre(F, Western)`: is it true?
///
/// The parameters are those of [`Query`]; before names are looked up it is a [`ParsedStatement`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement<E = EntityId, R = RelationId> {
    /// All variables, each bound by an `exists` of the formula; a [`VariableId`] is a position here.
    pub variables: Vec<Variable>,
    /// The formula.
    pub formula: Formula<E, R>,
}

/// A statement as it was written: names instead of ids.
pub type ParsedStatement = Statement<Name, Name>;

/// A statement whose truth can be told, taken apart into what an engine can answer.
///
/// With `⊤` and `⊥` for the t-norm and the t-conorm, its truth is `⊥` over [`alternatives`] of `⊤` over
/// the clauses of each.
///
/// [`alternatives`]: Self::alternatives
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedStatement {
    /// The statement.
    pub statement: Statement,
    /// Its disjunctive normal form: it is true if all clauses of one alternative are.
    pub alternatives: Vec<Vec<Clause>>,
}

/// A part of an alternative that shares no variable with the other parts, so that its truth can be found
/// without them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// `r(a, b)`: its truth is that of the edge.
    Atom(Atom),
    /// `¬r(a, b)`: its truth is the negation of that of the edge.
    NotAtom(Atom),
    /// `∃V… φ`, as the question for one of its variables: its truth is that of the best answer.
    Exists(Box<Checked>),
    /// `¬∃V… (φ ∧ ψ …)`: its truth is 1 − the t-norm of the truths of these clauses.
    NoneExists(Vec<Clause>),
}

impl Statement {
    /// Brings the statement into normal form and finds every mistake that would keep an engine from
    /// telling its truth: variables that no atom uses, unsafe negation, sub-queries that fall apart, too
    /// many alternatives.
    pub fn check(self, limits: Limits) -> Result<CheckedStatement, Vec<QueryError>> {
        let unused = super::check::unused_variables(&self.variables, &self.formula, None);
        if !unused.is_empty() {
            return Err(unused);
        }
        let (variables, branches) =
            super::normal_form::alternatives(&self.variables, &self.formula, None, limits)
                .map_err(|error| vec![error])?;
        let errors = super::check::unsafe_negation(&variables, &branches);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut maker = Maker { variables: &variables, limits, errors: Vec::new() };
        let alternatives = branches.iter().map(|branch| maker.clauses(branch)).collect();
        if maker.errors.is_empty() {
            Ok(CheckedStatement { statement: self, alternatives })
        } else {
            Err(maker.errors)
        }
    }
}

struct Maker<'a> {
    variables: &'a [Variable],
    limits: Limits,
    errors: Vec<QueryError>,
}

impl Maker<'_> {
    fn clauses(&mut self, branch: &Branch) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for part in branch.parts() {
            if !part.variables().is_empty() {
                match self.question(&part) {
                    Ok(checked) => clauses.push(Clause::Exists(Box::new(checked))),
                    Err(errors) => self.add(errors),
                }
                continue;
            }
            clauses.extend(part.positive.iter().copied().map(Clause::Atom));
            clauses.extend(part.negative.iter().copied().map(Clause::NotAtom));
            for Negated { branch, .. } in &part.negated {
                let inner = self.clauses(branch);
                clauses.push(Clause::NoneExists(inner));
            }
        }
        clauses
    }

    /// `∃V, U. φ` as the question for one of its variables. Any of them gives the same truth; the one with
    /// which the question is nearest to those of the literature is the cheapest to search, and of several
    /// such the last, where a path ends.
    fn question(&self, part: &Branch) -> Result<Checked, Vec<QueryError>> {
        let variables = part.variables();
        let mut best: Option<Checked> = None;
        let mut first_errors = None;
        for &target in variables.iter().rev() {
            let bound = variables.iter().copied().filter(|&id| id != target).collect();
            let formula = Formula::exists(bound, part.formula());
            let query = Query { target, variables: self.variables.to_vec(), formula }.renumbered();
            match query.check(self.limits) {
                Ok(checked) => {
                    let notes = |checked: &Checked| checked.validity.notes.len();
                    if best.as_ref().is_none_or(|best| notes(&checked) < notes(best)) {
                        best = Some(checked);
                    }
                }
                Err(errors) => {
                    first_errors.get_or_insert(errors);
                }
            }
        }
        best.ok_or_else(|| first_errors.unwrap_or_default())
    }

    /// A mistake in a literal shows in every alternative that has the literal; once is enough.
    fn add(&mut self, errors: Vec<QueryError>) {
        for error in errors {
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }
}

impl Branch {
    /// The branch cut where no variable leads across: literals with variables in common stay together,
    /// and each literal without any is a part of its own.
    pub fn parts(&self) -> Vec<Branch> {
        let mut parts: Vec<(Vec<VariableId>, Branch)> = Vec::new();
        for &atom in &self.positive {
            join(&mut parts, atom.variables().collect(), Branch { positive: vec![atom], ..Self::default() });
        }
        for &atom in &self.negative {
            join(&mut parts, atom.variables().collect(), Branch { negative: vec![atom], ..Self::default() });
        }
        for negated in &self.negated {
            join(&mut parts, negated.free(), Branch { negated: vec![negated.clone()], ..Self::default() });
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }
}

/// Adds a literal to the parts; those with which it shares a variable become one, in the place of the first.
fn join(parts: &mut Vec<(Vec<VariableId>, Branch)>, variables: Vec<VariableId>, literal: Branch) {
    let meets = |part: &(Vec<VariableId>, Branch)| part.0.iter().any(|id| variables.contains(id));
    let Some(first) = parts.iter().position(meets) else {
        parts.push((variables, literal));
        return;
    };
    let mut joined: Vec<(Vec<VariableId>, Branch)> = parts.extract_if(first.., |part| meets(part)).collect();
    joined.push((variables, literal));
    let mut whole = (Vec::new(), Branch::default());
    for (ids, part) in joined {
        whole.0.extend(ids);
        whole.1.positive.extend(part.positive);
        whole.1.negative.extend(part.negative);
        whole.1.negated.extend(part.negated);
    }
    parts.insert(first, whole);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Graph, Split, Triple};
    use crate::query::syntax::{self, Parsed};
    use crate::query::testing::{any_statement, brute_force, edges, holds_at_all, tiny_graph};
    use crate::query::{Asked, Style, Syntax, read_any};

    fn parsed(text: &str) -> ParsedStatement {
        match syntax::parse_any(text) {
            Ok(Parsed::Statement(statement)) => statement,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The clauses of a text over r0, "has (part)", plain, …, or what is wrong with it.
    fn taken_apart(text: &str) -> String {
        let graph = tiny_graph(&[]);
        match read_any(text, Syntax::detect(text), &graph, Limits::default()) {
            Ok(Asked::Truth(checked)) => {
                let alternatives = checked.alternatives.iter().map(|clauses| shown(clauses, &graph));
                alternatives.collect::<Vec<_>>().join(" | ")
            }
            Ok(other) => panic!("{text}: {other:?}"),
            Err(mistakes) => mistakes.render(Style::Plain),
        }
    }

    fn shown(clauses: &[Clause], graph: &Graph) -> String {
        let atom = |atom: &Atom| {
            let statement = Statement { variables: Vec::new(), formula: Formula::Atom(*atom) };
            statement.named(graph).to_string()
        };
        let clause = |clause: &Clause| match clause {
            Clause::Atom(it) => atom(it),
            Clause::NotAtom(it) => format!("not {}", atom(it)),
            Clause::Exists(checked) => format!("some [{}]", checked.query.named(graph)),
            Clause::NoneExists(inner) => format!("none [{}]", shown(inner, graph)),
        };
        clauses.iter().map(clause).collect::<Vec<_>>().join(" & ")
    }

    #[test]
    fn a_statement_is_taken_apart_into_edges_and_questions() {
        assert_eq!(taken_apart("r0(plain, #1)"), r#"r0(plain, "with blank \"é\"")"#);
        assert_eq!(
            taken_apart("r0(plain, #2) and not (r0(#0, #0) or exists X. r0(X, plain))"),
            r#"r0(plain, "and") & not r0(plain, plain) & none [some [?X : r0(X, plain)]]"#
        );
        assert_eq!(
            taken_apart("(r0(plain, plain) or r0(#2, plain)) and r0(plain, #2)"),
            r#"r0(plain, plain) & r0(plain, "and") | r0("and", plain) & r0(plain, "and")"#
        );
        // Two parts that share nothing are two questions; a path is asked for its end.
        assert_eq!(
            taken_apart("exists X, Y, Z. r0(plain, X) and r0(X, Y) and r0(plain, Z) and not #1(Z, plain)"),
            r#"some [?Y : exists X. r0(plain, X) and r0(X, Y)] & some [?Z : r0(plain, Z) and not "has (part)"(Z, plain)]"#
        );
        assert_eq!(
            taken_apart("ASK { e:plain r:r0 ?x . ?x r:r0 ?y }"),
            "some [?y : exists x. r0(plain, x) and r0(x, y)]"
        );
    }

    #[test]
    fn a_literal_that_joins_two_parts_makes_them_one() {
        assert_eq!(
            taken_apart("exists X, Y. r0(plain, X) and r0(plain, Y) and r0(X, Y)"),
            "some [?Y : exists X. r0(plain, X) and r0(plain, Y) and r0(X, Y)]"
        );
    }

    #[test]
    fn mistakes_in_statements_have_their_place() {
        insta::assert_snapshot!(taken_apart("not exists X. not r0(plain, X)"), @r"
        error: the variable X is unsafe: it occurs only under negation
          |
        1 | not exists X. not r0(plain, X)
          |                   ^^^^^^^^^^^^ only here, and it says what X is not
          |
          = help: add an atom without `not` that says what X can be
        ");
        insta::assert_snapshot!(taken_apart("r0(plain, X)"), @r"
        error: there is no entity 'X'
          |
        1 | r0(plain, X)
          |           ^ not an entity of this graph
          |
          = help: if X is a variable, write `exists X.` in front of the formula, or `?X :` to ask for it
        ");
        insta::assert_snapshot!(taken_apart("exists X. r0(plain, plain)"), @r"
        error: the variable X is never bound: no atom uses it
          |
        1 | exists X. r0(plain, plain)
          |        ^ introduced here
          |
          = help: use X in an atom, or remove it
        ");
    }

    /// Whether clauses hold over known edges alone.
    fn all_hold(clauses: &[Clause], graph: &Graph) -> bool {
        let stored = |atom: &Atom| {
            let (super::super::Term::Entity(head), super::super::Term::Entity(tail)) =
                (atom.subject, atom.object)
            else {
                panic!("a clause of one atom has two entities");
            };
            graph.edges(Split::Train).contains(Triple { head, relation: atom.relation, tail })
        };
        clauses.iter().all(|clause| match clause {
            Clause::Atom(atom) => stored(atom),
            Clause::NotAtom(atom) => !stored(atom),
            Clause::Exists(checked) => !brute_force(&checked.query, graph).is_empty(),
            Clause::NoneExists(inner) => !all_hold(inner, graph),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn what_is_printed_is_read_back_as_the_same_statement(statement in any_statement()) {
            let graph = tiny_graph(&[]);
            let named = statement.named(&graph);
            let read = parsed(&named.to_string());
            prop_assert_eq!(&read, &named);
            prop_assert_eq!(Syntax::detect(&named.to_string()), Syntax::Text);
            prop_assert_eq!(read.resolve(&graph).unwrap(), statement);
        }

        #[test]
        fn the_clauses_say_what_the_statement_says(statement in any_statement(), edges in edges()) {
            let graph = tiny_graph(&edges);
            if let Ok(checked) = statement.clone().check(Limits { branches: 512, ..Limits::default() }) {
                let clauses = checked.alternatives.iter().any(|clauses| all_hold(clauses, &graph));
                prop_assert_eq!(clauses, holds_at_all(&statement, &graph));
            }
        }
    }
}
