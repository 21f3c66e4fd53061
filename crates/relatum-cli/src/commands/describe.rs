//! `relatum describe`: one entity or relation and what hangs on it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use relatum::graph::{EntityId, Graph, Id, NameError, RelationId, Split, Triple, visible};
use relatum::project::Project;
use serde_json::{Value, json};

use crate::exit::Misuse;
use crate::output;

/// How many neighbours of a relation are shown.
const LIMIT: usize = 10;

/// Show an entity's edges in both directions, or what a relation connects
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Its name, IRI, prefixed name, label, or #id
    #[arg(allow_hyphen_values = true)]
    name: String,
    /// It is a relation, even if an entity has the same name
    #[arg(long)]
    relation: bool,
    /// How many neighbours to show for each relation; 0 for all
    #[arg(long, default_value_t = LIMIT)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let graph = project.graph();
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let described = find(graph, &args.name, args.relation)?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &described.as_json(limit))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", described.as_text(limit))?;
    }
    Ok(())
}

/// What the command prints of a name with its defaults.
pub(super) fn text(graph: &Graph, name: &str) -> anyhow::Result<String> {
    Ok(find(graph, name, false)?.as_text(LIMIT))
}

fn find<'a>(graph: &'a Graph, name: &str, relation_only: bool) -> anyhow::Result<Described<'a>> {
    if relation_only {
        return Ok(Described::of_relation(graph, graph.relation(name)?));
    }
    let no_entity = match graph.entity(name) {
        Ok(entity) => return Ok(Described::of_entity(graph, entity)),
        Err(error) => error,
    };
    match (graph.relation(name), no_entity) {
        (Ok(relation), _) => Ok(Described::of_relation(graph, relation)),
        (Err(NameError::Unknown { nearest: near, .. }), NameError::Unknown { nearest, .. })
            if !near.is_empty() =>
        {
            let listed = |names: &[String]| {
                names.iter().map(|name| format!("'{}'", visible(name))).collect::<Vec<_>>().join(", ")
            };
            let entities = if nearest.is_empty() { "none".to_owned() } else { listed(&nearest) };
            let message = format!(
                "there is no entity or relation '{}'; the nearest entities: {entities}; the nearest relations: {}",
                visible(name),
                listed(&near)
            );
            Err(Misuse(message).into())
        }
        (Err(_), no_entity) => Err(no_entity.into()),
    }
}

/// What is known of one name, by relation. Texts are made only of what is shown: an entity may
/// have a million edges.
struct Described<'a> {
    graph: &'a Graph,
    kind: &'static str,
    text: String,
    /// The same as it is, for programs.
    raw: String,
    name: &'a str,
    label: Option<&'a str>,
    sections: Vec<Section>,
}

struct Section {
    relation: RelationId,
    direction: Direction,
    items: Vec<(Split, Triple)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Outgoing,
    Incoming,
    Both,
}

impl<'a> Described<'a> {
    fn of_entity(graph: &'a Graph, entity: EntityId) -> Self {
        let mut sections = Vec::new();
        for direction in [Direction::Outgoing, Direction::Incoming] {
            let mut by_relation: BTreeMap<RelationId, Vec<(Split, Triple)>> = BTreeMap::new();
            for split in Split::ALL {
                let edges = graph.edges(split);
                let outgoing = direction == Direction::Outgoing;
                let adjacency = if outgoing { &edges.outgoing } else { &edges.incoming };
                for arc in adjacency.of(entity) {
                    let (head, tail) =
                        if outgoing { (entity, arc.neighbour) } else { (arc.neighbour, entity) };
                    let triple = Triple { head, relation: arc.relation, tail };
                    by_relation.entry(arc.relation).or_default().push((split, triple));
                }
            }
            sections.extend(by_relation.into_iter().map(|(relation, items)| Section {
                relation,
                direction,
                items,
            }));
        }
        Self {
            graph,
            kind: EntityId::KIND,
            text: graph.entity_text(entity),
            raw: graph.entities.readable(entity, &graph.prefixes),
            name: graph.entities.name(entity),
            label: graph.entities.label(entity),
            sections,
        }
    }

    fn of_relation(graph: &'a Graph, relation: RelationId) -> Self {
        let of_split = |split| {
            let triples = graph.edges(split).triples();
            triples.filter(|triple| triple.relation == relation).map(move |triple| (split, triple))
        };
        let items = Split::ALL.into_iter().flat_map(of_split).collect();
        Self {
            graph,
            kind: RelationId::KIND,
            text: graph.relation_text(relation),
            raw: graph.relations.readable(relation, &graph.prefixes),
            name: graph.relations.name(relation),
            label: graph.relations.label(relation),
            sections: vec![Section { relation, direction: Direction::Both, items }],
        }
    }

    fn as_text(&self, limit: usize) -> String {
        let edges: usize = self.sections.iter().map(|section| section.items.len()).sum();
        let name = if self.name == self.raw { String::new() } else { format!(" <{}>", visible(self.name)) };
        let mut text =
            format!("{}{name}: {}, {}\n", self.text, self.kind, output::counted(edges as u64, "edge"));
        for section in &self.sections {
            let relation = self.graph.relation_text(section.relation);
            let heading = match section.direction {
                Direction::Outgoing => format!("{relation} →"),
                Direction::Incoming => format!("← {relation}"),
                Direction::Both => relation,
            };
            text += &format!("\n  {heading}  ({})\n", output::grouped(section.items.len()));
            for &(split, triple) in section.items.iter().take(limit) {
                let held_out = if split == Split::Train { String::new() } else { format!("  [{split}]") };
                text += &format!("    {}{held_out}\n", self.item_text(section.direction, triple));
            }
            if section.items.len() > limit {
                let left = output::grouped(section.items.len() - limit);
                text += &format!("    … and {left} more (--limit 0 shows all)\n");
            }
        }
        text
    }

    fn item_text(&self, direction: Direction, triple: Triple) -> String {
        let (head, tail) = (self.graph.entity_shown(triple.head), self.graph.entity_shown(triple.tail));
        match direction {
            Direction::Outgoing => tail,
            Direction::Incoming => head,
            Direction::Both => format!("{head} → {tail}"),
        }
    }

    fn as_json(&self, limit: usize) -> Value {
        let item = |&(split, triple): &(Split, Triple)| {
            let entities = &self.graph.entities;
            json!({
                "head": entities.name(triple.head),
                "head_label": entities.label(triple.head),
                "tail": entities.name(triple.tail),
                "tail_label": entities.label(triple.tail),
                "split": split.name(),
            })
        };
        let section = |section: &Section| {
            let direction = match section.direction {
                Direction::Outgoing => "outgoing",
                Direction::Incoming => "incoming",
                Direction::Both => "both",
            };
            json!({
                "relation": self.graph.relations.name(section.relation),
                "direction": direction,
                "count": section.items.len(),
                "edges": section.items.iter().take(limit).map(item).collect::<Vec<_>>(),
            })
        };
        json!({
            "kind": self.kind,
            "text": self.raw,
            "name": self.name,
            "label": self.label,
            "relations": self.sections.iter().map(section).collect::<Vec<_>>(),
        })
    }
}
