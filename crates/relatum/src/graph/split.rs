//! Splitting one set of triples into train, valid and test.

use std::str::FromStr;

use super::ids::{Id, RelationId, Split, Triple};
use super::{GraphBuilder, Inverses};
use crate::random::Rng;

/// Why a split cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The shares are not three numbers that add up to 1.
    #[error("expected three shares that add up to 1, as in 0.9/0.05/0.05; found '{0}'")]
    Shares(String),
    /// Nothing would be left to learn from.
    #[error(
        "the share of train must be above 0, as in 0.9/0.05/0.05, for a model learns from it; found '{0}'"
    )]
    NoTrain(String),
    /// Triples were given for valid or test already. Give files for each split, or shares, not both.
    #[error(
        "{split} has triples of its own already: give files for each split, or shares to split by, not both"
    )]
    Given {
        /// The split that is not empty.
        split: Split,
    },
}

/// Which share of the triples goes where, `0.9/0.05/0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    valid: f64,
    test: f64,
}

impl FromStr for Shares {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let wrong = || SplitError::Shares(text.to_owned());
        let parts: Vec<f64> =
            text.split('/').map(|part| part.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        match parts[..] {
            [train, valid, test] if train <= 0.0 && valid >= 0.0 && test >= 0.0 => {
                Err(SplitError::NoTrain(text.to_owned()))
            }
            [train, valid, test]
                if train > 0.0
                    && valid >= 0.0
                    && test >= 0.0
                    && (train + valid + test - 1.0).abs() < 1e-6 =>
            {
                Ok(Self { valid, test })
            }
            _ => Err(wrong()),
        }
    }
}

/// What [`GraphBuilder::split`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitReport {
    /// Triples that were there more than once; one of each was kept.
    pub repeated: usize,
    /// How many triples short of its share the held-out part is, because every other triple is
    /// the last one of an entity or relation.
    pub short: usize,
    /// Splits that were asked for and got nothing, because their share of the triples is less than one.
    pub empty: [bool; 2],
}

impl SplitReport {
    /// The splits that were asked for and are too small to hold anything.
    pub fn too_small(&self) -> impl Iterator<Item = Split> {
        [Split::Valid, Split::Test]
            .into_iter()
            .zip(self.empty)
            .filter_map(|(split, empty)| empty.then_some(split))
    }
}

impl GraphBuilder {
    /// Moves a random share of the training triples to valid and test, so that every entity and
    /// relation still occurs in train. Equal seeds give equal splits.
    ///
    /// A triple is held out only if each of its names has another triple left in train. On a very
    /// sparse graph that can leave less to hold out than was asked for; the report says so.
    pub fn split(&mut self, shares: Shares, seed: u64) -> Result<SplitReport, SplitError> {
        for split in [Split::Valid, Split::Test] {
            if !self.triples_mut(split).is_empty() {
                return Err(SplitError::Given { split });
            }
        }
        let mut entity_left = vec![0u32; self.entities()];
        let mut relation_left = vec![0u32; self.relations()];
        let inverses = self.inverses.clone();
        let triples = self.triples_mut(Split::Train);
        let given = triples.len();
        triples.sort_unstable();
        triples.dedup();
        let repeated = given - triples.len();
        // An edge and its mate along the inverse relation say the same, so they go together: held
        // out alone, either would be known from the other. Of two mates the first stands for both.
        let mut units: Vec<Triple> =
            triples.iter().map(|&triple| first_of_mates(triple, &inverses)).collect();
        if !inverses.is_empty() {
            units.sort_unstable();
            units.dedup();
        }
        for unit in &units {
            entity_left[unit.head.index()] += 1;
            entity_left[unit.tail.index()] += 1;
            relation_left[unit.relation.index()] += 1;
        }
        let wanted = |share: f64| (share * units.len() as f64).round() as usize;
        let (valid_wanted, test_wanted) = (wanted(shares.valid), wanted(shares.test));
        Rng::new(seed).shuffle(&mut units);
        let mut held_out: Vec<Triple> = Vec::with_capacity(valid_wanted + test_wanted);
        units.retain(|unit| {
            let (head, tail) = (unit.head.index(), unit.tail.index());
            // A loop counts twice for its one entity.
            let needed = if head == tail { 3 } else { 2 };
            let spare = entity_left[head] >= needed
                && entity_left[tail] >= needed
                && relation_left[unit.relation.index()] >= 2;
            if held_out.len() == valid_wanted + test_wanted || !spare {
                return true;
            }
            entity_left[head] -= 1;
            entity_left[tail] -= 1;
            relation_left[unit.relation.index()] -= 1;
            held_out.push(*unit);
            false
        });
        let short = valid_wanted + test_wanted - held_out.len();
        // If there is less than was asked for, both parts are short in proportion.
        let valid = held_out.len() * valid_wanted / (valid_wanted + test_wanted).max(1);
        let test = held_out.split_off(valid);
        let given = std::mem::take(triples);
        for (split, units) in [(Split::Train, units), (Split::Valid, held_out), (Split::Test, test)] {
            *self.triples_mut(split) = with_mates(units, &given, &inverses);
        }
        let empty = [(shares.valid, valid_wanted), (shares.test, test_wanted)];
        let empty = empty.map(|(share, wanted)| share > 0.0 && wanted == 0);
        Ok(SplitReport { repeated, short, empty })
    }
}

/// The triple or its mate, whichever has the smaller relation.
fn first_of_mates(triple: Triple, inverses: &Inverses) -> Triple {
    match inverses.of(triple.relation) {
        Some(inverse) if inverse < triple.relation => mate(triple, inverse),
        _ => triple,
    }
}

fn mate(triple: Triple, inverse: RelationId) -> Triple {
    Triple { head: triple.tail, relation: inverse, tail: triple.head }
}

/// Those of the units and their mates that were given; `given` is sorted.
fn with_mates(units: Vec<Triple>, given: &[Triple], inverses: &Inverses) -> Vec<Triple> {
    if inverses.is_empty() {
        return units;
    }
    let both = units.into_iter().flat_map(|unit| {
        let mate = inverses.of(unit.relation).map(|inverse| mate(unit, inverse));
        std::iter::once(unit).chain(mate.filter(|&mate| mate != unit))
    });
    both.filter(|triple| given.binary_search(triple).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_refused_for_what_is_wrong_with_them() {
        let error = |text: &str| text.parse::<Shares>().unwrap_err().to_string();
        assert!(error("0/0/1").starts_with("the share of train must be above 0"), "{}", error("0/0/1"));
        assert!(error("0.5/0.1/0.1").contains("add up to 1"));
        assert!(error("0.9/0.1").contains("three shares"));
    }

    #[test]
    fn a_share_of_less_than_a_triple_is_reported() {
        let mut builder = GraphBuilder::default();
        for tail in ["b", "c", "d"] {
            builder.add(Split::Train, "a", "r", tail);
            builder.add(Split::Train, tail, "r", "a");
        }
        let report = builder.split("0.98/0.01/0.01".parse().unwrap(), 0).unwrap();
        assert_eq!(report.too_small().collect::<Vec<_>>(), [Split::Valid, Split::Test]);
    }
    use crate::graph::BuildReport;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn builder(raw: &[(u8, u8, u8)]) -> GraphBuilder {
        let mut builder = GraphBuilder::default();
        for (h, r, t) in raw {
            builder.add(Split::Train, &format!("e{h}"), &format!("r{r}"), &format!("e{t}"));
        }
        builder
    }

    proptest! {
        #[test]
        fn a_split_parts_the_triples_and_leaves_every_name_in_train(
            raw in prop::collection::vec((0u8..20, 0u8..4, 0u8..20), 1..200), seed: u64
        ) {
            let distinct: HashSet<_> = raw.iter().collect();
            let mut builder = builder(&raw);
            let (entities, relations) = (builder.entities(), builder.relations());
            let report = builder.split("0.7/0.2/0.1".parse().unwrap(), seed).unwrap();
            prop_assert_eq!(report.repeated, raw.len() - distinct.len());
            let (graph, built) = builder.finish();
            prop_assert_eq!(built, BuildReport::default());
            let sizes = Split::ALL.map(|split| graph.edges(split).len());
            prop_assert_eq!(sizes.iter().sum::<usize>(), distinct.len());
            let wanted = |share: f64| (share * distinct.len() as f64).round() as usize;
            prop_assert_eq!(sizes[1] + sizes[2] + report.short, wanted(0.2) + wanted(0.1));
            let train: Vec<_> = graph.edges(Split::Train).triples().collect();
            let seen: HashSet<_> = train.iter().flat_map(|t| [t.head, t.tail]).collect();
            let used: HashSet<_> = train.iter().map(|t| t.relation).collect();
            prop_assert_eq!((seen.len(), used.len()), (entities, relations));
        }

        #[test]
        fn a_seed_gives_the_same_split(raw in prop::collection::vec((0u8..9, 0u8..3, 0u8..9), 1..60), seed: u64) {
            let split = || {
                let mut builder = builder(&raw);
                builder.split("0.8/0.1/0.1".parse().unwrap(), seed).unwrap();
                builder.finish().0
            };
            prop_assert_eq!(split(), split());
        }
    }

    #[test]
    fn an_edge_and_its_mate_are_never_parted() {
        let mut builder = GraphBuilder::default();
        for i in 0..200 {
            let (head, tail) = (format!("e{}", i % 17), format!("e{}", i * 7 % 23));
            builder.add(Split::Train, &head, "part of", &tail);
            builder.add(Split::Train, &tail, "has part", &head);
        }
        builder.pair(RelationId(0), RelationId(1));
        builder.split("0.7/0.2/0.1".parse().unwrap(), 5).unwrap();
        let (graph, _) = builder.finish();
        for split in Split::ALL {
            let edges = graph.edges(split);
            assert!(!edges.is_empty());
            for triple in edges.triples() {
                let inverse = graph.inverses.of(triple.relation).unwrap();
                assert!(edges.contains(mate(triple, inverse)), "{split} {triple:?}");
            }
        }
    }

    #[test]
    fn shares_must_add_up() {
        for text in ["0.9/0.1", "0.9/0.2/0.1", "1.1/-0.1/0", "a/b/c", "0/0.5/0.5", "NaN/0/1", ""] {
            let error = text.parse::<Shares>().unwrap_err();
            assert!(error.to_string().contains("0.9/0.05/0.05"), "{text}");
        }
        assert!("0.8/0.1/0.1".parse::<Shares>().is_ok());
        assert!("0.95/0.05/0".parse::<Shares>().is_ok());
    }

    #[test]
    fn splits_that_were_given_are_not_split_again() {
        let mut builder = builder(&[(0, 0, 1), (1, 0, 0)]);
        builder.add(Split::Valid, "e0", "r0", "e0");
        let error = builder.split("0.5/0.5/0".parse().unwrap(), 1).unwrap_err();
        assert_eq!(error, SplitError::Given { split: Split::Valid });
    }
}
