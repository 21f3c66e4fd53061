//! What a reader must know to trust a figure: what its setting was chosen on, and what it may look at.

use relatum::benchmark::{Choice, Part, QueryGroup, Setting};
use relatum::graph::Split;
use relatum::search::Known;

use super::table::{Measured, Report, Row};
use crate::output;

/// What a setting was chosen on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Basis {
    /// Somebody gave it.
    Given,
    /// There was nothing to choose: every setting gives the same order.
    NoChoice,
    /// So many validation queries of this part.
    Queries(usize, Part),
}

impl Basis {
    pub(crate) fn of(choice: &Choice, part: Part) -> Self {
        choice.queries().map_or(Self::NoChoice, |queries| Self::Queries(queries, part))
    }
}

/// Which validation queries of a type settings are chosen on, and which queries are reported. Where
/// these are validation queries too, each half serves for one of both, if there are two of them.
pub(crate) fn parts(split: Split, tunes: bool, group: &QueryGroup) -> (Part, Part) {
    if split == Split::Valid && tunes && group.len() >= 2 {
        (Part::Even, Part::Odd)
    } else {
        (Part::All, Part::All)
    }
}

/// The stored edges that a setting takes for true.
pub(crate) fn facts(setting: &Setting) -> &'static str {
    match setting.known {
        Known::Ignore | Known::Trust(0) => "none",
        Known::Trust(1) => "train",
        Known::Trust(2) => "train+valid",
        Known::Trust(_) => "train+valid+test",
    }
}

/// What is wrong with a figure, in few words; none for most.
pub(crate) fn doubt(split: Split, measured: &Measured) -> Option<&'static str> {
    let trusted = match measured.setting.known {
        Known::Ignore => 0,
        Known::Trust(splits) => splits,
    };
    match (split, measured.basis) {
        (Split::Valid, _) if trusted >= 2 => Some(TRUSTS_VALID),
        (Split::Test, _) if trusted >= 3 => Some(TRUSTS_TEST),
        (Split::Valid, Basis::Queries(_, chosen)) if chosen == measured.part || chosen == Part::All => {
            Some(SAME)
        }
        _ => None,
    }
}

const TRUSTS_VALID: &str =
    "trusts the validation facts, by which the hard answers of validation queries are true";
const TRUSTS_TEST: &str = "trusts the test facts, by which the hard answers of test queries are true";
const SAME: &str = "was chosen on the queries that are reported";

impl Report<'_> {
    /// What makes figures better than they should be.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let of_row = |row: &Row| {
            let types_with = |what: &str| {
                let with = row.cells.iter().filter(|cell| doubt(self.split, cell) == Some(what));
                with.map(|cell| cell.shape.as_str()).collect::<Vec<&str>>().join(", ")
            };
            let says = |what: &str| {
                let types = types_with(what);
                (!types.is_empty())
                    .then(|| format!("{}: the setting of {types} {what}: no fair figure", row.method))
            };
            [TRUSTS_VALID, TRUSTS_TEST, SAME].into_iter().filter_map(says).collect::<Vec<String>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// What the figures rest on.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(limit) = self.limit {
            notes.push(format!(
                "at most {} of each type, evenly spread",
                output::counted(limit as u64, "query")
            ));
        }
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        if cells().any(|cell| cell.part == Part::Odd) {
            notes.push(
                "settings chosen on every other validation query, from the first; reported on those \
                 between: none is in both"
                    .to_owned(),
            );
        }
        let chosen = cells().filter_map(|cell| match cell.basis {
            Basis::Queries(queries, _) => Some(queries),
            _ => None,
        });
        if let (Some(least), Some(most)) = (chosen.clone().min(), chosen.max()) {
            let range = if least == most {
                output::grouped(least)
            } else {
                format!("{} to {}", output::grouped(least), output::grouped(most))
            };
            notes.push(format!("settings chosen on {range} validation queries of each type"));
        }
        let trusted = |row: &Row| {
            let mut facts: Vec<&str> = row.cells.iter().map(|cell| facts(&cell.setting)).collect();
            facts.sort_unstable();
            facts.dedup();
            format!("{} for {}", facts.join(" or "), row.method)
        };
        if !self.rows.is_empty() {
            let each: Vec<String> = self.rows.iter().map(trusted).collect();
            notes.push(format!("facts trusted: {}", each.join(", ")));
        }
        notes
    }
}

/// What the setting of a type was chosen on, for a table.
pub(crate) fn basis_text(basis: Basis) -> String {
    match basis {
        Basis::Given => "given".to_owned(),
        Basis::NoChoice => "no choice".to_owned(),
        Basis::Queries(queries, Part::All) => format!("{} valid", output::grouped(queries)),
        Basis::Queries(queries, half) => format!("{} valid, {}", output::grouped(queries), half.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relatum::model::LinkMetrics;
    use relatum::project::Cell;

    fn measured(setting: &str, basis: Basis, part: Part) -> Measured {
        let cell = Cell {
            metrics: LinkMetrics::default(),
            rows: 0,
            seconds: 1.0,
            of_peak: 0.0,
            by_missing: Vec::new(),
        };
        Measured { shape: "2p".to_owned(), setting: setting.parse().unwrap(), cell, part, of: 9, basis }
    }

    #[test]
    fn facts_that_give_the_hard_answers_away_are_doubted() {
        let given = |setting| measured(setting, Basis::Given, Part::All);
        let doubts = |setting| [Split::Valid, Split::Test].map(|split| doubt(split, &given(setting)));
        assert_eq!(doubts("beam ignore"), [None, None]);
        assert_eq!(doubts("beam train"), [None, None]);
        assert_eq!(doubts("beam train+valid"), [Some(TRUSTS_VALID), None]);
        assert_eq!(doubts("beam all"), [Some(TRUSTS_VALID), Some(TRUSTS_TEST)]);
    }

    #[test]
    fn a_choice_is_doubted_where_it_was_made_on_what_is_reported() {
        let doubt =
            |split, chosen, reported| doubt(split, &measured("beam", Basis::Queries(5, chosen), reported));
        assert_eq!(doubt(Split::Valid, Part::Even, Part::Odd), None);
        assert_eq!(doubt(Split::Valid, Part::All, Part::All), Some(SAME));
        assert_eq!(doubt(Split::Test, Part::All, Part::All), None);
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
