//! Which rows the tables have, and which models they need.

use relatum::baseline::Kind;
use relatum::benchmark::Family;

use super::args::{Args, Name, Table};
use super::cost;

/// The ranks of the paper.
const RANKS: [usize; 4] = [100, 200, 500, 1000];
/// The rank of our own method, if it is among those asked for: what a larger one adds is not worth its time.
const OWN_RANK: usize = 500;

/// What was chosen, with defaults in place of what was not.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) datasets: Vec<Name>,
    /// Smallest first; at least one.
    pub(super) ranks: Vec<usize>,
    pub(super) tables: Vec<Table>,
    /// Only these methods, if any are named.
    pub(super) methods: Vec<String>,
    pub(super) limit: Option<usize>,
    pub(super) tune_on: usize,
    pub(super) again: bool,
    pub(super) max_epochs: Option<usize>,
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Baseline(Kind),
    Predictor {
        predictor: &'static str,
        rank: usize,
        /// Whether it is trained with the relation loss, which the paper does not have.
        own: bool,
    },
}

/// A row of a table: a method with its model on a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) dataset: Name,
    pub(super) subject: Subject,
    /// How the model is asked; `None` for a baseline.
    pub(super) family: Option<Family>,
}

impl Chosen {
    pub(super) fn of(args: &Args) -> Self {
        fn or<T: Copy + PartialEq>(given: &[T], all: &[T]) -> Vec<T> {
            let mut chosen: Vec<T> = Vec::new();
            for one in if given.is_empty() { all } else { given } {
                if !chosen.contains(one) {
                    chosen.push(*one);
                }
            }
            chosen
        }
        let given: Vec<usize> = args.rank.iter().map(|rank| rank.get()).collect();
        let mut ranks = or(&given, &RANKS);
        ranks.sort_unstable();
        Self {
            datasets: or(&args.dataset, &Name::ALL),
            ranks,
            tables: or(
                &args.table,
                &[Table::Main, Table::Ranks, Table::Timing, Table::Distmult, Table::Examples],
            ),
            methods: args.method.clone(),
            limit: args.limit.map(std::num::NonZeroUsize::get),
            tune_on: args.tune_on.get(),
            again: args.again,
            max_epochs: args.max_epochs.map(std::num::NonZeroUsize::get),
        }
    }

    pub(super) fn wants(&self, table: Table) -> bool {
        self.tables.contains(&table)
    }

    /// The largest rank, at which methods are compared.
    pub(super) fn top(&self) -> usize {
        self.ranks.last().copied().unwrap_or(RANKS[0])
    }

    /// How many queries of each type are timed.
    pub(super) fn timed(&self) -> usize {
        self.limit.map_or(cost::TIMED, |limit| limit.min(cost::TIMED))
    }

    /// The model of the paper's methods at the largest rank, which is timed and asked for examples too.
    pub(super) fn top_model(&self) -> Subject {
        complex(self.top())
    }

    /// The rows of the chosen tables on a dataset, small models first, so that there are results early; the rows of a
    /// model stand together.
    pub(super) fn rows(&self, dataset: Name) -> Vec<Row> {
        let top = self.top_model();
        let mut rows: Vec<Row> = Vec::new();
        let mut add = |subject: Subject, family: Option<Family>| {
            let row = Row { dataset, subject, family };
            if !rows.contains(&row) {
                rows.push(row);
            }
        };
        let [beam, co] = [Some(Family::PaperBeam), Some(Family::PaperContinuous)];
        if self.wants(Table::Ranks) {
            for &rank in &self.ranks {
                for family in [beam, co] {
                    add(complex(rank), family);
                }
            }
        }
        if self.wants(Table::Main) {
            for family in [beam, co] {
                add(top, family);
            }
            let rank = if self.ranks.contains(&OWN_RANK) { OWN_RANK } else { self.top() };
            let own = Subject::Predictor { predictor: "complex", rank, own: dataset.has_own_recipe() };
            for family in [Family::Best, Family::BestRules] {
                add(own, Some(family));
            }
            for kind in Kind::ALL {
                add(Subject::Baseline(kind), None);
            }
        }
        if self.wants(Table::Distmult) {
            add(top, beam);
            add(Subject::Predictor { predictor: "distmult", rank: self.top(), own: false }, beam);
        }
        rows.retain(|row| self.methods.is_empty() || self.methods.iter().any(|name| name == row.method()));
        // Stable: rows of the same model keep their order.
        rows.sort_by_key(|row| row.subject.place());
        rows
    }
}

impl Name {
    pub(super) const ALL: [Self; 3] = [Self::Fb15k237, Self::Nell995, Self::Fb15k];

    /// The name in the literature.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Fb15k => "FB15k",
            Self::Fb15k237 => "FB15k-237",
            Self::Nell995 => "NELL995",
        }
    }

    /// The name of its folders.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Fb15k => "fb15k",
            Self::Fb15k237 => "fb15k-237",
            Self::Nell995 => "nell995",
        }
    }

    /// Whether our own method has a model of its own; on NELL995 the relation loss does not help.
    fn has_own_recipe(self) -> bool {
        self != Self::Nell995
    }
}

impl Subject {
    /// The name of the model in its project and in the names of files.
    pub(super) fn name(self) -> String {
        match self {
            Self::Baseline(kind) => kind.name().to_owned(),
            Self::Predictor { predictor, rank, own } => {
                format!("{predictor}-{rank}{}", if own { "-relations" } else { "" })
            }
        }
    }

    /// Where it stands in the order of work: by rank, the baselines last.
    fn place(self) -> (usize, bool, String) {
        match self {
            Self::Baseline(_) => (usize::MAX, true, self.name()),
            Self::Predictor { rank, own, .. } => (rank, own, self.name()),
        }
    }
}

impl Row {
    /// The name of the method: that of a family of settings, or of a baseline.
    pub(super) fn method(self) -> &'static str {
        match (self.family, self.subject) {
            (Some(family), _) => family.name(),
            (None, Subject::Baseline(kind)) => kind.name(),
            (None, Subject::Predictor { .. }) => "",
        }
    }

    /// The name of the file of its results.
    pub(super) fn file(self) -> String {
        match self.subject {
            Subject::Baseline(kind) => format!("{}.json", kind.name()),
            subject @ Subject::Predictor { .. } => format!("{}-{}.json", subject.name(), self.method()),
        }
    }
}

fn complex(rank: usize) -> Subject {
    Subject::Predictor { predictor: "complex", rank, own: false }
}
