//! Whether a figure is fair: which queries its setting was chosen on, and which edges it trusts.

use super::report::TunedOn;
use super::{Part, QueryGroup};
use crate::graph::Split;
use crate::search::Known;

/// The validation queries of a type that settings are chosen on, and the queries that are reported. If validation
/// queries are reported, settings are chosen on one half of them and the other half is reported, unless there is
/// only one query.
pub(crate) fn parts(split: Split, tunes: bool, group: &QueryGroup) -> (Part, Part) {
    if split == Split::Valid && tunes && group.len() >= 2 {
        (Part::Even, Part::Odd)
    } else {
        (Part::All, Part::All)
    }
}

/// Why a figure is not fair, in few words; `None` if it is fair.
pub(super) fn doubt(
    split: Split,
    known: Known,
    reported: Part,
    tuned_on: Option<TunedOn>,
) -> Option<&'static str> {
    let trusts = |split: Split| known.splits().contains(&split);
    match (split, tuned_on) {
        (Split::Valid, _) if trusts(Split::Valid) => Some(TRUSTS_VALID),
        (Split::Test, _) if trusts(Split::Test) => Some(TRUSTS_TEST),
        (Split::Valid, Some(TunedOn { queries: 1.., part, .. })) if part == reported || part == Part::All => {
            Some(SAME)
        }
        _ => None,
    }
}

/// Every reason for which a figure is not fair.
pub(super) const NOT_FAIR: [&str; 3] = [TRUSTS_VALID, TRUSTS_TEST, SAME];

const TRUSTS_VALID: &str =
    "trusts the validation facts, by which the hard answers of validation queries are true";
const TRUSTS_TEST: &str = "trusts the test facts, by which the hard answers of test queries are true";
const SAME: &str = "was chosen on the queries that are reported";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Setting;

    #[test]
    fn facts_that_give_the_hard_answers_away_are_doubted() {
        let doubts = |setting: &str| {
            let known = setting.parse::<Setting>().unwrap().known;
            [Split::Valid, Split::Test].map(|split| doubt(split, known, Part::All, None))
        };
        assert_eq!(doubts("beam none"), [None, None]);
        assert_eq!(doubts("beam train"), [None, None]);
        assert_eq!(doubts("beam train+valid"), [Some(TRUSTS_VALID), None]);
        assert_eq!(doubts("beam all"), [Some(TRUSTS_VALID), Some(TRUSTS_TEST)]);
    }

    #[test]
    fn a_choice_is_doubted_where_it_was_made_on_what_is_reported() {
        let doubt = |split, queries, part, reported| {
            doubt(split, Known::TRAIN, reported, Some(TunedOn::on(queries, part)))
        };
        assert_eq!(doubt(Split::Valid, 5, Part::Even, Part::Odd), None);
        assert_eq!(doubt(Split::Valid, 5, Part::All, Part::All), Some(SAME));
        assert_eq!(doubt(Split::Valid, 0, Part::All, Part::All), None, "there was nothing to choose");
        assert_eq!(doubt(Split::Test, 5, Part::All, Part::All), None);
    }

    #[test]
    fn a_single_query_cannot_be_halved() {
        let group = |queries: usize| QueryGroup {
            arity: 1,
            arguments: vec![0; queries].into(),
            ..QueryGroup::default()
        };
        assert_eq!(parts(Split::Valid, true, &group(2)), (Part::Even, Part::Odd));
        assert_eq!(parts(Split::Valid, true, &group(1)), (Part::All, Part::All));
        assert_eq!(parts(Split::Valid, false, &group(2)), (Part::All, Part::All));
        assert_eq!(parts(Split::Test, true, &group(2)), (Part::All, Part::All));
    }
}
