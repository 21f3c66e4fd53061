//! Atoms between two variables: where they lead from a value, and how true single ones are.

use super::Lists;
use super::state::Bounds;
use crate::graph::EntityId;
use crate::plan::SignedHop;
use crate::query::Hop;
use crate::search::SearchError;

/// Where a value leads along all atoms to another variable.
pub(super) struct Ends {
    pub(super) values: Vec<(EntityId, Bounds)>,
    /// It leads to no other entity with more truth.
    pub(super) rest: f32,
}

impl Lists<'_> {
    /// Lists where each value leads, at least one of the atoms not being negated: a list of about `depth` entities
    /// for each such atom, every entity of them completed by random access. There are fewer results if a limit is
    /// reached.
    pub(super) fn ends(
        &mut self,
        from: &[EntityId],
        hops: &[SignedHop],
        depth: usize,
    ) -> Result<Vec<Ends>, SearchError> {
        if let [SignedHop { hop, negated: false }] = *hops {
            let rows: Vec<(EntityId, Hop)> = from.iter().map(|&y| (y, hop)).collect();
            let lists = self.rows.lists(&rows, depth)?.into_iter();
            let exact = |(x, truth)| (x, Bounds::exact(truth));
            let ends = lists
                .map(|list| Ends { values: list.values.into_iter().map(exact).collect(), rest: list.rest });
            return Ok(ends.collect());
        }
        let positive: Vec<Hop> = hops.iter().filter(|it| !it.negated).map(|it| it.hop).collect();
        let mut all = Vec::with_capacity(from.len());
        for &y in from {
            let rows: Vec<(EntityId, Hop)> = positive.iter().map(|&hop| (y, hop)).collect();
            let lists = self.rows.lists(&rows, depth)?;
            if lists.len() < rows.len() {
                break;
            }
            let rest = self.logic.t_norm.all(lists.iter().map(|list| list.rest));
            let mut met: Vec<EntityId> =
                lists.into_iter().flat_map(|list| list.values).map(|(x, _)| x).collect();
            met.sort_unstable();
            met.dedup();
            let pairs: Vec<(EntityId, EntityId)> = met.iter().map(|&x| (y, x)).collect();
            let truths = self.between(&pairs, hops)?;
            all.push(Ends { values: met.into_iter().zip(truths).collect(), rest });
        }
        Ok(all)
    }

    /// How true all atoms from the first to the second of each pair are.
    pub(super) fn between(
        &mut self,
        pairs: &[(EntityId, EntityId)],
        hops: &[SignedHop],
    ) -> Result<Vec<Bounds>, SearchError> {
        let mut all = vec![Bounds::exact(1.0); pairs.len()];
        for (place, signed) in hops.iter().enumerate() {
            let edges: Vec<(EntityId, Hop, EntityId)> =
                pairs.iter().map(|&(from, to)| (from, signed.hop, to)).collect();
            for (all, truth) in all.iter_mut().zip(self.rows.edges(&edges)?) {
                let negation = self.logic.negation;
                let value = if signed.negated { truth.turned(|x| negation.not(x)) } else { truth };
                *all = if place == 0 { value } else { all.and(self.logic.t_norm, value) };
            }
        }
        Ok(all)
    }
}

/// Whether the ends of atoms between two variables can be listed: of negated atoms alone they cannot.
pub(super) fn lead_somewhere(hops: &[SignedHop]) -> bool {
    hops.iter().any(|signed| !signed.negated)
}
