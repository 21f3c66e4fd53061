//! The paper's *valid* queries, and what lies beyond them.

use crate::query::diagnostics::Diagnostic;
use crate::query::formula::{Atom, Term, VariableId};
use crate::query::normal_form::{Branch, NormalForm};
use crate::query::place::Place;

/// Whether every branch is a directed acyclic graph with anchors as its sources and the target
/// as its only sink.
///
/// Atoms may be read backwards for that (through the reciprocal relation), so `stars(A, a)` is
/// as good as `stars⁻¹(a, A)`; a directed cycle of variables, as written, is beyond the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// What is beyond the paper's queries; nothing of it keeps the query from running.
    pub notes: Vec<Note>,
}

/// One thing that the paper's queries do not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An atom or a sub-query is negated.
    Negation,
    /// No atom has an entity in it, so every entity is a place to begin.
    NoAnchor {
        /// An atom of the branch.
        place: Place,
    },
    /// Variables form a cycle. A directed cycle is beyond the paper; any other cycle is only beyond
    /// exact search.
    Cycle {
        /// A variable on it.
        variable: String,
        /// An atom on it.
        place: Place,
        /// Whether the atoms, in the direction in which they are written, lead around it.
        directed: bool,
        /// Whether the branch is still a tree, because the cycle is two atoms between the same variables.
        tree: bool,
    },
    /// A variable is on no path from an anchor to the target: a second sink.
    SecondSink {
        /// The variable.
        variable: String,
        /// An atom with it.
        place: Place,
    },
}

impl Validity {
    pub(super) fn of(normal_form: &NormalForm) -> Self {
        let mut notes: Vec<Note> = Vec::new();
        for branch in &normal_form.branches {
            for note in branch_notes(normal_form, branch) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        Self { notes }
    }

    /// Whether the query is one of the paper's.
    pub fn is_valid(&self) -> bool {
        self.is_valid_but_for_negation() && !self.notes.contains(&Note::Negation)
    }

    /// Whether the query is one of the paper's, or becomes one when negations are left out.
    pub fn is_valid_but_for_negation(&self) -> bool {
        let within = |note: &Note| matches!(note, Note::Negation | Note::Cycle { directed: false, .. });
        self.notes.iter().all(within)
    }
}

impl Note {
    /// The note with its place.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Negation => Diagnostic::note("negation is beyond the queries of the paper"),
            Self::NoAnchor { place } => Diagnostic::note("the question has no anchor")
                .label(*place, "no entity here or in any other atom")
                .help("every entity is a place to begin; an atom with a name in it makes this much cheaper"),
            Self::Cycle { variable, place, directed, tree } => {
                let said = if *directed {
                    Diagnostic::note("the question has a directed cycle, which is beyond the queries of the paper")
                        .label(*place, format!("leads from {variable} back to {variable}"))
                } else {
                    Diagnostic::note("the variables of the question form a cycle")
                        .label(*place, format!("a second way to {variable}"))
                };
                said.help(if *tree {
                    "beam search and exact search both answer it: the atoms join the same two variables"
                } else {
                    "a beam answers it, and proves its answers where the graph is small enough"
                })
            }
            Self::SecondSink { variable, place } => Diagnostic::note(format!(
                "{variable} is not between an anchor and the target (a second sink), which is beyond the queries of the paper"
            ))
            .label(*place, format!("no path from an anchor to the target goes through {variable}")),
        }
    }
}

fn branch_notes(normal_form: &NormalForm, branch: &Branch) -> Vec<Note> {
    let mut notes = Vec::new();
    if branch.negates() {
        notes.push(Note::Negation);
    }
    let mut atoms = Vec::new();
    flatten(branch, &mut atoms);
    let name = |id: VariableId| normal_form.variable_name(id).to_owned();
    let place = |id: VariableId| {
        let mentions = |atom: &&&Atom| atom.variables().any(|other| other == id);
        atoms.iter().find(mentions).map_or_else(Place::default, |atom| atom.place)
    };
    if let Some((id, place)) = on_a_directed_cycle(&atoms) {
        notes.push(Note::Cycle { variable: name(id), place, directed: true, tree: branch.is_tree() });
    } else if let Some((id, place)) = on_a_cycle(&atoms) {
        notes.push(Note::Cycle { variable: name(id), place, directed: false, tree: branch.is_tree() });
    }
    if atoms.iter().all(|atom| atom.variables().count() == 2) {
        // Without an anchor no variable is on a path from one, so a note on a second sink would add nothing.
        let place = atoms.first().map_or_else(Place::default, |atom| atom.place);
        notes.push(Note::NoAnchor { place });
    } else if let Some(id) = dead_end(&atoms, normal_form.target) {
        notes.push(Note::SecondSink { variable: name(id), place: place(id) });
    }
    notes
}

/// All atoms: a negated one is as much an edge of the query graph as any other.
fn flatten<'a>(branch: &'a Branch, atoms: &mut Vec<&'a Atom>) {
    atoms.extend(branch.positive.iter().chain(&branch.negative));
    branch.negated.iter().for_each(|negated| flatten(&negated.branch, atoms));
}

/// An atom from whose subject directed atoms lead back to it.
fn on_a_directed_cycle(atoms: &[&Atom]) -> Option<(VariableId, Place)> {
    let mut edges: Vec<(VariableId, VariableId, Place)> = Vec::new();
    for atom in atoms {
        if let (Term::Variable(from), Term::Variable(to)) = (atom.subject, atom.object) {
            edges.push((from, to, atom.place));
        }
    }
    // A variable that no edge leads into, or out of, is on no cycle. The edges that remain without such
    // variables are on a cycle or connect two cycles.
    loop {
        let before = edges.len();
        let heads: Vec<VariableId> = edges.iter().map(|edge| edge.1).collect();
        edges.retain(|edge| heads.contains(&edge.0));
        let tails: Vec<VariableId> = edges.iter().map(|edge| edge.0).collect();
        edges.retain(|edge| tails.contains(&edge.1));
        if edges.len() == before {
            return edges.first().map(|edge| (edge.0, edge.2));
        }
    }
}

/// An atom that joins two variables which other atoms connect already; a second atom between the same two
/// does not count.
fn on_a_cycle(atoms: &[&Atom]) -> Option<(VariableId, Place)> {
    let mut groups: Vec<Vec<VariableId>> = Vec::new();
    let mut pairs: Vec<(VariableId, VariableId)> = Vec::new();
    for atom in atoms {
        let (Term::Variable(a), Term::Variable(b)) = (atom.subject, atom.object) else { continue };
        if pairs.contains(&(a.min(b), a.max(b))) {
            continue;
        }
        pairs.push((a.min(b), a.max(b)));
        if groups.iter().any(|group| group.contains(&a) && group.contains(&b)) {
            return Some((b, atom.place));
        }
        let joins = |group: &mut Vec<VariableId>| group.contains(&a) || group.contains(&b);
        let mut joined: Vec<VariableId> = groups.extract_if(.., joins).flatten().collect();
        joined.extend([a, b]);
        groups.push(joined);
    }
    None
}

/// A variable that is on no path from an anchor to the target. An orientation with anchors as
/// sources and the target as the only sink exists exactly if there is none: taking any one
/// variable away must leave every other one connected with an anchor or the target.
fn dead_end(atoms: &[&Atom], target: VariableId) -> Option<VariableId> {
    let mut variables: Vec<VariableId> = atoms.iter().flat_map(|atom| atom.variables()).collect();
    variables.sort_unstable();
    variables.dedup();
    let index = |id: VariableId| variables.binary_search(&id).unwrap_or(0);
    let mut neighbours = vec![Vec::new(); variables.len()];
    let mut starts = vec![index(target)];
    for atom in atoms {
        match (atom.subject, atom.object) {
            (Term::Variable(a), Term::Variable(b)) => {
                neighbours[index(a)].push(index(b));
                neighbours[index(b)].push(index(a));
            }
            (Term::Variable(id), _) | (_, Term::Variable(id)) => starts.push(index(id)),
            _ => {}
        }
    }
    (0..variables.len()).find_map(|removed| {
        let mut reached = vec![false; variables.len()];
        reached[removed] = true;
        let mut stack = starts.clone();
        stack.retain(|&at| at != removed);
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                stack.extend(neighbours[at].iter().filter(|&&next| !reached[next]));
            }
        }
        reached.iter().position(|&it| !it).map(|lost| variables[lost])
    })
}
