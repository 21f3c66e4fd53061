//! The graph, questions and models with which answers are measured.

use std::sync::Mutex;

use relatum::answer::{Ask, known_answers};
use relatum::baseline::Program;
use relatum::benchmark::{QueryGroup, QuerySet, Role, Skeleton};
use relatum::graph::{EntityId, Graph, Id, Split};
use relatum::import::read::query2box;
use relatum::import::read_tables;
use relatum::model::{Model, predictor};
use relatum::plan::{Message, Plan, PlanOptions, Union};
use relatum::query::{Checked, Hop, Limits, Shape, Syntax, read};
use relatum::random::Rng;
use relatum::search::AtomTruth;

use super::super::world::{generated, shared};

/// A graph with questions of every shape.
pub(in crate::bench) struct World {
    pub(in crate::bench) name: &'static str,
    pub(in crate::bench) graph: Graph,
    valid: Option<QuerySet>,
    queries: usize,
}

impl World {
    /// FB15k-237 and its validation queries if they are there, else a generated graph of that size.
    pub(in crate::bench) fn of_fb15k_237(queries: usize) -> anyhow::Result<Self> {
        let Some(folder) = shared("fb15k-237") else { return Ok(Self::generated(1.0, queries)) };
        let folder = query2box::read(&folder, &|_| {})?;
        let valid = folder.valid;
        Ok(Self {
            name: "FB15k-237 and its validation queries",
            graph: folder.builder.finish().0,
            valid,
            queries,
        })
    }

    /// A graph with validation queries of its own.
    pub(in crate::bench) fn of(graph: Graph, valid: Option<QuerySet>, queries: usize) -> Self {
        Self { name: "a project and its validation queries", graph, valid, queries }
    }

    /// A generated graph, `scale` times the size of FB15k-237, and paths of it as questions.
    pub(super) fn generated(scale: f64, queries: usize) -> Self {
        Self { name: "a generated graph and questions", graph: generated(scale), valid: None, queries }
    }

    /// Plans of questions of a shape, as `ask` makes them.
    pub(in crate::bench) fn plans(&self, shape: Shape, union: Union) -> Vec<Plan> {
        let options = PlanOptions { union, ..PlanOptions::default() };
        self.questions(shape).iter().map(|checked| Plan::new(checked, &self.graph, options)).collect()
    }

    /// A shape as the operators of a baseline, and the arguments of its questions; where there are no validation
    /// queries, random ones of so many relations.
    pub(in crate::bench) fn arguments(&self, shape: Shape, relations: usize) -> (Program, Vec<Vec<u32>>) {
        let skeleton = Skeleton::of_shape(shape.name()).expect("a shape of the literature");
        let fallback = QueryGroup { skeleton: skeleton.to_string(), ..QueryGroup::default() };
        let group = self.valid.as_ref().and_then(|valid| valid.group(shape.name())).unwrap_or(&fallback);
        let program = group.structure().as_ref().and_then(Program::of).expect("a shape without negation");
        let step = (group.len() / self.queries.max(1)).max(1);
        let stored =
            (0..group.len()).step_by(step).take(self.queries).map(|index| group.query(index).to_vec());
        let mut arguments: Vec<Vec<u32>> = stored.collect();
        let mut rng = Rng::new(9);
        while group.is_empty() && arguments.len() < self.queries {
            let mut draw = |role: &Role| match role {
                Role::Entity => rng.below(self.graph.entities.len()) as u32,
                Role::Relation => rng.below(relations) as u32,
            };
            arguments.push(skeleton.roles().iter().map(&mut draw).collect());
        }
        (program, arguments)
    }

    fn questions(&self, shape: Shape) -> Vec<Checked> {
        if let Some(group) = self.valid.as_ref().and_then(|valid| valid.group(shape.name())) {
            let skeleton: Option<Skeleton> = group.skeleton.parse().ok();
            let step = (group.len() / self.queries.max(1)).max(1);
            let text = |index| Some(skeleton.as_ref()?.query(group.query(index)));
            let texts = (0..group.len()).step_by(step).take(self.queries).filter_map(text);
            let parsed =
                texts.filter_map(|text| read(&text, Syntax::Tuple, &self.graph, Limits::default()).ok());
            return parsed.map(|question| question.checked).collect();
        }
        let mut rng = Rng::new(9);
        let mut found = Vec::new();
        while found.len() < self.queries {
            found.extend(self.random(shape, &mut rng));
        }
        found
    }

    /// A question with an answer for each of its chains: walks from random entities along edges.
    fn random(&self, shape: Shape, rng: &mut Rng) -> Option<Checked> {
        let (anchors, relations) = shape.arity();
        let outgoing = &self.graph.edges(Split::Train).outgoing;
        let mut at = EntityId::from_index(rng.below(self.graph.entities.len()));
        let mut path = Vec::new();
        let mut places = vec![at];
        for _ in 0..relations {
            let arcs = outgoing.of(at);
            let arc = arcs.get(rng.below(arcs.len().max(1)))?;
            path.push(arc.relation);
            at = arc.neighbour;
            places.push(at);
        }
        let anchors: Vec<EntityId> = places[..anchors].to_vec();
        let query = shape.structure(&anchors, &path)?.query()?;
        query.check(Limits::default()).ok()
    }

    /// Random weights whose scores spread as those of a trained model do: a few values of a row hold
    /// most of its softmax. `Re⟨h, r, t̄⟩` of normal factors has the variance 4 · rank · σ⁶.
    pub(in crate::bench) fn generated_model(&self, rank: usize) -> Model {
        const SPREAD: f64 = 3.2;
        let sigma = (SPREAD * SPREAD / (4.0 * rank as f64)).powf(1.0 / 6.0);
        let complex = predictor("complex", rank).expect("there is a ComplEx");
        Model::random(complex, &self.graph, sigma as f32, 1)
    }

    /// The published checkpoint of rank 100, if it is there.
    pub(super) fn reference_model(&self) -> anyhow::Result<Option<Model>> {
        let Some(folder) = shared("reference").filter(|_| self.valid.is_some()) else { return Ok(None) };
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "pt") {
                let tables = read_tables(&[path])?;
                let complex = predictor("complex", tables.entities.columns / 2);
                let (entities, relations) = (tables.entities.values, tables.relations.values);
                return Ok(complex.and_then(|complex| Model::new(complex, entities, relations)));
            }
        }
        Ok(None)
    }

    /// Which entities may be answers.
    pub(super) fn keep(&self, plan: &Plan, how: &Ask) -> Vec<bool> {
        let known = how.new_only.then(|| known_answers(plan, &self.graph, how.known, &how.control)).flatten();
        let is_new = |entity| known.as_ref().is_none_or(|known| !known.contains(entity));
        self.graph.entities.ids().map(is_new).collect()
    }
}

/// Rows that exact search scores if it looks at every value of every variable.
pub(super) fn rows_without_bound(plan: &Plan, entities: usize) -> usize {
    let rows = |message: &Message| match message {
        Message::Row { .. } => 1,
        Message::Project { hops, .. } | Message::Look { hops, .. } => hops.len() * entities,
        _ => 0,
    };
    let looks: usize =
        plan.messages.iter().filter(|it| !matches!(it, Message::Project { .. })).map(rows).sum();
    looks + plan.scans.iter().map(|scan| scan.hops.len() * entities).sum::<usize>()
}

/// Truth values that record how many rows were asked for at once.
pub(super) struct Counting<'a> {
    truth: &'a dyn AtomTruth,
    batches: Mutex<Vec<usize>>,
}

impl<'a> Counting<'a> {
    pub(super) fn new(truth: &'a dyn AtomTruth) -> Self {
        Self { truth, batches: Mutex::default() }
    }

    pub(super) fn batches(&self) -> Vec<usize> {
        self.batches.lock().map(|batches| batches.clone()).unwrap_or_default()
    }

    pub(super) fn clear(&self) {
        if let Ok(mut batches) = self.batches.lock() {
            batches.clear();
        }
    }

    fn note(&self, rows: usize) {
        if let Ok(mut batches) = self.batches.lock() {
            batches.push(rows);
        }
    }
}

impl AtomTruth for Counting<'_> {
    fn entities(&self) -> usize {
        self.truth.entities()
    }

    fn pairs(&self, pairs: &[(EntityId, Hop)], rows: &mut [f32]) {
        self.note(pairs.len());
        self.truth.pairs(pairs, rows);
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.truth.known(from, hop, to)
    }

    fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.truth.stored(from, hop, to)
    }

    fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId)) {
        self.truth.facts(from, hop, each);
    }

    fn at_most(&self, from: &[EntityId], hop: Hop, at: &[EntityId], bounds: &mut [f32]) -> bool {
        self.truth.at_most(from, hop, at, bounds)
    }

    fn ceiling(&self) -> f32 {
        self.truth.ceiling()
    }
}
