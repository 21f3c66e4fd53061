//! The graph that comes with the engine: well-known films, for demonstrations and examples.

use super::builder::GraphBuilder;
use super::ids::Split;

/// Lines `head, relation, tail, split`; `data/README.md` says where they come from.
const COMPRESSED: &[u8] = include_bytes!("../../data/films.tsv.zst");

/// A graph of 1,718 well-known films with the people who made them, their genres, languages,
/// countries, companies, decades and more: 38,809 facts from Wikidata (CC0).
///
/// One fact in twenty is not in the training split but in [`Split::Valid`] or [`Split::Test`]:
/// true, though the graph that a person asks about does not contain it. So the graph has no thriller
/// with Martin Lawrence, until a link predictor finds that `Bad Boys (1995)` is one.
///
/// ```
/// use relatum::graph::{Split, Triple, films};
///
/// let (graph, _) = films().finish();
/// let fact = Triple {
///     head: graph.entity("Bad Boys (1995)")?,
///     relation: graph.relation("has_genre")?,
///     tail: graph.entity("Thriller")?,
/// };
/// assert!(!graph.edges(Split::Train).contains(fact));
/// assert!(graph.edges(Split::Test).contains(fact));
/// # Ok::<(), relatum::graph::NameError>(())
/// ```
///
/// # Panics
/// Never: the bytes are part of the program, and a test reads them.
pub fn films() -> GraphBuilder {
    let bytes = zstd::decode_all(COMPRESSED).expect("the embedded films are compressed with zstd");
    let text = String::from_utf8(bytes).expect("the embedded films are UTF-8");
    let mut builder = GraphBuilder::default();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[head, relation, tail, split] = fields.as_slice() else {
            panic!("a line of the embedded films has four fields: {line}");
        };
        let split = Split::ALL.into_iter().find(|known| known.name() == split);
        builder.add(split.expect("the embedded films have three splits"), head, relation, tail);
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::graph::{Adjacency, EntityId, Graph, RelationId, Triple};

    const README: &str = include_str!("../../data/README.md");

    fn graph() -> Graph {
        let (graph, report) = films().finish();
        assert_eq!((report.repeated, report.leaked), (0, 0), "the splits are disjoint");
        graph
    }

    fn triples(graph: &Graph) -> impl Iterator<Item = Triple> {
        Split::ALL.into_iter().flat_map(|split| graph.edges(split).triples())
    }

    fn degree(graph: &Graph, entity: EntityId, splits: &[Split]) -> usize {
        let both = |split: &Split| {
            let edges = graph.edges(*split);
            [&edges.outgoing, &edges.incoming]
                .map(|arcs: &Adjacency| arcs.of(entity).len())
                .iter()
                .sum::<usize>()
        };
        splits.iter().map(both).sum()
    }

    /// 38809 → 38,809
    fn grouped(number: usize) -> String {
        if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
    }

    fn readme_says(claim: &str) {
        assert!(README.contains(claim), "data/README.md should say: {claim}");
    }

    #[test]
    fn the_counts_are_those_of_the_readme() {
        let graph = graph();
        let sizes = Split::ALL.map(|split| graph.edges(split).len());
        let facts: usize = sizes.iter().sum();
        assert!((25_000..=45_000).contains(&facts));
        assert_eq!(sizes[1] + sizes[2], (facts + 10) / 20, "one fact in twenty is held out");
        assert!(sizes[1].abs_diff(sizes[2]) <= 1);
        readme_says(&format!("{} facts", grouped(facts)));
        readme_says(&format!("{} entities", grouped(graph.entities.len())));
        readme_says(&format!("{} `train`, {} `valid`, {} `test`", grouped(sizes[0]), sizes[1], sizes[2]));

        let mut rows: BTreeMap<RelationId, [usize; 3]> = BTreeMap::new();
        for split in Split::ALL {
            for triple in graph.edges(split).triples() {
                rows.entry(triple.relation).or_default()[split as usize] += 1;
            }
        }
        for (relation, [train, valid, test]) in rows {
            let (all, held_out) = (grouped(train + valid + test), grouped(valid + test));
            readme_says(&format!("| `{}` | {all} | {held_out} |", graph.relations.name(relation)));
        }
    }

    #[test]
    fn every_film_of_martin_lawrence_is_there_with_a_known_genre() {
        let graph = graph();
        let (stars, genre) = (graph.relation("stars").unwrap(), graph.relation("has_genre").unwrap());
        let actor = graph.entity("Martin Lawrence").unwrap();
        let films: Vec<EntityId> =
            Split::ALL.into_iter().flat_map(|split| graph.edges(split).heads(stars, actor)).collect();
        assert_eq!(films.len(), 23);
        let train = graph.edges(Split::Train);
        assert!(films.iter().all(|&film| train.tails(film, genre).len() > 0));

        let genres = |splits: &[Split]| -> BTreeSet<&str> {
            let films = splits.iter().flat_map(|&split| graph.edges(split).heads(stars, actor));
            let pairs = films.flat_map(|film| splits.iter().map(move |&split| (film, split)));
            let genres = pairs.flat_map(|(film, split)| graph.edges(split).tails(film, genre));
            genres.map(|genre| graph.entities.name(genre)).collect()
        };
        let hidden = &genres(&Split::ALL) - &genres(&[Split::Train]);
        assert_eq!(hidden, BTreeSet::from(["Thriller"]), "the answer that only the held-out facts give");
    }

    #[test]
    fn what_is_held_out_can_be_learned_from_what_is_kept() {
        let graph = graph();
        let train = graph.edges(Split::Train);
        let relations: BTreeSet<RelationId> = train.triples().map(|triple| triple.relation).collect();
        assert_eq!(relations.len(), graph.relations.len());
        for triple in [Split::Valid, Split::Test].into_iter().flat_map(|split| graph.edges(split).triples()) {
            for entity in [triple.head, triple.tail] {
                assert!(degree(&graph, entity, &[Split::Train]) >= 3, "{}", graph.entities.name(entity));
            }
            let film = graph.entities.name(triple.head);
            assert!(train.tails(triple.head, triple.relation).len() > 0, "{film} keeps another such fact");
        }
    }

    #[test]
    fn the_graph_is_as_dense_as_the_readme_says() {
        let graph = graph();
        let (director, genre) =
            (graph.relation("directed_by").unwrap(), graph.relation("has_genre").unwrap());
        let films: BTreeSet<EntityId> = triples(&graph).map(|triple| triple.head).collect();
        for &film in &films {
            let name = graph.entities.name(film);
            assert!(degree(&graph, film, &Split::ALL) >= 7, "{name}");
            for relation in [director, genre] {
                assert!(graph.edges(Split::Train).tails(film, relation).len() > 0, "{name}");
            }
        }
        let credits = ["stars", "directed_by", "written_by"].map(|name| graph.relation(name).unwrap());
        let people: BTreeSet<EntityId> = triples(&graph)
            .filter(|triple| credits.contains(&triple.relation))
            .map(|triple| triple.tail)
            .collect();
        for entity in graph.entities.ids() {
            let directs =
                Split::ALL.iter().any(|split| graph.edges(*split).heads(director, entity).len() > 0);
            let bar = match people.contains(&entity) {
                _ if films.contains(&entity) => 7,
                true if directs => 2,
                true => 3,
                false => 5,
            };
            assert!(degree(&graph, entity, &Split::ALL) >= bar, "{}", graph.entities.name(entity));
            assert!(degree(&graph, entity, &[Split::Train]) >= 2, "{}", graph.entities.name(entity));
        }
        let average = 2.0 * triples(&graph).count() as f64 / graph.entities.len() as f64;
        readme_says(&format!("{} films, {} people", grouped(films.len()), grouped(people.len())));
        readme_says(&format!("{average:.1} facts on average"));
    }

    #[test]
    fn every_name_reads_as_a_person_would_write_it() {
        let graph = graph();
        for id in graph.entities.ids() {
            let name = graph.entities.name(id);
            let is_id = name.strip_prefix('Q').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
            let prefixed = ["film:", "person:", "genre:", "http"].iter().any(|start| name.starts_with(start));
            // A name of one letter would pass for a variable of a question.
            let readable =
                name.chars().count() > 1 && name.trim() == name && !name.contains(['"', '_', '’', '–']);
            assert!(readable && !is_id && !prefixed, "{name:?}");
            assert_eq!(graph.entity(name), Ok(id));
        }
        for triple in triples(&graph) {
            let film = graph.entities.name(triple.head);
            let year = film.strip_suffix(')').and_then(|film| film.rsplit_once(" (")).map(|(_, year)| year);
            assert!(year.is_some_and(|year| (1940..2015).contains(&year.parse().unwrap_or(0))), "{film}");
        }
    }
}
