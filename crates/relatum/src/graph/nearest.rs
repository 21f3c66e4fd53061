//! Names near a mistyped one, and names that contain a text; both scan every name, in parallel.

use std::cmp::Reverse;

use rapidfuzz::distance::levenshtein;
use rayon::prelude::*;

use super::dictionary::Dictionary;
use super::ids::Id;
use super::names::Prefixes;

/// The readable forms of the ids whose name or label is nearest to `text`, best first.
///
/// Near means: starts with the text, or is within a third of its length in edit distance,
/// both without regard to ASCII case; where nothing is, the longest shared beginnings. Of an IRI only the part after the last `/` or `#` counts,
/// because that is the part people type.
pub(super) fn nearest<I: Id>(
    dictionary: &Dictionary<I>,
    prefixes: &Prefixes,
    text: &str,
    count: usize,
) -> Vec<String> {
    let expanded = prefixes.expand(text);
    let wanted = local_part(expanded.as_deref().unwrap_or(text)).to_ascii_lowercase().into_bytes();
    let comparator = levenshtein::BatchComparator::new(wanted.iter().copied());
    let cutoff = (wanted.len() / 3).clamp(1, 8);
    let score = |candidate: &str| -> Option<usize> {
        let candidate = local_part(candidate).as_bytes();
        if candidate.len() > wanted.len() + cutoff {
            // Longer names can still begin with what was typed; they rank behind small mistakes.
            let starts = wanted.len() >= 2 && candidate[..wanted.len()].eq_ignore_ascii_case(&wanted);
            return starts.then_some(cutoff);
        }
        if candidate.len() + cutoff < wanted.len() {
            return None;
        }
        let args = levenshtein::Args::default().score_cutoff(cutoff);
        comparator.distance_with_args(candidate.iter().map(u8::to_ascii_lowercase), &args)
    };
    let mut scored: Vec<(usize, usize, I)> = (0..dictionary.len())
        .into_par_iter()
        .filter_map(|index| {
            let id = I::from_index(index);
            let by_label = dictionary.label(id).and_then(score);
            let best = by_label.into_iter().chain(score(dictionary.name(id))).min()?;
            Some((best, dictionary.display(id).len(), id))
        })
        .collect();
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
    /// Every id whose name or label contains the text, without regard to case;
    /// the shortest names first, at most `limit` of them, and how many there are in all.
    pub fn containing(&self, text: &str, limit: usize) -> (Vec<I>, usize) {
        let wanted = text.to_lowercase();
        let contains = |candidate: &str| {
            if wanted.is_ascii() && candidate.is_ascii() {
                contains_ignoring_ascii_case(candidate.as_bytes(), wanted.as_bytes())
            } else {
                candidate.to_lowercase().contains(&wanted)
            }
        };
        let mut found: Vec<(usize, I)> = (0..self.len())
            .into_par_iter()
            .map(I::from_index)
            .filter(|&id| contains(self.name(id)) || self.label(id).is_some_and(contains))
            .map(|id| (self.display(id).len(), id))
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

fn contains_ignoring_ascii_case(candidate: &[u8], wanted_lower: &[u8]) -> bool {
    let Some(&first) = wanted_lower.first() else {
        return true;
    };
    let upper = first.to_ascii_uppercase();
    memchr::memchr2_iter(first, upper, candidate).any(|at| {
        candidate.get(at..at + wanted_lower.len()).is_some_and(|part| part.eq_ignore_ascii_case(wanted_lower))
    })
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

    #[test]
    fn nothing_is_near_nonsense() {
        assert!(near("xqzw").is_empty());
        assert!(near("").is_empty());
    }

    #[test]
    fn containing_ignores_case_also_beyond_ascii() {
        assert_eq!(films().containing("BOYS", 10), (vec![EntityId(1), EntityId(2)], 2));
        assert_eq!(films().containing("été", 10), (vec![EntityId(4)], 1));
        assert_eq!(films().containing("b", 1).1, 4);
    }
}
