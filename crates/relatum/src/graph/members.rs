//! Sets of entities, in as little memory as they need.

use super::ids::{EntityId, Id};

/// Entities of a word of bits.
const WORD: usize = u64::BITS as usize;

/// A set of entities: a list or, where that takes less memory, a bit for each entity of the graph.
#[derive(Clone, Debug)]
pub struct Members {
    len: usize,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// Ascending.
    List(Vec<EntityId>),
    Bits(Vec<u64>),
}

impl Default for Members {
    fn default() -> Self {
        Self { len: 0, form: Form::List(Vec::new()) }
    }
}

impl Members {
    /// Some entities of a graph with so many; they may come in any order and more than once.
    pub fn of(some: impl IntoIterator<Item = EntityId>, entities: usize) -> Self {
        let mut list: Vec<EntityId> = some.into_iter().collect();
        if !list.is_sorted_by(|a, b| a < b) {
            list.sort_unstable();
            list.dedup();
        }
        if is_list_smaller(list.len(), entities) {
            return Self { len: list.len(), form: Form::List(list) };
        }
        let mut gathered = Gather::with_room(list.len(), entities);
        for entity in list {
            gathered.push(entity);
        }
        gathered.finish()
    }

    /// Every entity that is in at least one of the sets.
    pub(super) fn any_of<'a>(sets: impl IntoIterator<Item = &'a Self>, entities: usize) -> Self {
        let mut bits = vec![0; entities.div_ceil(WORD)];
        for set in sets {
            match &set.form {
                Form::List(list) => list.iter().for_each(|entity| mark(&mut bits, *entity)),
                Form::Bits(own) => bits.iter_mut().zip(own).for_each(|(all, own)| *all |= own),
            }
        }
        let len = bits.iter().map(|word| word.count_ones() as usize).sum();
        let all = Self { len, form: Form::Bits(bits) };
        if !is_list_smaller(len, entities) {
            return all;
        }
        Self { len, form: Form::List(all.iter().collect()) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an entity is one of them.
    pub fn contains(&self, entity: EntityId) -> bool {
        match &self.form {
            Form::List(list) => list.binary_search(&entity).is_ok(),
            Form::Bits(bits) => {
                bits.get(entity.index() / WORD).is_some_and(|word| word >> (entity.index() % WORD) & 1 == 1)
            }
        }
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = EntityId> {
        let (list, bits): (&[EntityId], &[u64]) = match &self.form {
            Form::List(list) => (list, &[]),
            Form::Bits(bits) => (&[], bits),
        };
        let of_word = |(index, &word): (usize, &u64)| {
            let next = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            std::iter::successors((word != 0).then_some(word), next)
                .map(move |word| EntityId::from_index(index * WORD + word.trailing_zeros() as usize))
        };
        list.iter().copied().chain(bits.iter().enumerate().flat_map(of_word))
    }

    /// How many entities are in both sets.
    pub(super) fn in_both(&self, other: &Self) -> usize {
        match (&self.form, &other.form) {
            (Form::List(a), Form::List(b)) => in_both(a, b),
            (Form::Bits(a), Form::Bits(b)) => {
                a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as usize).sum()
            }
            (Form::List(list), _) => list.iter().filter(|entity| other.contains(**entity)).count(),
            (_, Form::List(list)) => list.iter().filter(|entity| self.contains(**entity)).count(),
        }
    }
}

/// A set in the making whose size is known: no list grows, so none takes more room than it needs.
pub(super) struct Gather(Members);

impl Gather {
    pub(super) fn with_room(len: usize, entities: usize) -> Self {
        let form = if is_list_smaller(len, entities) {
            Form::List(Vec::with_capacity(len))
        } else {
            Form::Bits(vec![0; entities.div_ceil(WORD)])
        };
        Self(Members { len: 0, form })
    }

    /// Adds an entity that is larger than those before it.
    pub(super) fn push(&mut self, entity: EntityId) {
        self.0.len += 1;
        match &mut self.0.form {
            Form::List(list) => list.push(entity),
            Form::Bits(bits) => mark(bits, entity),
        }
    }

    pub(super) fn finish(self) -> Members {
        self.0
    }
}

fn is_list_smaller(len: usize, entities: usize) -> bool {
    len.saturating_mul(size_of::<EntityId>() * 8) <= entities
}

fn mark(bits: &mut [u64], entity: EntityId) {
    if let Some(word) = bits.get_mut(entity.index() / WORD) {
        *word |= 1 << (entity.index() % WORD);
    }
}

/// How many entities two ascending lists have in common.
fn in_both(a: &[EntityId], b: &[EntityId]) -> usize {
    let (few, mut many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut shared = 0;
    for x in few {
        // Steps of doubling length find the place in time that follows how far it is, not how long the list is.
        let mut step = 1;
        while step < many.len() && many[step] < *x {
            step *= 2;
        }
        let from = step / 2;
        let at = from + many[from..many.len().min(step + 1)].partition_point(|other| other < x);
        many = &many[at..];
        shared += usize::from(many.first() == Some(x));
    }
    shared
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn members(ids: &BTreeSet<u32>, entities: usize) -> Members {
        Members::of(ids.iter().rev().map(|&id| EntityId(id)), entities)
    }

    proptest! {
        /// Of 900 entities, lists hold up to 28 of them, so both forms meet in all ways.
        #[test]
        fn lists_and_bits_are_the_same_sets(
            a in proptest::collection::btree_set(0u32..60, 0..40),
            b in proptest::collection::btree_set(0u32..900, 0..300),
        ) {
            let (first, second) = (members(&a, 900), members(&b, 900));
            for (set, ids) in [(&first, &a), (&second, &b)] {
                prop_assert_eq!(set.len(), ids.len());
                prop_assert_eq!(set.is_empty(), ids.is_empty());
                prop_assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), ids.iter().copied().collect::<Vec<_>>());
                prop_assert!((0..1000).all(|id| set.contains(EntityId(id)) == ids.contains(&id)));
            }
            prop_assert_eq!(first.in_both(&second), a.intersection(&b).count());
            prop_assert_eq!(second.in_both(&first), a.intersection(&b).count());
            let all = Members::any_of([&first, &second], 900);
            prop_assert_eq!(all.iter().map(|id| id.0).collect::<BTreeSet<_>>(), &a | &b);
            prop_assert_eq!(all.len(), (&a | &b).len());
        }
    }
}
