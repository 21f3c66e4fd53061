//! Alternatives joined in place: where they begin to differ, not at the end.
//!
//! `(a ∨ b) ∧ c` has the alternatives `a ∧ c` and `b ∧ c`. Scored apart and joined at the end, as the
//! paper does, c counts twice; joined in place it counts once, and its rows are scored once:
//! `∃V. (r1(a, V) ∨ r2(b, V)) ∧ r3(V, A)` projects one message in place of two. Under the Gödel
//! t-norm, where ∧ distributes over ∨, both are the same.

use super::message::{Message, MessageId, Messages, NO_SCAN};

impl Messages {
    /// One message for several alternatives: conditions that they share are taken once, projections along the
    /// same hops become one, and only the rest is joined.
    pub(super) fn join(&mut self, alternatives: &[MessageId]) -> MessageId {
        let mut all = alternatives.to_vec();
        loop {
            all.sort_unstable();
            all.dedup();
            if let [one] = all[..] {
                return one;
            }
            let Some(next) = self.factor_out(&all).or_else(|| self.project_once(&all)) else { break };
            all = next;
        }
        // A look can only be run as a part of a meet.
        let all = all.into_iter().map(|id| self.meet(vec![id])).collect();
        self.add(Message::Join(all), 0.0)
    }

    /// Factors out the condition that most alternatives share; `None` if no two share any.
    fn factor_out(&mut self, all: &[MessageId]) -> Option<Vec<MessageId>> {
        let asks = |id: &MessageId, part: MessageId| self.conditions(*id).contains(&part);
        let times = |part: MessageId| all.iter().filter(|id| asks(id, part)).count();
        let parts = all.iter().flat_map(|id| self.conditions(*id)).filter(|&part| times(part) > 1);
        let most = parts.max_by_key(|&part| (times(part), std::cmp::Reverse(part)))?;
        let (with, mut next): (Vec<MessageId>, Vec<MessageId>) = all.iter().partition(|id| asks(id, most));
        let mut rests: Vec<Vec<MessageId>> = with.iter().map(|id| self.conditions(*id)).collect();
        let mut common = Vec::new();
        for part in rests[0].clone() {
            if rests.iter().all(|rest| rest.contains(&part)) {
                for rest in &mut rests {
                    remove(rest, part);
                }
                common.push(part);
            }
        }
        // `a ∨ (a ∧ b)` is a.
        if rests.iter().all(|rest| !rest.is_empty()) {
            let rests: Vec<MessageId> = rests.into_iter().map(|rest| self.meet(rest)).collect();
            common.push(self.join(&rests));
        }
        next.push(self.meet(common));
        Some(next)
    }

    /// Replaces projections along the same hops by one, of their joined sources; `None` if no two have the same
    /// hops.
    fn project_once(&mut self, all: &[MessageId]) -> Option<Vec<MessageId>> {
        let hops = |id: MessageId| match self.message(id) {
            Message::Project { hops, .. } => Some(hops.clone()),
            _ => None,
        };
        let twice = |id: &MessageId| {
            let hops = hops(*id);
            hops.filter(|of| all.iter().filter(|&&other| self.projects(other, of)).count() > 1)
        };
        let along = all.iter().find_map(twice)?;
        let (same, mut next): (Vec<MessageId>, Vec<MessageId>) =
            all.iter().partition(|&&id| self.projects(id, &along));
        let sources: Vec<MessageId> = same.iter().flat_map(|&id| self.message(id).parts().to_vec()).collect();
        let rows = same.iter().map(|&id| self.rows_of(id)).sum();
        let source = self.join(&sources);
        next.push(self.add(Message::Project { source, hops: along, scan: NO_SCAN }, rows));
        Some(next)
    }

    fn projects(&self, id: MessageId, along: &[super::SignedHop]) -> bool {
        matches!(self.message(id), Message::Project { hops, .. } if hops == along)
    }

    /// The single conditions that a message puts on its variable.
    fn conditions(&self, id: MessageId) -> Vec<MessageId> {
        match self.message(id) {
            Message::Meet(parts) => parts.clone(),
            _ => vec![id],
        }
    }
}

/// Removes one occurrence: the same message may stand twice, for two variables.
fn remove(parts: &mut Vec<MessageId>, part: MessageId) {
    if let Some(at) = parts.iter().position(|other| *other == part) {
        parts.remove(at);
    }
}
