//! Sets of entities with costs: ascending by entity, each once.

use crate::graph::{EntityId, Id};

/// Entities with the least cost of each.
pub(super) type Costs = Vec<(EntityId, u8)>;

/// Marks entities that are not in the set; no cost is this high.
const ABSENT: u8 = u8::MAX;

/// The entities of either set, at the lower cost.
pub(super) fn union(a: Costs, b: Costs) -> Costs {
    if b.is_empty() {
        return a;
    }
    let mut both = a;
    both.extend(b);
    least_of_each(both)
}

/// The entities of both sets, at the sum of the costs.
pub(super) fn meet(a: &Costs, b: &Costs) -> Costs {
    let mut found = Vec::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&(x, cost)), Some(&&(y, other))) = (a.peek(), b.peek()) {
        if x == y {
            found.push((x, plus(cost, other)));
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

/// The sum, at most the highest cost that a byte can hold.
pub(super) fn plus(a: u8, b: u8) -> u8 {
    a.saturating_add(b).min(ABSENT - 1)
}

pub(super) fn contains(set: &Costs, id: EntityId) -> bool {
    set.binary_search_by_key(&id, |&(id, _)| id).is_ok()
}

/// Collects entities that may come many times, in any order.
pub(super) enum Gather {
    /// Few entities: a list, sorted at the end.
    Few { entities: usize, list: Costs },
    /// Many entities: a table with a place for every entity is quicker than sorting.
    Many(Vec<u8>),
}

impl Gather {
    pub(super) fn new(entities: usize) -> Self {
        Self::Few { entities, list: Vec::new() }
    }

    pub(super) fn add(&mut self, id: EntityId, cost: u8) {
        match self {
            Self::Few { entities, list } => {
                list.push((id, cost));
                if list.len() > *entities / 16 {
                    let mut table = vec![ABSENT; *entities];
                    for &(id, cost) in list.iter() {
                        lower(&mut table, id, cost);
                    }
                    *self = Self::Many(table);
                }
            }
            Self::Many(table) => lower(table, id, cost),
        }
    }

    pub(super) fn finish(self) -> Costs {
        match self {
            Self::Few { list, .. } => least_of_each(list),
            Self::Many(table) => {
                let there = table.iter().enumerate().filter(|&(_, &cost)| cost != ABSENT);
                there.map(|(index, &cost)| (EntityId::from_index(index), cost)).collect()
            }
        }
    }
}

fn lower(table: &mut [u8], id: EntityId, cost: u8) {
    if let Some(place) = table.get_mut(id.index()) {
        *place = cost.min(*place);
    }
}

fn least_of_each(mut list: Costs) -> Costs {
    list.sort_unstable();
    // Equal entities stand side by side, the cheapest first.
    list.dedup_by_key(|&mut (id, _)| id);
    list
}
