//! Sampling, tuning and measuring, end to end, through the engine alone.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::benchmark::{BenchmarkError, QueriesFound};
use crate::control::Cancel;
use crate::engine::{
    Existing, Fault, LinkEvalOptions, MeasuringBegins, SampleError, SampleOptions, SampledType, TrainOptions,
    TypeMeasured, TypeTuned, WorkflowError,
};
use crate::graph::{GraphBuilder, Triple};
use crate::project::{Project, Queries};
use crate::random::Rng;
use crate::report::End;
use crate::store::Staging;
use crate::train::GivenSettings;

/// A ring of 60 things with two relations, some of the edges held out.
fn ring(dir: &Path) -> Engine {
    let mut builder = GraphBuilder::default();
    for entity in 0..60 {
        builder.entity(&entity.to_string());
    }
    builder.relation("next");
    builder.relation("far");
    let mut rng = Rng::new(4);
    for head in 0..60u32 {
        for (relation, by) in [(0, 1), (0, 2), (1, 7), (1, 8)] {
            let split = match rng.below(6) {
                0 => Split::Valid,
                1 => Split::Test,
                _ => Split::Train,
            };
            builder.add_ids(split, Triple::new(head, relation, (head + by) % 60));
        }
    }
    let (graph, _) = builder.finish();
    Project::create(Staging::begin(dir).unwrap(), &graph, &Queries::default(), Vec::new()).unwrap();
    Engine::open(dir).unwrap()
}

fn trained(dir: &Path) -> Engine {
    let engine = ring(dir);
    let settings = GivenSettings { rank: Some(6), epochs: Some(4), ..GivenSettings::default() };
    engine.train(&TrainOptions { settings, ..TrainOptions::default() }, &Control::default()).unwrap();
    engine
}

fn types(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn sampling(names: &[&str]) -> SampleOptions {
    SampleOptions { types: types(names), count: Some(9), examples: 1, ..SampleOptions::default() }
}

fn heard<E: Clone + Send + 'static, T: Send + 'static>(
    of: impl Fn(&E) -> T + Send + Sync + 'static,
) -> (Control, Arc<Mutex<Vec<T>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    (Control::default().on(move |event: &E| listener.lock().unwrap().push(of(event))), heard)
}

#[test]
fn sampled_queries_are_seen_at_once_and_not_lost_by_accident() {
    let dir = tempfile::tempdir().unwrap();
    let engine = ring(&dir.path().join("project"));
    let none = engine.benchmark(&BenchmarkOptions::default(), &Control::default()).unwrap_err();
    assert!(
        matches!(none, Error::Benchmark(BenchmarkError::NoQueries { split: Split::Valid, .. })),
        "{none}"
    );
    assert_eq!(none.fault(), Fault::Caller);

    let (control, heard) = heard(|event: &SampledType| (event.split, event.shape.clone()));
    let sampled = engine.sample(&sampling(&["1p", "2p"]), &control).unwrap();
    let each: Vec<(Split, String)> = sampled.types.iter().map(|it| (it.split, it.shape.clone())).collect();
    assert_eq!(each.len(), 4);
    assert_eq!(*heard.lock().unwrap(), each);
    assert!(sampled.types.iter().all(|it| it.queries == 9 && it.hard_answers >= 9 && it.examples.len() == 1));
    assert_eq!(engine.queries().valid.as_ref().unwrap().len(), 18);
    let reopened = Engine::open(dir.path().join("project")).unwrap();
    assert_eq!(reopened.queries(), engine.queries());
    assert_eq!(engine.stats().queries.valid.unwrap()["2p"], 9);

    let again = engine.sample(&sampling(&["2i"]), &Control::default()).unwrap_err();
    assert!(matches!(again, Error::Sample(SampleError::HasQueries { queries: 18, .. })), "{again}");
    let none = SampleOptions { count: Some(0), existing: Existing::Replace, ..sampling(&["2i"]) };
    assert!(matches!(engine.sample(&none, &Control::default()), Err(Error::Options(_))));
    let keep = |names: &[&str]| SampleOptions { existing: Existing::Keep, ..sampling(names) };
    let twice = engine.sample(&keep(&["2p"]), &Control::default()).unwrap_err();
    assert!(matches!(twice, Error::Sample(SampleError::HasType { .. })), "{twice}");
    engine.sample(&keep(&["2i"]), &Control::default()).unwrap();
    assert_eq!(engine.queries().test.as_ref().unwrap().groups.len(), 3);
}

#[test]
fn a_stopped_sample_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let engine = ring(&dir.path().join("project"));
    let cancel = Cancel::default();
    let token = cancel.clone();
    let control = Control::default().with_cancel(cancel).on(move |_: &QueriesFound| token.cancel());
    let stopped = engine.sample(&sampling(&["1p", "2p"]), &control).unwrap_err();
    assert!(matches!(stopped, Error::Workflow(WorkflowError::Stopped)), "{stopped}");
    assert_eq!(*engine.queries(), Queries::default());
}

#[test]
fn what_is_finished_is_kept_and_a_choice_reaches_the_open_model() {
    let dir = tempfile::tempdir().unwrap();
    let engine = trained(&dir.path().join("project"));
    engine.sample(&sampling(&["1p", "2p"]), &Control::default()).unwrap();
    assert!(engine.model(None).unwrap().tuned("2p").is_none());
    let options = BenchmarkOptions {
        families: vec![Family::Best, Family::Best],
        settings: vec!["beam k=4 godel sigmoid none".parse().unwrap()],
        tune_on: Some(4),
        ..BenchmarkOptions::default()
    };
    let (control, chosen) = heard(|event: &TypeTuned| event.choice.setting);
    let report = engine.benchmark(&options, &control).unwrap();
    assert_eq!(report.split, Split::Test);
    assert_eq!(report.rows.iter().map(|row| row.types.len()).collect::<Vec<_>>(), [2, 2], "each family once");
    assert_eq!(report.rows[0].types[1].setting, chosen.lock().unwrap()[1].into());
    assert_eq!(engine.model(None).unwrap().tuned("2p"), Some(&chosen.lock().unwrap()[1]));

    let (control, measured) = heard(|event: &TypeMeasured| event.shape.clone());
    assert_eq!(engine.benchmark(&options, &control).unwrap(), report);
    assert_eq!(*measured.lock().unwrap(), Vec::<String>::new(), "nothing is measured again");

    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<BenchmarkReport>(&json).unwrap(), report);
    assert!(report.to_markdown().contains("beam k=4 godel sigmoid none"));
    assert!(report.accuracy_svg().contains("9 test queries a type"));
    assert_eq!(engine.accuracy_by_rank_svg(&options, &Control::default()).unwrap(), None);
}

#[test]
fn a_benchmark_that_was_stopped_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let engine = trained(&dir.path().join("project"));
    engine.sample(&sampling(&["1p", "2p"]), &Control::default()).unwrap();
    let settings = vec!["beam k=4".parse().unwrap()];
    let options = BenchmarkOptions { settings, ..BenchmarkOptions::default() };
    let cancel = Cancel::default();
    let token = cancel.clone();
    let control = Control::default().with_cancel(cancel).on(move |_: &TypeMeasured| token.cancel());
    let stopped = engine.benchmark(&options, &control).unwrap_err();
    assert!(matches!(stopped, Error::Benchmark(BenchmarkError::Stopped)), "{stopped}");
    let (control, begun) = heard(|event: &MeasuringBegins| event.shape.clone());
    engine.benchmark(&options, &control).unwrap();
    assert_eq!(*begun.lock().unwrap(), ["2p"]);
}

#[test]
fn edges_are_predicted_from_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let engine = trained(&dir.path().join("project"));
    let found = engine.link_eval(&LinkEvalOptions::default(), &Control::default()).unwrap();
    let edges = engine.graph().edges(Split::Test).len();
    assert_eq!((found.split, found.overall.count), (Split::Test, 2 * edges));
    assert_eq!((found.tails.count, found.heads.count), (edges, edges));
    let of = |end| found.relations.iter().filter(|row| row.predicts == end).count();
    assert_eq!((of(End::Heads), of(End::Tails)), (2, 2));
    let late = Control::default().with_deadline(std::time::Instant::now());
    let stopped = engine.link_eval(&LinkEvalOptions::default(), &late).unwrap_err();
    assert!(matches!(stopped, Error::Workflow(WorkflowError::Stopped)), "{stopped}");
}
