//! A question → the tree of its formula, which a page can draw.

use crate::graph::{Graph, Id, NameError};
use crate::query::syntax::{Parsed, argument_places, name_text};
use crate::query::{Atom, Formula, Name, NameKind, Place, Syntax, Term, Variable};
use crate::report::{FormulaAtom, FormulaTerm, FormulaTree, Span, TermKind};

/// The tree of a text that follows the grammar, even if its names are not in the graph.
pub(super) fn tree(text: &str, syntax: Syntax, graph: &Graph) -> Option<FormulaTree> {
    let (variables, formula) = match syntax.parse(text, &graph.prefixes).ok()?.parsed {
        Parsed::Query(query) => (query.variables, query.formula),
        Parsed::Statement(statement) => (statement.variables, statement.formula),
        Parsed::Between(_) => return None,
    };
    Some(Tree { text, syntax, graph, variables: &variables }.of(&formula))
}

struct Tree<'a> {
    text: &'a str,
    syntax: Syntax,
    graph: &'a Graph,
    variables: &'a [Variable],
}

impl Tree<'_> {
    fn of(&self, formula: &Formula<Name, Name>) -> FormulaTree {
        let all = |parts: &[Formula<Name, Name>]| parts.iter().map(|part| self.of(part)).collect();
        match formula {
            Formula::And(parts) => FormulaTree::And { parts: all(parts) },
            Formula::Or(parts) => FormulaTree::Or { parts: all(parts) },
            Formula::Not(part) => FormulaTree::Not { part: Box::new(self.of(part)) },
            Formula::Exists(ids, part) => FormulaTree::Exists {
                variables: ids.iter().map(|id| self.variables[id.index()].name.clone()).collect(),
                part: Box::new(self.of(part)),
            },
            Formula::Atom(atom) => FormulaTree::Atom(Box::new(self.atom(atom))),
        }
    }

    fn atom(&self, atom: &Atom<Name, Name>) -> FormulaAtom {
        let relations = &self.graph.relations;
        let found = look_up(&atom.relation, relations.len(), |text| self.graph.relation(text));
        let (relation, relation_text) = match found {
            Some(id) => (relations.name(id).to_owned(), relations.readable(id, &self.graph.prefixes)),
            None => (atom.relation.text.clone(), atom.relation.text.clone()),
        };
        let places = if self.syntax == Syntax::Text { argument_places(self.text, atom.place) } else { None };
        let [subject, object] = places.map_or([None, None], |places| places.map(Some));
        FormulaAtom {
            relation,
            relation_text: name_text(&relation_text),
            subject: self.term(&atom.subject, subject),
            object: self.term(&atom.object, object),
            span: Span::of(atom.place, self.text),
        }
    }

    fn term(&self, term: &Term<Name>, place: Option<Place>) -> FormulaTerm {
        let span = place.map(|place| Span::of(place, self.text));
        match term {
            Term::Variable(id) => FormulaTerm {
                kind: TermKind::Variable,
                text: self.variables[id.index()].name.clone(),
                label: None,
                span,
            },
            Term::Entity(name) => {
                let entities = &self.graph.entities;
                let found = look_up(name, entities.len(), |text| self.graph.entity(text));
                let own = (self.syntax == Syntax::Sparql).then(|| Span::of(name.place, self.text));
                FormulaTerm {
                    kind: TermKind::Entity,
                    text: name_text(
                        &found.map_or_else(
                            || name.text.clone(),
                            |id| entities.readable(id, &self.graph.prefixes),
                        ),
                    ),
                    label: found.and_then(|id| entities.label(id)).map(str::to_owned),
                    span: span.or(own),
                }
            }
        }
    }
}

/// What a name stands for, if it is one of the graph.
fn look_up<I: Id>(name: &Name, count: usize, find: impl Fn(&str) -> Result<I, NameError>) -> Option<I> {
    match name.kind {
        NameKind::Text => find(&name.text).ok(),
        NameKind::Iri => find(&format!("<{}>", name.text)).ok(),
        NameKind::Number => name.text.parse().ok().filter(|&index| index < count).map(I::from_index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::engine::testing::films;

    #[test]
    fn a_question_is_a_tree_with_the_places_of_its_parts() {
        let (_dir, engine) = films();
        let text = r#"?G : exists F. stars(F, "Will Smith") and not "has genre"(F, G)"#;
        let Some(FormulaTree::Exists { variables, part }) =
            engine.check(text, &Options::default()).unwrap().formula
        else {
            panic!("no tree")
        };
        assert_eq!(variables, ["F"]);
        let FormulaTree::And { parts } = *part else { panic!("{part:?}") };
        let FormulaTree::Atom(atom) = &parts[0] else { panic!() };
        let FormulaAtom { relation_text, subject, object, span, .. } = &**atom;
        let at = |span: Span| &text[span.start.byte..span.end.byte];
        assert_eq!((relation_text.as_str(), at(*span)), ("stars", r#"stars(F, "Will Smith")"#));
        assert_eq!((subject.kind, at(subject.span.unwrap())), (TermKind::Variable, "F"));
        assert_eq!((object.text.as_str(), at(object.span.unwrap())), ("\"Will Smith\"", "\"Will Smith\""));
        let FormulaTree::Not { part } = &parts[1] else { panic!() };
        assert!(matches!(&**part, FormulaTree::Atom(atom) if atom.relation_text == "\"has genre\""));
    }

    #[test]
    fn a_wrong_name_does_not_hide_the_tree_but_a_wrong_grammar_does() {
        let (_dir, engine) = films();
        let check = |text: &str| engine.check(text, &Options::default()).unwrap();
        let wrong = check(r#"?F : stars(F, "Will Smit")"#);
        assert!(!wrong.answerable && wrong.formula.is_some());
        assert_eq!(check("?F : stars(F, ").formula, None);
        let sparql = check("SELECT ?f { ?f r:stars \"Will Smith\" }").formula;
        let Some(FormulaTree::Atom(atom)) = sparql else { panic!("{sparql:?}") };
        let object = &atom.object;
        assert_eq!((object.text.as_str(), object.span.unwrap().start.byte), ("\"Will Smith\"", 23));
    }
}
