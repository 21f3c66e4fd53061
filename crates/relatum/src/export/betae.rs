//! Folders in the form of BetaE; [`import::read`](crate::import::read) reads them back.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::benchmark::{Piece, QueryGroup, QuerySet, Role, Skeleton};
use crate::graph::{EntityId, Graph, Id, RelationId, Split, Triple};
use crate::import::pickle::Writer;
use crate::import::reciprocal_name;
use crate::model::Reciprocals;
use crate::project::Queries;
use crate::query::shapes::Arguments;
use crate::query::{Direction, Limits};
use crate::store::{StoreError, write_atomically};

/// Writes graph and queries into a folder, which must be there, as the files that BetaE and the
/// programs after it read: edges as `train.txt`, `valid.txt`, `test.txt`; queries and answers as
/// pickles of plain dicts, sets and tuples; names both ways; `stats.txt`.
///
/// In that form relations come in pairs: 2i, and 2i + 1 for its inverse, and every edge stands there
/// in both directions. A graph that has such pairs keeps its ids; any other gets an inverse
/// `NAME⁻¹` for each relation that has none.
///
/// A question in words that has a shape of the literature is written as that shape. Returns the names of
/// the other questions, which are left out: no nested tuple expresses them.
pub fn write_betae(dir: &Path, graph: &Graph, queries: &Queries) -> Result<Vec<String>, StoreError> {
    let relations = Relations::of(graph);
    let entities: Vec<&str> = graph.entities.ids().map(|id| graph.entities.name(id)).collect();
    names(dir, ["id2ent.pkl", "ent2id.pkl"], &entities)?;
    names(dir, ["id2rel.pkl", "rel2id.pkl"], &relations.names)?;
    write_atomically(&dir.join("stats.txt"), |file| {
        writeln!(file, "numentity: {}\nnumrelations: {}", entities.len(), relations.names.len())
    })?;
    let mut left_out = Vec::new();
    for split in Split::ALL {
        let edges = relations.edges(graph, split);
        write_atomically(&dir.join(format!("{split}.txt")), |file| {
            edges.iter().try_for_each(|it| writeln!(file, "{}\t{}\t{}", it.head.0, it.relation.0, it.tail.0))
        })?;
        if let Some(set) = queries.of(split) {
            let tuples = Tuples::of(set, &relations, &mut left_out);
            tuples.write(dir, split)?;
        }
    }
    left_out.sort();
    left_out.dedup();
    Ok(left_out)
}

/// The relations in pairs.
struct Relations {
    /// The new number of each relation of the graph and of each reciprocal one.
    numbers: Vec<u32>,
    names: Vec<String>,
    reciprocals: Reciprocals,
}

impl Relations {
    fn of(graph: &Graph) -> Self {
        let reciprocals = Reciprocals::of(graph);
        let mut numbers: Vec<Option<u32>> = vec![None; reciprocals.len()];
        let mut names = Vec::new();
        for relation in graph.relations.ids() {
            if numbers[relation.index()].is_some() {
                continue;
            }
            let inverse = reciprocals.inverse(relation);
            numbers[inverse.index()] = Some(names.len() as u32 + 1);
            // A relation that is its own inverse keeps the first number.
            numbers[relation.index()] = Some(names.len() as u32);
            names.push(graph.relations.name(relation).to_owned());
            names.push(if inverse == relation {
                format!("{}⁻¹", graph.relations.name(relation))
            } else {
                reciprocal_name(graph, &reciprocals, inverse)
            });
        }
        Self { numbers: numbers.into_iter().map(Option::unwrap_or_default).collect(), names, reciprocals }
    }

    fn number(&self, relation: RelationId) -> u32 {
        self.numbers.get(relation.index()).copied().unwrap_or_default()
    }

    /// The queries of a group as the arguments of a nested tuple; `None` if no nested tuple of the
    /// literature expresses them.
    fn nested(&self, group: &QueryGroup) -> Option<(Skeleton, Vec<Vec<u32>>)> {
        if let Ok(skeleton) = group.skeleton.parse::<Skeleton>() {
            let roles = skeleton.roles();
            let number = |(&argument, role): (&u32, &Role)| match role {
                Role::Entity => argument,
                Role::Relation => self.number(RelationId(argument)),
            };
            let query = |index| group.query(index).iter().zip(&roles).map(number).collect();
            return Some((skeleton, (0..group.len()).map(query).collect()));
        }
        let template = group.template().ok()?;
        let mut found: Option<Skeleton> = None;
        let mut queries = Vec::with_capacity(group.len());
        for index in 0..group.len() {
            let query = template.fill(group.query(index), &self.reciprocals)?;
            let arguments = Arguments::of(&query.normal_form(Limits::default()).ok()?)?;
            let skeleton = Skeleton::of_shape(arguments.shape.name())?;
            queries.push(self.in_order(&skeleton, &arguments)?);
            if found.get_or_insert_with(|| skeleton.clone()) != &skeleton {
                return None;
            }
        }
        Some((found?, queries))
    }

    /// Anchors and relations in the order of a skeleton.
    fn in_order(&self, skeleton: &Skeleton, arguments: &Arguments) -> Option<Vec<u32>> {
        let (mut anchors, mut hops) = (arguments.anchors.iter(), arguments.hops.iter());
        let mut number = |role: Role| match role {
            Role::Entity => anchors.next().map(|id| id.0),
            Role::Relation => hops.next().map(|hop| match hop.direction {
                Direction::Forward => self.number(hop.relation),
                Direction::Backward => self.number(self.reciprocals.inverse(hop.relation)),
            }),
        };
        skeleton.roles().into_iter().map(&mut number).collect()
    }

    /// The edges of a split, those along relations without an inverse in both directions.
    fn edges(&self, graph: &Graph, split: Split) -> Vec<Triple> {
        let mut edges = Vec::new();
        for Triple { head, relation, tail } in graph.edges(split).triples() {
            let number = self.number(relation);
            edges.push(Triple::new(head.0, number, tail.0));
            let inverse = self.reciprocals.inverse(relation);
            if inverse == relation || !self.reciprocals.in_graph(inverse) {
                edges.push(Triple::new(tail.0, number ^ 1, head.0));
            }
        }
        edges.sort_unstable();
        edges
    }
}

/// The queries of a split as nested tuples, with the numbers of the new relations.
struct Tuples<'a> {
    groups: Vec<(Skeleton, Vec<Tuple<'a>>)>,
}

/// A query with its answers.
struct Tuple<'a> {
    numbers: Vec<u32>,
    easy: &'a [EntityId],
    hard: &'a [EntityId],
}

type Pickle<'w> = Writer<&'w mut BufWriter<File>>;

impl<'a> Tuples<'a> {
    fn of(set: &'a QuerySet, relations: &Relations, left_out: &mut Vec<String>) -> Self {
        let mut tuples = Self { groups: Vec::new() };
        for group in &set.groups {
            let Some((skeleton, queries)) = relations.nested(group) else {
                left_out.push(group.shape.clone());
                continue;
            };
            let queries = queries.into_iter().enumerate();
            let queries = queries.map(|(index, numbers)| Tuple {
                numbers,
                easy: group.easy(index),
                hard: group.hard(index),
            });
            tuples.add(skeleton, queries.collect());
        }
        tuples
    }

    /// A question in words may have a shape that is sampled by its name too: both go under one key, and no
    /// query is written twice.
    fn add(&mut self, skeleton: Skeleton, queries: Vec<Tuple<'a>>) {
        let Some((_, there)) = self.groups.iter_mut().find(|(other, _)| *other == skeleton) else {
            return self.groups.push((skeleton, queries));
        };
        let known: FxHashSet<Vec<u32>> = there.iter().map(|query| query.numbers.clone()).collect();
        there.extend(queries.into_iter().filter(|query| !known.contains(&query.numbers)));
    }

    fn write(&self, dir: &Path, split: Split) -> Result<(), StoreError> {
        pickle(&dir.join(format!("{split}-queries.pkl")), |out| {
            out.dict(|out| {
                self.groups.iter().try_for_each(|(skeleton, queries)| {
                    tuple(out, skeleton.pieces(), &mut None)?;
                    out.set(|out| queries.iter().try_for_each(|query| filled(out, skeleton, &query.numbers)))
                })
            })
        })?;
        self.answers(&dir.join(format!("{split}-easy-answers.pkl")), |query| query.easy)?;
        self.answers(&dir.join(format!("{split}-hard-answers.pkl")), |query| query.hard)
    }

    /// Every query is a key, even if its set is empty, because readers look each of them up.
    fn answers(&self, path: &Path, answers: fn(&Tuple<'a>) -> &'a [EntityId]) -> Result<(), StoreError> {
        pickle(path, |out| {
            out.dict(|out| {
                self.groups.iter().try_for_each(|(skeleton, queries)| {
                    queries.iter().try_for_each(|query| {
                        filled(out, skeleton, &query.numbers)?;
                        out.set(|out| answers(query).iter().try_for_each(|id| out.int(i64::from(id.0))))
                    })
                })
            })
        })
    }
}

fn filled(out: &mut Pickle<'_>, skeleton: &Skeleton, query: &[u32]) -> io::Result<()> {
    tuple(out, skeleton.pieces(), &mut Some(query.iter()))
}

/// Writes a nested tuple, or several side by side: letters, or numbers where there are any.
fn tuple(
    out: &mut Pickle<'_>,
    mut pieces: &[Piece],
    numbers: &mut Option<std::slice::Iter<'_, u32>>,
) -> io::Result<()> {
    while let [first, rest @ ..] = pieces {
        pieces = rest;
        if *first == Piece::Open {
            let (content, rest) = rest.split_at(closing(rest));
            out.tuple(|out| tuple(out, content, numbers))?;
            pieces = rest.get(1..).unwrap_or_default();
        } else {
            letter(out, *first, numbers)?;
        }
    }
    Ok(())
}

/// Where the bracket around these pieces closes.
fn closing(pieces: &[Piece]) -> usize {
    let mut depth = 1;
    let closes = pieces.iter().position(|piece| {
        match piece {
            Piece::Open => depth += 1,
            Piece::Close => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    closes.unwrap_or(pieces.len())
}

fn letter(
    out: &mut Pickle<'_>,
    letter: Piece,
    numbers: &mut Option<std::slice::Iter<'_, u32>>,
) -> io::Result<()> {
    match (letter, numbers) {
        (Piece::Entity, None) => out.str("e"),
        (Piece::Relation, None) => out.str("r"),
        (Piece::Negation, None) => out.str("n"),
        (Piece::Union, None) => out.str("u"),
        (Piece::Negation, Some(_)) => out.int(-2),
        (Piece::Union, Some(_)) => out.int(-1),
        (_, Some(numbers)) => out.int(numbers.next().map_or(-1, |&number| i64::from(number))),
        (_, None) => out.none(),
    }
}

fn names(dir: &Path, [by_id, by_name]: [&str; 2], names: &[impl AsRef<str>]) -> Result<(), StoreError> {
    pickle(&dir.join(by_id), |out| {
        out.dict(|out| {
            names.iter().enumerate().try_for_each(|(id, name)| {
                out.int(id as i64)?;
                out.str(name.as_ref())
            })
        })
    })?;
    pickle(&dir.join(by_name), |out| {
        out.dict(|out| {
            names.iter().enumerate().try_for_each(|(id, name)| {
                out.str(name.as_ref())?;
                out.int(id as i64)
            })
        })
    })
}

fn pickle(path: &Path, write: impl FnOnce(&mut Pickle<'_>) -> io::Result<()>) -> Result<(), StoreError> {
    write_atomically(path, |file| {
        let mut writer = Writer::new(file)?;
        write(&mut writer)?;
        writer.finish()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{Pattern, Sampler, Sampling};
    use crate::control::Control;
    use crate::graph::GraphBuilder;
    use crate::import::read::{FolderReport, betae};
    use crate::symbolic::{World, answers};
    use std::collections::BTreeMap;

    /// A graph with splits; with both directions of every edge, or with one.
    fn graph(pairs: bool) -> Graph {
        let mut builder = GraphBuilder::default();
        for i in 0..400u32 {
            let (head, relation, tail) = (i * 7 % 31, i % 4, i * i % 29);
            let split = Split::ALL[[0, 0, 0, 1, 2][(i as usize * 13) % 5]];
            let [head, tail] = [head, tail].map(|id| builder.entity(&format!("e{id}")).0);
            if pairs {
                let there = builder.relation(&format!("+r{relation}")).0;
                let back = builder.relation(&format!("-r{relation}")).0;
                builder.pair(RelationId(there), RelationId(back));
                builder.add_ids(split, Triple::new(head, there, tail));
                builder.add_ids(split, Triple::new(tail, back, head));
            } else {
                let relation = builder.relation(&format!("r{relation}")).0;
                builder.add_ids(split, Triple::new(head, relation, tail));
            }
        }
        builder.finish().0
    }

    fn sampled(graph: &Graph) -> Queries {
        let set = |split| {
            let sampler = Sampler::new(graph, split);
            let types = [
                "1p",
                "3p",
                "pi",
                "up",
                "2in",
                "pni",
                "2u-DM",
                "?A : exists V. _(_, V) and _(V, A) and _(A, V)",
            ];
            let groups = types.map(|text| {
                let pattern = Pattern::parse(text, graph).unwrap();
                sampler.sample(&pattern, &Sampling::of(15, 3), &Control::default()).group
            });
            Some(QuerySet { groups: groups.into() })
        };
        Queries { valid: set(Split::Valid), test: set(Split::Test) }
    }

    /// The types that were left out, and the test queries of a folder that was written with these types.
    fn written(graph: &Graph, types: &[&str]) -> (Vec<String>, QuerySet) {
        let sampler = Sampler::new(graph, Split::Test);
        let groups = types.iter().map(|text| {
            let pattern = Pattern::parse(text, graph).unwrap();
            sampler.sample(&pattern, &Sampling::of(15, 3), &Control::default()).group
        });
        let queries = Queries { valid: None, test: Some(QuerySet { groups: groups.collect() }) };
        let dir = tempfile::tempdir().unwrap();
        let left_out = write_betae(dir.path(), graph, &queries).unwrap();
        (left_out, betae::read(dir.path(), &|_| ()).unwrap().test.unwrap())
    }

    #[test]
    fn a_question_in_words_is_written_as_the_shape_that_it_has() {
        let graph = graph(false);
        // Backwards from an anchor, in another order, and as a tuple with a name in it.
        let questions = [
            ("?A : exists V. _(V, A) and _(V, _)", "2p"),
            ("?A : not _(_, A) and _(A, _)", "2in"),
            ("('_',('r0','_','_'))", "3p"),
        ];
        for (question, shape) in questions {
            let (left_out, set) = written(&graph, &[question]);
            assert!(left_out.is_empty(), "{left_out:?}");
            let [group] = &set.groups[..] else { panic!("{question}: {:?}", set.groups) };
            assert_eq!((group.shape.as_str(), group.len()), (shape, 15));
            // The answers are those of the tuple in the graph with an inverse for every relation.
            let mut builder = GraphBuilder::default();
            graph.entities.ids().for_each(|id| {
                builder.entity(graph.entities.name(id));
            });
            let relations = Relations::of(&graph);
            relations.names.iter().for_each(|name| {
                builder.relation(name);
            });
            for triple in Split::ALL.into_iter().flat_map(|split| relations.edges(&graph, split)) {
                builder.add_ids(Split::Train, triple);
            }
            let (whole, _) = builder.finish();
            let reciprocals = Reciprocals::of(&whole);
            for index in 0..group.len() {
                let query = group.template().unwrap().fill(group.query(index), &reciprocals).unwrap();
                let all = answers(
                    &query.normal_form(Limits::default()).unwrap(),
                    &World::of(&whole, &[Split::Train]),
                );
                assert!(group.hard(index).iter().all(|answer| all.contains(answer)), "{question}");
                assert!(
                    all.iter().all(|id| group.hard(index).contains(id) || group.easy(index).contains(id))
                );
            }
        }
    }

    #[test]
    fn a_question_of_a_shape_that_is_there_joins_it_and_one_without_shape_is_named() {
        let graph = graph(false);
        let odd = "?A : exists V. _(_, V) and _(V, A) and _(A, V)";
        let (left_out, set) = written(&graph, &["2p", "?A : exists V. _(_, V) and _(V, A)", odd]);
        assert_eq!(left_out, [odd]);
        let [group] = &set.groups[..] else { panic!("one key: {:?}", set.groups) };
        assert_eq!(group.shape, "2p");
        assert!(group.len() > 15 && group.len() <= 30, "{}", group.len());
    }

    type Answers = BTreeMap<Vec<u32>, (Vec<EntityId>, Vec<EntityId>)>;

    fn content(set: &QuerySet, number: impl Fn(u32) -> u32) -> BTreeMap<String, Answers> {
        let group = |group: &QueryGroup| {
            let roles = group.roles().unwrap();
            let query = |index| {
                let number = |(&argument, role): (&u32, &Role)| match role {
                    Role::Entity => argument,
                    Role::Relation => number(argument),
                };
                let arguments = group.query(index).iter().zip(&roles).map(number).collect();
                (arguments, (group.easy(index).to_vec(), group.hard(index).to_vec()))
            };
            (group.shape.clone(), (0..group.len()).map(query).collect())
        };
        set.groups.iter().map(group).collect()
    }

    #[test]
    fn what_is_written_is_read_back_with_the_same_queries_answers_and_edges() {
        for pairs in [true, false] {
            let graph = graph(pairs);
            let queries = sampled(&graph);
            let dir = tempfile::tempdir().unwrap();
            let left_out = write_betae(dir.path(), &graph, &queries).unwrap();
            assert_eq!(left_out, ["?A : exists V. _(_, V) and _(V, A) and _(A, V)"]);
            let folder = betae::read(dir.path(), &|_| ()).unwrap();
            assert_eq!(folder.report, FolderReport::default());
            // With pairs every id stays; without, relation r becomes 2r, and its reciprocal 2r + 1.
            let count = graph.relations.len() as u32;
            let number = |id: u32| match (pairs, id < count) {
                (true, _) => id,
                (false, true) => 2 * id,
                (false, false) => 2 * (id - count) + 1,
            };
            for (read, written) in [(&folder.valid, &queries.valid), (&folder.test, &queries.test)] {
                let mut expected = content(written.as_ref().unwrap(), number);
                expected.remove(&left_out[0]);
                assert!(expected.values().all(|answers| answers.len() == 15));
                assert_eq!(content(read.as_ref().unwrap(), |id| id), expected);
            }
            let (again, _) = folder.builder.finish();
            assert!(again.entities.ids().all(|id| again.entities.name(id) == graph.entities.name(id)));
            for split in Split::ALL {
                let both = if pairs { 1 } else { 2 };
                assert_eq!(again.edges(split).len(), both * graph.edges(split).len());
                for Triple { head, relation, tail } in graph.edges(split).triples() {
                    assert!(again.edges(split).contains(Triple::new(head.0, number(relation.0), tail.0)));
                }
            }
            if pairs {
                assert_eq!(again, graph);
            }
        }
    }
}
