//! Finds the one id that a person means by a text, or gives a message that helps.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::dictionary::Dictionary;
use super::ids::Id;
use super::nearest::nearest;
use super::visible::{restored, visible};

/// How many names a message lists.
const LISTED: usize = 5;

/// Why a name does not mean exactly one id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No name, IRI, prefixed name or label is this text. Write one of the nearest names,
    /// or look for a part of it.
    #[error("there is no {kind} '{}'{}", visible(text), suggestion(nearest))]
    Unknown {
        /// `entity` or `relation`.
        kind: &'static str,
        /// What was asked for.
        text: String,
        /// The names and labels nearest to it, best first.
        nearest: Vec<String>,
    },
    /// Several things have this label. Write the name of the one that is meant.
    #[error(
        "the label '{}' belongs to {count} {}: write the name of one of them: {}",
        visible(text), plural(kind), listing(candidates, *count)
    )]
    Ambiguous {
        /// `entity` or `relation`.
        kind: &'static str,
        /// What was asked for.
        text: String,
        /// The names of the first of them.
        candidates: Vec<String>,
        /// How many there are.
        count: usize,
    },
}

fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; the nearest: {}", quoted(names)),
    }
}

fn listing(candidates: &[String], count: usize) -> String {
    let more = if count > candidates.len() { ", …" } else { "" };
    format!("{}{more}", quoted(candidates))
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{}'", visible(name))).collect();
    quoted.join(", ")
}

fn plural(kind: &str) -> &'static str {
    if kind == "entity" { "entities" } else { "relations" }
}

/// IRI prefixes, `dbr` → `http://dbpedia.org/resource/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    by_prefix: BTreeMap<String, String>,
}

impl Prefixes {
    /// Adds a prefix; the first meaning of a prefix stays. Returns whether the prefix now means this IRI.
    pub fn insert(&mut self, prefix: &str, iri: &str) -> bool {
        self.by_prefix.entry(prefix.to_owned()).or_insert_with(|| iri.to_owned()) == iri
    }

    /// All prefixes with their IRIs, by prefix.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_prefix.iter().map(|(prefix, iri)| (prefix.as_str(), iri.as_str()))
    }

    /// The IRI of a prefixed name: `dbr:Berlin` → `http://dbpedia.org/resource/Berlin`.
    pub fn expand(&self, prefixed: &str) -> Option<String> {
        let (prefix, local) = prefixed.split_once(':')?;
        Some(format!("{}{local}", self.by_prefix.get(prefix)?))
    }

    /// The shortest prefixed name of an IRI, if a prefix fits.
    pub fn shorten(&self, iri: &str) -> Option<String> {
        let fits = |(prefix, start): (&String, &String)| {
            let local = iri.strip_prefix(start.as_str()).filter(|_| !start.is_empty())?;
            Some(format!("{prefix}:{local}"))
        };
        self.by_prefix.iter().filter_map(fits).min_by_key(String::len)
    }
}

impl<I: Id> Dictionary<I> {
    /// The id that a person means by a text: a name, an IRI with or without `<>`, a prefixed
    /// name, a label that only one id has, or `#7` for the id 7; tried in this order. A text that is not found
    /// is tried again without the escapes that it was [shown](Self::shown) with.
    pub fn resolve(&self, text: &str, prefixes: &Prefixes) -> Result<I, NameError> {
        match (self.look_up(text, prefixes), restored(text)) {
            (Err(error), Some(text)) => self.look_up(&text, prefixes).map_err(|other| match other {
                ambiguous @ NameError::Ambiguous { .. } => ambiguous,
                NameError::Unknown { .. } => error,
            }),
            (found, _) => found,
        }
    }

    fn look_up(&self, text: &str, prefixes: &Prefixes) -> Result<I, NameError> {
        let bare = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        let found = self
            .by_name(text)
            .or_else(|| self.by_name(bare?))
            .or_else(|| self.by_name(&prefixes.expand(text)?))
            .or_else(|| self.in_another_normal_form(text));
        if let Some(id) = found {
            return Ok(id);
        }
        match self.by_label(text) {
            [] => self.by_number(text).ok_or_else(|| NameError::Unknown {
                kind: I::KIND,
                text: text.to_owned(),
                nearest: nearest(self, prefixes, text, LISTED),
            }),
            &[id] => Ok(id),
            ids => Err(NameError::Ambiguous {
                kind: I::KIND,
                text: text.to_owned(),
                candidates: ids.iter().take(LISTED).map(|&id| self.readable(id, prefixes)).collect(),
                count: ids.len(),
            }),
        }
    }

    /// How to write an id so that [`resolve`](Self::resolve) finds it again and a person can
    /// read it: the label if it is unambiguous, else the prefixed name, else the name.
    pub fn readable(&self, id: I, prefixes: &Prefixes) -> String {
        if let Some(label) = self.label(id)
            && self.by_label(label).len() == 1
            && self.by_name(label).is_none()
            && prefixes.expand(label).is_none()
        {
            return label.to_owned();
        }
        let name = self.name(id);
        match prefixes.shorten(name) {
            Some(short) if self.by_name(&short).is_none() => short,
            _ => name.to_owned(),
        }
    }

    /// What to show a person in a list: the [`readable`](Self::readable) text, and where that is not
    /// the label, the label behind it: `/m/0d0x8 (Georgia)`; made [`visible`].
    pub fn shown(&self, id: I, prefixes: &Prefixes) -> String {
        let text = self.readable(id, prefixes);
        match self.label(id) {
            Some(label) if label != text => visible(&format!("{text} ({label})")).into_owned(),
            _ => visible(&text).into_owned(),
        }
    }

    /// The id of a name or label that looks the same but is made of other code points: `é` may be one or
    /// two, and keyboards and files differ in that.
    fn in_another_normal_form(&self, text: &str) -> Option<I> {
        if text.is_ascii() || !self.by_label(text).is_empty() {
            return None;
        }
        [text.nfc().collect::<String>(), text.nfd().collect()].iter().find_map(|form| {
            let label = || match self.by_label(form) {
                &[id] => Some(id),
                _ => None,
            };
            self.by_name(form).or_else(label)
        })
    }

    fn by_number(&self, text: &str) -> Option<I> {
        let index: usize = text.strip_prefix('#')?.parse().ok()?;
        (index < self.len()).then(|| I::from_index(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::EntityId;

    fn cities() -> (Dictionary<EntityId>, Prefixes) {
        let names = ["http://x.org/Berlin", "http://x.org/Paris", "http://x.org/Paris_TX", "plain"];
        let labels = ["Berlin", "Paris", "Paris", ""];
        let mut prefixes = Prefixes::default();
        prefixes.insert("x", "http://x.org/");
        (Dictionary::new(names.into_iter().collect(), labels.into_iter().collect()), prefixes)
    }

    #[test]
    fn name_iri_prefixed_name_label_and_number_all_mean_the_id() {
        let (cities, prefixes) = cities();
        for text in ["http://x.org/Berlin", "<http://x.org/Berlin>", "x:Berlin", "Berlin", "#0"] {
            assert_eq!(cities.resolve(text, &prefixes), Ok(EntityId(0)), "{text}");
        }
    }

    #[test]
    fn an_ambiguous_label_lists_the_candidates() {
        let (cities, prefixes) = cities();
        let message = cities.resolve("Paris", &prefixes).unwrap_err().to_string();
        insta::assert_snapshot!(message, @"the label 'Paris' belongs to 2 entities: write the name of one of them: 'x:Paris', 'x:Paris_TX'");
    }

    #[test]
    fn an_unknown_name_lists_the_nearest() {
        let (cities, prefixes) = cities();
        assert_eq!(
            cities.resolve("x:Berlim", &prefixes).unwrap_err().to_string(),
            "there is no entity 'x:Berlim'; the nearest: 'Berlin'"
        );
        let message = cities.resolve("Berlim", &prefixes).unwrap_err().to_string();
        insta::assert_snapshot!(message, @"there is no entity 'Berlim'; the nearest: 'Berlin'");
    }

    #[test]
    fn a_name_in_another_normal_form_is_the_same_name() {
        let names: Dictionary<EntityId> = Dictionary::new(
            ["Ame\u{301}lie", "Zo\u{eb}"].into_iter().collect(),
            crate::graph::Texts::default(),
        );
        for (text, id) in [("Am\u{e9}lie", 0), ("Ame\u{301}lie", 0), ("Zoe\u{308}", 1)] {
            assert_eq!(names.resolve(text, &Prefixes::default()), Ok(EntityId(id)), "{text}");
        }
        assert!(names.resolve("Amelie", &Prefixes::default()).is_err());
    }

    #[test]
    fn names_that_would_act_on_a_terminal_are_shown_escaped_and_found_so() {
        let names = ["a\u{1b}[31m", "b"];
        let labels = ["", "two\nlines"];
        let names: Dictionary<EntityId> =
            Dictionary::new(names.into_iter().collect(), labels.into_iter().collect());
        let prefixes = Prefixes::default();
        assert_eq!(names.shown(EntityId(0), &prefixes), r"a\u001B[31m");
        assert_eq!(names.shown(EntityId(1), &prefixes), r"two\nlines");
        for id in names.ids() {
            assert_eq!(names.resolve(&names.shown(id, &prefixes), &prefixes), Ok(id));
        }
        let error = names.resolve("a\u{1b}[32m", &prefixes).unwrap_err().to_string();
        assert_eq!(error, r"there is no entity 'a\u001B[32m'; the nearest: 'a\u001B[31m'");
    }

    #[test]
    fn what_is_readable_resolves_to_the_same_id() {
        let (cities, prefixes) = cities();
        let readable: Vec<String> = cities.ids().map(|id| cities.readable(id, &prefixes)).collect();
        assert_eq!(readable, ["Berlin", "x:Paris", "x:Paris_TX", "plain"]);
        assert_eq!(cities.shown(EntityId(1), &prefixes), "x:Paris (Paris)");
        for (id, text) in cities.ids().zip(&readable) {
            assert_eq!(cities.resolve(text, &prefixes), Ok(id));
        }
    }
}
