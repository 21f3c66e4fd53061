//! Keeps the part of the database that people know and that is densely connected.
//!
//! 1. The most prominent films, and every film of Martin Lawrence, whose genres the paper asks for.
//! 2. For a director with no other film among them, one more: the most prominent of the others.
//! 3. Peeling, until nothing changes: names and films with too few facts are removed.
//!    What remains is the largest set in which every member has enough facts; since a name or film
//!    that falls short now can only fall shorter later, the order of peeling does not matter.
//!
//! Peeling alone (a k-core with one high k) was tried first and threw out Casablanca, Psycho and
//! The Lion King while keeping every minor film of the 2000s: casts of that time are recorded best.
//! So prominence chooses the films, and peeling only removes what a link predictor cannot learn.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use super::Fact;
use super::names;
use super::source::Film;

/// How many of the most prominent films the core starts from.
const PROMINENT: usize = 1500;
/// The actor whose films are all kept.
const HERO: &str = "Martin Lawrence";
/// Facts that a star or writer must be part of.
const FACTS_OF_A_PERSON: usize = 3;
/// Facts of a director: fewer, because what people ask first about a film is who made it.
const FACTS_OF_A_DIRECTOR: usize = 2;
/// Facts of a company, country, language, certificate, ...
const FACTS_OF_A_THING: usize = 5;
/// Facts of a film, a director and a genre among them.
const FACTS_OF_A_FILM: usize = 7;

/// The facts of the core, sorted.
pub(super) fn core(films: &[Film]) -> Result<Vec<Fact>> {
    let facts: Vec<Vec<Fact>> = by_prominence(films).into_iter().map(names::facts).collect();
    let starts = |place: usize| place < PROMINENT || facts[place].iter().any(|fact| fact.object == HERO);
    let mut chosen: BTreeSet<usize> = (0..facts.len()).filter(|&place| starts(place)).collect();
    accompany_directors(&facts, &mut chosen);
    let titles: BTreeSet<&str> = chosen.iter().map(|&place| facts[place][0].film.as_str()).collect();
    ensure!(titles.len() == chosen.len(), "two of the films have the same title and year");
    let people: BTreeSet<&str> =
        facts.iter().flatten().filter(|fact| is_credit(fact)).map(|fact| fact.object.as_str()).collect();
    let mut core: Vec<Fact> = chosen.iter().flat_map(|&place| facts[place].iter().cloned()).collect();
    // A producer's own name among the companies is not a company.
    core.retain(|fact| fact.relation != "produced_by" || !people.contains(fact.object.as_str()));
    peel(&mut core);
    core.sort_unstable();
    check_names(&core)?;
    Ok(core)
}

/// Two things of one name would become one node of the graph, so this is an error. If it occurs, tell them
/// apart in [`names`].
fn check_names(core: &[Fact]) -> Result<()> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    for fact in core {
        let kind = match fact.relation {
            _ if is_credit(fact) => "person",
            "won" | "nominated_for" => "award",
            relation => relation,
        };
        for (name, kind) in [(&fact.film, "film"), (&fact.object, kind)] {
            let first = *kinds.entry(name).or_insert(kind);
            ensure!(first == kind, "'{name}' is the name of two things, by its use as {first} and as {kind}");
        }
    }
    Ok(())
}

/// The films, the most prominent first.
///
/// Prominence is the number of reviews as a multiple of what the films at the top tenth of the decade
/// have, because reviews have multiplied with the web; a success at the box office and an Oscar
/// nomination add to it, because audiences and the Academy remember films that critics did not count.
fn by_prominence(films: &[Film]) -> Vec<&Film> {
    let mut reviews: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for film in films {
        reviews.entry(film.year / 10).or_default().push(film.reviews.unwrap_or(0));
    }
    for counts in reviews.values_mut() {
        counts.sort_unstable_by(|a, b| b.cmp(a));
    }
    let prominence = |film: &Film| {
        let counts = &reviews[&(film.year / 10)];
        let of_decade = f64::from(film.reviews.unwrap_or(0)) / f64::from(counts[counts.len() / 10].max(1));
        let success = if film.box_office.unwrap_or(0.0) >= 50e6 { 0.35 } else { 0.0 };
        let honour = if names::nominated(film) { 0.25 } else { 0.0 };
        of_decade + success + honour
    };
    let mut ranked: Vec<&Film> = films.iter().collect();
    ranked.sort_by(|a, b| prominence(b).total_cmp(&prominence(a)).then(a.id.cmp(&b.id)));
    ranked
}

/// Adds, for each chosen film none of whose directors has a second chosen film, the most
/// prominent other film that one of them directed.
fn accompany_directors(facts: &[Vec<Fact>], chosen: &mut BTreeSet<usize>) {
    let mut directed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut credited: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (place, fact) in
        facts.iter().enumerate().flat_map(|(place, facts)| facts.iter().map(move |f| (place, f)))
    {
        if fact.relation == "directed_by" {
            directed.entry(&fact.object).or_default().push(place);
        }
        if is_credit(fact) {
            credited.entry(&fact.object).or_default().insert(place);
        }
    }
    for place in chosen.clone() {
        let directors: Vec<&str> = directors(&facts[place]).collect();
        let known = |director: &&str| credited[*director].intersection(chosen).count() >= 2;
        if !directors.iter().any(known) {
            let others = directors.iter().flat_map(|director| &directed[director]);
            chosen.extend(others.filter(|other| !chosen.contains(other)).min().copied());
        }
    }
}

fn directors(facts: &[Fact]) -> impl Iterator<Item = &str> {
    facts.iter().filter(|fact| fact.relation == "directed_by").map(|fact| fact.object.as_str())
}

fn is_credit(fact: &Fact) -> bool {
    matches!(fact.relation, "stars" | "directed_by" | "written_by")
}

fn peel(facts: &mut Vec<Fact>) {
    loop {
        let mut degree: BTreeMap<&str, usize> = BTreeMap::new();
        let mut relations: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for fact in facts.iter() {
            *degree.entry(&fact.object).or_default() += 1;
            relations.entry(&fact.film).or_default().push(fact.relation);
        }
        let all_directors: BTreeSet<&str> = directors(facts).collect();
        let name_stays = |fact: &Fact| {
            let needed = match is_credit(fact) {
                true if all_directors.contains(fact.object.as_str()) => FACTS_OF_A_DIRECTOR,
                true => FACTS_OF_A_PERSON,
                false => FACTS_OF_A_THING,
            };
            degree[fact.object.as_str()] >= needed
        };
        let film_stays = |film: &str| {
            let relations = &relations[film];
            let complete = relations.contains(&"directed_by") && relations.contains(&"has_genre");
            complete && relations.len() >= FACTS_OF_A_FILM
        };
        let stays: Vec<bool> = facts.iter().map(|fact| name_stays(fact) && film_stays(&fact.film)).collect();
        if stays.iter().all(|&stays| stays) {
            return;
        }
        let mut stays = stays.into_iter();
        facts.retain(|_| stays.next() == Some(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(film: &str, relation: &'static str, object: &str) -> Fact {
        Fact { film: film.to_owned(), relation, object: object.to_owned() }
    }

    /// Films `0..count` of one director, each with seven facts all of which are shared.
    fn series(count: usize) -> Vec<Fact> {
        let shared = [
            ("directed_by", "Dora"),
            ("has_genre", "Drama"),
            ("has_genre", "Comedy"),
            ("in_language", "English"),
            ("produced_in", "France"),
            ("released_in_decade", "1990s"),
            ("received", "good reviews"),
        ];
        let film =
            |number| shared.map(|(relation, object)| fact(&format!("Film {number}"), relation, object));
        (0..count).flat_map(film).collect()
    }

    #[test]
    fn peeling_keeps_what_meets_every_bar() {
        let mut facts = series(5);
        peel(&mut facts);
        assert_eq!(facts, series(5));
    }

    #[test]
    fn one_film_too_few_brings_everything_down() {
        let mut facts = series(4);
        peel(&mut facts);
        assert!(
            facts.is_empty(),
            "a genre of four films is removed, and with it the films and their director"
        );
    }

    #[test]
    fn a_star_needs_more_films_than_a_director() {
        let mut facts = series(5);
        for (relation, person) in [("stars", "Extra"), ("directed_by", "Second")] {
            facts.extend((0..2).map(|number| fact(&format!("Film {number}"), relation, person)));
        }
        peel(&mut facts);
        assert!(!facts.iter().any(|fact| fact.object == "Extra"));
        assert_eq!(facts.iter().filter(|fact| fact.object == "Second").count(), 2);
    }

    #[test]
    fn a_director_of_one_chosen_film_brings_the_next_best() {
        let facts = [("A", "Dora"), ("B", "Else"), ("C", "Dora"), ("D", "Dora")]
            .map(|(film, director)| vec![fact(film, "directed_by", director)]);
        let mut chosen = BTreeSet::from([0]);
        accompany_directors(&facts, &mut chosen);
        assert_eq!(chosen, BTreeSet::from([0, 2]));
    }

    #[test]
    fn one_name_for_two_things_is_refused() {
        let facts = [fact("A", "has_genre", "French"), fact("A", "in_language", "French")];
        assert!(check_names(&facts).is_err());
        assert!(check_names(&facts[..1]).is_ok());
    }
}
