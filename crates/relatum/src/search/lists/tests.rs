//! A search by lists = exact search = naive enumeration: the same answers, scores and certificate.

use proptest::prelude::*;

use super::{Lists, Wanted};
use crate::control::{Control, Limit};
use crate::graph::{EntityId, Graph, GraphBuilder, Id, RelationId, Split, Triple};
use crate::logic::{Negation, TNorm};
use crate::model::{Affine, Calibration, Fitted, Model, Reciprocals, predictor};
use crate::plan::{Plan, PlanOptions, Union};
use crate::query::testing::{ENTITIES, RELATIONS, edges, tiny_graph};
use crate::query::{Limits, Syntax, read};
use crate::random::Rng;
use crate::search::beam::{Beam, Width};
use crate::search::exact::{Exact, Goal};
use crate::search::testing::{Table, naive};
use crate::search::tests::{checked, logics};
use crate::search::tests_with_rules::{calibrations, index, rules};
use crate::search::{Certainty, Known, Logic, RuleEvidence, Scorer, SearchError, best};

/// A model of a graph. A coarse one has three different values only, so that many scores are equal.
fn model(graph: &Graph, name: &str, coarse: bool, seed: u64) -> Model {
    let predictor = predictor(name, 2).unwrap();
    let mut rng = Rng::new(seed);
    let mut value = || if coarse { rng.below(3) as f32 - 1.0 } else { rng.normal() as f32 };
    let mut table = |len: usize| (0..len).map(|_| value()).collect::<Vec<f32>>();
    let entities = table(graph.entities.len() * predictor.entity_width());
    let relations = table(Reciprocals::of(graph).len() * predictor.relation_width());
    Model::new(predictor, entities, relations).unwrap()
}

/// Whether the answers are the best of all scores; where these differ, also which entities they are.
fn are_best(found: &[(EntityId, f32)], all: &[f32], count: usize, keep: impl Fn(EntityId) -> bool) -> bool {
    let expected = best(all, count, keep);
    let nothing = (EntityId(0), 0.0);
    let found = found.iter().chain(std::iter::repeat(&nothing));
    expected.iter().zip(found).all(|(expected, found)| {
        let score = all[found.0.index()];
        (expected.1 - found.1).abs() < 1e-4 && (found.1 == 0.0 || (score - found.1).abs() < 1e-4)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_certified_top_is_the_true_top(
        checked in checked(), logic in logics(), edges in edges(), calibration in calibrations(),
        (rules, weight, alone) in (prop::option::of(rules()), prop::sample::select(vec![0.3f32, 1.0]), any::<bool>()),
        unseen in prop::sample::select(vec![1.0f32, 0.5, 0.0]), (trust, coarse) in any::<(bool, bool)>(),
        (either_side, in_place, some) in any::<(bool, bool, bool)>(), seed in 0u64..1000, count in 1usize..4,
        name in prop::sample::select(vec!["complex", "transe"]),
    ) {
        let graph = tiny_graph(&edges);
        let union = if in_place { Union::InPlace } else { Union::AtTheEnd };
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: 100_000, either_side, union });
        if !plan.is_tree() {
            return Ok(());
        }
        let model = model(&graph, name, coarse, seed);
        let rules = rules.map(|rules| index(&graph, rules));
        let weights = [weight; 4];
        let evidence = rules.as_ref().map(|rules| RuleEvidence { rules, weights: &weights, alone });
        let known = if trust { Known::TRAIN } else { Known::Ignore };
        let scorer = Scorer::new(&model, &graph, calibration, known)
            .with_sharpness(0.7).with_unseen(unseen).with_rules(evidence);
        let all = Exact::new(&plan, &scorer, logic, &Control::default()).unwrap()
            .run(Goal::All { floor: 0.0, most: None }).unwrap().scores;
        let keep = |x: EntityId| !some || x.0 != 1;
        let mut lists = Lists::new(&plan, &scorer, &model, logic, &Control::default()).unwrap();
        let found = lists.run(Wanted::Top { count, keep: &keep }, 5e-5).unwrap();
        let is_exact = matches!(found.certainty, Certainty::Exact { within } if within <= 5e-5);
        prop_assert!(is_exact, "{found:?}");
        prop_assert!(are_best(&found.answers, &all, count, keep), "{found:?} {all:?}");
        // An entity by itself has the score that it has among others.
        for entity in 0..ENTITIES as usize {
            let entity = EntityId::from_index(entity);
            let mut lists = Lists::new(&plan, &scorer, &model, logic, &Control::default()).unwrap();
            let found = lists.run(Wanted::One(entity), 5e-5).unwrap();
            prop_assert!((found.answers[0].1 - all[entity.index()]).abs() < 1e-4, "{found:?} {all:?}");
        }
    }

    #[test]
    fn lists_equal_naive_enumeration(
        checked in checked(), logic in logics(), seed in 0u64..1000, count in 1usize..4, coarse: bool
    ) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        if !plan.is_tree() {
            return Ok(());
        }
        // One whose edges are as true from one side as from the other.
        let drawn = model(&graph, "distmult", coarse, seed);
        let half = drawn.relations()[..drawn.relations().len() / 2].to_vec();
        let symmetric = Model::new(predictor("distmult", 2).unwrap(), drawn.entities().to_vec(), half.repeat(2)).unwrap();
        let scorer = Scorer::new(&symmetric, &graph, Calibration::Sigmoid, Known::Ignore);
        let truth = |r, s, o| 1.0 / (1.0 + (-symmetric.score(EntityId(s), RelationId(r), EntityId(o))).exp());
        let row = |r, s| (0..ENTITIES).map(|o| truth(r, s, o)).collect();
        let values = (0..RELATIONS).map(|r| (0..ENTITIES).map(|s| row(r, s)).collect()).collect();
        let all = naive(&Table { values }, &checked.normal_form, logic);
        let mut lists = Lists::new(&plan, &scorer, &symmetric, logic, &Control::default()).unwrap();
        let found = lists.run(Wanted::Top { count, keep: &|_| true }, 5e-5).unwrap();
        prop_assert!(are_best(&found.answers, &all, count, |_| true), "{found:?} {all:?}");
    }

    #[test]
    fn a_limit_on_rows_is_kept_and_nothing_is_claimed_too_much(
        checked in checked(), logic in logics(), edges in edges(), seed in 0u64..1000, limit in 0usize..12,
        calibration in calibrations(), trust: bool
    ) {
        let graph = tiny_graph(&edges);
        let plan = Plan::new(&checked, &graph, PlanOptions { either_side: true, ..PlanOptions::default() });
        if !plan.is_tree() {
            return Ok(());
        }
        let model = model(&graph, "complex", false, seed);
        let known = if trust { Known::TRAIN } else { Known::Ignore };
        let scorer = Scorer::new(&model, &graph, calibration, known);
        let wide = Width { k: 100_000, paper: false };
        let all = Beam::new(&plan, &scorer, logic, wide, &Control::default(), false).unwrap().run().unwrap().scores;
        let control = Control::default().with_rows(limit);
        let mut lists = Lists::new(&plan, &scorer, &model, logic, &control).unwrap();
        let found = lists.run(Wanted::Top { count: 2, keep: &|_| true }, 5e-5).unwrap();
        prop_assert!(found.rows <= limit, "{} of {limit}", found.rows);
        let too_much = found.answers.iter().any(|&(x, score)| score > all[x.index()] + 1e-4);
        prop_assert!(!too_much, "{found:?} {all:?}");
        match found.certainty {
            Certainty::Stopped { by } => prop_assert_eq!(by, Limit::Rows),
            _ => prop_assert!(are_best(&found.answers, &all, 2, |_| true), "{found:?} {all:?}"),
        }
    }
}

const SIXTY: usize = 60;

/// Sixty entities, three relations; of the edges two fifths are held out.
fn sixty() -> Graph {
    let mut builder = GraphBuilder::default();
    for entity in 0..SIXTY {
        builder.entity(&format!("e{entity}"));
    }
    for relation in 0..3 {
        builder.relation(&format!("r{relation}"));
    }
    let mut rng = Rng::new(11);
    for place in 0..400 {
        let split = if place % 5 < 3 { Split::Train } else { Split::Valid };
        // Relations lead to different halves, so that there are kinds.
        let relation = rng.below(3);
        let tail = rng.below(SIXTY / 2) + if relation == 1 { SIXTY / 2 } else { 0 };
        builder.add_ids(split, Triple::new(rng.below(SIXTY) as u32, relation as u32, tail as u32));
    }
    builder.finish().0
}

/// Every shape of the literature, both readings of `pni`, and some more: two atoms between the same variables, a
/// variable without any named entity, alternatives of different lengths.
const SHAPES: [&str; 19] = [
    "?A : r0(e1, A)",
    "?A : exists V. r0(e1, V) and r1(V, A)",
    "?A : exists V, U. r0(e1, V) and r1(V, U) and r2(U, A)",
    "?A : r0(e1, A) and r2(e2, A)",
    "?A : r0(e1, A) and r2(e2, A) and r0(e3, A)",
    "?A : exists V. r0(e1, V) and r2(e2, V) and r1(V, A)",
    "?A : exists V. r0(e1, V) and r2(V, A) and r0(e3, A)",
    "?A : r0(e1, A) or r1(e2, A)",
    "?A : exists V. (r0(e1, V) or r2(e2, V)) and r1(V, A)",
    "?A : r0(e1, A) and not r2(e2, A)",
    "?A : r0(e1, A) and r2(e2, A) and not r0(e3, A)",
    "?A : exists V. r0(e1, V) and not r2(e2, V) and r1(V, A)",
    "?A : exists V. r0(e1, V) and r2(V, A) and not r0(e3, A)",
    "?A : r2(e3, A) and not (exists V. r0(e1, V) and r0(V, A))",
    "?A : exists V. r0(e1, V) and not r0(V, A) and r2(e3, A)",
    "?A : exists V. r0(e1, V) and r0(V, A) and r2(V, A)",
    "?A : r0(e1, A) and exists V. r1(A, V)",
    "?A : r0(e1, A) and not (exists V. r1(A, V) and r2(V, e40))",
    "?A : r0(e1, A) or exists V. r1(e2, V) and r2(V, A)",
];

#[test]
fn every_shape_has_the_answers_of_exact_search() {
    let graph = sixty();
    let model = Model::random(predictor("complex", 6).unwrap(), &graph, 0.9, 3);
    let maps: Vec<[f32; 2]> = (0..model.relation_count()).map(|r| [0.5 + r as f32, -0.3]).collect();
    let curves: Vec<[f32; 3]> =
        (0..model.relation_count()).map(|r| [0.7 + 0.3 * r as f32, 0.8, 0.4 - 0.2 * r as f32]).collect();
    let model = model.with_affine(Affine::new(&maps).unwrap()).unwrap();
    let model = model.with_fitted(Fitted::new(&curves).unwrap()).unwrap();
    for (place, text) in SHAPES.into_iter().enumerate() {
        let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        for calibration in Calibration::ALL.into_iter().filter(|it| it.is_truth()) {
            for (at, t_norm) in TNorm::ALL.into_iter().enumerate() {
                let logic = Logic { t_norm, negation: Negation { scale: if at == 1 { 3.0 } else { 1.0 } } };
                let known = [Known::TRAIN, Known::Ignore, Known::ALL][(place + at) % 3];
                let scorer = Scorer::new(&model, &graph, calibration, known).with_unseen(0.1);
                let exact =
                    |goal| Exact::new(&plan, &scorer, logic, &Control::default()).unwrap().run(goal).unwrap();
                let all = exact(Goal::All { floor: 0.0, most: None }).scores;
                let mut lists = Lists::new(&plan, &scorer, &model, logic, &Control::default()).unwrap();
                let found = lists.run(Wanted::Top { count: 7, keep: &|x| x.0 % 5 != 2 }, 5e-5).unwrap();
                let is_exact = matches!(found.certainty, Certainty::Exact { within } if within <= 5e-5);
                assert!(is_exact, "{text} {calibration} {t_norm}: {:?}", found.certainty);
                assert!(
                    are_best(&found.answers, &all, 7, |x| x.0 % 5 != 2),
                    "{text} {calibration} {t_norm} {known:?}: {found:?} {:?}",
                    best(&all, 7, |x| x.0 % 5 != 2)
                );
            }
        }
    }
}

#[test]
fn what_is_no_tree_is_refused_with_the_method_that_can() {
    let graph = sixty();
    let model = Model::random(predictor("complex", 2).unwrap(), &graph, 0.9, 3);
    let text = "?A : exists V, U. r0(e1, V) and r1(V, U) and r2(U, A) and r0(V, A)";
    let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions::default());
    let scorer = Scorer::new(&model, &graph, Calibration::Sigmoid, Known::ALL);
    let refused = Lists::new(&plan, &scorer, &model, Logic::default(), &Control::default()).err();
    assert_eq!(refused, Some(SearchError::NoLists));
    assert!(refused.is_some_and(|error| error.to_string().contains("exact search")));
    let raw = Scorer::new(&model, &graph, Calibration::Raw, Known::Ignore);
    let tree = read(SHAPES[1], Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let tree = Plan::new(&tree, &graph, PlanOptions::default());
    let refused = Lists::new(&tree, &raw, &model, Logic::default(), &Control::default()).err();
    assert_eq!(refused, Some(SearchError::RawScores));
}

#[test]
fn what_would_take_too_much_memory_is_not_claimed_to_be_proven() {
    let mut builder = GraphBuilder::default();
    for entity in 0..6000 {
        builder.entity(&format!("e{entity}"));
    }
    builder.relation("r0");
    let graph = builder.finish().0;
    let checked = read("?A : r0(e1, A)", Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions::default());
    let run = |model: &Model| {
        let scorer = Scorer::new(model, &graph, Calibration::Sigmoid, Known::ALL);
        let mut lists = Lists::new(&plan, &scorer, model, Logic::default(), &Control::default()).unwrap();
        lists.run(Wanted::Top { count: 3, keep: &|_| true }, 5e-5).unwrap()
    };
    // All entities are equally good, and the lists may not hold all of them.
    let table = |rows: usize| vec![1.0; rows];
    let equal = Model::new(predictor("distmult", 1).unwrap(), table(6000), table(2)).unwrap();
    let found = run(&equal);
    assert_eq!(found.certainty, Certainty::Stopped { by: Limit::Memory });
    assert!(found.answers.iter().all(|&(_, score)| score > 0.7), "the best so far: {found:?}");
    let different = Model::random(predictor("complex", 4).unwrap(), &graph, 1.0, 3);
    let found = run(&different);
    assert!(matches!(found.certainty, Certainty::Exact { .. }), "{found:?}");
    assert!(found.rows < 9, "{} rows: a list is four times as long each time", found.rows);
}

#[test]
fn a_search_that_was_cancelled_or_is_late_says_so() {
    let graph = sixty();
    let model = Model::random(predictor("complex", 2).unwrap(), &graph, 0.9, 3);
    let checked = read(SHAPES[2], Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions::default());
    let scorer = Scorer::new(&model, &graph, Calibration::Sigmoid, Known::ALL);
    let run = |control: &Control| {
        let mut lists = Lists::new(&plan, &scorer, &model, Logic::default(), control).unwrap();
        lists.run(Wanted::Top { count: 3, keep: &|_| true }, 5e-5).unwrap().certainty
    };
    let late = Control::default().with_deadline(std::time::Instant::now());
    assert_eq!(run(&late), Certainty::Stopped { by: Limit::Time });
    let cancelled = Control::default();
    cancelled.cancel_token().clone().cancel();
    assert_eq!(run(&cancelled), Certainty::Stopped { by: Limit::Asked });
}
