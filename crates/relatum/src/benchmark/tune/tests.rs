//! Choices among settings whose figures are made up, so that it is known which is best.

use super::*;
use crate::benchmark::{Part, Skeleton};

fn group(shape: &str, queries: usize) -> QueryGroup {
    let skeleton = Skeleton::of_shape(shape).unwrap();
    let (arity, skeleton) = (skeleton.arity(), skeleton.to_string());
    let arguments = vec![0; arity * queries].into();
    QueryGroup { shape: shape.to_owned(), skeleton, arity, arguments, ..QueryGroup::default() }
}

/// A query is answered right if its number, scattered over 0..1000, is below what the setting is worth.
fn chosen(shape: &str, pace: Pace, worth: impl Fn(&Setting) -> usize) -> Choice {
    let answer: Box<Answer<'_>> = Box::new(|setting, queries| {
        let rank = |query: usize| if query * 617 % 1000 < worth(setting) { 1.0 } else { 9.0 };
        Ok(queries.iter().map(|&query| LinkMetrics::of([rank(query)].into_iter())).collect())
    });
    let group = group(shape, 1000);
    let order = Part::All.spread(group.len());
    choose(Family::Best, &group, &order, pace, &Control::default(), answer).unwrap()
}

#[test]
fn trust_is_chosen_for_every_type_with_joins_and_only_where_it_is_clear() {
    for shape in ["2p", "3p", "2i", "4i", "ip", "pi", "2u", "up", "2in"] {
        let ignores = |gain: usize| {
            let worth = |setting: &Setting| 400 + if setting.known == Known::Ignore { gain } else { 0 };
            let choice = chosen(shape, Pace::ADAPTIVE, worth);
            (choice.setting.known == Known::Ignore, choice)
        };
        let (yes, choice) = ignores(100);
        assert!(yes, "{shape}: {}", choice.setting);
        let lead = choice.lead.unwrap();
        assert!(lead.difference >= 0.0 && lead.queries >= 100, "{shape}: {lead:?}");
        let (yes, choice) = ignores(0);
        assert!(!yes, "{shape}: {}", choice.setting);
    }
    assert_eq!(chosen("1p", Pace::ADAPTIVE, |_| 400).setting.known, Known::TRAIN, "nothing is joined");
}

#[test]
fn a_small_gain_is_found_on_more_queries_and_every_trial_says_its_error() {
    let worth = |setting: &Setting| if setting.t_norm == TNorm::Godel { 420 } else { 400 };
    let choice = chosen("2i", Pace::ADAPTIVE, worth);
    assert_eq!(choice.setting.t_norm, TNorm::Godel);
    let trial = choice.trial().unwrap();
    assert_eq!(choice.queries(), Some(trial.metrics.count));
    assert!(trial.metrics.count > Pace::ADAPTIVE.first, "{trial:?}");
    let share = trial.metrics.hits[1];
    let expected = (share * (1.0 - share) / (trial.metrics.count - 1) as f64).sqrt();
    assert!((trial.standard_error.unwrap() - expected).abs() < 1e-12, "{trial:?}");
    let spent: usize = choice.trials.iter().map(|trial| trial.metrics.count).sum();
    assert!(spent <= Pace::ADAPTIVE.budget, "{spent}");
    assert_eq!(choice, chosen("2i", Pace::ADAPTIVE, worth), "the same each time");

    let fixed = chosen("2i", Pace::exactly(50), worth);
    assert!(fixed.trials.iter().all(|trial| trial.metrics.count == 50));
}

#[test]
fn nothing_found_leaves_the_default_without_a_lead() {
    let choice = chosen("2i", Pace::ADAPTIVE, |_| 0);
    assert!(choice.is_by_default() && choice.lead.is_none());
    assert_eq!(choice.queries(), Some(100), "nothing is told apart by more");
}

#[test]
fn choices_of_earlier_versions_are_read() {
    let setting = Setting::default().to_string();
    let metrics = serde_json::json!({ "count": 7, "mrr": 0.5, "hits": [0.25, 0.5, 0.75] });
    let trials = [serde_json::json!({ "setting": setting, "metrics": metrics })];
    let old = serde_json::json!({ "setting": setting, "trials": trials, "fingerprint": "x" });
    let choice: Choice = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(serde_json::to_value(&choice).unwrap(), old, "or its file would have another checksum");
    assert_eq!((choice.queries(), choice.lead, choice.adaptive), (Some(7), None, false));
    assert_eq!(choice.trials[0].standard_error, None);
    assert!(choice.is_enough(7) && !choice.is_enough(8) && choice.is_good_for(7));
}
