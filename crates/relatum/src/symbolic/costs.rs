//! Sets of entities with a value each, a cost or a count: ascending by entity, each once.

use crate::graph::{EntityId, Id};

/// Entities with a value each.
pub(super) type Valued<V> = Vec<(EntityId, V)>;
/// Entities with the least cost of each.
pub(super) type Costs = Valued<u8>;

/// No cost is as high; marks what is not there.
const ABSENT: u8 = u8::MAX;

/// In either set, at the lower cost.
pub(super) fn union(a: Costs, b: Costs) -> Costs {
    if b.is_empty() {
        return a;
    }
    let mut both = a;
    both.extend(b);
    once_each(both, u8::min)
}

/// In both sets, with the two values joined.
pub(super) fn meet<V: Copy>(a: &Valued<V>, b: &Valued<V>, join: fn(V, V) -> V) -> Valued<V> {
    let mut found = Vec::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&(x, value)), Some(&&(y, other))) = (a.peek(), b.peek()) {
        if x == y {
            found.push((x, join(value, other)));
        }
        if x <= y {
            a.next();
        }
        if y <= x {
            b.next();
        }
    }
    found
}

/// The sum; more missing links than a byte counts are as many as it counts.
pub(super) fn plus(a: u8, b: u8) -> u8 {
    a.saturating_add(b).min(ABSENT - 1)
}

pub(super) fn contains(set: &Costs, id: EntityId) -> bool {
    set.binary_search_by_key(&id, |&(id, _)| id).is_ok()
}

/// Collects entities that may come many times, in any order, and joins the values of each.
pub(super) struct Gather<V> {
    entities: usize,
    /// A value that no entity has.
    absent: V,
    join: fn(V, V) -> V,
    /// As long as there are few: a list, sorted at the end.
    few: Valued<V>,
    /// Once there are many: a place for every entity, which is faster than sorting.
    many: Option<Vec<V>>,
}

impl Gather<u8> {
    /// Of several costs, the least.
    pub(super) fn least(entities: usize) -> Self {
        Self { entities, absent: ABSENT, join: u8::min, few: Vec::new(), many: None }
    }
}

impl Gather<u32> {
    /// Of several counts, the sum.
    pub(super) fn sum(entities: usize) -> Self {
        Self { entities, absent: 0, join: u32::saturating_add, few: Vec::new(), many: None }
    }
}

impl<V: Copy + PartialEq> Gather<V> {
    pub(super) fn add(&mut self, id: EntityId, value: V) {
        if let Some(table) = &mut self.many {
            put(table, (id, value), self.join);
            return;
        }
        self.few.push((id, value));
        if self.few.len() > self.entities / 16 {
            let mut table = vec![self.absent; self.entities];
            for one in self.few.drain(..) {
                put(&mut table, one, self.join);
            }
            self.many = Some(table);
        }
    }

    pub(super) fn finish(self) -> Valued<V> {
        let Some(table) = self.many else { return once_each(self.few, self.join) };
        let there = table.iter().enumerate().filter(|(_, value)| **value != self.absent);
        there.map(|(index, &value)| (EntityId::from_index(index), value)).collect()
    }
}

/// Joining with the value that means absent gives the value itself: the highest cost, or a count of 0.
fn put<V: Copy>(table: &mut [V], (id, value): (EntityId, V), join: fn(V, V) -> V) {
    if let Some(place) = table.get_mut(id.index()) {
        *place = join(*place, value);
    }
}

fn once_each<V: Copy>(mut list: Valued<V>, join: fn(V, V) -> V) -> Valued<V> {
    list.sort_unstable_by_key(|&(id, _)| id);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = join(kept.1, next.1);
        }
        same
    });
    list
}
