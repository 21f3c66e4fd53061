//! Edges of one split, found from either end.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::ids::{EntityId, Id, RelationId, Triple};
use crate::column::{Column, memory};

/// An edge seen from one of its ends: along which relation, to which neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Arc {
    /// The relation of the edge.
    pub relation: RelationId,
    /// The entity at the other end.
    pub neighbour: EntityId,
}

/// Compressed rows: the arcs of entity `e` are `arcs[offsets[e]..offsets[e + 1]]`,
/// sorted by relation, then neighbour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjacency {
    pub(crate) offsets: Column<u64>,
    pub(crate) arcs: Column<Arc>,
}

impl Adjacency {
    /// All arcs of an entity, by relation, then neighbour. An entity outside the graph has none.
    pub fn of(&self, entity: EntityId) -> &[Arc] {
        let row = entity.index();
        match (self.offsets.get(row), self.offsets.get(row + 1)) {
            // `get`: in a damaged file an offset may point anywhere; `relatum check` says so.
            (Some(&from), Some(&to)) => self.arcs.get(from as usize..to as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// The arcs of an entity along one relation, by neighbour.
    pub fn along(&self, entity: EntityId, relation: RelationId) -> &[Arc] {
        let arcs = self.of(entity);
        let from = arcs.partition_point(|arc| arc.relation < relation);
        let len = arcs[from..].partition_point(|arc| arc.relation == relation);
        &arcs[from..from + len]
    }

    /// The number of entities that have a row.
    pub fn entities(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Runs of arcs that share entity and relation, in order: the groups that training
    /// and cardinalities are made of.
    pub fn groups(&self) -> impl Iterator<Item = (EntityId, RelationId, &[Arc])> {
        (0..self.entities()).flat_map(|row| {
            let entity = EntityId::from_index(row);
            self.of(entity)
                .chunk_by(|a, b| a.relation == b.relation)
                .map(move |run| (entity, run[0].relation, run))
        })
    }

    /// Sorts triples into rows and removes repeated arcs; `see` gives the row and the arc of a triple.
    fn build(entities: usize, triples: &[Triple], see: impl Fn(&Triple) -> (EntityId, Arc)) -> Self {
        // While the arcs are put in their places, `offsets[row + 1]` is where the next arc of the row
        // goes: at first the beginning of the row, in the end the end of it, which is the value to keep.
        let mut offsets: Vec<u64> = memory::zeroed(entities + 2);
        for triple in triples {
            offsets[see(triple).0.index() + 2] += 1;
        }
        for row in 2..offsets.len() {
            offsets[row] += offsets[row - 1];
        }
        offsets.pop();
        let mut arcs: Vec<Arc> = memory::zeroed(triples.len());
        for triple in triples {
            let (row, arc) = see(triple);
            let next = &mut offsets[row.index() + 1];
            arcs[*next as usize] = arc;
            *next += 1;
        }
        sort_rows(&mut arcs, &offsets);
        remove_repeats(&mut arcs, &mut offsets);
        Self { offsets: offsets.into(), arcs: arcs.into() }
    }
}

/// The edges of one split: every edge once, reachable from both ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Arcs from heads to tails.
    pub outgoing: Adjacency,
    /// Arcs from tails to heads.
    pub incoming: Adjacency,
}

impl Edges {
    /// Builds both directions; repeated triples are kept once.
    ///
    /// # Panics
    /// If a triple names an entity outside `0..entities`.
    pub fn new(entities: usize, triples: &[Triple]) -> Self {
        let forwards = |t: &Triple| (t.head, Arc { relation: t.relation, neighbour: t.tail });
        let backwards = |t: &Triple| (t.tail, Arc { relation: t.relation, neighbour: t.head });
        let (outgoing, incoming) = rayon::join(
            || Adjacency::build(entities, triples, forwards),
            || Adjacency::build(entities, triples, backwards),
        );
        Self { outgoing, incoming }
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.outgoing.arcs.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the edge is there.
    pub fn contains(&self, triple: Triple) -> bool {
        let arc = Arc { relation: triple.relation, neighbour: triple.tail };
        self.outgoing.of(triple.head).binary_search(&arc).is_ok()
    }

    /// All t with `relation(head, t)`, ascending.
    pub fn tails(&self, head: EntityId, relation: RelationId) -> impl ExactSizeIterator<Item = EntityId> {
        self.outgoing.along(head, relation).iter().map(|arc| arc.neighbour)
    }

    /// All h with `relation(h, tail)`, ascending.
    pub fn heads(&self, relation: RelationId, tail: EntityId) -> impl ExactSizeIterator<Item = EntityId> {
        self.incoming.along(tail, relation).iter().map(|arc| arc.neighbour)
    }

    /// How many edges each of the first `relations` relations has.
    pub fn relation_counts(&self, relations: usize) -> Vec<usize> {
        let mut counts = vec![0; relations];
        for arc in self.outgoing.arcs.iter() {
            if let Some(count) = counts.get_mut(arc.relation.index()) {
                *count += 1;
            }
        }
        counts
    }

    /// Every edge, by head, relation, tail.
    pub fn triples(&self) -> impl Iterator<Item = Triple> + Clone {
        all_triples(&self.outgoing)
    }
}

fn all_triples(outgoing: &Adjacency) -> impl Iterator<Item = Triple> + Clone {
    (0..outgoing.entities()).flat_map(|row| {
        let head = EntityId::from_index(row);
        outgoing.of(head).iter().map(move |arc| Triple { head, relation: arc.relation, tail: arc.neighbour })
    })
}

fn sort_rows(arcs: &mut [Arc], offsets: &[u64]) {
    const ROWS_A_TASK: usize = 4096;
    let mut tasks: Vec<(Range<usize>, &mut [Arc])> = Vec::new();
    let mut rest = arcs;
    let mut row = 0;
    while row + 1 < offsets.len() {
        let end = (row + ROWS_A_TASK).min(offsets.len() - 1);
        let (part, tail) = std::mem::take(&mut rest).split_at_mut((offsets[end] - offsets[row]) as usize);
        tasks.push((row..end, part));
        rest = tail;
        row = end;
    }
    tasks.into_par_iter().for_each(|(rows, part)| {
        let base = offsets[rows.start];
        for row in rows {
            part[(offsets[row] - base) as usize..(offsets[row + 1] - base) as usize]
                .sort_unstable_by_key(|arc| u64::from(arc.relation.0) << 32 | u64::from(arc.neighbour.0));
        }
    });
}

/// Closes the gaps that repeated arcs leave; rows are sorted, so repeats stand side by side.
fn remove_repeats(arcs: &mut Vec<Arc>, offsets: &mut [u64]) {
    let mut kept = 0;
    let mut start = 0;
    for row in 0..offsets.len() - 1 {
        let end = offsets[row + 1] as usize;
        let row_start = kept;
        for at in start..end {
            if kept == row_start || arcs[kept - 1] != arcs[at] {
                arcs[kept] = arcs[at];
                kept += 1;
            }
        }
        start = end;
        offsets[row + 1] = kept as u64;
    }
    arcs.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn edges_are_the_set_of_triples_from_both_ends(
            raw in prop::collection::vec((0u32..12, 0u32..3, 0u32..12), 0..80)
        ) {
            let triples: Vec<Triple> = raw.iter().map(|&(h, r, t)| Triple::new(h, r, t)).collect();
            let expected: BTreeSet<Triple> = triples.iter().copied().collect();
            let edges = Edges::new(12, &triples);
            prop_assert_eq!(edges.len(), expected.len());
            prop_assert_eq!(edges.triples().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            for h in 0..12 { for r in 0..3 { for t in 0..12 {
                let triple = Triple::new(h, r, t);
                let there = expected.contains(&triple);
                prop_assert_eq!(edges.contains(triple), there);
                prop_assert_eq!(edges.tails(triple.head, triple.relation).any(|x| x == triple.tail), there);
                prop_assert_eq!(edges.heads(triple.relation, triple.tail).any(|x| x == triple.head), there);
            }}}
        }
    }

    #[test]
    fn an_entity_outside_the_graph_has_no_arcs() {
        let edges = Edges::new(2, &[Triple::new(0, 0, 1)]);
        assert!(edges.outgoing.of(EntityId(7)).is_empty());
    }
}
