//! The queries that a baseline learns from: sampled on the training edges, with their answers there.

use rayon::prelude::*;

use crate::benchmark::{QueryGroup, Skeleton};
use crate::graph::{Arc, EntityId, Graph, RelationId};
use crate::model::rules::Steps;
use crate::random::Rng;

use super::Program;

/// The shapes of training, as in the papers; the others are asked without having been seen.
pub(super) const SHAPES: [&str; 5] = ["1p", "2p", "3p", "2i", "3i"];

/// The most queries of a shape beside 1p, of which there is one for each pair of head and relation.
const MOST: usize = 200_000;
/// How many answers of a query are kept to draw from: all of most queries, a random part of the others.
const KEPT: usize = 32;
/// A query over more edges than this is not sampled: it says little, and its answers would take long to count.
const MOST_EDGES: usize = 100_000;
/// How often a query is tried.
const TRIES: usize = 20;

/// The queries of one shape.
pub(super) struct Pool {
    pub(super) program: Program,
    arity: usize,
    arguments: Vec<u32>,
    /// Where the answers of each query begin, and where the last ones end.
    offsets: Vec<usize>,
    answers: Vec<u32>,
    /// How many answers each query has in the graph.
    sizes: Vec<u32>,
}

/// A query with some of its answers, and how many it has.
struct Found {
    arguments: Vec<u32>,
    answers: Vec<u32>,
    size: usize,
}

impl Pool {
    /// The queries of every shape of which the graph has any.
    pub(super) fn all(graph: &Graph, seed: u64) -> Vec<Self> {
        let ways = Ways::of(graph);
        let (steps, pairs) = (&ways.steps, &ways.pairs);
        let mut pools = Vec::new();
        for (number, shape) in SHAPES.into_iter().enumerate() {
            let count = if number == 0 { pairs.len() } else { pairs.len().min(MOST) };
            let make = |scratch: &mut Scratch, index: usize| {
                let mut rng = Rng::stream(seed, ((number as u64 + 1) << 48) | index as u64);
                if number == 0 {
                    let (from, along) = pairs[index];
                    return scratch.found(steps, vec![from.0, along.0], &[&[along]], &mut rng);
                }
                (0..TRIES).find_map(|_| match shape {
                    "2i" => scratch.crossing(&ways, 2, &mut rng),
                    "3i" => scratch.crossing(&ways, 3, &mut rng),
                    "2p" => scratch.chain(&ways, 2, &mut rng),
                    _ => scratch.chain(&ways, 3, &mut rng),
                })
            };
            let found: Vec<Found> = (0..count)
                .into_par_iter()
                .map_init(|| Scratch::new(steps.entities()), make)
                .flatten_iter()
                .collect();
            pools.extend(Self::of(shape, &found));
        }
        pools
    }

    /// A pool of queries; `None` if there is none.
    fn of(shape: &str, found: &[Found]) -> Option<Self> {
        let skeleton = Skeleton::of_shape(shape)?.to_string();
        let program = Program::of(&QueryGroup { skeleton, ..QueryGroup::default() }.structure()?)?;
        let mut pool = Self {
            program,
            arity: found.first()?.arguments.len(),
            arguments: Vec::new(),
            offsets: vec![0],
            answers: Vec::new(),
            sizes: Vec::new(),
        };
        for query in found {
            pool.arguments.extend_from_slice(&query.arguments);
            pool.answers.extend_from_slice(&query.answers);
            pool.offsets.push(pool.answers.len());
            pool.sizes.push(u32::try_from(query.size).unwrap_or(u32::MAX));
        }
        Some(pool)
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The arguments of a query.
    pub(super) fn query(&self, index: usize) -> &[u32] {
        &self.arguments[index * self.arity..][..self.arity]
    }

    /// How many answers a query has.
    pub(super) fn size(&self, index: usize) -> usize {
        self.sizes[index] as usize
    }

    /// One of its answers.
    pub(super) fn answer(&self, index: usize, rng: &mut Rng) -> u32 {
        let answers = &self.answers[self.offsets[index]..self.offsets[index + 1]];
        answers[rng.below(answers.len())]
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.arguments.len() + self.answers.len() + self.sizes.len()) + 8 * self.offsets.len()
    }
}

/// What following edges needs, made once for each thread.
struct Scratch {
    /// In which search each entity was met last.
    met: Vec<u32>,
    search: u32,
}

impl Scratch {
    fn new(entities: usize) -> Self {
        Self { met: vec![0; entities], search: 0 }
    }

    /// A chain of relations, walked from a random anchor. It never goes straight back along the relation that it came
    /// by.
    fn chain(&mut self, ways: &Ways, length: usize, rng: &mut Rng) -> Option<Found> {
        let anchor = ways.start(rng)?;
        let (mut at, mut along) = (anchor, Vec::new());
        for _ in 0..length {
            let arc = ways.way(at, rng)?;
            if along.last().is_some_and(|last| ways.steps.inverse(*last) == arc.relation) {
                return None;
            }
            along.push(arc.relation);
            at = arc.neighbour;
        }
        let arguments = std::iter::once(anchor.0).chain(along.iter().map(|relation| relation.0)).collect();
        self.found(&ways.steps, arguments, &[&along], rng)
    }

    /// Edges from several entities to one random answer.
    fn crossing(&mut self, ways: &Ways, parts: usize, rng: &mut Rng) -> Option<Found> {
        let answer = ways.start(rng)?;
        if ways.steps.from(answer).len() < parts {
            return None;
        }
        let mut chosen: Vec<Arc> = Vec::new();
        while chosen.len() < parts {
            let arc = ways.way(answer, rng)?;
            if !chosen.contains(&arc) {
                chosen.push(arc);
            }
        }
        let hops: Vec<RelationId> = chosen.iter().map(|arc| ways.steps.inverse(arc.relation)).collect();
        let arguments = chosen.iter().zip(&hops).flat_map(|(arc, hop)| [arc.neighbour.0, hop.0]).collect();
        let parts: Vec<&[RelationId]> = hops.iter().map(std::slice::from_ref).collect();
        self.found(&ways.steps, arguments, &parts, rng)
    }

    /// The query with its answers: what all chains reach from their anchors. `None` if that takes too many edges.
    fn found(
        &mut self,
        steps: &Steps,
        arguments: Vec<u32>,
        chains: &[&[RelationId]],
        rng: &mut Rng,
    ) -> Option<Found> {
        let mut answers: Option<Vec<EntityId>> = None;
        for (part, chain) in chains.iter().enumerate() {
            let anchor = EntityId(arguments[part * (chain.len() + 1)]);
            let mut reached = self.reached(steps, anchor, chain)?;
            reached.sort_unstable();
            if let Some(others) = &answers {
                reached.retain(|entity| others.binary_search(entity).is_ok());
            }
            answers = Some(reached);
        }
        let mut answers: Vec<u32> = answers?.into_iter().map(|entity| entity.0).collect();
        if answers.is_empty() {
            return None;
        }
        let size = answers.len();
        for place in 0..KEPT.min(size) {
            answers.swap(place, place + rng.below(size - place));
        }
        answers.truncate(KEPT);
        Some(Found { arguments, answers, size })
    }

    fn reached(&mut self, steps: &Steps, anchor: EntityId, chain: &[RelationId]) -> Option<Vec<EntityId>> {
        let (mut here, mut edges) = (vec![anchor], 0);
        for &relation in chain {
            self.search += 1;
            let mut next = Vec::new();
            for &entity in &here {
                let arcs = steps.along(entity, relation);
                edges += arcs.len();
                if edges > MOST_EDGES {
                    return None;
                }
                for arc in arcs {
                    let met = &mut self.met[arc.neighbour.0 as usize];
                    if *met != self.search {
                        *met = self.search;
                        next.push(arc.neighbour);
                    }
                }
            }
            here = next;
        }
        Some(here)
    }
}

/// Random ways through the training edges, drawn as the queries of the benchmarks are: of an entity first a relation,
/// each as likely as the others, then one of its edges. Edges drawn evenly would nearly all be of an entity's largest
/// relation.
struct Ways {
    steps: Steps,
    /// Every entity with each of its relations.
    pairs: Vec<(EntityId, RelationId)>,
    /// Where the pairs of an entity begin, for those that have any.
    first: Vec<usize>,
}

impl Ways {
    fn of(graph: &Graph) -> Self {
        let steps = Steps::with_loops(graph);
        let pairs: Vec<(EntityId, RelationId)> =
            steps.groups().map(|(from, along, _)| (from, along)).collect();
        let begins = |at: &usize| *at == 0 || pairs[*at - 1].0 != pairs[*at].0;
        let first = (0..pairs.len()).filter(begins).collect();
        Self { steps, pairs, first }
    }

    /// An entity that has edges.
    fn start(&self, rng: &mut Rng) -> Option<EntityId> {
        let place = *drawn(&self.first, rng)?;
        Some(self.pairs[place].0)
    }

    /// One of the edges of an entity.
    fn way(&self, from: EntityId, rng: &mut Rng) -> Option<Arc> {
        let begin = self.pairs.partition_point(|pair| pair.0 < from);
        let own = &self.pairs[begin..];
        let own = &own[..own.partition_point(|pair| pair.0 == from)];
        let relation = drawn(own, rng)?.1;
        drawn(self.steps.along(from, relation), rng).copied()
    }
}

fn drawn<'a, T>(from: &'a [T], rng: &mut Rng) -> Option<&'a T> {
    (!from.is_empty()).then(|| &from[rng.below(from.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Template;
    use crate::graph::{GraphBuilder, Split, films};
    use crate::model::Reciprocals;
    use crate::query::Limits;
    use crate::symbolic::{World, answers};

    #[test]
    fn answers_are_those_that_the_training_edges_prove() {
        let (graph, _) = films().finish();
        let reciprocals = Reciprocals::of(&graph);
        let pools = Pool::all(&graph, 7);
        assert_eq!(pools.len(), SHAPES.len());
        for (pool, shape) in pools.iter().zip(SHAPES) {
            let template: Template = Skeleton::of_shape(shape).unwrap().to_string().parse().unwrap();
            assert!(pool.len() > 10, "{shape}");
            for index in (0..pool.len()).step_by(5) {
                let query = template.fill(pool.query(index), &reciprocals).unwrap();
                let checked = query.check(Limits::default()).unwrap();
                let right = answers(&checked.normal_form, &World::of(&graph, &[Split::Train]));
                assert_eq!(pool.size(index), right.len(), "{shape} {index}");
                let mut rng = Rng::new(1);
                assert!((0..5).all(|_| right.contains(&EntityId(pool.answer(index, &mut rng)))), "{shape}");
            }
        }
    }

    #[test]
    fn a_relation_of_few_edges_is_walked_as_often_as_one_of_many_and_loops_are_kept() {
        let mut builder = GraphBuilder::default();
        for tail in 0..60 {
            builder.add(Split::Train, "hub", "many", &format!("t{tail}"));
        }
        builder.add(Split::Train, "hub", "few", "t0");
        builder.add(Split::Train, "hub", "itself", "hub");
        let graph = builder.finish().0;
        let ways = Ways::of(&graph);
        let hub = graph.entity("hub").unwrap();
        let mut rng = Rng::new(3);
        let mut walked = std::collections::BTreeMap::<RelationId, usize>::new();
        (0..400).for_each(|_| *walked.entry(ways.way(hub, &mut rng).unwrap().relation).or_default() += 1);
        // The loop is there along its relation and back.
        assert_eq!(walked.len(), 4, "{walked:?}");
        assert!(walked.values().all(|&times| (60..150).contains(&times)), "{walked:?}");
        let pools = Pool::all(&graph, 1);
        let itself = graph.relation("itself").unwrap();
        let asked = (0..pools[0].len()).find(|&index| pools[0].query(index) == [hub.0, itself.0]).unwrap();
        assert_eq!((pools[0].size(asked), pools[0].answer(asked, &mut rng)), (1, hub.0));
    }

    #[test]
    fn a_seed_gives_the_same_queries_with_any_number_of_threads() {
        let (graph, _) = films().finish();
        let run = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let pools = pool.install(|| Pool::all(&graph, seed));
            pools.into_iter().map(|pool| (pool.arguments, pool.answers)).collect::<Vec<_>>()
        };
        assert_eq!(run(1, 3), run(3, 3));
        assert_ne!(run(1, 3), run(1, 4));
    }
}
