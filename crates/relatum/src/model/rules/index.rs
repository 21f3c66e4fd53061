//! Rules at work: the sparse row of (h, r, ?).

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::fold::{Fold, MOST, share_out, strength};
use super::rule::{Body, Path};
use super::set::RuleSet;
use super::steps::Steps;
use super::walk::Walker;
use crate::graph::{EntityId, Id, RelationId};

/// A walk that leads past more arcs than this says nothing: what it predicts is everything.
pub(crate) const REACH: usize = 20_000;
/// Truth values that are kept at most, over all rows: some 128 MB.
const ROOM: usize = 16 << 20;
/// Smaller truth values are left out of a row.
const LEAST: f32 = 1e-5;

/// A sparse row: candidates with how true the rules make them, by id.
pub type SparseRow = Arc<[(EntityId, f32)]>;

/// The rules of a graph with its training edges: what they predict, and why.
///
/// A rule of the head `r` speaks in both directions: of the tails of (h, r, ?), and of the heads of (?, r, t). Of the
/// rules that predict a candidate the strongest of each cluster counts, and clusters are taken for independent: the
/// strength σ of a candidate is that of their noisy-or, `1 − e^(−σ) = 1 − Π (1 − confidence)`. A row then shares out
/// what is true of (h, r, ?) by the squares of the strengths: `ρ = n σ² / (¼ + Σ σ²)`.
#[derive(Debug)]
pub struct RuleIndex {
    pub(super) steps: Arc<Steps>,
    pub(super) set: RuleSet,
    /// Put in order when a head is first asked for: most questions need a few of them.
    heads: Vec<OnceLock<OfHead>>,
    scratch: Mutex<Vec<Scratch>>,
    rows: Mutex<Rows>,
}

/// The rules of one head, by what a question gives. All are places in the set.
#[derive(Debug, Default)]
struct OfHead {
    /// Walks, cluster by cluster.
    paths: Vec<u32>,
    /// `head(X, c) ← b(X, d)` by b and d.
    edges: Vec<u32>,
    /// `head(X, c) ← b(X, A)` by b.
    some: Vec<u32>,
    /// `head(X, c)`.
    always: Vec<u32>,
    /// All rules that name an object, by it, then cluster by cluster.
    by_object: Vec<u32>,
}

impl OfHead {
    fn new(set: &RuleSet, head: RelationId) -> Self {
        let rules = set.rules();
        let mut of_head = Self::default();
        for place in set.of_head(head) {
            let body = rules[place].body;
            let place = place as u32;
            match body {
                Body::Path(_) => of_head.paths.push(place),
                Body::Edge { .. } => of_head.edges.push(place),
                Body::Some { .. } => of_head.some.push(place),
                Body::Always { .. } => of_head.always.push(place),
            }
            if body.object().is_some() {
                of_head.by_object.push(place);
            }
        }
        let cluster = |&place: &u32| (set.leaders()[place as usize], place);
        let body = |place: u32| rules[place as usize].body;
        of_head.paths.sort_unstable_by_key(cluster);
        of_head.edges.sort_unstable_by_key(|&place| (edge_key(body(place)), place));
        of_head.some.sort_unstable_by_key(|&place| (edge_key(body(place)), place));
        of_head.by_object.sort_unstable_by_key(|place| (body(*place).object(), cluster(place)));
        of_head
    }
}

#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) walker: Walker,
    pub(super) ends: Vec<EntityId>,
    fold: Fold,
    found: Vec<(EntityId, u32, f32)>,
}

#[derive(Debug, Default)]
struct Rows {
    rows: FxHashMap<(EntityId, RelationId), SparseRow>,
    values: usize,
}

impl RuleIndex {
    /// Makes rules ready for use with the training edges that they were mined from.
    ///
    /// # Panics
    /// If the rules speak of relations or entities that the graph does not have.
    pub fn new(steps: Arc<Steps>, set: RuleSet) -> Self {
        let mut heads = Vec::new();
        heads.resize_with(steps.relations(), OnceLock::new);
        Self { steps, set, heads, scratch: Mutex::default(), rows: Mutex::default() }
    }

    /// The rules of one head.
    fn head(&self, head: RelationId) -> &OfHead {
        self.heads[head.index()].get_or_init(|| OfHead::new(&self.set, head))
    }

    /// The rules, no longer at work.
    pub fn into_set(self) -> RuleSet {
        self.set
    }

    /// The rules.
    pub fn set(&self) -> &RuleSet {
        &self.set
    }

    /// The training edges that they are grounded in.
    pub fn steps(&self) -> &Arc<Steps> {
        &self.steps
    }

    /// How true the rules make the tails of (h, r, ?), for a relation of the model. Kept while there is room.
    pub fn row(&self, head: EntityId, relation: RelationId) -> SparseRow {
        let key = (head, relation);
        if let Some(row) = self.rows.lock().unwrap_or_else(PoisonError::into_inner).rows.get(&key) {
            return Arc::clone(row);
        }
        let mut row = self.strengths(head, relation);
        share_out(&mut row, self.steps.along(head, relation).len());
        let row: SparseRow = row.into_iter().filter(|(_, truth)| *truth >= LEAST).collect();
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.values + row.len() < ROOM {
            rows.values += row.len() + 8;
            rows.rows.insert(key, Arc::clone(&row));
        }
        row
    }

    /// The largest truth value that a row can hold.
    pub fn ceiling() -> f32 {
        MOST
    }

    /// The strength of every tail of (h, r, ?) that a rule predicts, by id: their noisy-or is `1 − e^(−strength)`.
    pub fn strengths(&self, head: EntityId, relation: RelationId) -> Vec<(EntityId, f32)> {
        let mut scratch = self.take_scratch();
        self.fold_paths(head, relation, &mut scratch);
        self.fold_forward(head, relation, &mut scratch);
        self.fold_backward(head, relation, &mut scratch);
        let row = scratch.fold.take();
        self.give_back(scratch);
        row
    }

    /// Every tail of (h, r, ?) that a walk predicts, with the place of the rule; and every one that a rule with an
    /// object predicts. The strongest rules of a cluster come first.
    pub(crate) fn hits(&self, head: EntityId, relation: RelationId) -> [Vec<(EntityId, u32)>; 2] {
        let (mut walked, mut named) = (Vec::new(), Vec::new());
        let mut scratch = self.take_scratch();
        for (place, path) in self.paths_of(relation) {
            let Scratch { walker, ends, .. } = &mut scratch;
            walker.ends(&self.steps, head, &path, REACH, ends);
            walked.extend(ends.iter().map(|&end| (end, place)));
        }
        self.give_back(scratch);
        self.forward(head, relation, |place, object| named.push((object, place)));
        for place in self.naming(head, relation) {
            self.fulfil(place, |candidate| {
                if candidate != head {
                    named.push((candidate, place));
                }
            });
        }
        walked.sort_unstable();
        named.sort_unstable();
        [walked, named]
    }

    pub(super) fn take_scratch(&self) -> Scratch {
        let kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| {
            let n = self.steps.entities();
            Scratch { walker: Walker::new(n), ends: Vec::new(), fold: Fold::new(n), found: Vec::new() }
        })
    }

    pub(super) fn give_back(&self, scratch: Scratch) {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }

    /// Walks from the head, along bodies of the relation or back along those of its inverse.
    fn fold_paths(&self, head: EntityId, relation: RelationId, scratch: &mut Scratch) {
        for (place, path) in self.paths_of(relation) {
            let Scratch { walker, ends, fold, .. } = scratch;
            walker.ends(&self.steps, head, &path, REACH, ends);
            let (cluster, strength) = self.weight(place);
            for &end in ends.iter() {
                fold.add(end, cluster, strength);
            }
        }
    }

    /// The walks that lead to what a relation leads to, cluster by cluster, with the places of their rules.
    pub(super) fn paths_of(&self, relation: RelationId) -> impl Iterator<Item = (u32, Path)> {
        let inverse = self.steps.inverse(relation);
        let own = self.head(relation).paths.iter().map(move |&place| (place, false));
        // A relation that is its own inverse has its rules once.
        let others: &[u32] = if inverse == relation { &[] } else { &self.head(inverse).paths };
        let all = own.chain(others.iter().map(|&place| (place, true)));
        all.filter_map(move |(place, reversed)| match self.set.rules()[place as usize].body {
            Body::Path(path) if reversed => Some((place, path.reversed(|it| self.steps.inverse(it)))),
            Body::Path(path) => Some((place, path)),
            _ => None,
        })
    }

    /// Rules that name the tail: `r(X, c)` where X is the head.
    fn fold_forward(&self, head: EntityId, relation: RelationId, scratch: &mut Scratch) {
        let Scratch { fold, found, .. } = scratch;
        found.clear();
        self.forward(head, relation, |place, object| {
            let (cluster, strength) = self.weight(place);
            found.push((object, cluster, strength));
        });
        // In each cluster the strongest comes first.
        found.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        for &(object, cluster, strength) in found.iter() {
            fold.add(object, cluster, strength);
        }
    }

    /// Every rule that names a tail of (h, r, ?) and whose body the head fulfils.
    pub(super) fn forward(&self, head: EntityId, relation: RelationId, mut each: impl FnMut(u32, EntityId)) {
        let of_head = self.head(relation);
        let rules = self.set.rules();
        let mut tell = |place: u32| {
            if let Some(object) = rules[place as usize].body.object().filter(|object| *object != head) {
                each(place, object);
            }
        };
        let from_head = self.steps.from(head);
        for arcs in from_head.chunk_by(|a, b| a.relation == b.relation) {
            let relation = arcs[0].relation;
            let some =
                range(&of_head.some, |place| edge_key(rules[place as usize].body), &(relation, EntityId(0)));
            of_head.some[some].iter().copied().for_each(&mut tell);
            let of_relation =
                range(&of_head.edges, |place| edge_key(rules[place as usize].body).0, &relation);
            let edges = &of_head.edges[of_relation];
            if edges.is_empty() {
                continue;
            }
            for arc in arcs {
                let key = |place: u32| edge_key(rules[place as usize].body).1;
                let same = range(edges, key, &arc.neighbour);
                for &place in &edges[same] {
                    tell(place);
                }
            }
        }
        of_head.always.iter().copied().for_each(&mut tell);
    }

    /// Rules that name the head, as the object of the relation's inverse: they predict who fulfils their bodies.
    fn fold_backward(&self, head: EntityId, relation: RelationId, scratch: &mut Scratch) {
        for place in self.naming(head, relation) {
            let (cluster, strength) = self.weight(place);
            self.fulfil(place, |candidate| {
                if candidate != head {
                    scratch.fold.add(candidate, cluster, strength);
                }
            });
        }
    }

    /// The rules for the inverse of a relation that name this entity, cluster by cluster. Those without a body
    /// predict everything, which is nothing.
    pub(super) fn naming(&self, object: EntityId, relation: RelationId) -> impl Iterator<Item = u32> {
        let rules = self.set.rules();
        let all = &self.head(self.steps.inverse(relation)).by_object;
        let same = range(all, |place| rules[place as usize].body.object(), &Some(object));
        let is_always = |place: &u32| matches!(rules[*place as usize].body, Body::Always { .. });
        all[same].iter().copied().filter(move |place| !is_always(place))
    }

    /// Names every entity that fulfils the body of a rule with an object.
    fn fulfil(&self, place: u32, mut each: impl FnMut(EntityId)) {
        match self.set.rules()[place as usize].body {
            Body::Edge { relation, to, .. } => {
                let arcs = self.steps.along(to, self.steps.inverse(relation));
                for arc in arcs {
                    each(arc.neighbour);
                }
            }
            Body::Some { relation, .. } => self.steps.starts(relation).iter().copied().for_each(each),
            Body::Path(_) | Body::Always { .. } => {}
        }
    }

    pub(super) fn weight(&self, place: u32) -> (u32, f32) {
        let place = place as usize;
        (self.set.leaders()[place], strength(self.set.rules()[place].confidence))
    }
}

/// What a rule with an object asks of X.
fn edge_key(body: Body) -> (RelationId, EntityId) {
    match body {
        Body::Edge { relation, to, .. } => (relation, to),
        Body::Some { relation, .. } => (relation, EntityId(0)),
        Body::Path(_) | Body::Always { .. } => (RelationId(0), EntityId(0)),
    }
}

/// Where in places that are sorted by a key those with this key are.
pub(super) fn range<K: Ord>(places: &[u32], key: impl Fn(u32) -> K, wanted: &K) -> Range<usize> {
    let from = places.partition_point(|&place| key(place) < *wanted);
    let to = places.partition_point(|&place| key(place) <= *wanted);
    from..to
}
