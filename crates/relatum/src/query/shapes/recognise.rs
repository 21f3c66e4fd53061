//! A normal form → the shape of the literature that it has.

use super::{Shape, Structure};
use crate::graph::{EntityId, Inverses};
use crate::query::formula::{Atom, Term, VariableId};
use crate::query::hop::Hop;
use crate::query::normal_form::{Branch, NormalForm};

/// A shape with the arguments that a query gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The shape.
    pub shape: Shape,
    /// The anchors, in the order of the shape's formula.
    pub anchors: Vec<EntityId>,
    /// The relations, each read away from the anchors.
    pub hops: Vec<Hop>,
}

impl Shape {
    /// The shape of a query; `None` if it has none of them (`general`).
    pub fn of(normal_form: &NormalForm) -> Option<Self> {
        Arguments::of(normal_form).map(|arguments| arguments.shape)
    }
}

impl Arguments {
    /// The shape of a query with its anchors and relations; `None` if it has none of the shapes.
    pub fn of(normal_form: &NormalForm) -> Option<Self> {
        let target = normal_form.target;
        let mut branches: Vec<Vec<Part>> = normal_form
            .branches
            .iter()
            .take(3)
            .map(|branch| parts(branch, target, None))
            .collect::<Option<_>>()?;
        let signatures: Vec<String> = branches.iter().map(|parts| signature(parts)).collect();
        let signatures: Vec<&str> = signatures.iter().map(String::as_str).collect();
        let shape = match signatures.as_slice() {
            ["e"] => Shape::P1,
            ["(e)"] => Shape::P2,
            ["((e))"] => Shape::P3,
            ["ee"] => Shape::I2,
            ["eee"] => Shape::I3,
            ["(ee)"] => Shape::Ip,
            ["(e)e"] => Shape::Pi,
            ["e", "e"] => Shape::U2,
            ["(e)", "(e)"] => Shape::Up,
            ["e!e"] => Shape::In2,
            ["ee!e"] => Shape::In3,
            ["(e!e)"] => Shape::Inp,
            ["(e)!e"] => Shape::Pin,
            ["[(e)]e"] => Shape::Pni,
            _ => return None,
        };
        if shape == Shape::Up {
            branches = vec![vec![joined_union(branches)?]];
        }
        let mut arguments = Self { shape, anchors: Vec::new(), hops: Vec::new() };
        branches.iter().flatten().for_each(|part| arguments.add(part));
        Some(arguments)
    }

    /// The nested form, if every relation that is read backwards has an inverse in the graph.
    pub fn structure(&self, inverses: &Inverses) -> Option<Structure> {
        let relations: Option<Vec<_>> = self.hops.iter().map(|hop| hop.as_forward(inverses)).collect();
        self.shape.structure(&self.anchors, &relations?)
    }

    fn add(&mut self, part: &Part) {
        match &part.from {
            From::Anchor(id) => self.anchors.push(*id),
            From::Parts(parts) => parts.iter().for_each(|part| self.add(part)),
        }
        self.hops.extend(part.hop);
    }
}

/// One condition on a variable: reached by a hop from an anchor or from another variable,
/// or, without a hop, a negated sub-query about the variable itself.
struct Part {
    negated: bool,
    hop: Option<Hop>,
    from: From,
}

enum From {
    Anchor(EntityId),
    Parts(Vec<Part>),
}

/// The conditions on a variable, without those that come from `parent`; `None` unless the
/// branch is a tree. Chains stand before single hops, negated hops last, as in the formulas.
fn parts(branch: &Branch, at: VariableId, parent: Option<&Atom>) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    for (atom, negated) in branch.signed_atoms() {
        if parent.is_some_and(|parent| std::ptr::eq(parent, atom)) {
            continue;
        }
        if matches!((atom.subject, atom.object), (Term::Variable(a), Term::Variable(b)) if a == b) {
            return None;
        }
        let Some((hop, other)) = atom.towards(at) else { continue };
        // More atoms than any shape has. This check also keeps a cycle from being walked forever.
        if branch.atoms() > 3 {
            return None;
        }
        let from = match other {
            Term::Entity(id) => From::Anchor(id),
            Term::Variable(id) => {
                if walks_back(branch, id, at, atom) {
                    return None;
                }
                From::Parts(parts(branch, id, Some(atom))?)
            }
        };
        found.push(Part { negated, hop: Some(hop), from });
    }
    for negated in branch.negated.iter().filter(|negated| negated.free().contains(&at)) {
        if negated.free() != [at] || branch.atoms() > 3 {
            return None;
        }
        found.push(Part { negated: true, hop: None, from: From::Parts(parts(&negated.branch, at, None)?) });
    }
    found.sort_by_key(rank);
    Some(found)
}

/// Whether there is another way back from `id` to `at` than the atom between them.
fn walks_back(branch: &Branch, id: VariableId, at: VariableId, over: &Atom) -> bool {
    let mut reached = vec![id];
    let mut next = 0;
    while let Some(&from) = reached.get(next) {
        next += 1;
        for atom in branch.positive.iter().chain(&branch.negative).filter(|atom| !std::ptr::eq(*atom, over)) {
            let ends: Vec<VariableId> = atom.variables().collect();
            if ends.contains(&from) {
                reached.extend(ends.into_iter().filter(|end| !reached.contains(end)).collect::<Vec<_>>());
            }
        }
    }
    reached.contains(&at)
}

fn rank(part: &Part) -> u8 {
    match (&part.from, part.hop, part.negated) {
        (_, None, _) => 0,
        (From::Parts(_), _, _) => 1,
        (From::Anchor(_), _, false) => 2,
        (From::Anchor(_), _, true) => 3,
    }
}

fn signature(parts: &[Part]) -> String {
    let one = |part: &Part| {
        let not = if part.negated && part.hop.is_some() { "!" } else { "" };
        match &part.from {
            From::Anchor(_) => format!("{not}e"),
            From::Parts(inner) if part.hop.is_some() => format!("{not}({})", signature(inner)),
            From::Parts(inner) => format!("[{}]", signature(inner)),
        }
    };
    parts.iter().map(one).collect()
}

/// Two chains that end with the same hop, as one projection of a union.
fn joined_union(branches: Vec<Vec<Part>>) -> Option<Part> {
    let mut last = None;
    let mut sources = Vec::new();
    for part in branches.into_iter().flatten() {
        if *last.get_or_insert(part.hop) != part.hop {
            return None;
        }
        if let From::Parts(inner) = part.from {
            sources.extend(inner);
        }
    }
    Some(Part { negated: false, hop: last?, from: From::Parts(sources) })
}
