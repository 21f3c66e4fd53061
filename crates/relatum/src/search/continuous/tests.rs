//! What continuous optimisation finds, and what it refuses.

use super::*;
use crate::graph::{GraphBuilder, RelationId, Split};
use crate::logic::Negation;
use crate::model::{predictor, predictor_names};
use crate::plan::PlanOptions;
use crate::query::{Limits, Syntax, read};
use crate::search::exact::{Exact, Goal};
use crate::search::{Limit, Scorer};

fn graph() -> Graph {
    let mut builder = GraphBuilder::default();
    for (head, relation, tail) in
        [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "d"), ("d", "s", "a"), ("e", "r", "d"), ("a", "s", "e")]
    {
        builder.add(Split::Train, head, relation, tail);
    }
    builder.finish().0
}

fn plan(graph: &Graph, text: &str) -> Plan {
    let question = read(text, Syntax::Text, graph, Limits::default()).unwrap();
    Plan::new(&question.checked, graph, PlanOptions::default())
}

fn model(graph: &Graph, name: &str) -> Model {
    Model::random(predictor(name, 4).unwrap(), graph, 0.7, 9)
}

fn run(graph: &Graph, model: &Model, text: &str, settings: ContinuousSettings) -> (Found, Vec<Optimum>) {
    let plan = plan(graph, text);
    let mut search =
        Continuous::new(&plan, model, graph, Logic::default(), settings, &Control::default()).unwrap();
    let found = search.run().unwrap();
    (found, search.optima().to_vec())
}

const PATH: &str = "?A : exists V. r(a, V) and s(V, A)";

#[test]
fn where_no_variable_is_optimised_the_scores_are_exact() {
    let graph = graph();
    let questions = [
        "?A : r(a, A)",
        "?A : r(a, A) and s(A, b)",
        "?A : r(a, A) and not s(b, A)",
        "?A : r(a, A) or s(A, b)",
    ];
    for name in predictor_names().chain(["rotate-norm", "transe-norm"]) {
        let model = model(&graph, name);
        for (t_norm, known) in TNorm::ALL.into_iter().zip([Known::Ignore, Known::TRAIN, Known::ALL]) {
            let logic = Logic { t_norm, negation: Negation { scale: 1.5 } };
            let truth = Scorer::new(&model, &graph, Calibration::Sigmoid, known);
            for text in questions {
                let plan = plan(&graph, text);
                let mut exact = Exact::new(&plan, &truth, logic, &Control::default()).unwrap();
                let expected = exact.run(Goal::All { floor: 0.0, most: None }).unwrap().scores;
                let settings = ContinuousSettings { known, ..Default::default() };
                let mut search =
                    Continuous::new(&plan, &model, &graph, logic, settings, &Control::default()).unwrap();
                let found = search.run().unwrap();
                for (a, b) in found.scores.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-6, "{text} {name} {t_norm}: {:?} {expected:?}", found.scores);
                }
            }
        }
    }
}

#[test]
fn a_branch_whose_rows_are_over_the_limit_is_not_begun() {
    let graph = graph();
    let plan = plan(&graph, "?A : r(a, A) or (r(a, A) and s(A, b))");
    let model = model(&graph, "complex");
    for (limit, expected) in [(0, 0), (1, 1), (2, 1), (3, 3)] {
        let control = Control::default().with_rows(limit);
        let settings = ContinuousSettings::default();
        let found =
            Continuous::new(&plan, &model, &graph, Logic::default(), settings, &control).unwrap().run();
        let found = found.unwrap();
        let stopped = found.certainty == Certainty::Stopped { by: Limit::Rows };
        assert_eq!((found.rows, stopped), (expected, limit < 3));
    }
}

#[test]
fn the_target_is_replaced_by_every_entity_while_the_others_stay() {
    let graph = graph();
    let text = "?A : exists V. r(a, V) and s(V, A) and not exists W. (s(A, W) and r(b, W))";
    let sigmoid = |score: f32| 1.0 / (1.0 + (-score).exp());
    let id = |name: &str| graph.entity(name).unwrap();
    let (r, s) = (graph.relation("r").unwrap(), graph.relation("s").unwrap());
    let back = Reciprocals::of(&graph).inverse(s);
    for name in predictor_names() {
        let model = model(&graph, name);
        let (found, optima) = run(&graph, &model, text, ContinuousSettings::default());
        let [(_, v), (_, target), (_, w)] = &optima[0].vectors[..] else { panic!("V, A, W") };
        let truth = |head: &[f32], relation: RelationId, tail: &[f32]| {
            let shape = model.predictor();
            let tail = &tail[shape.tail()];
            let mut query = vec![0.0; tail.len()];
            shape.query(head, model.relation(relation), &mut query);
            sigmoid(crate::kernels::dot(&query, tail) + shape.bias(tail) + shape.offset(&query))
        };
        let score = |a: &[f32]| {
            let inner = truth(&model.entity(id("b")), r, w) * truth(w, back, a);
            truth(&model.entity(id("a")), r, v) * truth(v, s, a) * (1.0 - inner)
        };
        assert!((score(target) - optima[0].score).abs() < 1e-5, "{name}");
        for (x, got) in found.scores.iter().enumerate() {
            let expected = score(&model.entity(EntityId::from_index(x)));
            assert!((got - expected).abs() < 1e-5, "{name}: {got} {expected}");
        }
        assert_eq!(found.rows, 2, "one row for each atom of the target");
    }
}

#[test]
fn a_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let graph = graph();
    let model = model(&graph, "complex");
    let in_pool = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&graph, &model, PATH, ContinuousSettings { seed, ..Default::default() }))
    };
    let first = in_pool(1, 3);
    assert_eq!(first, in_pool(1, 3));
    assert_eq!(first, in_pool(4, 3));
    assert_ne!(first.1[0].vectors, in_pool(1, 4).1[0].vectors);
}

#[test]
fn it_stops_when_the_loss_stands_still_or_the_steps_are_used_up() {
    let graph = graph();
    let model = model(&graph, "complex");
    let (found, optima) = run(&graph, &model, PATH, ContinuousSettings::default());
    assert!((11..1000).contains(&optima[0].steps), "{}", optima[0].steps);
    assert_eq!(found.certainty, Certainty::Continuous { steps: optima[0].steps, at_rest: true });
    let short = ContinuousSettings { steps: 7, tolerance: 0.0, ..Default::default() };
    assert_eq!(
        run(&graph, &model, PATH, short).0.certainty,
        Certainty::Continuous { steps: 7, at_rest: false }
    );
    let plan = plan(&graph, PATH);
    let now = Control::default().with_deadline(std::time::Instant::now());
    let mut search =
        Continuous::new(&plan, &model, &graph, Logic::default(), ContinuousSettings::default(), &now)
            .unwrap();
    assert_eq!(search.run().unwrap().certainty, Certainty::Stopped { by: Limit::Time });
}

#[test]
fn a_vector_that_is_an_entitys_is_nearest_to_it() {
    let graph = graph();
    for name in predictor_names() {
        let model = model(&graph, name);
        for entity in graph.entities.ids() {
            // Half as long, if only the direction counts.
            let scale = if model.predictor().has_bias() { 1.0 } else { 0.5 };
            let vector: Vec<f32> = model.entity(entity).iter().map(|x| scale * x).collect();
            let near = nearest(&model, &vector, 2);
            assert_eq!((near.len(), near[0].0), (2, entity), "{name}");
        }
    }
}

#[test]
fn what_it_cannot_run_is_refused_with_what_can() {
    let graph = graph();
    let model = model(&graph, "complex");
    let refusal = |text: &str, calibration| {
        let plan = plan(&graph, text);
        let settings = ContinuousSettings { calibration, ..Default::default() };
        Continuous::new(&plan, &model, &graph, Logic::default(), settings, &Control::default()).err()
    };
    for calibration in [Calibration::MinMax, Calibration::Softmax, Calibration::SoftmaxCount] {
        assert_eq!(refusal(PATH, calibration), Some(SearchError::NeedsARow { calibration }));
    }
    assert_eq!(refusal(PATH, Calibration::Raw), None);
    for text in ["?A : r(a, A) or s(a, A)", "?A : r(a, A) and not s(a, A)"] {
        assert_eq!(refusal(text, Calibration::Raw), Some(SearchError::RawScores));
    }
    insta::assert_snapshot!(
        SearchError::NeedsARow { calibration: Calibration::Softmax },
        @"`softmax` needs the scores of all entities at once, which continuous optimisation does not have: take the calibration sigmoid, adaptive or raw, or exact search or a beam"
    );
}

#[test]
fn nan_and_infinite_scores_are_errors() {
    let graph = graph();
    let model = model(&graph, "complex");
    let mut entities = model.entities().to_vec();
    entities[0] = f32::NAN;
    let broken = Model::new(model.predictor().clone(), entities, model.relations().to_vec()).unwrap();
    let plan = plan(&graph, PATH);
    let outcome = |model: &Model, settings| {
        Continuous::new(&plan, model, &graph, Logic::default(), settings, &Control::default())
            .unwrap()
            .run()
            .err()
    };
    assert_eq!(outcome(&broken, ContinuousSettings::default()), Some(SearchError::NotANumber));
    // Finite embeddings whose scores are not.
    let large: Vec<f32> = model.entities().iter().map(|value| value * 1e30).collect();
    let relations: Vec<f32> = model.relations().iter().map(|value| value * 1e30).collect();
    let large = Model::new(model.predictor().clone(), large, relations).unwrap();
    assert_eq!(outcome(&large, ContinuousSettings::default()), Some(SearchError::NotANumber));
    let wild = ContinuousSettings {
        calibration: Calibration::Raw,
        regularization: 0.0,
        learning_rate: 1e30,
        ..Default::default()
    };
    assert!(matches!(outcome(&model, wild), Some(SearchError::Diverged { .. })));
}
