//! Questions that the graph at hand can answer, for those who have not asked it anything yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::look::entity_edges;
use super::{Engine, Options};
use crate::graph::{Arc, EntityId, Graph, RelationId, Split};
use crate::query::syntax::name_text;
use crate::query::{Asked, Direction, Hop, Shape};

/// Questions made from a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examples {
    /// The questions, simple ones first.
    pub examples: Vec<Example>,
}

/// A question made from a graph; stored edges answer it, and a model may add to that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// What it asks, in words made of the names of the graph.
    pub title: String,
    /// The question in the text syntax.
    pub question: String,
    /// Its shape, such as `2p`.
    pub shape: String,
}

/// How many well-connected entities are tried as the thing that a question begins with.
const TRIED: usize = 400;
/// How many edges of one kind an anchor has at most: a question with more answers than this says little.
const MOST: usize = 200;

impl Engine {
    /// Questions of several shapes that the training edges of this graph can answer, each about other
    /// things. The same graph gives the same questions.
    pub fn examples(&self) -> Examples {
        let walker = Walker::new(self.graph());
        let mut examples: Vec<Example> = Vec::new();
        let mut used: Vec<EntityId> = Vec::new();
        for make in Walker::makers() {
            // Anchors that no example has yet come first, so that the examples are about several things.
            let (fresh, again): (Vec<EntityId>, Vec<EntityId>) =
                walker.anchors.iter().partition(|id| !used.contains(id));
            let anchors = fresh.into_iter().chain(again);
            let found = anchors.filter_map(|anchor| make(&walker, anchor)).find_map(|made| {
                let Ok(Asked::Entities(question)) = self.read(&made.question, &Options::default()) else {
                    return None;
                };
                let shape = question.checked.shape.map_or("general", Shape::name).to_owned();
                Some((
                    Example { title: capitalised(&made.title), question: made.question, shape },
                    made.anchors,
                ))
            });
            if let Some((example, anchors)) = found {
                used.extend(anchors);
                examples.push(example);
            }
        }
        Examples { examples }
    }
}

/// A question and the entities that it names.
struct Made {
    title: String,
    question: String,
    anchors: Vec<EntityId>,
}

struct Walker<'a> {
    graph: &'a Graph,
    /// Well-connected entities, in an order that mixes their kinds.
    anchors: Vec<EntityId>,
}

impl<'a> Walker<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut ranked: Vec<(usize, EntityId)> = graph
            .entities
            .ids()
            .map(|id| (entity_edges(graph, id), id))
            .filter(|(edges, _)| *edges > 1)
            .collect();
        ranked.sort_unstable_by_key(|&(edges, id)| (std::cmp::Reverse(edges), id));
        ranked.truncate(TRIED);
        // The best connected entities are often of one kind; walking in strides reaches the others early too.
        let stride = (ranked.len() / 7).max(1);
        let order = (0..stride).flat_map(|first| (first..ranked.len()).step_by(stride));
        let anchors = order.map(|at| ranked[at].1).collect();
        Self { graph, anchors }
    }

    /// One maker for each shape, simple ones first.
    fn makers() -> [fn(&Self, EntityId) -> Option<Made>; 6] {
        [
            Self::projection,
            Self::chain,
            Self::intersection,
            Self::union,
            Self::negation,
            Self::chain_of_intersection,
        ]
    }

    /// The hop from an entity to the most neighbours, among those with at most [`MOST`].
    fn first(&self, entity: EntityId) -> Option<(Hop, &'a [Arc])> {
        self.hops(entity).into_iter().find(|(_, run)| (2..=MOST).contains(&run.len()))
    }

    /// What an entity is connected with, one hop with its neighbours for each relation and direction.
    fn hops(&self, entity: EntityId) -> Vec<(Hop, &'a [Arc])> {
        let train = self.graph.edges(Split::Train);
        let runs = |arcs: &'a [Arc], direction| {
            arcs.chunk_by(|a, b| a.relation == b.relation)
                .map(move |run| (Hop { relation: run[0].relation, direction }, run))
        };
        let forward = runs(train.outgoing.of(entity), Direction::Forward);
        let mut hops: Vec<_> = forward.chain(runs(train.incoming.of(entity), Direction::Backward)).collect();
        hops.sort_by_key(|(hop, run)| (std::cmp::Reverse(run.len()), hop.relation));
        hops
    }

    fn projection(&self, a: EntityId) -> Option<Made> {
        let (hop, _) = self.first(a)?;
        Some(Self::made(&self.phrase(hop, &self.name(a)), &[a], &self.atom(hop, a, "X"), false))
    }

    fn chain(&self, a: EntityId) -> Option<Made> {
        let (first, run) = self.first(a)?;
        let onward = |arc: &Arc| {
            let hops = self.hops(arc.neighbour);
            hops.into_iter().map(|(hop, _)| hop).find(|hop| hop.relation != first.relation)
        };
        let second = run.iter().take(8).find_map(onward)?;
        let title = self.phrase(second, &self.phrase(first, &self.name(a)));
        let formula = format!("{} and {}", self.atom(first, a, "V"), self.join(second));
        Some(Self::made(&title, &[a], &formula, true))
    }

    /// Another entity that one of the neighbours of a hop is connected with, by another relation.
    fn beside(&self, a: EntityId, hop: Hop, run: &[Arc]) -> Option<(Hop, EntityId)> {
        run.iter().take(16).find_map(|arc| {
            self.hops(arc.neighbour).into_iter().filter(|(back, _)| back.relation != hop.relation).find_map(
                |(back, others)| {
                    let other = others.iter().map(|arc| arc.neighbour).find(|&other| other != a)?;
                    Some((back.reversed(), other))
                },
            )
        })
    }

    fn intersection(&self, a: EntityId) -> Option<Made> {
        let (first, run) = self.first(a)?;
        let (second, b) = self.beside(a, first, run)?;
        let title = format!(
            "{}, and at the same time {}",
            self.phrase(first, &self.name(a)),
            self.phrase(second, &self.name(b))
        );
        let formula = format!("{} and {}", self.atom(first, a, "X"), self.atom(second, b, "X"));
        Some(Self::made(&title, &[a, b], &formula, false))
    }

    fn union(&self, a: EntityId) -> Option<Made> {
        let (hop, _) = self.first(a)?;
        let same = |&&b: &&EntityId| b != a && self.first(b).is_some_and(|(other, _)| other == hop);
        let b = *self.anchors.iter().find(same)?;
        let title = format!("{}, or {}", self.phrase(hop, &self.name(a)), self.phrase(hop, &self.name(b)));
        let formula = format!("{} or {}", self.atom(hop, a, "X"), self.atom(hop, b, "X"));
        Some(Self::made(&title, &[a, b], &formula, false))
    }

    fn negation(&self, a: EntityId) -> Option<Made> {
        let (first, run) = self.first(a)?;
        let (second, b) = self.beside(a, first, run)?;
        let title =
            format!("{}, but not {}", self.phrase(first, &self.name(a)), self.phrase(second, &self.name(b)));
        let formula = format!("{} and not {}", self.atom(first, a, "X"), self.atom(second, b, "X"));
        Some(Self::made(&title, &[a, b], &formula, false))
    }

    fn chain_of_intersection(&self, a: EntityId) -> Option<Made> {
        let (first, run) = self.first(a)?;
        let (second, b) = self.beside(a, first, run)?;
        let used = [first.relation, second.relation];
        let onward = |arc: &Arc| {
            let hops = self.hops(arc.neighbour).into_iter().map(|(hop, _)| hop);
            hops.into_iter().find(|hop| !used.contains(&hop.relation))
        };
        let third = run.iter().take(8).find_map(onward)?;
        let both =
            format!("{} and {}", self.phrase(first, &self.name(a)), self.phrase(second, &self.name(b)));
        let title = self.phrase(third, &both);
        let formula = format!(
            "{} and {} and {}",
            self.atom(first, a, "V"),
            self.atom(second, b, "V"),
            self.join(third)
        );
        Some(Self::made(&title, &[a, b], &formula, true))
    }

    fn made(title: &str, anchors: &[EntityId], formula: &str, inner: bool) -> Made {
        let exists = if inner { "exists V. " } else { "" };
        Made {
            title: title.to_owned(),
            question: format!("?X : {exists}{formula}"),
            anchors: anchors.to_vec(),
        }
    }

    fn atom(&self, hop: Hop, anchor: EntityId, variable: &str) -> String {
        let anchor = name_text(&self.graph.entities.readable(anchor, &self.graph.prefixes));
        self.between(hop, &anchor, variable)
    }

    /// A hop from the inner variable to the one that is sought.
    fn join(&self, hop: Hop) -> String {
        self.between(hop, "V", "X")
    }

    fn between(&self, hop: Hop, from: &str, to: &str) -> String {
        let relation = name_text(&self.graph.relations.readable(hop.relation, &self.graph.prefixes));
        match hop.direction {
            Direction::Forward => format!("{relation}({from}, {to})"),
            Direction::Backward => format!("{relation}({to}, {from})"),
        }
    }

    fn phrase(&self, hop: Hop, of: &str) -> String {
        phrase(&self.relation(hop.relation), hop.direction, of)
    }

    fn name(&self, id: EntityId) -> String {
        self.graph.entities.display(id).to_owned()
    }

    /// The last part of a relation's name, which is the most telling, with blanks for underscores.
    fn relation(&self, id: RelationId) -> String {
        let name = self.graph.relations.display(id);
        let end = name.trim_end_matches(['/', '#']).rsplit(['/', '#']).next().unwrap_or(name);
        let end = end.replace('_', " ");
        end.strip_prefix("has ").unwrap_or(&end).to_owned()
    }
}

/// What a hop leads to, in words: `genre of Alien`, `what Alien is directed by`, `what has stars Sigourney Weaver`,
/// `what is directed by Ridley Scott`. Whether a relation is a noun or a verb is guessed from its words.
fn phrase(relation: &str, direction: Direction, of: &str) -> String {
    const LINKS: [&str; 10] = ["by", "in", "for", "to", "with", "from", "on", "at", "into", "of"];
    let (first, others) = relation.split_once(' ').unwrap_or((relation, ""));
    let linked = others.split(' ').any(|word| LINKS.contains(&word));
    let participle = first.ends_with("ed") || first.ends_with("en");
    let forward = direction == Direction::Forward;
    if participle && linked {
        return if forward { format!("what {of} is {relation}") } else { format!("what is {relation} {of}") };
    }
    // `part of`, `capital of` and the like are nouns that bring their own `of`.
    if first == "is"
        || first == "won"
        || (participle && others.is_empty())
        || (linked && !others.ends_with("of"))
    {
        return if forward { format!("what {of} {relation}") } else { format!("what {relation} {of}") };
    }
    // `in language` says no more than `language`.
    let noun = if LINKS.contains(&first) && !others.is_empty() { others } else { relation };
    if let Some(noun) = noun.strip_suffix(" of") {
        return if forward { format!("what {of} is {noun} of") } else { format!("{noun} of {of}") };
    }
    if forward { format!("{noun} of {of}") } else { format!("what has {noun} {of}") }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{engine_of, films};
    use crate::graph::{GraphBuilder, films as demo};

    #[test]
    fn examples_of_the_films_are_questions_of_several_shapes() {
        let (_dir, engine) = engine_of(&demo().finish().0);
        let examples = engine.examples().examples;
        let shapes: Vec<&str> = examples.iter().map(|it| it.shape.as_str()).collect();
        assert_eq!(shapes, ["1p", "2p", "2i", "2u", "2in", "ip"]);
        for example in &examples {
            assert!(engine.read(&example.question, &Options::default()).is_ok(), "{example:?}");
        }
        assert_eq!(engine.examples().examples, examples, "the same graph, the same questions");
    }

    #[test]
    fn titles_read_like_sentences() {
        let both = |relation: &str| {
            [Direction::Forward, Direction::Backward].map(|direction| phrase(relation, direction, "A"))
        };
        assert_eq!(both("genre"), ["genre of A", "what has genre A"]);
        assert_eq!(both("directed by"), ["what A is directed by", "what is directed by A"]);
        assert_eq!(both("received"), ["what A received", "what received A"]);
        assert_eq!(both("depends on"), ["what A depends on", "what depends on A"]);
        assert_eq!(both("in language"), ["language of A", "what has language A"]);
        assert_eq!(both("capital of"), ["what A is capital of", "capital of A"]);
        assert_eq!(both("is part of"), ["what A is part of", "what is part of A"]);
    }

    #[test]
    fn small_and_empty_graphs_have_few_examples_or_none() {
        let (_dir, engine) = films();
        assert!(!engine.examples().examples.is_empty());
        let (_dir, engine) = engine_of(&GraphBuilder::default().finish().0);
        assert!(engine.examples().examples.is_empty());
    }
}
