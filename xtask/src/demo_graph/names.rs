//! Turns a row of the database into facts whose names read as a person would write them.

use super::Fact;
use super::source::Film;

/// Percentages of favourable reviews from which they count as good and as mixed: what Rotten
/// Tomatoes calls fresh, and its mirror image.
const GOOD: u32 = 60;
const MIXED: u32 = 40;

/// Everything the database says about a film, in the relations of the graph, sorted.
pub(super) fn facts(film: &Film) -> Vec<Fact> {
    let name = title(film);
    let mut facts = Vec::new();
    let mut add = |relation, object: String| facts.push(Fact { film: name.clone(), relation, object });
    let credits = [("stars", &film.stars), ("directed_by", &film.directors), ("written_by", &film.writers)];
    for (relation, people) in credits {
        for person in list(people.as_ref()).iter().flat_map(|label| members(label)) {
            add(relation, person_name(&person, relation, film.year));
        }
    }
    let lists = [
        ("has_genre", &film.genres),
        ("in_language", &film.languages),
        ("produced_in", &film.countries),
        ("produced_by", &film.companies),
    ];
    for (relation, things) in lists {
        for thing in list(things.as_ref()) {
            add(relation, usual_name(&thing).to_owned());
        }
    }
    add("released_in_decade", decade(film));
    if let Some(rating) = film.rating.as_ref().filter(|rating| !rating.is_empty()) {
        // As it is printed on the poster: a bare `R` would pass for a variable of a question.
        add("rated", format!("Rated {rating}"));
    }
    if film.awards.as_ref().is_some_and(|awards| awards.contains("Won")) {
        add("won", "Oscar".to_owned());
    }
    if nominated(film) {
        add("nominated_for", "Oscar".to_owned());
    }
    if let Some(meter) = film.meter {
        let verdict = if meter >= GOOD {
            "good reviews"
        } else if meter >= MIXED {
            "mixed reviews"
        } else {
            "bad reviews"
        };
        add("received", verdict.to_owned());
    }
    facts.sort_unstable();
    facts.dedup();
    facts
}

/// `Bad Boys (1995)`: the year tells films of one title apart.
fn title(film: &Film) -> String {
    let title = tidy(&film.title);
    // A few labels came with the suffix of their Wikipedia article: `Faust (2011 film)`.
    let bare = title.strip_suffix("film)").and_then(|start| start.rsplit_once(" (")).map(|(bare, _)| bare);
    format!("{} ({})", bare.unwrap_or(&title), film.year)
}

/// `1990s`.
fn decade(film: &Film) -> String {
    format!("{}s", film.year / 10 * 10)
}

/// Whether the film was nominated for an Oscar.
pub(super) fn nominated(film: &Film) -> bool {
    film.awards.as_ref().is_some_and(|awards| awards.contains("Nominated"))
}

/// The parts of `A, B, Jr., C, 7th Earl of D`: A, B Jr., C.
fn list(text: Option<&String>) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.into_iter().flat_map(|text| text.split(", ")) {
        let part = tidy(part);
        match parts.last_mut() {
            Some(last) if matches!(part.as_str(), "Jr." | "Sr." | "III") => {
                last.push(' ');
                last.push_str(&part);
            }
            Some(last) if matches!(part.as_str(), "Inc." | "Ltd." | "LLC") => {
                last.push_str(", ");
                last.push_str(&part);
            }
            Some(_) if is_title_of_nobility(&part) => {}
            _ if part.is_empty() || is_junk(&part) => {}
            _ => parts.push(part),
        }
    }
    parts
}

/// Replaces typographic marks by those of any keyboard, so that a name can be typed.
fn tidy(text: &str) -> String {
    text.trim().replace(['–', '—'], "-").replace(['’', '"'], "'")
}

fn is_title_of_nobility(part: &str) -> bool {
    let ordinal = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
    ordinal.len() < part.len() && ["st ", "nd ", "rd ", "th "].iter().any(|end| ordinal.starts_with(end))
}

/// Whether a part is not a person, genre or company: an id without a label, a list, a job.
fn is_junk(part: &str) -> bool {
    let is_id = part.strip_prefix('Q').is_some_and(|id| id.parse::<u64>().is_ok());
    is_id || part.contains("://") || part.starts_with("list of ") || part == "multiple languages"
}

/// The people behind a joint label.
fn members(label: &str) -> Vec<String> {
    let people: &[&str] = match label {
        "the Wachowskis" => &["Lana Wachowski", "Lilly Wachowski"],
        "Coen brothers" => &["Joel Coen", "Ethan Coen"],
        "Christopher Markus and Stephen McFeely" => &["Christopher Markus", "Stephen McFeely"],
        person => &[person],
    };
    people.iter().map(ToString::to_string).collect()
}

/// The database knows people by label only. Namesakes, which were found by long gaps in careers, are
/// told apart by what they did, or when.
fn person_name(name: &str, relation: &str, year: u32) -> String {
    match (name, relation, year) {
        ("Steve McQueen", _, ..=1980) => format!("{name} (actor)"),
        ("Steve McQueen", _, _) => format!("{name} (director)"),
        ("Graham Greene", "written_by", _) => format!("{name} (writer)"),
        ("Graham Greene", _, _) => format!("{name} (actor)"),
        (
            "Jack Bannon" | "John Alexander" | "Michael Hogan" | "Michael Moore" | "Rhys Williams"
            | "Robert Walker" | "Thomas Mitchell",
            _,
            ..=1980,
        ) => format!("{name} (the elder)"),
        _ => name.to_owned(),
    }
}

/// One name where the database has several for one thing, and the name of the time for a company
/// that has changed it since.
fn usual_name(label: &str) -> &str {
    match label {
        "American English" => "English",
        "Modern Greek" => "Greek",
        "Modern Hebrew" => "Hebrew",
        "Kurdish language" => "Kurdish",
        "Standard Chinese" | "Putonghua" | "Standard Taiwanese Mandarin" => "Mandarin",
        "Yue Chinese" => "Cantonese",
        "People's Republic of China" => "China",
        "British Hong Kong" => "Hong Kong",
        "20th Century Studios" => "20th Century Fox",
        "Searchlight Pictures" => "Fox Searchlight Pictures",
        "Spyglass Media Group" => "Spyglass Entertainment",
        "Warner Bros. Entertainment" | "Warner Bros. Pictures" => "Warner Bros.",
        "Film4 Productions" => "Film4",
        "BBC Film" => "BBC Films",
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(title: &str, year: u32) -> Film {
        let nothing = "genres directors writers stars languages countries companies awards";
        let mut row = serde_json::json!({"id": 1, "title": title, "year": year});
        for column in nothing.split(' ').chain(["rating", "meter", "reviews", "box_office"]) {
            row[column] = serde_json::Value::Null;
        }
        serde_json::from_value(row).unwrap()
    }

    fn objects(film: &Film, relation: &str) -> Vec<String> {
        facts(film).into_iter().filter(|fact| fact.relation == relation).map(|fact| fact.object).collect()
    }

    #[test]
    fn a_film_is_named_by_title_and_year_without_the_suffix_of_its_article() {
        assert_eq!(title(&film("Bad Boys", 1995)), "Bad Boys (1995)");
        assert_eq!(title(&film("Faust (2011 film)", 2011)), "Faust (2011)");
        assert_eq!(title(&film("Godspell (film)", 1973)), "Godspell (1973)");
        assert_eq!(
            title(&film("Star Wars: Episode IV – A New Hope", 1977)),
            "Star Wars: Episode IV - A New Hope (1977)"
        );
    }

    #[test]
    fn a_comma_inside_a_name_does_not_divide_it() {
        let text = "Ed Begley, Jr., Tim Bentinck, 12th Earl of Portland, Will Smith".to_owned();
        assert_eq!(list(Some(&text)), ["Ed Begley Jr.", "Tim Bentinck", "Will Smith"]);
        assert_eq!(list(Some(&"The Firm, Inc.".to_owned())), ["The Firm, Inc."]);
    }

    #[test]
    fn parts_that_are_not_names_are_left_out() {
        let text = "Q4115189, list of Harry Potter cast members, , Mako".to_owned();
        assert_eq!(list(Some(&text)), ["Mako"]);
        assert!(list(None).is_empty());
    }

    #[test]
    fn namesakes_are_told_apart_and_joint_labels_taken_apart() {
        let mut bullitt = film("Bullitt", 1968);
        bullitt.stars = Some("Steve McQueen".to_owned());
        let mut shame = film("Shame", 2011);
        shame.directors = Some("Steve McQueen".to_owned());
        shame.writers = Some("the Wachowskis".to_owned());
        assert_eq!(objects(&bullitt, "stars"), ["Steve McQueen (actor)"]);
        assert_eq!(objects(&shame, "directed_by"), ["Steve McQueen (director)"]);
        assert_eq!(objects(&shame, "written_by"), ["Lana Wachowski", "Lilly Wachowski"]);
    }

    #[test]
    fn a_film_without_awards_or_reviews_has_none() {
        let mut plain = film("Plain", 1950);
        assert_eq!(facts(&plain).len(), 1, "only its decade");
        plain.awards = Some("Nominated for 2 Oscars.".to_owned());
        plain.meter = Some(60);
        assert_eq!(objects(&plain, "nominated_for"), ["Oscar"]);
        assert!(objects(&plain, "won").is_empty());
        assert_eq!(objects(&plain, "received"), ["good reviews"]);
    }
}
