//! How many entities and relations there are, and what they are called.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{Folder, FolderError};
use crate::import::pickle::{Kind, Pickle};

const STATS: &str = "stats.txt";
/// How much of a bad line a message shows.
const SHOWN: usize = 80;

#[derive(Default)]
struct Stats {
    entities: Option<u64>,
    relations: Option<u64>,
}

impl Folder<'_> {
    pub(super) fn read_names(&mut self, entity_names: &str, relation_names: &str) -> Result<(), FolderError> {
        let stats = self.stats()?;
        (self.entities, self.report.renamed_entities) =
            self.add_names(entity_names, "entities", stats.entities, |folder, name| {
                folder.builder.entity(name);
            })?;
        (self.relations, self.report.renamed_relations) =
            self.add_names(relation_names, "relations", stats.relations, |folder, name| {
                folder.builder.relation(name);
            })?;
        Ok(())
    }

    fn stats(&self) -> Result<Stats, FolderError> {
        let mut stats = Stats::default();
        if !self.has(STATS) {
            return Ok(stats);
        }
        let bytes = self.bytes(STATS)?;
        for (line, text) in (1..).zip(String::from_utf8_lossy(&bytes).lines()) {
            let wrong = |expected| FolderError::Line {
                path: self.path(STATS),
                line,
                expected,
                found: text.chars().take(SHOWN).collect(),
            };
            let place = match text.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
                None if text.trim().is_empty() => continue,
                Some(("numentity", value)) => (&mut stats.entities, value),
                Some(("numrelations", value)) => (&mut stats.relations, value),
                _ => return Err(wrong("'numentity: N' or 'numrelations: M'")),
            };
            *place.0 = Some(place.1.parse().map_err(|_| wrong("a number after the colon"))?);
        }
        Ok(stats)
    }

    /// Gives the names to the builder in the order of their ids; returns how many there are and how
    /// many were made unique.
    fn add_names(
        &mut self,
        file: &str,
        kind: &'static str,
        stats: Option<u64>,
        add: impl Fn(&mut Self, &str),
    ) -> Result<(usize, usize), FolderError> {
        if !self.has(file) {
            let path = self.dir.to_owned();
            let count = stats.ok_or_else(|| FolderError::NoCount { path, names: file.to_owned(), kind })?;
            self.check_plausible(kind, count)?;
            for id in 0..count {
                add(self, &id.to_string());
            }
            return Ok((count as usize, 0));
        }
        let pickle = self.pickle(file)?;
        let mut names = self.names_by_id(file, &pickle)?;
        if let Some(stats) = stats.filter(|&stats| stats != names.len() as u64) {
            let path = self.path(file);
            return Err(FolderError::Inconsistent { path, kind, stats, names: names.len() });
        }
        let renamed = make_unique(&mut names);
        for name in &names {
            add(self, name);
        }
        Ok((names.len(), renamed))
    }

    /// A small `stats.txt` must not ask for a table of billions of names.
    fn check_plausible(&self, kind: &'static str, count: u64) -> Result<(), FolderError> {
        let io = |source| FolderError::Io { path: self.dir.to_owned(), source };
        let mut bytes = 0;
        for entry in std::fs::read_dir(self.dir).map_err(io)? {
            bytes += entry.and_then(|entry| entry.metadata()).map_err(io)?.len();
        }
        if count <= bytes && u32::try_from(count).is_ok() {
            return Ok(());
        }
        Err(FolderError::Implausible { path: self.path(STATS), kind, count, bytes })
    }

    fn names_by_id<'p>(&self, file: &str, pickle: &'p Pickle) -> Result<Vec<Cow<'p, str>>, FolderError> {
        let root = pickle.root();
        let entries = root.as_dict().ok_or_else(|| self.malformed(file, "a dict from ids to names", root))?;
        let count = entries.len();
        let gap =
            |found| FolderError::NameGap { path: self.path(file), last: count.saturating_sub(1), found };
        let mut names: Vec<Option<Cow<'p, str>>> = vec![None; count];
        for (id, name) in entries {
            let text = match name.kind() {
                Kind::Str(text) => Cow::Borrowed(text),
                Kind::Int(number) => Cow::Owned(number.to_string()),
                _ => return Err(self.malformed(file, format!("a text as the name of {id}"), name)),
            };
            self.pay(text.len(), file)?;
            let place = id.as_int().and_then(|id| names.get_mut(usize::try_from(id).ok()?));
            let place = place.ok_or_else(|| gap(format!("the id {id}")))?;
            if place.replace(text).is_some() {
                return Err(gap(format!("two names for the id {id}")));
            }
        }
        // As many entries as ids, each id once: none is missing.
        Ok(names.into_iter().flatten().collect())
    }
}

/// Puts ` (2)`, ` (3)`, … behind names that an earlier id has, skipping names that are taken; returns
/// how many were changed. Without this two ids would become one, and all later ids would shift.
fn make_unique(names: &mut [Cow<'_, str>]) -> usize {
    let mut taken: HashSet<String> = HashSet::new();
    let distinct: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
    if distinct.len() == names.len() {
        return 0;
    }
    let given: HashSet<String> = distinct.into_iter().map(str::to_owned).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    let mut renamed = 0;
    for name in names {
        if taken.insert(name.to_string()) {
            continue;
        }
        let number = next.entry(name.to_string()).or_insert(1);
        let unique = loop {
            *number += 1;
            let candidate = format!("{name} ({number})");
            if !given.contains(&candidate) && taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        *name = Cow::Owned(unique);
        renamed += 1;
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_repeated_name_gets_a_number_that_no_other_name_has() {
        let mut names = ["Paris", "Paris", "Paris (2)", "Rome", "Paris"].map(Cow::Borrowed);
        assert_eq!(make_unique(&mut names), 2);
        assert_eq!(names, ["Paris", "Paris (3)", "Paris (2)", "Rome", "Paris (4)"]);
    }

    proptest! {
        #[test]
        fn names_end_up_distinct_and_the_first_of_each_is_kept(
            given in prop::collection::vec("a( \\([23]\\)){0,2}", 0..12)
        ) {
            let mut names: Vec<Cow<'_, str>> = given.iter().map(|name| Cow::Borrowed(name.as_str())).collect();
            let renamed = make_unique(&mut names);
            let distinct: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
            prop_assert_eq!(distinct.len(), names.len());
            let first: HashSet<&String> = given.iter().collect();
            prop_assert_eq!(renamed, given.len() - first.len());
            for (index, name) in given.iter().enumerate() {
                if !given[..index].contains(name) {
                    prop_assert_eq!(&names[index], name);
                }
            }
        }
    }
}
