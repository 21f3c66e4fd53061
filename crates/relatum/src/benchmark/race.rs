//! Which of some settings is best: told on few queries where they differ much, on more where they do not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BenchmarkError, Setting};
use crate::model::LinkMetrics;

/// On how many queries settings are compared. Work is counted in queries, never in seconds, so that the choice does
/// not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Every setting is tried on so many queries.
    pub first: usize,
    /// Settings that are not told apart are tried on twice as many, and so on up to this number.
    pub most: usize,
    /// How many queries may be answered in all, each setting counted; the first queries of every setting are
    /// answered in any case.
    pub budget: usize,
}

impl Pace {
    /// As many queries as are needed to tell settings apart: 100, 200 and so on up to 1600, as long as no more than
    /// 12,000 queries are answered for a type.
    pub const ADAPTIVE: Self = Self { first: 100, most: 1600, budget: 12_000 };

    /// The same number of queries for every setting.
    pub fn exactly(queries: usize) -> Self {
        Self { first: queries, most: queries, budget: usize::MAX }
    }
}

/// By how much the chosen setting is ahead of the best of the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lead {
    /// The best of the other settings.
    pub runner_up: Setting,
    /// The Hits@3 of the chosen setting minus that of the other. Below 0 if the other is better, but by too little to
    /// leave the simpler setting.
    pub difference: f64,
    /// The standard error of the difference, paired by query.
    pub standard_error: f64,
    /// The queries that both answered.
    pub queries: usize,
}

/// Answers some queries under a setting: the metrics of each of them.
pub(super) type Answer<'a> = dyn FnMut(&Setting, &[usize]) -> Result<Vec<LinkMetrics>, BenchmarkError> + 'a;

/// Settings with the queries that they have answered so far.
pub(super) struct Race<'a> {
    /// The queries; each beginning of the list is a fair sample of them.
    order: &'a [usize],
    pace: Pace,
    answer: Box<Answer<'a>>,
    runs: Vec<Run>,
    /// How many queries were answered, each setting counted.
    spent: usize,
}

/// A setting, and the metrics of the queries that it has answered, in the order of the race.
struct Run {
    setting: Setting,
    each: Vec<LinkMetrics>,
}

impl<'a> Race<'a> {
    pub(super) fn new(order: &'a [usize], pace: Pace, answer: Box<Answer<'a>>) -> Self {
        Self { order, pace, answer, runs: Vec::new(), spent: 0 }
    }

    /// Tries a setting on the first queries; its number.
    pub(super) fn enter(&mut self, setting: Setting) -> Result<usize, BenchmarkError> {
        self.runs.push(Run { setting, each: Vec::new() });
        let run = self.runs.len() - 1;
        self.extend(run, self.first())?;
        Ok(run)
    }

    /// Tells some entered settings apart, on more queries as long as it is open which of them is best and the share
    /// of this axis in the budget lasts. Gives those that may be best, and on how many queries. The incumbent, which
    /// they are compared with, answers them too.
    pub(super) fn tell_apart(
        &mut self,
        incumbent: usize,
        mut others: Vec<usize>,
        axes_left: usize,
    ) -> Result<(Vec<usize>, usize), BenchmarkError> {
        let left = self.pace.budget.saturating_sub(self.spent);
        let allowed = self.spent.saturating_add(left / axes_left.max(1));
        let mut queries = self.first();
        loop {
            let more = queries.saturating_mul(2).min(self.pace.most).min(self.order.len());
            let open = self.open(incumbent, &others, queries);
            if open.len() < 2 || more <= queries {
                break;
            }
            let going: Vec<usize> = open.iter().copied().filter(|&run| run != incumbent).collect();
            let lacks = |run: &usize| more.saturating_sub(self.runs[*run].each.len());
            let cost: usize = going.iter().chain([&incumbent]).map(lacks).sum();
            if self.spent.saturating_add(cost) > allowed {
                break;
            }
            self.extend(incumbent, more)?;
            for &run in &going {
                self.extend(run, more)?;
            }
            (others, queries) = (going, more);
        }
        Ok((others, queries))
    }

    pub(super) fn setting(&self, run: usize) -> Setting {
        self.runs[run].setting
    }

    /// The metrics of a setting on the first queries.
    pub(super) fn metrics(&self, run: usize, queries: usize) -> LinkMetrics {
        LinkMetrics::mean(self.begin(run, queries))
    }

    /// All settings with their metrics on what they answered, and the standard error of their Hits@3.
    pub(super) fn results(&self) -> impl Iterator<Item = (Setting, LinkMetrics, f64)> {
        self.runs.iter().map(|run| {
            let zero = vec![0.0; run.each.len()];
            let hits: Vec<f64> = run.each.iter().map(hits_at_3).collect();
            (run.setting, LinkMetrics::mean(&run.each), standard_error(&hits, &zero))
        })
    }

    /// The standard error of the difference of two settings on the first queries.
    pub(super) fn error_between(&self, one: usize, other: usize, queries: usize) -> f64 {
        let hits = |run: usize| self.begin(run, queries).iter().map(hits_at_3).collect::<Vec<f64>>();
        standard_error(&hits(one), &hits(other))
    }

    /// By how much a setting is ahead of the best of the others; `None` if it is the only one.
    pub(super) fn lead(&self, chosen: usize) -> Option<Lead> {
        let of = |other: usize| {
            let queries = self.runs[chosen].each.len().min(self.runs[other].each.len());
            let [a, b] = [chosen, other].map(|run| self.metrics(run, queries).hits[1]);
            let standard_error = self.error_between(chosen, other, queries);
            Lead { runner_up: self.setting(other), difference: a - b, standard_error, queries }
        };
        let others = (0..self.runs.len()).filter(|&run| run != chosen).map(of);
        others.min_by(|a, b| a.difference.total_cmp(&b.difference).then(b.queries.cmp(&a.queries)))
    }

    fn first(&self) -> usize {
        self.pace.first.min(self.order.len())
    }

    fn begin(&self, run: usize, queries: usize) -> &[LinkMetrics] {
        let each = &self.runs[run].each;
        &each[..queries.min(each.len())]
    }

    /// The best setting on the first queries, and those whose distance to it is within two of its standard errors.
    /// Settings that ranked every answer alike are not open: more of the same would hardly tell them apart.
    fn open(&self, incumbent: usize, others: &[usize], queries: usize) -> Vec<usize> {
        let all = || std::iter::once(incumbent).chain(others.iter().copied());
        let key = |run: usize| {
            let LinkMetrics { hits, mrr, .. } = self.metrics(run, queries);
            (hits[1], mrr)
        };
        let best = all().skip(1).fold(incumbent, |best, run| if key(run) > key(best) { run } else { best });
        let is_open = |&run: &usize| {
            let error = self.error_between(best, run, queries);
            let alike = error <= 0.0 && self.ranks_alike(best, run, queries);
            run == best || (!alike && key(best).0 - key(run).0 <= 2.0 * error)
        };
        all().filter(is_open).collect()
    }

    /// Whether two settings gave every answer of the first queries the same rank, as far as the mean reciprocal ranks of
    /// the queries tell.
    fn ranks_alike(&self, one: usize, other: usize, queries: usize) -> bool {
        let mrr = |run: usize| self.begin(run, queries).iter().map(|it| it.mrr.to_bits());
        mrr(one).eq(mrr(other))
    }

    fn extend(&mut self, run: usize, queries: usize) -> Result<(), BenchmarkError> {
        let Run { setting, each } = &mut self.runs[run];
        let upto = queries.min(self.order.len());
        if each.len() < upto {
            let missing = &self.order[each.len()..upto];
            each.extend((self.answer)(setting, missing)?);
            self.spent += missing.len();
        }
        Ok(())
    }
}

fn hits_at_3(metrics: &LinkMetrics) -> f64 {
    metrics.hits[1]
}

/// The standard error of the mean difference of two figures of the same queries. One query tells nothing: its error is
/// that of a figure between 0 and 1 of which nothing is known.
pub(super) fn standard_error(new: &[f64], old: &[f64]) -> f64 {
    let n = new.len().min(old.len()) as f64;
    if n < 2.0 {
        return if n > 0.0 { 0.5 } else { 0.0 };
    }
    let differences = || new.iter().zip(old).map(|(new, old)| new - old);
    let mean = differences().sum::<f64>() / n;
    let variance = differences().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_paired_differences() {
        let apart = standard_error(&[1.0, 0.0, 1.0, 0.0], &[0.0; 4]);
        assert!((apart - (1.0 / 12.0f64).sqrt()).abs() < 1e-12, "{apart}");
        // Variation that both share does not count, nor does a gain that every query has.
        assert!(standard_error(&[1.0, 0.5, 1.0], &[0.5, 0.0, 0.5]) < 1e-12);
        assert!(standard_error(&[], &[]) < 1e-12);
    }

    fn sharp(sharpness: f32) -> Setting {
        Setting { sharpness, ..Setting::default() }
    }

    /// A query is answered right if its number, scattered over 0..1000, is below what the setting is worth.
    fn answers<'a>(worth: impl Fn(&Setting) -> usize + 'a) -> Box<Answer<'a>> {
        Box::new(move |setting, queries| {
            let right = |query: usize| query * 617 % 1000 < worth(setting);
            Ok(queries
                .iter()
                .map(|&query| LinkMetrics::of([if right(query) { 1.0 } else { 9.0 }].into_iter()))
                .collect())
        })
    }

    fn lengths(race: &Race<'_>) -> Vec<usize> {
        race.runs.iter().map(|run| run.each.len()).collect()
    }

    #[test]
    fn close_settings_get_more_queries_and_clearly_worse_ones_do_not() {
        let order: Vec<usize> = (0..1000).collect();
        let worth = |setting: &Setting| match setting.sharpness {
            tau if tau < 0.55 => 100,
            tau if tau < 0.75 => 520,
            _ => 500,
        };
        let mut race = Race::new(&order, Pace::ADAPTIVE, answers(worth));
        let [incumbent, close, bad, same] = [1.0, 0.7, 0.5, 0.9].map(|tau| race.enter(sharp(tau)).unwrap());
        let (open, queries) = race.tell_apart(incumbent, vec![close, bad, same], 1).unwrap();
        assert_eq!(open, [close, same], "the bad one is told apart at once");
        let [of_incumbent, of_close, of_bad, of_same] = lengths(&race)[..] else { panic!("four runs") };
        assert_eq!((of_incumbent, of_close), (queries, queries));
        assert!(queries > 100 && of_bad == 100 && of_same == queries, "{:?}", lengths(&race));
        let lead = race.lead(close).unwrap();
        assert!(lead.difference > 0.0 && lead.standard_error > 0.0, "{lead:?}");
        assert!(lead.queries <= queries && lead.runner_up != sharp(0.5));
    }

    #[test]
    fn neither_the_most_nor_the_budget_is_exceeded() {
        let order: Vec<usize> = (0..5000).collect();
        // Every setting is right on other queries, so that none is ever told apart.
        let answer: Box<Answer<'_>> = Box::new(|setting, queries| {
            let salt = (setting.sharpness * 1000.0) as usize;
            let rank = |query: usize| if (query * 31 + salt) * 617 % 1000 < 500 { 1.0 } else { 9.0 };
            Ok(queries.iter().map(|&query| LinkMetrics::of([rank(query)].into_iter())).collect())
        });
        let pace = Pace { first: 10, most: 80, budget: 300 };
        let mut race = Race::new(&order, pace, answer);
        let runs: Vec<usize> =
            (0..3u8).map(|it| race.enter(sharp(0.5 + f32::from(it) * 0.123)).unwrap()).collect();
        race.tell_apart(runs[0], runs[1..].to_vec(), 1).unwrap();
        assert!(
            race.spent <= pace.budget && lengths(&race).iter().all(|&length| length <= 80),
            "{}",
            race.spent
        );

        let poor = Pace { budget: 0, ..pace };
        let mut race = Race::new(&order, poor, answers(|_| 500));
        let run = race.enter(sharp(0.5)).unwrap();
        assert_eq!(
            (race.tell_apart(run, Vec::new(), 0).unwrap(), lengths(&race)),
            ((Vec::new(), 10), vec![10])
        );
    }

    #[test]
    fn a_fixed_number_of_queries_is_kept_to() {
        let order: Vec<usize> = (0..500).collect();
        let worth = |setting: &Setting| if setting.sharpness < 0.8 { 510 } else { 500 };
        let mut race = Race::new(&order, Pace::exactly(500), answers(worth));
        let runs = [1.0, 0.7].map(|tau| race.enter(sharp(tau)).unwrap());
        assert_eq!(race.tell_apart(runs[0], vec![runs[1]], 1).unwrap(), (vec![runs[1]], 500));
        assert_eq!(lengths(&race), [500, 500]);
    }
}
