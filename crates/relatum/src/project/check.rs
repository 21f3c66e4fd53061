//! Checks a project: reads every file, and verifies every checksum and reference.

use std::path::Path;

use super::{ENTITIES, INVERSES, Project, RELATIONS, edges_name, queries_file, sealed};
use crate::benchmark::{Lists, QueryGroup, Role};
use crate::graph::{Adjacency, Dictionary, Edges, EntityId, Graph, Id, Split, Texts, Triple};
use crate::model::Reciprocals;
use crate::store::{MappedFile, StoreError};

/// The first thing that is wrong in a file's content, in words.
type Finding = Result<(), String>;

impl Project {
    /// Opens the project and verifies every checksum and every reference from one file to another.
    /// `visit` hears the result of each file; the first damage found is the error.
    pub fn check(dir: &Path, mut visit: impl FnMut(&str, Option<&StoreError>)) -> Result<Self, StoreError> {
        let project = Self::open(dir)?;
        let graph = project.graph();
        let mut first: Option<StoreError> = None;
        let mut verify = |name: &str, kind: &str, finding: &dyn Fn() -> Finding| {
            let outcome = sealed(dir, project.manifest(), name, kind)
                .and_then(|file: MappedFile| file.verify())
                .and_then(|()| finding().map_err(|what| StoreError::damaged(&dir.join(name), what)));
            visit(name, outcome.as_ref().err());
            if first.is_none() {
                first = outcome.err();
            }
        };
        verify(ENTITIES, "dict", &|| check_dictionary(&graph.entities));
        verify(RELATIONS, "dict", &|| check_dictionary(&graph.relations));
        verify(INVERSES, "pairs", &|| Ok(()));
        for split in Split::ALL {
            verify(&edges_name(split), "edges", &|| check_edges(graph, graph.edges(split)));
            if let Some(set) = project.queries().of(split)
                && let Some(name) = queries_file(project.manifest(), split)
            {
                verify(name, super::queries::KIND, &|| {
                    set.groups.iter().try_for_each(|group| check_group(graph, group))
                });
            }
        }
        first.map_or(Ok(project), Err)
    }

    /// Verifies the edges of every split. Work that reads all of them anyway, such as training, calls this, so that
    /// it does not go on with ids that lead outside the graph.
    pub fn verify_edges(&self) -> Result<(), StoreError> {
        for split in Split::ALL {
            let name = edges_name(split);
            sealed(self.dir(), self.manifest(), &name, "edges")?.verify()?;
        }
        Ok(())
    }
}

fn check_dictionary<I: Id>(dictionary: &Dictionary<I>) -> Finding {
    check_texts(&dictionary.names)?;
    check_texts(&dictionary.labels)?;
    if !dictionary.labels.is_empty() && dictionary.labels.len() != dictionary.len() {
        return Err(format!("{} names and {} labels", dictionary.len(), dictionary.labels.len()));
    }
    let labelled = dictionary.ids().filter(|&id| dictionary.label(id).is_some()).count();
    check_order(&dictionary.by_name, &dictionary.names, dictionary.len(), |a, b| a < b)?;
    check_order(&dictionary.by_label, &dictionary.labels, labelled, |a, b| a <= b)
}

fn check_texts(texts: &Texts) -> Finding {
    check_offsets(&texts.offsets, texts.bytes.len())?;
    let broken = (0..texts.len()).find(|&index| std::str::from_utf8(texts.bytes_at(index)).is_err());
    broken.map_or(Ok(()), |index| Err(format!("the name of {index} is not UTF-8")))
}

/// A sorted order must hold `count` distinct ids, in order; then it is a permutation of them.
fn check_order<I: Id>(
    order: &[I],
    texts: &Texts,
    count: usize,
    ordered: fn(&[u8], &[u8]) -> bool,
) -> Finding {
    if order.len() != count {
        return Err(format!("a sorted order of {} ids where {count} were expected", order.len()));
    }
    if let Some(id) = order.iter().find(|id| id.index() >= texts.len()) {
        return Err(format!(
            "a sorted order names the id {}, but there are only {}",
            id.index(),
            texts.len()
        ));
    }
    let text = |id: &I| texts.bytes_at(id.index());
    let right = |pair: &[I]| {
        let (a, b) = (text(&pair[0]), text(&pair[1]));
        ordered(a, b) && (a != b || pair[0] < pair[1])
    };
    if order.windows(2).all(right) { Ok(()) } else { Err("names out of order, or one name twice".to_owned()) }
}

fn check_edges(graph: &Graph, edges: &Edges) -> Finding {
    for adjacency in [&edges.outgoing, &edges.incoming] {
        check_adjacency(graph, adjacency)?;
    }
    if edges.outgoing.arcs.len() != edges.incoming.arcs.len() {
        return Err("the two directions hold different numbers of edges".to_owned());
    }
    // Equal numbers, no repeats, and every incoming arc mirrored: the directions hold the same edges.
    let entities = (0..edges.incoming.entities()).map(EntityId::from_index);
    for tail in entities {
        for arc in edges.incoming.of(tail) {
            if !edges.contains(Triple { head: arc.neighbour, relation: arc.relation, tail }) {
                return Err(format!(
                    "the edge ({}, {}, {}) is stored only from tail to head",
                    arc.neighbour.0, arc.relation.0, tail.0
                ));
            }
        }
    }
    Ok(())
}

fn check_adjacency(graph: &Graph, adjacency: &Adjacency) -> Finding {
    check_offsets(&adjacency.offsets, adjacency.arcs.len())?;
    if adjacency.entities() != graph.entities.len() {
        return Err(format!(
            "rows for {} entities, but there are {}",
            adjacency.entities(),
            graph.entities.len()
        ));
    }
    for row in (0..adjacency.entities()).map(EntityId::from_index) {
        let arcs = adjacency.of(row);
        let inside = |arc: &crate::graph::Arc| {
            arc.relation.index() < graph.relations.len() && arc.neighbour.index() < graph.entities.len()
        };
        if !arcs.iter().all(inside) {
            return Err(format!("an edge of entity {} leads outside the graph", row.0));
        }
        if !arcs.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(format!("the edges of entity {} are out of order", row.0));
        }
    }
    Ok(())
}

fn check_group(graph: &Graph, group: &QueryGroup) -> Finding {
    let queries = group.hard.offsets.len().saturating_sub(1);
    if group.arguments.len() != queries * group.arity {
        return Err(format!(
            "{} arguments for {queries} queries of shape {}",
            group.arguments.len(),
            group.shape
        ));
    }
    let roles = group.roles().map_err(|error| format!("its shape cannot be read: {error}"))?;
    let relations = Reciprocals::of(graph).len();
    if roles.len() != group.arity {
        return Err(format!("{} arguments a query for the shape {}", group.arity, group.skeleton));
    }
    let outside = |(&role, &id): (&Role, &u32)| match role {
        Role::Entity => id as usize >= graph.entities.len(),
        Role::Relation => id as usize >= relations,
    };
    if group.arguments.chunks(group.arity).any(|query| roles.iter().zip(query).any(outside)) {
        return Err(format!("a query of shape {} names an id outside the graph", group.shape));
    }
    check_lists(graph, group, &group.easy)?;
    check_lists(graph, group, &group.hard)
}

fn check_lists(graph: &Graph, group: &QueryGroup, lists: &Lists) -> Finding {
    check_offsets(&lists.offsets, lists.items.len())?;
    if lists.offsets.len() != group.hard.offsets.len() {
        return Err(format!("shape {} has answers for another number of queries", group.shape));
    }
    if lists.items.iter().any(|answer| answer.index() >= graph.entities.len()) {
        return Err(format!("an answer of shape {} is outside the graph", group.shape));
    }
    Ok(())
}

fn check_offsets(offsets: &[u64], len: usize) -> Finding {
    let ends =
        offsets.first().copied().unwrap_or(0) == 0 && offsets.last().copied().unwrap_or(0) == len as u64;
    if ends && offsets.windows(2).all(|pair| pair[0] <= pair[1]) {
        return Ok(());
    }
    Err("its offsets do not cut it into rows".to_owned())
}
