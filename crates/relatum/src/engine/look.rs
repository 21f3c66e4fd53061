//! Looking at the graph: one thing with its edges, names that contain a text, sizes.

use std::collections::BTreeMap;

use super::{Engine, Error};
use crate::graph::{
    Dictionary, EntityId, Graph, Id, NameError, Quantiles, RelationId, Split, Triple, visible,
};
use crate::query::syntax::name_text;
use crate::report::{
    Description, Direction, Edge, EdgeCounts, EdgesOf, Found, FoundName, GraphStats, Kind, QueryCounts,
    RelationStats, SourceFile, Spread,
};

/// Which part of a thing's edges is described. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The name is that of a relation, even if an entity has the same.
    pub relation: bool,
    /// Only the edges of this relation.
    pub along: Option<String>,
    /// Only the edges in this direction.
    pub direction: Option<Direction>,
    /// How many edges of each relation to leave out before the first.
    pub offset: usize,
    /// How many edges of each relation to show at most; if omitted, all.
    pub limit: Option<usize>,
}

impl Engine {
    /// Describes an entity by its edges in both directions, or a relation by what it connects.
    pub fn describe(&self, name: &str, look: &Look) -> Result<Description, Error> {
        let graph = self.graph();
        let along = look.along.as_deref().map(|name| graph.relation(name)).transpose()?;
        Ok(match thing(graph, name, look.relation)? {
            Thing::Entity(entity) => of_entity(graph, entity, along, look),
            Thing::Relation(relation) => of_relation(graph, relation, look),
        })
    }

    /// Finds the entities and relations whose name or label contains a text, without regard to case and
    /// accents: the shortest names first, at most `limit` of each kind, and how each is written in a question.
    pub fn find(&self, text: &str, limit: Option<usize>) -> Found {
        let graph = self.graph();
        let limit = limit.unwrap_or(usize::MAX);
        let (entities, entities_total) =
            names_with(graph, &graph.entities, Kind::Entity, text, limit, |id| entity_edges(graph, id));
        let uses = self.relation_uses();
        let (relations, relations_total) =
            names_with(graph, &graph.relations, Kind::Relation, text, limit, |id| {
                uses.get(id.index()).copied().unwrap_or(0)
            });
        let found = Found {
            text: text.to_owned(),
            entities,
            entities_total,
            relations,
            relations_total,
            nearest: false,
        };
        if entities_total + relations_total > 0 { found } else { self.nearest(found, limit) }
    }

    /// The names nearest to a text that no name contains.
    fn nearest(&self, found: Found, limit: usize) -> Found {
        let graph = self.graph();
        let near = |error: Option<NameError>| match error {
            Some(NameError::Unknown { nearest, .. }) => nearest,
            _ => Vec::new(),
        };
        let entities =
            near(graph.entity(&found.text).err()).into_iter().filter_map(|name| graph.entity(&name).ok());
        let entities = entities
            .take(limit)
            .map(|id| found_name(graph, &graph.entities, Kind::Entity, id, entity_edges(graph, id)));
        let relations = near(graph.relation(&found.text).err()).into_iter();
        let relations = relations.filter_map(|name| graph.relation(&name).ok()).take(limit);
        let uses = |id: RelationId| self.relation_uses().get(id.index()).copied().unwrap_or(0);
        let relations = relations.map(|id| found_name(graph, &graph.relations, Kind::Relation, id, uses(id)));
        Found { entities: entities.collect(), relations: relations.collect(), nearest: true, ..found }
    }

    /// Counts everything: sizes, degrees, and the relations with their cardinalities.
    pub fn stats(&self) -> GraphStats {
        let (graph, manifest) = (self.graph(), self.project().manifest());
        let stats = graph.stats();
        let [train, valid, test] = stats.edges;
        let sources = manifest.sources.iter().map(|source| SourceFile {
            name: source.name.clone(),
            format: source.format.clone(),
            split: source.split.clone(),
            triples: source.triples,
        });
        let sampled = self.queries();
        let queries = |split| -> Option<BTreeMap<String, usize>> {
            let groups = sampled.of(split)?.groups.iter();
            Some(groups.map(|group| (group.shape.clone(), group.len())).collect())
        };
        GraphStats {
            entities: stats.entities,
            relations: stats.relations,
            edges: EdgeCounts { train, valid, test },
            entities_without_train_edge: stats.isolated,
            degree: spread(&stats.degree),
            out_degree: spread(&stats.out_degree),
            in_degree: spread(&stats.in_degree),
            queries: QueryCounts { valid: queries(Split::Valid), test: queries(Split::Test) },
            fingerprint: manifest.fingerprint.clone(),
            sources: sources.collect(),
            by_relation: stats.by_relation.iter().map(|row| relation_stats(graph, row)).collect(),
        }
    }
}

enum Thing {
    Entity(EntityId),
    Relation(RelationId),
}

/// What a name stands for: an entity, or where none has it, a relation.
fn thing(graph: &Graph, name: &str, relation_only: bool) -> Result<Thing, Error> {
    if relation_only {
        return Ok(Thing::Relation(graph.relation(name)?));
    }
    let no_entity = match graph.entity(name) {
        Ok(entity) => return Ok(Thing::Entity(entity)),
        Err(error) => error,
    };
    match (graph.relation(name), no_entity) {
        (Ok(relation), _) => Ok(Thing::Relation(relation)),
        (Err(NameError::Unknown { nearest: relations, .. }), NameError::Unknown { nearest, .. })
            if !relations.is_empty() =>
        {
            Err(Error::NothingNamed { name: name.to_owned(), entities: nearest, relations })
        }
        (Err(_), no_entity) => Err(no_entity.into()),
    }
}

/// Names in quotes, for a message.
pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("'{}'", visible(name))).collect::<Vec<_>>().join(", ")
}

/// The edges of one relation in one direction. All are counted, but names are made only for those on the page,
/// because an entity may have a million edges.
#[derive(Default)]
struct Page {
    count: usize,
    edges: Vec<Edge>,
}

impl Page {
    fn add(&mut self, graph: &Graph, look: &Look, split: Split, triple: Triple) {
        let end = look.offset.saturating_add(look.limit.unwrap_or(usize::MAX));
        if (look.offset..end).contains(&self.count) {
            self.edges.push(edge(graph, split, triple));
        }
        self.count += 1;
    }

    fn section(self, graph: &Graph, look: &Look, relation: RelationId, direction: Direction) -> EdgesOf {
        EdgesOf {
            relation: graph.relations.name(relation).to_owned(),
            relation_text: graph.relations.readable(relation, &graph.prefixes),
            direction,
            count: self.count,
            offset: look.offset.min(self.count),
            edges: self.edges,
        }
    }
}

fn edge(graph: &Graph, split: Split, triple: Triple) -> Edge {
    let entities = &graph.entities;
    let label = |id| entities.label(id).map(str::to_owned);
    Edge {
        head: entities.name(triple.head).to_owned(),
        head_label: label(triple.head),
        head_text: entities.readable(triple.head, &graph.prefixes),
        tail: entities.name(triple.tail).to_owned(),
        tail_label: label(triple.tail),
        tail_text: entities.readable(triple.tail, &graph.prefixes),
        split: split.name().to_owned(),
    }
}

fn of_entity(graph: &Graph, entity: EntityId, along: Option<RelationId>, look: &Look) -> Description {
    let mut relations = Vec::new();
    let mut count = 0;
    for direction in [Direction::Outgoing, Direction::Incoming] {
        let mut pages: BTreeMap<RelationId, Page> = BTreeMap::new();
        for split in Split::ALL {
            let (edges, outgoing) = (graph.edges(split), direction == Direction::Outgoing);
            let arcs = if outgoing { edges.outgoing.of(entity) } else { edges.incoming.of(entity) };
            count += arcs.len();
            if look.direction.is_some_and(|only| only != direction && only != Direction::Both) {
                continue;
            }
            for arc in arcs.iter().filter(|arc| along.is_none_or(|relation| relation == arc.relation)) {
                let (head, tail) = if outgoing { (entity, arc.neighbour) } else { (arc.neighbour, entity) };
                let triple = Triple { head, relation: arc.relation, tail };
                pages.entry(arc.relation).or_default().add(graph, look, split, triple);
            }
        }
        let section = |(relation, page): (RelationId, Page)| page.section(graph, look, relation, direction);
        relations.extend(pages.into_iter().map(section));
    }
    described(graph, &graph.entities, Kind::Entity, entity, count, relations)
}

fn of_relation(graph: &Graph, relation: RelationId, look: &Look) -> Description {
    let mut page = Page::default();
    for split in Split::ALL {
        for triple in graph.edges(split).triples().filter(|triple| triple.relation == relation) {
            page.add(graph, look, split, triple);
        }
    }
    let count = page.count;
    let section = page.section(graph, look, relation, Direction::Both);
    described(graph, &graph.relations, Kind::Relation, relation, count, vec![section])
}

fn described<I: Id>(
    graph: &Graph,
    dictionary: &Dictionary<I>,
    kind: Kind,
    id: I,
    edges: usize,
    relations: Vec<EdgesOf>,
) -> Description {
    Description {
        kind,
        id: id.index() as u32,
        text: dictionary.readable(id, &graph.prefixes),
        name: dictionary.name(id).to_owned(),
        label: dictionary.label(id).map(str::to_owned),
        edges,
        relations,
        predicted: None,
        evidence: None,
    }
}

fn names_with<I: Id>(
    graph: &Graph,
    dictionary: &Dictionary<I>,
    kind: Kind,
    wanted: &str,
    limit: usize,
    edges: impl Fn(I) -> usize,
) -> (Vec<FoundName>, usize) {
    let (ids, total) = dictionary.containing(wanted, limit);
    (ids.into_iter().map(|id| found_name(graph, dictionary, kind, id, edges(id))).collect(), total)
}

fn found_name<I: Id>(
    graph: &Graph,
    dictionary: &Dictionary<I>,
    kind: Kind,
    id: I,
    edges: usize,
) -> FoundName {
    let text = dictionary.readable(id, &graph.prefixes);
    FoundName {
        kind,
        id: id.index() as u32,
        write: name_text(&text),
        text,
        name: dictionary.name(id).to_owned(),
        label: dictionary.label(id).map(str::to_owned),
        edges,
    }
}

/// How many edges an entity has, all splits together.
pub(super) fn entity_edges(graph: &Graph, id: EntityId) -> usize {
    let edges = Split::ALL.map(|split| graph.edges(split));
    edges.iter().map(|edges| edges.outgoing.of(id).len() + edges.incoming.of(id).len()).sum()
}

fn relation_stats(graph: &Graph, row: &crate::graph::RelationStats) -> RelationStats {
    let relations = &graph.relations;
    let text = |id| relations.readable(id, &graph.prefixes);
    RelationStats {
        name: relations.name(row.relation).to_owned(),
        label: relations.label(row.relation).map(str::to_owned),
        text: text(row.relation),
        edges: row.edges,
        heads: row.heads,
        tails: row.tails,
        tails_per_head: row.tails_per_head(),
        heads_per_tail: row.heads_per_tail(),
        cardinality: row.cardinality().to_owned(),
        inverse: row.inverse.map(|id| relations.name(id).to_owned()),
        inverse_text: row.inverse.map(text),
    }
}

fn spread(quantiles: &Quantiles) -> Spread {
    let [min, q25, median, q75, q90, q99, max] = quantiles.values;
    Spread { mean: quantiles.mean, min, q25, median, q75, q90, q99, max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::films;

    #[test]
    fn edges_are_paged_by_relation() {
        let (_dir, engine) = films();
        let page = |offset| Look { limit: Some(1), offset, ..Look::default() };
        let tails = |offset| {
            let description = engine.describe("Bad Boys", &page(offset)).unwrap();
            let [stars, genres] = &description.relations[..] else { panic!("{description}") };
            assert_eq!((description.edges, stars.count, genres.count), (4, 2, 2), "counts are of all edges");
            [stars, genres].map(|it| it.edges.iter().map(|edge| edge.tail.clone()).collect::<Vec<_>>())
        };
        assert_eq!(tails(0), [["Will Smith"], ["Comedy"]]);
        assert_eq!(tails(1), [["Martin Lawrence"], ["Action"]]);
        assert!(tails(2).iter().all(Vec::is_empty));
        insta::assert_snapshot!(engine.describe("Bad Boys", &page(0)).unwrap().to_text(" (turn the page)"), @r"
        Bad Boys: entity, 4 edges

          stars →  (2)
            Will Smith
            … and 1 more (turn the page)

          has genre →  (2)
            Comedy
            … and 1 more (turn the page)
        ");
    }

    #[test]
    fn one_relation_and_one_direction_can_be_chosen() {
        let (_dir, engine) = films();
        let along = Look { along: Some("stars".to_owned()), ..Look::default() };
        assert_eq!(engine.describe("Bad Boys", &along).unwrap().relations.len(), 1);
        let incoming = Look { direction: Some(Direction::Incoming), ..Look::default() };
        assert!(engine.describe("Bad Boys", &incoming).unwrap().relations.is_empty());
        let relation = engine.describe("stars", &Look::default()).unwrap();
        assert_eq!((relation.kind, relation.relations[0].direction), (Kind::Relation, Direction::Both));
        assert_eq!(relation.relations[0].edges[0].head, "Bad Boys");
    }

    #[test]
    fn a_name_that_nothing_has_is_answered_with_the_nearest_of_both_kinds() {
        let (_dir, engine) = films();
        let error = engine.describe("star", &Look::default()).unwrap_err();
        assert!(
            matches!(&error, Error::NothingNamed { relations, .. } if relations == &["stars"]),
            "{error}"
        );
        let error = engine.describe("Will Smit", &Look::default()).unwrap_err();
        assert!(matches!(error, Error::Name(NameError::Unknown { .. })), "no relation is near: {error}");
    }

    #[test]
    fn names_are_found_with_how_they_are_written_in_a_question() {
        let (_dir, engine) = films();
        let found = engine.find("SMITH", None);
        assert_eq!(found.entities[0].write, "\"Will Smith\"");
        assert_eq!((found.entities[0].edges, found.entities_total, found.relations_total), (2, 1, 0));
        assert_eq!(engine.find("s", Some(1)).entities.len(), 1);
    }

    #[test]
    fn where_no_name_contains_a_text_the_nearest_are_found_and_marked() {
        let (_dir, engine) = films();
        let found = engine.find("Wil Smith", Some(3));
        assert!(found.nearest && found.entities_total == 0);
        assert_eq!(found.entities[0].name, "Will Smith");
        let edges = |name: &str| engine.find(name, None).relations[0].edges;
        assert_eq!((engine.find("strs", None).relations[0].edges, edges("stars")), (4, 4));
        assert!(!engine.find("smith", None).nearest);
    }

    #[test]
    fn statistics_count_the_training_edges_of_relations() {
        let (_dir, engine) = films();
        let stats = engine.stats();
        assert_eq!((stats.entities, stats.edges.train, stats.edges.test), (7, 6, 1));
        assert_eq!(
            (stats.by_relation[0].text.as_str(), stats.by_relation[0].cardinality.as_str()),
            ("stars", "1-N")
        );
    }
}
