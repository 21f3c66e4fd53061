//! One line of a file of rules.

use super::super::error::RuleProblem;
use super::super::rule::{Body, Path, Rule};
use super::is_variable;
use crate::graph::{EntityId, Graph, RelationId};
use crate::model::Reciprocals;

/// What `AnyBURL` writes for the object of an edge from an entity to itself.
const MYSELF: &str = "me_myself_i";

type Problem = (usize, RuleProblem);

/// The rule of a line; `None` if its form is not known here. A mistake comes with its place, in bytes.
pub(super) fn line(line: &str, graph: &Graph, reciprocals: &Reciprocals) -> Result<Option<Rule>, Problem> {
    let fields: Vec<&str> = line.splitn(4, '\t').collect();
    let &[predicted, correct, confidence, _] = fields.as_slice() else {
        return Err((0, RuleProblem::Fields(fields.len())));
    };
    let count = |text: &str, at: usize| {
        let expected = "a whole number";
        text.trim().parse::<u32>().map_err(|_| (at, RuleProblem::Number { expected, found: text.to_owned() }))
    };
    let mut at = 0;
    let predicted_count = count(predicted, at)?;
    at += predicted.len() + 1;
    let correct_count = count(correct, at)?;
    if correct_count > predicted_count {
        let expected = "at most as many correct as predicted";
        return Err((at, RuleProblem::Number { expected, found: correct.to_owned() }));
    }
    at += correct.len() + 1;
    let expected = "a confidence from 0 to 1";
    // Not -0 either: by its bits it would be the largest of all.
    let is_share = |it: &f32| it.is_sign_positive() && (0.0..=1.0).contains(it);
    let confidence_value = confidence.trim().parse::<f32>().ok().filter(is_share);
    let confidence_value = confidence_value
        .ok_or_else(|| (at, RuleProblem::Number { expected, found: confidence.to_owned() }))?;
    at += confidence.len() + 1;
    let mut cursor = Cursor { line, at, graph };
    let head = cursor.atom()?;
    cursor.arrow()?;
    let mut body = Vec::new();
    while !cursor.is_at_end() {
        if !body.is_empty() {
            cursor.comma()?;
        }
        body.push(cursor.atom()?);
    }
    let form = Form { head, body, reciprocals };
    let Some((head, body)) = form.rule().map_err(|problem| (at, problem))? else { return Ok(None) };
    Ok(Some(Rule {
        head,
        body,
        predicted: predicted_count,
        correct: correct_count,
        confidence: confidence_value,
        error: 0.0,
    }))
}

#[derive(Clone, Copy, PartialEq)]
enum Term {
    Variable(char),
    Entity(EntityId),
    /// [`MYSELF`], where the graph has no such entity.
    Myself,
}

struct Atom {
    relation: RelationId,
    terms: [Term; 2],
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
    graph: &'a Graph,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    fn syntax(&self, expected: &'static str) -> Problem {
        let found = self.rest().chars().take(12).collect();
        (self.at, RuleProblem::Syntax { expected, found })
    }

    fn take(&mut self, token: &str, expected: &'static str) -> Result<(), Problem> {
        self.skip_blanks();
        if !self.rest().starts_with(token) {
            return Err(self.syntax(expected));
        }
        self.at += token.len();
        Ok(())
    }

    fn comma(&mut self) -> Result<(), Problem> {
        self.take(",", "a comma between the atoms of the body")
    }

    fn arrow(&mut self) -> Result<(), Problem> {
        self.take("<=", "`<=` after the head")
    }

    fn atom(&mut self) -> Result<Atom, Problem> {
        self.skip_blanks();
        let at = self.at;
        let (name, _) = self.name(&['('], "a relation")?;
        let relation = self.graph.relation(&name).map_err(|error| (at, error.into()))?;
        self.take("(", "`(` after the relation")?;
        let x = self.term(&[','])?;
        self.take(",", "a comma between subject and object")?;
        let y = self.term(&[')'])?;
        self.take(")", "`)` after the object")?;
        Ok(Atom { relation, terms: [x, y] })
    }

    fn term(&mut self, ends: &[char]) -> Result<Term, Problem> {
        self.skip_blanks();
        let at = self.at;
        let (name, quoted) = self.name(ends, "a variable or an entity")?;
        if !quoted && is_variable(&name) {
            return Ok(Term::Variable(name.chars().next().unwrap_or('X')));
        }
        match self.graph.entity(&name) {
            Ok(entity) => Ok(Term::Entity(entity)),
            Err(_) if !quoted && name == MYSELF => Ok(Term::Myself),
            Err(error) if !quoted && is_like_a_variable(&name) => {
                Err((at, RuleProblem::LikeAVariable(error)))
            }
            Err(error) => Err((at, error.into())),
        }
    }

    /// A name up to one of these characters, or in quotation marks, and whether it was.
    fn name(&mut self, ends: &[char], expected: &'static str) -> Result<(String, bool), Problem> {
        if self.rest().starts_with('"') {
            return Ok((self.quoted()?, true));
        }
        let end = self.rest().find(ends).unwrap_or(self.rest().len());
        let name = self.rest()[..end].trim_end().to_owned();
        if name.is_empty() {
            return Err(self.syntax(expected));
        }
        self.at += end;
        Ok((name, false))
    }

    fn quoted(&mut self) -> Result<String, Problem> {
        let mut name = String::new();
        let mut escaped = false;
        for (offset, letter) in self.rest().char_indices().skip(1) {
            match (escaped, letter) {
                (false, '\\') => escaped = true,
                (false, '"') => {
                    self.at += offset + 1;
                    return Ok(name);
                }
                (true, 't') => {
                    name.push('\t');
                    escaped = false;
                }
                (_, letter) => {
                    name.push(letter);
                    escaped = false;
                }
            }
        }
        Err((
            self.line.len(),
            RuleProblem::Syntax { expected: "a closing quotation mark", found: String::new() },
        ))
    }
}

/// Whether a name is meant for a variable, as other languages write them: `x`, `?x`.
fn is_like_a_variable(name: &str) -> bool {
    let mut letters = name.trim_start_matches('?').chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// A head and a body whose form is not known yet.
struct Form<'a> {
    head: Atom,
    body: Vec<Atom>,
    reciprocals: &'a Reciprocals,
}

impl Form<'_> {
    fn rule(&self) -> Result<Option<(RelationId, Body)>, RuleProblem> {
        let mut atoms = std::iter::once(&self.head).chain(&self.body);
        if atoms.any(|atom| atom.terms.contains(&Term::Myself)) {
            // No rule here speaks of an entity and itself.
            return Ok(None);
        }
        match self.head.terms {
            [Term::Variable(x), Term::Variable(y)] if x != y => self.walk(x, y),
            [Term::Variable(x), Term::Entity(object)] => self.with_object(self.head.relation, x, object),
            [Term::Entity(object), Term::Variable(x)] => {
                self.with_object(self.reciprocals.inverse(self.head.relation), x, object)
            }
            _ => Err(RuleProblem::Head),
        }
    }

    /// Follows the atoms from X to Y, in whatever order they stand.
    fn walk(&self, x: char, y: char) -> Result<Option<(RelationId, Body)>, RuleProblem> {
        for variable in [x, y] {
            if !self.body.iter().any(|atom| atom.terms.contains(&Term::Variable(variable))) {
                return Err(RuleProblem::Unbound(variable));
            }
        }
        let mut left: Vec<&Atom> = self.body.iter().collect();
        let (mut at, mut steps) = (x, Vec::new());
        while !left.is_empty() {
            let from = Term::Variable(at);
            let Some(next) = left.iter().position(|atom| atom.terms.contains(&from)) else { return Ok(None) };
            let atom = left.remove(next);
            let (relation, to) = if atom.terms[0] == from {
                (atom.relation, atom.terms[1])
            } else {
                (self.reciprocals.inverse(atom.relation), atom.terms[0])
            };
            let Term::Variable(to) = to else { return Ok(None) };
            // Back to where it came from, or on beyond the end: another form.
            if to == at || to == x || (to == y) != left.is_empty() {
                return Ok(None);
            }
            steps.push(relation);
            at = to;
        }
        if steps == [self.head.relation] {
            return Err(RuleProblem::Circle);
        }
        let inverse = self.reciprocals.inverse(self.head.relation);
        let Some(walk) = Path::new(&steps) else { return Ok(None) };
        // Rules between two variables are kept under one of the two directions.
        if inverse < self.head.relation {
            let reversed = walk.reversed(|step| self.reciprocals.inverse(step));
            return Ok(Some((inverse, Body::Path(reversed))));
        }
        Ok(Some((self.head.relation, Body::Path(walk))))
    }

    fn with_object(
        &self,
        head: RelationId,
        x: char,
        object: EntityId,
    ) -> Result<Option<(RelationId, Body)>, RuleProblem> {
        let atom = match self.body.as_slice() {
            [] => return Ok(Some((head, Body::Always { object }))),
            [atom] => atom,
            _ => return Ok(None),
        };
        let (relation, other) = match atom.terms {
            [from, other] if from == Term::Variable(x) => (atom.relation, other),
            [other, from] if from == Term::Variable(x) => (self.reciprocals.inverse(atom.relation), other),
            _ => return Err(RuleProblem::Unbound(x)),
        };
        match other {
            Term::Entity(to) if relation == head && to == object => Err(RuleProblem::Circle),
            Term::Entity(to) => Ok(Some((head, Body::Edge { object, relation, to }))),
            Term::Variable(other) if other != x => Ok(Some((head, Body::Some { object, relation }))),
            Term::Variable(_) | Term::Myself => Ok(None),
        }
    }
}
