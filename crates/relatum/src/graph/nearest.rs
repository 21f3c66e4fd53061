//! Names near a mistyped one, and names that contain a text; both scan every name, in parallel.

use std::cmp::Reverse;

use memchr::memmem;
use rapidfuzz::distance::levenshtein;
use rayon::prelude::*;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::dictionary::Dictionary;
use super::ids::Id;
use super::names::Prefixes;

/// The readable forms of the ids whose name or label is nearest to `text`, best first.
///
/// A name is near, without regard to case and accents, if it equals the text or is within a third of its
/// length in edit distance; if the text is the end of the name after a prefix or a space (`person:Stanley
/// Kubrick`), its beginning, or any part of it; or if the name is the beginning or end of the text. If no
/// name is near, those with a word within a third of the length of a single word are (`kubrik` for `Stanley
/// Kubrick`), and else those with the longest shared beginning. Of an IRI only the part after the last
/// `/` or `#` counts, because that is the part people type.
pub(super) fn nearest<I: Id>(
    dictionary: &Dictionary<I>,
    prefixes: &Prefixes,
    text: &str,
    count: usize,
) -> Vec<String> {
    let expanded = prefixes.expand(text);
    let wanted = Wanted::new(local_part(expanded.as_deref().unwrap_or(text)));
    let mut scored = costs(dictionary, |name, buffer| wanted.cost(name, buffer));
    if scored.is_empty() && wanted.is_word() {
        scored = costs(dictionary, |name, buffer| wanted.cost_of_word(name, buffer));
    }
    if scored.is_empty() {
        return neighbours(dictionary, prefixes, text, count);
    }
    let keep = count.min(scored.len());
    if keep < scored.len() {
        scored.select_nth_unstable(keep);
    }
    scored.truncate(keep);
    scored.sort_unstable();
    scored.into_iter().map(|(_, _, id)| dictionary.readable(id, prefixes)).collect()
}

/// Every id whose name or label has a cost, with it and the length of what is shown.
fn costs<I: Id>(
    dictionary: &Dictionary<I>,
    cost: impl Fn(&str, &mut Vec<u8>) -> Option<usize> + Sync,
) -> Vec<(usize, usize, I)> {
    (0..dictionary.len())
        .into_par_iter()
        .map_init(Vec::new, |buffer, index| {
            let id = I::from_index(index);
            let by_label = dictionary.label(id).and_then(|label| cost(label, buffer));
            let by_name = cost(local_part(dictionary.name(id)), buffer);
            let best = by_label.into_iter().chain(by_name).min()?;
            Some((best, dictionary.display(id).len(), id))
        })
        .flatten()
        .collect()
}

/// What was typed, ready to be compared with a million names.
struct Wanted {
    /// Without case and accents.
    text: Vec<u8>,
    part: memmem::Finder<'static>,
    comparator: levenshtein::BatchComparator<u8>,
    /// The largest edit distance that counts as near.
    cutoff: usize,
}

impl Wanted {
    /// The fewest bytes with which a text is looked for inside names, and at their beginning.
    const PART: usize = 3;
    const BEGINNING: usize = 2;
    /// The fewest bytes of a word that is compared with single words: shorter ones resemble too many.
    const WORD: usize = 4;

    fn new(text: &str) -> Self {
        let mut folded = Vec::new();
        fold(text, &mut folded);
        Self {
            part: memmem::Finder::new(&folded).into_owned(),
            comparator: levenshtein::BatchComparator::new(folded.iter().copied()),
            cutoff: (folded.len() / 3).clamp(1, 8),
            text: folded,
        }
    }

    /// How far a name is from what was typed: its edit distance where that is small; 1 for a name that
    /// ends with the typed text after a prefix; names that contain the text elsewhere rank behind small mistakes.
    fn cost(&self, candidate: &str, buffer: &mut Vec<u8>) -> Option<usize> {
        fold(candidate, buffer);
        let by_part = self.cost_of_part(buffer);
        let (longer, shorter) = if buffer.len() > self.text.len() {
            (buffer.len(), self.text.len())
        } else {
            (self.text.len(), buffer.len())
        };
        if longer - shorter > self.cutoff {
            return by_part;
        }
        let args = levenshtein::Args::default().score_cutoff(self.cutoff);
        let by_distance = self.comparator.distance_with_args(buffer.iter().copied(), &args);
        by_part.into_iter().chain(by_distance).min()
    }

    /// Whether it is a single word, long enough to be compared with the words of names.
    fn is_word(&self) -> bool {
        self.text.len() >= Self::WORD && self.text.iter().all(|&byte| is_word(byte))
    }

    /// The edit distance of the nearest word of a name, if that is small.
    fn cost_of_word(&self, candidate: &str, buffer: &mut Vec<u8>) -> Option<usize> {
        fold(candidate, buffer);
        let args = levenshtein::Args::default().score_cutoff(self.cutoff);
        let words = buffer.split(|&byte| !is_word(byte)).filter(|word| word.len() >= Self::WORD);
        words.filter_map(|word| self.comparator.distance_with_args(word.iter().copied(), &args)).min()
    }

    fn cost_of_part(&self, candidate: &[u8]) -> Option<usize> {
        let wanted = self.text.as_slice();
        let begins_word = |text: &[u8], at: usize| at == 0 || !is_word(text[at - 1]);
        let ends_word = |text: &[u8], at: usize| at == text.len() || !is_word(text[at]);
        if candidate.len() <= wanted.len() {
            // The typed text contains the name and more: `person:Stanley Kubrick` for `Stanley Kubrick`.
            let rest = wanted.len() - candidate.len();
            let enough = candidate.len() > Self::PART && candidate.len() >= rest;
            let within = (wanted.ends_with(candidate) && begins_word(wanted, rest))
                || (wanted.starts_with(candidate) && ends_word(wanted, candidate.len()));
            return (enough && within).then_some(self.cutoff);
        }
        if wanted.len() >= Self::PART
            && candidate.ends_with(wanted)
            && begins_word(candidate, candidate.len() - wanted.len())
        {
            return Some(1);
        }
        if wanted.len() >= Self::BEGINNING && candidate.starts_with(wanted) {
            return Some(self.cutoff);
        }
        if wanted.len() < Self::PART {
            return None;
        }
        let at = self.part.find(candidate)?;
        let whole_words = begins_word(candidate, at) && ends_word(candidate, at + wanted.len());
        Some(if whole_words { self.cutoff } else { self.cutoff + 1 })
    }
}

/// Letters and digits; every byte of a letter beyond ASCII counts as one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Writes a text without case and accents: `Amélie` and `AMELIE` become `amelie`, whichever of its normal
/// forms the text is in.
fn fold(text: &str, folded: &mut Vec<u8>) {
    folded.clear();
    if text.is_ascii() {
        folded.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        return;
    }
    for c in text.chars() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase() as u8);
            continue;
        }
        // Combining marks are dropped, so their order, which normal forms fix too, does not matter. Lower case
        // may bring a mark of its own: `İ` becomes `i` and a dot.
        decompose_compatible(c, |part| {
            for letter in part.to_lowercase().filter(|&letter| !is_combining_mark(letter)) {
                folded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        });
    }
}

/// Where no name is near: those that share the longest beginning with the text, exactly as typed.
fn neighbours<I: Id>(
    dictionary: &Dictionary<I>,
    prefixes: &Prefixes,
    text: &str,
    count: usize,
) -> Vec<String> {
    const AT_LEAST: usize = 3;
    let mut shared: Vec<(Reverse<usize>, I)> = Vec::new();
    for (order, texts) in
        [(&dictionary.by_name, &dictionary.names), (&dictionary.by_label, &dictionary.labels)]
    {
        let place = order.partition_point(|id| texts.bytes_at(id.index()) < text.as_bytes());
        // In sorted order the longest shared beginnings stand around the place of the text.
        let around = place.saturating_sub(count)..(place + count).min(order.len());
        shared.extend(order[around].iter().filter_map(|&id| {
            let same =
                texts.bytes_at(id.index()).iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
            (same >= AT_LEAST).then_some((Reverse(same), id))
        }));
    }
    shared.sort_unstable();
    shared.dedup_by_key(|(_, id)| *id);
    shared.into_iter().take(count).map(|(_, id)| dictionary.readable(id, prefixes)).collect()
}

impl<I: Id> Dictionary<I> {
    /// Every id whose name or label contains the text, without regard to case and accents;
    /// the shortest names first, at most `limit` of them, and how many there are in all.
    pub fn containing(&self, text: &str, limit: usize) -> (Vec<I>, usize) {
        let mut wanted = Vec::new();
        fold(text, &mut wanted);
        let finder = memmem::Finder::new(&wanted);
        let contains = |candidate: &str, buffer: &mut Vec<u8>| {
            fold(candidate, buffer);
            finder.find(buffer).is_some()
        };
        let mut found: Vec<(usize, I)> = (0..self.len())
            .into_par_iter()
            .map_init(Vec::new, |buffer, index| {
                let id = I::from_index(index);
                let found = contains(self.name(id), buffer)
                    || self.label(id).is_some_and(|label| contains(label, buffer));
                found.then(|| (self.display(id).len(), id))
            })
            .flatten()
            .collect();
        let total = found.len();
        if limit < total {
            found.select_nth_unstable(limit);
            found.truncate(limit);
        }
        found.sort_unstable();
        (found.into_iter().map(|(_, id)| id).collect(), total)
    }
}

fn local_part(name: &str) -> &str {
    if !name.contains("://") {
        return name;
    }
    let end = name.trim_end_matches(['/', '#', '>']);
    end.rsplit(['/', '#']).next().unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::EntityId;

    fn films() -> Dictionary<EntityId> {
        let names = [
            "Big Momma's House (2000)",
            "Bad Boys (1995)",
            "Bad Boys II (2003)",
            "Blue Streak (1999)",
            "ÉTÉ",
        ];
        Dictionary::new(names.into_iter().collect(), crate::graph::Texts::default())
    }

    fn near(text: &str) -> Vec<String> {
        nearest(&films(), &Prefixes::default(), text, 3)
    }

    #[test]
    fn a_small_mistake_is_mended() {
        assert_eq!(near("bad boyz (1995)")[0], "Bad Boys (1995)");
    }

    #[test]
    fn a_beginning_is_completed() {
        assert_eq!(near("bad"), ["Bad Boys (1995)", "Bad Boys II (2003)"]);
    }

    #[test]
    fn a_long_mistake_is_answered_by_a_shared_beginning() {
        assert_eq!(near("Blue Thunder and Lightning"), ["Blue Streak (1999)"]);
    }

    fn near_of(names: &[&str], text: &str) -> Vec<String> {
        let names: Dictionary<EntityId> =
            Dictionary::new(names.iter().copied().collect(), crate::graph::Texts::default());
        nearest(&names, &Prefixes::default(), text, 3)
    }

    #[test]
    fn a_name_with_a_prefix_is_found_by_its_end() {
        let people =
            ["person:Stanley Tucci", "person:Stanley Kubrick", "Stanley Kubricks films", "stanleykubrick"];
        assert_eq!(near_of(&people, "Stanley Kubrick")[..2], ["stanleykubrick", "person:Stanley Kubrick"]);
        assert_eq!(
            near_of(&people, "kubrick"),
            ["person:Stanley Kubrick", "stanleykubrick", "Stanley Kubricks films"]
        );
        assert_eq!(near_of(&["Stanley Kubrick", "Kub"], "person:Stanley Kubrick"), ["Stanley Kubrick"]);
    }

    #[test]
    fn case_accents_and_normal_forms_do_not_matter() {
        let names = ["Am\u{e9}lie", "Ame\u{301}lie II", "ŁÓDŹ", "ﬁlm"];
        assert_eq!(near_of(&names, "AMELIE"), ["Am\u{e9}lie", "Ame\u{301}lie II"]);
        assert_eq!(near_of(&names, "łodz"), ["ŁÓDŹ"]);
        assert_eq!(near_of(&names, "FILM"), ["ﬁlm"]);
    }

    #[test]
    fn a_small_mistake_ranks_before_a_part_of_a_name() {
        assert_eq!(near_of(&["The Alien Within", "Alienn"], "alien"), ["Alienn", "The Alien Within"]);
    }

    #[test]
    fn a_mistyped_word_is_found_in_longer_names() {
        let people = ["Stanley Kubrick", "Stanley Tucci", "Rubik, Ernő"];
        assert_eq!(near_of(&people, "kubrik"), ["Stanley Kubrick", "Rubik, Ernő"]);
        assert_eq!(near_of(&people, "tuci"), ["Stanley Tucci"]);
        assert!(near_of(&people, "kub x").is_empty(), "only a single word is compared with words");
    }

    #[test]
    fn nothing_is_near_nonsense() {
        assert!(near("xqzw").is_empty());
        assert!(near("").is_empty());
    }

    #[test]
    fn containing_ignores_case_and_accents() {
        assert_eq!(films().containing("BOYS", 10), (vec![EntityId(1), EntityId(2)], 2));
        assert_eq!(films().containing("été", 10), (vec![EntityId(4)], 1));
        assert_eq!(films().containing("ete", 10), (vec![EntityId(4)], 1));
        assert_eq!(films().containing("b", 1).1, 4);
    }
}
