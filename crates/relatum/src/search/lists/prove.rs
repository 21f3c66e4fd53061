//! Whether the bounds prove the best answers, and what to look at if they do not.

use super::state::Bounds;
use super::{BestListed, GROWTH, Lists, NEGLIGIBLE, shares};
use crate::graph::EntityId;
use crate::plan::MessageId;
use crate::search::proof::or;
use crate::search::{Certainty, Progress, SearchError};

/// The score of an entity between its bounds. The upper one is in double precision: two predictions joined are less
/// than a fact, by less than single precision can tell.
#[derive(Clone, Copy, Debug)]
struct Standing {
    entity: EntityId,
    low: f32,
    high: f64,
}

impl Standing {
    fn width(self) -> f32 {
        (self.high - f64::from(self.low)).max(0.0) as f32
    }

    /// Whether it is clear if the entity is an answer at all.
    fn is_told_from_nothing(self) -> bool {
        self.low > 0.0 || self.high <= f64::from(NEGLIGIBLE)
    }
}

/// What the bounds prove.
struct Proof {
    top: Vec<(EntityId, f32)>,
    /// The score of the worst of them; 0 if there are fewer than asked for.
    worst: f32,
    /// How many of them, from the first on, are certain to be in their place.
    certain: usize,
    /// How uncertain a score of theirs is at most.
    widest: f32,
    /// Whether they and their order are certain.
    ordered: bool,
    /// The most that an entity can have that was not met.
    rest: f64,
    /// Entities that may be among the best, or are, and whose scores are uncertain.
    contenders: Vec<EntityId>,
}

impl Lists<'_> {
    /// Asks for less and less truth until the best answers are proven.
    pub(super) fn prove(
        &mut self,
        count: usize,
        keep: &(dyn Fn(EntityId) -> bool + Sync),
        within: f32,
    ) -> Result<BestListed, SearchError> {
        let roots = self.plan.roots();
        let mut least = 1.0f32;
        let mut met_before = 0;
        loop {
            let share = shares(self.logic.t_norm, least, roots.len());
            for root in &roots {
                self.extend(*root, share)?;
            }
            let mut proof = self.examine(&roots, count, keep);
            let unmet = proof.rest >= f64::from(proof.worst);
            if !unmet || least <= NEGLIGIBLE {
                self.tighten(&roots, &proof.contenders)?;
                proof = self.examine(&roots, count, keep);
            }
            let (best, proven) = (proof.top.clone(), proof.certain);
            self.rows.progress = Progress { rows: self.rows.scored, best, proven, wanted: count };
            self.rows.report();
            if self.rows.is_stopped() || proof.ordered && proof.widest <= within {
                return Ok(self.found(proof.top, proof.widest));
            }
            let unmet = proof.rest >= f64::from(proof.worst);
            if unmet && least > NEGLIGIBLE {
                // With too few answers, a little less than what was listed may be enough: where truth falls slowly, a
                // quarter of it would list very many. Once small steps bring little, they are not worth their number.
                let met: usize = roots.iter().map(|root| self.states[root.index()].values.len()).sum();
                let next = if proof.worst <= 0.0 && met > 2 * met_before {
                    proof.rest as f32
                } else {
                    least / GROWTH as f32
                };
                met_before = met;
                least = next.max(proof.worst).min(least).max(NEGLIGIBLE);
            } else if !self.lower_floor() {
                // All that is left open was treated as 0.
                let passed_over = if unmet { proof.rest as f32 } else { 0.0 };
                return Ok(self.found(proof.top, proof.widest.max(passed_over)));
            }
        }
    }

    /// The score of one entity.
    pub(super) fn score(&mut self, entity: EntityId, within: f32) -> Result<BestListed, SearchError> {
        let roots = self.plan.roots();
        loop {
            self.tighten(&roots, &[entity])?;
            let standing = self.standing(&roots, entity);
            let widest = standing.width();
            let close = widest <= within && standing.is_told_from_nothing();
            if self.rows.is_stopped() || close || !self.lower_floor() {
                return Ok(self.found(vec![(entity, standing.low)], widest));
            }
        }
    }

    fn found(&self, answers: Vec<(EntityId, f32)>, within: f32) -> BestListed {
        let certainty = match self.rows.stopped {
            Some(by) => Certainty::Stopped { by },
            None => Certainty::Exact { within },
        };
        BestListed { answers, certainty, rows: self.rows.scored }
    }

    /// Probes what alternatives leave open of some entities.
    fn tighten(&mut self, roots: &[MessageId], entities: &[EntityId]) -> Result<(), SearchError> {
        for root in roots {
            let state = &self.states[root.index()];
            let is_open = |x: &EntityId| !state.bounds(*x).is_exact();
            let open: Vec<EntityId> = entities.iter().copied().filter(is_open).collect();
            let values = self.probe(*root, &open, self.floor / roots.len() as f32)?;
            for (x, bounds) in open.into_iter().zip(values) {
                self.settle(*root, x, bounds);
            }
        }
        Ok(())
    }

    fn standing(&self, roots: &[MessageId], entity: EntityId) -> Standing {
        let t_norm = self.logic.t_norm;
        let parts: Vec<Bounds> = roots.iter().map(|root| self.states[root.index()].bounds(entity)).collect();
        let low = t_norm.any(parts.iter().map(|part| part.low));
        let exact = parts.iter().all(|part| part.is_exact());
        let high = || parts.iter().fold(0.0, |all, part| or(t_norm, all, f64::from(part.high)));
        Standing { entity, low, high: if exact { f64::from(low) } else { high() } }
    }

    fn examine(&self, roots: &[MessageId], count: usize, keep: &(dyn Fn(EntityId) -> bool + Sync)) -> Proof {
        let t_norm = self.logic.t_norm;
        let rest =
            roots.iter().fold(0.0, |all, root| or(t_norm, all, f64::from(self.states[root.index()].rest)));
        let mut met: Vec<EntityId> =
            roots.iter().flat_map(|root| self.states[root.index()].met()).filter(|x| keep(*x)).collect();
        met.sort_unstable();
        met.dedup();
        let mut standings: Vec<Standing> = met.into_iter().map(|x| self.standing(roots, x)).collect();
        // Ties break by id, as everywhere.
        standings.sort_by(|a, b| b.low.total_cmp(&a.low).then(a.entity.cmp(&b.entity)));
        let (top, others) = standings.split_at(count.min(standings.len()));
        let worst = if top.len() < count { 0.0 } else { top.last().map_or(0.0, |it| it.low) };
        let may_enter = |it: &&Standing| f64::from(it.low) < it.high && it.high >= f64::from(worst);
        let threat = others.iter().filter(may_enter).map(|it| it.high).fold(f64::NEG_INFINITY, f64::max);
        let threat = if rest > 0.0 && rest >= f64::from(worst) { threat.max(rest) } else { threat };
        let follows = |pair: &[Standing]| {
            let (least, most) = (f64::from(pair[0].low), pair[1].high);
            most < least || most <= least && pair[0].entity < pair[1].entity
        };
        let in_order = 1 + top.windows(2).take_while(|pair| follows(pair)).count();
        let beyond = top.partition_point(|it| f64::from(it.low) > threat);
        let widest = top.iter().map(|it| it.width()).fold(0.0, f32::max);
        let told = top.iter().all(|it| it.is_told_from_nothing());
        let open = top.iter().filter(|it| f64::from(it.low) < it.high);
        Proof {
            worst,
            certain: in_order.min(beyond).min(top.len()),
            widest,
            ordered: in_order >= top.len() && threat == f64::NEG_INFINITY && told,
            rest,
            contenders: open.chain(others.iter().filter(may_enter)).map(|it| it.entity).collect(),
            top: top.iter().map(|it| (it.entity, it.low)).collect(),
        }
    }
}
