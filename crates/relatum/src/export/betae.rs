//! Folders in the form of BetaE; [`graph::read`](crate::graph::read) reads them back.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::benchmark::{Piece, QueryGroup, QuerySet, Role, Skeleton};
use crate::graph::{EntityId, Graph, Id, RelationId, Split, Triple};
use crate::import::pickle::Writer;
use crate::import::reciprocal_name;
use crate::model::Reciprocals;
use crate::store::{Queries, StoreError, write_atomically};

/// Writes graph and queries into a folder, which must be there, as the files that BetaE and the
/// programs after it read: edges as `train.txt`, `valid.txt`, `test.txt`; queries and answers as
/// pickles of plain dicts, sets and tuples; names both ways; `stats.txt`.
///
/// In that form relations come in pairs: 2i, and 2i + 1 for its inverse, and every edge stands there
/// in both directions. A graph that has such pairs keeps its ids; any other gets an inverse
/// `NAME⁻¹` for each relation that has none.
///
/// Gives the names of the shapes that are left out because they are no nested tuples.
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

/// The queries of a split that are nested tuples, with the numbers of the new relations.
struct Tuples<'a> {
    groups: Vec<(Skeleton, &'a QueryGroup, Vec<Vec<u32>>)>,
}

type Pickle<'w> = Writer<&'w mut BufWriter<File>>;

impl<'a> Tuples<'a> {
    fn of(set: &'a QuerySet, relations: &Relations, left_out: &mut Vec<String>) -> Self {
        let mut groups = Vec::new();
        for group in &set.groups {
            let Ok(skeleton) = group.skeleton.parse::<Skeleton>() else {
                left_out.push(group.shape.clone());
                continue;
            };
            let roles = skeleton.roles();
            let number = |(&argument, role): (&u32, &Role)| match role {
                Role::Entity => argument,
                Role::Relation => relations.number(RelationId(argument)),
            };
            let query = |index| group.query(index).iter().zip(&roles).map(number).collect();
            groups.push((skeleton, group, (0..group.len()).map(query).collect()));
        }
        Self { groups }
    }

    fn write(&self, dir: &Path, split: Split) -> Result<(), StoreError> {
        pickle(&dir.join(format!("{split}-queries.pkl")), |out| {
            out.dict(|out| {
                self.groups.iter().try_for_each(|(skeleton, _, queries)| {
                    tuple(out, skeleton.pieces(), &mut None)?;
                    out.set(|out| queries.iter().try_for_each(|query| filled(out, skeleton, query)))
                })
            })
        })?;
        self.answers(&dir.join(format!("{split}-easy-answers.pkl")), QueryGroup::easy)?;
        self.answers(&dir.join(format!("{split}-hard-answers.pkl")), QueryGroup::hard)
    }

    /// Every query is a key, also of an empty set: readers look each of them up.
    fn answers(
        &self,
        path: &Path,
        answers: for<'g> fn(&'g QueryGroup, usize) -> &'g [EntityId],
    ) -> Result<(), StoreError> {
        pickle(path, |out| {
            out.dict(|out| {
                self.groups.iter().try_for_each(|(skeleton, group, queries)| {
                    queries.iter().enumerate().try_for_each(|(index, query)| {
                        filled(out, skeleton, query)?;
                        let answers = answers(group, index).iter();
                        out.set(|out| answers.clone().try_for_each(|id| out.int(i64::from(id.0))))
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

/// Where the bracket closes that the pieces are the content of.
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
    use crate::graph::GraphBuilder;
    use crate::graph::read::{FolderReport, betae};
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
                sampler.sample(&pattern, &Sampling::of(15, 3), &|_| true).group
            });
            Some(QuerySet { groups: groups.into() })
        };
        Queries { valid: set(Split::Valid), test: set(Split::Test) }
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
