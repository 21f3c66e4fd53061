//! What could be written at a cursor.

use super::Engine;
use super::look::entity_edges;
use crate::graph::{Dictionary, EntityId, Graph, Id, Members, RelationId};
use crate::query::syntax::name_text;
use crate::query::{Cursor, KEYWORDS, Place, Syntax};
use crate::report::{Candidate, CandidateKind, Completion};

/// How many names are offered.
const OFFERED: usize = 50;
/// Of how many names those that fit best are offered.
const LOOKED_AT: usize = 400;

impl Engine {
    /// What could be written where the cursor stands in a question of the text syntax: relations and keywords
    /// where an atom begins, entities within one. `cursor` is a number of bytes; what follows it is not read.
    pub fn complete(&self, text: &str, cursor: usize) -> Completion {
        let end = text.floor_char_boundary(cursor);
        let (start, candidates) = at_the_end(self, &text[..end]);
        Completion { start, end, candidates }
    }

    /// The entities and relations that begin with a text, written as outside a question: without quotes.
    pub fn complete_name(&self, beginning: &str) -> Completion {
        let graph = self.graph();
        let mut candidates = entities(graph, beginning, |text| text, None);
        candidates.extend(relations(self, beginning, |text| text));
        Completion { start: 0, end: beginning.len(), candidates }
    }
}

fn at_the_end(engine: &Engine, text: &str) -> (usize, Vec<Candidate>) {
    if Syntax::detect(text) != Syntax::Text {
        return (text.len(), Vec::new());
    }
    let place = Cursor::after(text);
    let word = &text[place.start..];
    let quoted = word.starts_with(['"', '\'']);
    let beginning = word.trim_start_matches(['"', '\'']);
    let written = |name: String| {
        let text = name_text(&name);
        if quoted && !text.starts_with('"') { format!("\"{text}\"") } else { text }
    };
    if place.in_atom {
        // Without a beginning, every entity could be meant; a question mark begins a variable.
        if beginning.is_empty() || word.starts_with('?') {
            return (place.start, Vec::new());
        }
        let kind = place.atom.and_then(|atom| kind_of(engine.graph(), text, atom));
        return (place.start, entities(engine.graph(), beginning, written, kind));
    }
    let mut found = relations(engine, beginning, |name| written(name) + "(");
    if !quoted && !beginning.is_empty() {
        let keywords = KEYWORDS.iter().filter(|word| word.starts_with(beginning));
        found.extend(keywords.map(|word| Candidate {
            kind: CandidateKind::Keyword,
            shown: (*word).to_owned(),
            replacement: format!("{word} "),
            label: None,
            edges: None,
        }));
    }
    (place.start, found)
}

/// The entities that stand where an argument of an atom is written, if its relation is one of the graph.
fn kind_of<'g>(graph: &'g Graph, text: &str, (relation, before): (Place, usize)) -> Option<&'g Members> {
    let name = text[relation.range()].trim().trim_matches(['"', '\'']);
    let relation = graph.relation(name).ok()?;
    match before {
        0 => Some(graph.sides().subject_kind(relation)),
        1 => Some(graph.sides().object_kind(relation)),
        _ => None,
    }
}

/// Entities that begin with a text; those of the kind come first.
fn entities(
    graph: &Graph,
    beginning: &str,
    written: impl Fn(String) -> String,
    kind: Option<&Members>,
) -> Vec<Candidate> {
    let edges = |id| entity_edges(graph, id);
    let fits = |id: &EntityId| kind.is_some_and(|kind| kind.contains(*id));
    names(graph, &graph.entities, CandidateKind::Entity, beginning, written, edges, fits)
}

fn relations(engine: &Engine, beginning: &str, written: impl Fn(String) -> String) -> Vec<Candidate> {
    let (graph, uses) = (engine.graph(), engine.relation_uses());
    let edges = |id: RelationId| uses.get(id.index()).copied().unwrap_or(0);
    names(graph, &graph.relations, CandidateKind::Relation, beginning, written, edges, |_| false)
}

/// The names that begin with a text or, if there are none, with its words capitalised; those that fit come first.
fn names<I: Id>(
    graph: &Graph,
    dictionary: &Dictionary<I>,
    kind: CandidateKind,
    beginning: &str,
    written: impl Fn(String) -> String,
    edges: impl Fn(I) -> usize,
    fits: impl Fn(&I) -> bool,
) -> Vec<Candidate> {
    let prefixes = &graph.prefixes;
    let spellings = [beginning.to_owned(), capitalised(beginning, 1), capitalised(beginning, usize::MAX)];
    let found = spellings.iter().map(|text| dictionary.starting_with(text, prefixes, LOOKED_AT));
    let mut ids = found.into_iter().find(|ids| !ids.is_empty()).unwrap_or_default();
    ids.sort_by_key(|id| !fits(id));
    ids.truncate(OFFERED);
    let candidate = |&id: &I| Candidate {
        kind,
        shown: dictionary.shown(id, prefixes),
        replacement: written(dictionary.readable(id, prefixes)),
        label: dictionary.label(id).map(str::to_owned),
        edges: Some(edges(id)),
    };
    ids.iter().map(candidate).collect()
}

/// `martin la` → `Martin la`, or with all words `Martin La`.
fn capitalised(text: &str, words: usize) -> String {
    let mut begins = true;
    let mut left = words;
    text.chars()
        .flat_map(|c| {
            let upper = begins && left > 0;
            left -= usize::from(upper);
            begins = c.is_whitespace();
            if upper { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::engine_of;
    use crate::graph::{GraphBuilder, Split};

    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        for (film, actor) in
            [("Bad Boys", "Martin Lawrence"), ("Hitch", "Will Smith"), ("Mean Streets", "Martin Scorsese")]
        {
            builder.add(Split::Train, film, "stars", actor);
            builder.add(Split::Train, film, "has genre", "Crime");
        }
        builder.finish().0
    }

    fn completed(text: &str) -> Vec<String> {
        let (_dir, engine) = engine_of(&graph());
        let (start, found) = at_the_end(&engine, text);
        found.iter().map(|candidate| format!("{}{}", &text[..start], candidate.replacement)).collect()
    }

    #[test]
    fn relations_are_completed_where_an_atom_begins_and_entities_within() {
        assert_eq!(completed("?A : st"), ["?A : stars("]);
        assert_eq!(completed("?A : exists F. (ha"), ["?A : exists F. (\"has genre\"("]);
        assert_eq!(completed("?A : stars(Hi"), ["?A : stars(Hitch"]);
        assert_eq!(
            completed("?A : stars(F, A) and stars(F, Wi"),
            ["?A : stars(F, A) and stars(F, \"Will Smith\""]
        );
        assert_eq!(completed("?A : exi"), ["?A : exists "]);
        assert_eq!(completed("?A : not (sta"), ["?A : not (stars("]);
        assert!(completed("SELECT ?A WHERE { ?F r:st").is_empty(), "names of SPARQL are not completed");
    }

    #[test]
    fn entities_that_stand_at_that_side_of_the_relation_come_first() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "Alien", "has genre", "Horror");
        builder.add(Split::Train, "Heat", "stars", "Al Pacino");
        builder.add(Split::Train, "Alien", "stars", "Sigourney Weaver");
        let (_dir, engine) = engine_of(&builder.finish().0);
        let first = |text: &str| at_the_end(&engine, text).1[0].shown.clone();
        assert_eq!(first("?F : stars(F, Al"), "Al Pacino");
        assert_eq!(first("?A : stars(Al"), "Alien");
        assert_eq!(first("?F : stars(F, A) and \"has genre\"(Al"), "Alien");
        assert_eq!(first("?F : nonsense(F, Al"), "Al Pacino", "an unknown relation prefers none");
    }

    #[test]
    fn candidates_say_how_many_edges_they_have() {
        let (_dir, engine) = engine_of(&graph());
        let edges = |text: &str| at_the_end(&engine, text).1[0].edges;
        assert_eq!((edges("?A : st"), edges("?A : stars(Hi"), edges("?A : exi")), (Some(3), Some(2), None));
    }

    #[test]
    fn names_with_blanks_get_their_quotes_and_capitals() {
        let both = ["?A : stars(F, \"Martin Lawrence\"", "?A : stars(F, \"Martin Scorsese\""];
        for typed in ["Martin", "\"Martin", "'Martin ", "Martin ", "martin", "martin "] {
            assert_eq!(completed(&format!("?A : stars(F, {typed}")), both, "{typed}");
        }
        assert_eq!(completed("?A : stars(F, martin s"), both[1..]);
        assert_eq!(completed("?A : \"has genre\"(F, \"Cr"), ["?A : \"has genre\"(F, \"Crime\""]);
        assert!(completed("?A : stars(F, ").is_empty(), "there could be a million");
    }
}
