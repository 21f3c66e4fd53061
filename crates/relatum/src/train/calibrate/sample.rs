//! Questions to calibrate by: an entity, and some of the edges that lead to it.

use crate::graph::{EntityId, Graph, RelationId, Split};
use crate::model::Reciprocals;
use crate::random::Rng;

/// `?A : r₁(c₁, A) ∧ r₂(c₂, A) …`, true of an entity that was drawn first.
pub(super) struct Question {
    pub(super) atoms: Vec<Atom>,
    pub(super) answer: EntityId,
    /// The other answers in the training graph, ascending.
    pub(super) others: Vec<EntityId>,
}

/// A known entity and a relation of the model that leads from it to the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) anchor: EntityId,
    pub(super) relation: RelationId,
}

/// Draws questions, half of them with two atoms and half with three where there are so many. Every
/// entity that has two edges is as likely as any other, and so is each of its edges, in whichever
/// direction it is stored.
pub(super) fn draw(graph: &Graph, reciprocals: &Reciprocals, count: usize, seed: u64) -> Vec<Question> {
    let mut rng = Rng::stream(seed, 0);
    let edges = graph.edges(Split::Train);
    let degree = |entity: EntityId| edges.incoming.of(entity).len() + edges.outgoing.of(entity).len();
    let answers: Vec<EntityId> = graph.entities.ids().filter(|&entity| degree(entity) > 1).collect();
    let mut questions = Vec::new();
    if answers.is_empty() {
        return questions;
    }
    // An entity may have only one edge, stored in both directions: such an entity is skipped.
    for attempt in 0..2 * count {
        if questions.len() == count {
            break;
        }
        let answer = answers[rng.below(answers.len())];
        let wanted = 2 + attempt % 2;
        let mut atoms: Vec<Atom> = Vec::with_capacity(wanted);
        for _ in 0..4 * wanted {
            let atom = edge_to(graph, reciprocals, answer, rng.below(degree(answer)));
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
            if atoms.len() == wanted {
                break;
            }
        }
        if atoms.len() > 1 {
            let others = others(graph, reciprocals, &atoms, answer);
            questions.push(Question { atoms, answer, others });
        }
    }
    questions
}

/// One of the edges of an entity, read towards it.
fn edge_to(graph: &Graph, reciprocals: &Reciprocals, answer: EntityId, which: usize) -> Atom {
    let edges = graph.edges(Split::Train);
    let incoming = edges.incoming.of(answer);
    if let Some(arc) = incoming.get(which) {
        return Atom { anchor: arc.neighbour, relation: arc.relation };
    }
    let arc = edges.outgoing.of(answer)[which - incoming.len()];
    Atom { anchor: arc.neighbour, relation: reciprocals.inverse(arc.relation) }
}

fn others(graph: &Graph, reciprocals: &Reciprocals, atoms: &[Atom], answer: EntityId) -> Vec<EntityId> {
    let mut all = tails(graph, reciprocals, atoms[0]);
    for &atom in &atoms[1..] {
        let more = tails(graph, reciprocals, atom);
        all.retain(|entity| more.binary_search(entity).is_ok());
    }
    all.retain(|&entity| entity != answer);
    all
}

/// The entities that an atom is known to lead to, ascending.
fn tails(graph: &Graph, reciprocals: &Reciprocals, atom: Atom) -> Vec<EntityId> {
    let edges = graph.edges(Split::Train);
    let mut tails: Vec<EntityId> = if reciprocals.in_graph(atom.relation) {
        edges.tails(atom.anchor, atom.relation).collect()
    } else {
        edges.heads(reciprocals.inverse(atom.relation), atom.anchor).collect()
    };
    tails.sort_unstable();
    tails
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn a_question_is_true_of_its_answer_and_of_the_others_it_lists() {
        let mut builder = GraphBuilder::default();
        for (h, r, t) in [("a", "r", "x"), ("b", "s", "x"), ("a", "r", "y"), ("b", "s", "y"), ("y", "s", "c")]
        {
            builder.add(Split::Train, h, r, t);
        }
        let (graph, _) = builder.finish();
        let reciprocals = Reciprocals::of(&graph);
        let questions = draw(&graph, &reciprocals, 50, 1);
        assert_eq!(questions.len(), 50);
        let mut shared = 0;
        for question in &questions {
            let holds = |entity: EntityId| {
                question.atoms.iter().all(|&atom| tails(&graph, &reciprocals, atom).contains(&entity))
            };
            assert!(holds(question.answer));
            for entity in graph.entities.ids().filter(|&entity| entity != question.answer) {
                assert_eq!(holds(entity), question.others.contains(&entity));
            }
            shared += question.others.len();
        }
        assert!(shared > 0, "x and y have edges in common");
        let two = questions.iter().filter(|question| question.atoms.len() == 2).count();
        assert!((1..50).contains(&two));
    }
}
