//! Hides true facts, so that a demonstration can show answers which the graph does not contain.

use std::collections::BTreeMap;

use relatum::graph::Split;
use relatum::random::Rng;

use super::Fact;

/// One fact in twenty.
const SHARE: f64 = 0.05;
const SEED: u64 = 1;
/// Always held out: the only thriller among the films whose genres the paper asks for. The graph does not
/// say that it is a thriller; a good answer does.
const SHOWN: [&str; 3] = ["Bad Boys (1995)", "has_genre", "Thriller"];
/// Facts that a film or a name keeps at least, so that there is something to infer the hidden ones from.
const KEPT: usize = 3;

/// Every fact with its split; half of the held-out facts are `valid`, half `test`.
///
/// A fact can be held out if
/// - its film keeps another fact of the same relation: another star, another genre. A film without
///   any director or language would look damaged rather than incomplete, and relations with one
///   value a film (decade, certificate, reviews, Oscars) are whole for the same reason;
/// - less than half of the films share its object: guessing English or the United States would be too easy;
/// - film and object keep [`KEPT`] facts.
///
/// Within these rules the choice is uniform, so that the held-out part looks like the graph:
/// mostly stars, then genres, companies, countries, writers and languages.
pub(super) fn split(facts: Vec<Fact>) -> Vec<(Fact, &'static str)> {
    let films = facts.chunk_by(|a, b| a.film == b.film).count();
    let mut in_relation: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut degree: BTreeMap<&str, usize> = BTreeMap::new();
    for fact in &facts {
        *in_relation.entry((&fact.film, fact.relation)).or_default() += 1;
        *degree.entry(&fact.film).or_default() += 1;
        *degree.entry(&fact.object).or_default() += 1;
    }
    let mut order: Vec<usize> =
        (0..facts.len()).filter(|&at| degree[facts[at].object.as_str()] * 2 < films).collect();
    Rng::new(SEED).shuffle(&mut order);
    let shown = |&at: &usize| [facts[at].film.as_str(), facts[at].relation, &facts[at].object] == SHOWN;
    order.sort_by_key(|at| !shown(at));

    let wanted = (facts.len() as f64 * SHARE).round() as usize;
    let mut splits = vec![Split::Train; facts.len()];
    let mut hidden = 0;
    for at in order {
        let fact = &facts[at];
        let siblings = in_relation[&(fact.film.as_str(), fact.relation)];
        let free = [&fact.film, &fact.object].iter().all(|name| degree[name.as_str()] > KEPT);
        if hidden == wanted || siblings < 2 || !free {
            continue;
        }
        splits[at] = if hidden % 2 == 0 { Split::Test } else { Split::Valid };
        hidden += 1;
        *in_relation.entry((&fact.film, fact.relation)).or_default() -= 1;
        *degree.entry(&fact.film).or_default() -= 1;
        *degree.entry(&fact.object).or_default() -= 1;
    }
    facts.into_iter().zip(splits).map(|(fact, split)| (fact, split.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty films with six of sixteen stars each, two genres and a decade; all are in English.
    fn facts() -> Vec<Fact> {
        let mut facts = Vec::new();
        for film in 0..40 {
            let mut add = |relation, object: String| {
                facts.push(Fact { film: format!("Film {film:02}"), relation, object });
            };
            (0..6).for_each(|star| add("stars", format!("Star {}", (film * 5 + star * 3) % 16)));
            (0..2).for_each(|genre| add("has_genre", format!("Genre {}", (film + genre) % 6)));
            add("released_in_decade", format!("{}s", 1950 + film % 4 * 10));
            add("in_language", "English".to_owned());
        }
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    #[test]
    fn one_fact_in_twenty_is_held_out_and_only_where_the_film_keeps_another() {
        let split = split(facts());
        let held_out: Vec<&Fact> =
            split.iter().filter(|(_, split)| *split != "train").map(|(fact, _)| fact).collect();
        assert_eq!(held_out.len(), 20);
        for fact in held_out {
            let sibling = |(other, split): &(Fact, &str)| {
                *split == "train" && other.film == fact.film && other.relation == fact.relation
            };
            assert!(split.iter().any(sibling), "{fact:?} was the last of its kind");
            assert!(matches!(fact.relation, "stars" | "has_genre"), "{fact:?}");
        }
    }

    #[test]
    fn the_same_facts_are_held_out_every_time() {
        assert_eq!(split(facts()), split(facts()));
    }
}
