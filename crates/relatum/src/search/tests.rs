//! Beam at full width = exact = naive enumeration, on random questions over tiny worlds.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::beam::{Beam, Effort, Widened, Width};
use super::exact::{Exact, Goal};
use super::testing::{Table, naive};
use super::{Certainty, Known, Logic, Progress, Scorer, best};
use crate::control::Control;
use crate::graph::{EntityId, Graph, GraphBuilder, Id, Split};
use crate::logic::{Negation, TNorm};
use crate::model::{Calibration, Model, predictor};
use crate::plan::{Plan, PlanOptions, Union};
use crate::query::testing::{ENTITIES, RELATIONS, any_query, edges, safe_query, tiny_graph};
use crate::query::{Checked, Limits, Syntax, read};

pub(crate) fn tables() -> impl Strategy<Value = Table> {
    let n = ENTITIES as usize;
    // Few distinct values, so that ties are common, and both ends of the interval among them.
    let value = prop_oneof![Just(0.0f32), Just(1.0), Just(0.5), 0.0f32..1.0];
    let row = prop::collection::vec(value, n);
    let relation = prop::collection::vec(row, n);
    prop::collection::vec(relation, RELATIONS as usize).prop_map(|values| Table { values })
}

pub(crate) fn logics() -> impl Strategy<Value = Logic> {
    let t_norm = prop::sample::select(TNorm::ALL.to_vec());
    (t_norm, prop_oneof![Just(1.0f32), Just(3.0)])
        .prop_map(|(t_norm, scale)| Logic { t_norm, negation: Negation { scale } })
}

pub(crate) fn checked() -> impl Strategy<Value = Checked> {
    prop_oneof![any_query().boxed(), safe_query().boxed()]
        .prop_filter_map("not every formula is a safe question", |query| query.check(Limits::default()).ok())
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

const WIDE: Width = Width { k: 100_000, paper: false };

/// A plan in which values that are left out can only lower a score: in a negated sub-query they would raise it.
/// (Assuming this in the tests would reject so many cases that they would never end.)
fn tree_without_sub_queries(checked: &Checked) -> Option<Plan> {
    let nested = checked.normal_form.branches.iter().any(|branch| !branch.negated.is_empty());
    let plan = Plan::new(checked, &tiny_graph(&[]), PlanOptions::default());
    (!nested && plan.is_tree()).then_some(plan)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn beam_at_full_width_equals_exact_equals_naive(
        checked in checked(), table in tables(), logic in logics(), edges in edges(), either_side: bool
    ) {
        let graph = tiny_graph(&edges);
        let options = PlanOptions { beam: WIDE.k, either_side, ..PlanOptions::default() };
        let plan = Plan::new(&checked, &graph, options);
        let expected = naive(&table, &checked.normal_form, logic);
        let beam = Beam::new(&plan, &table, logic, WIDE, &Control::default(), false).unwrap().run().unwrap();
        prop_assert!(close(&beam.scores, &expected), "beam {:?}, naive {expected:?}", beam.scores);
        if plan.is_tree() {
            let mut exact = Exact::new(&plan, &table, logic, &Control::default()).unwrap();
            let found = exact.run(Goal::All { floor: 0.0, most: None }).unwrap();
            prop_assert!(close(&found.scores, &expected), "exact {:?}, naive {expected:?}", found.scores);
        }
    }

    #[test]
    fn alternatives_joined_in_place_are_those_joined_at_the_end_where_and_distributes_over_or(
        checked in checked(), table in tables(), logic in logics(), count in 1usize..4
    ) {
        let options = PlanOptions { union: Union::InPlace, ..PlanOptions::default() };
        let plan = Plan::new(&checked, &tiny_graph(&[]), options);
        if plan.joined.is_some() {
            let run = |goal| Exact::new(&plan, &table, logic, &Control::default()).unwrap().run(goal).unwrap();
            let found = run(Goal::All { floor: 0.0, most: None }).scores;
            let at_the_end = naive(&table, &checked.normal_form, logic);
            match logic.t_norm {
                TNorm::Godel => prop_assert!(close(&found, &at_the_end), "{found:?} {at_the_end:?}"),
                // Conditions that alternatives share count once instead of twice.
                TNorm::Product => {
                    prop_assert!(found.iter().zip(&at_the_end).all(|(a, b)| *a <= b + 1e-5), "{found:?} {at_the_end:?}");
                }
                TNorm::Lukasiewicz => {}
            }
            let top = run(Goal::Top { count, keep: &|_| true, within: 0.0, most: None });
            let scores = |scores: &[f32]| best(scores, count, |_| true).iter().map(|it| it.1).collect::<Vec<_>>();
            prop_assert!(close(&scores(&top.scores), &scores(&found)), "{:?} {found:?}", top.scores);
        }
    }

    #[test]
    fn a_certified_top_is_the_true_top(
        checked in checked(), table in tables(), logic in logics(), count in 1usize..4
    ) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        if plan.is_tree() {
            let expected = naive(&table, &checked.normal_form, logic);
            let shown: Arc<Mutex<Vec<EntityId>>> = Arc::default();
            let display = Arc::clone(&shown);
            let control = Control::default().on(move |progress: &Progress| {
                *display.lock().unwrap() = progress.best.iter().map(|it| it.0).collect();
            });
            let mut exact = Exact::new(&plan, &table, logic, &control).unwrap();
            let found = exact.run(Goal::Top { count, keep: &|_| true, within: 0.0, most: None }).unwrap();
            // However soon the proof is done, a listener has seen what it proved.
            let proven: Vec<EntityId> = best(&found.scores, count, |_| true).iter().map(|it| it.0).collect();
            prop_assert_eq!(&*shown.lock().unwrap(), &proven);
            let is_exact = matches!(found.certainty, Certainty::Exact { .. });
            prop_assert!(is_exact);
            let scores = |scores: &[f32]| best(scores, count, |_| true).iter().map(|it| it.1).collect::<Vec<_>>();
            prop_assert!(close(&scores(&found.scores), &scores(&expected)), "{:?} {expected:?}", found.scores);
            // Entities that were not proven to be among the best have a lower bound, never too high a score.
            prop_assert!(found.scores.iter().zip(&expected).all(|(low, truth)| low <= &(truth + 1e-5)));
        }
    }

    #[test]
    fn a_pass_over_the_most_promising_values_bounds_what_it_left_out(
        checked in checked(), table in tables(), logic in logics(), most in 1usize..4, floor in 0.0f32..0.3
    ) {
        let Some(plan) = tree_without_sub_queries(&checked) else { return Ok(()) };
        let expected = naive(&table, &checked.normal_form, logic);
        let run = |most| {
            let mut exact = Exact::new(&plan, &table, logic, &Control::default()).unwrap();
            exact.run(Goal::All { floor, most }).unwrap()
        };
        let (some, all) = (run(Some(most)), run(None));
        // Values that are left out can only lower a score, never raise it.
        prop_assert!(some.scores.iter().zip(&expected).all(|(some, truth)| some <= &(truth + 1e-5)));
        if let Certainty::Exact { .. } = some.certainty {
            prop_assert_eq!(&some, &all);
        }
        let Certainty::Exact { within } = all.certainty else { panic!("{:?}", all.certainty) };
        for (score, truth) in all.scores.iter().zip(&expected) {
            prop_assert!(score <= &(truth + 1e-5));
            prop_assert!(*truth < floor || truth - score <= within + 1e-5, "{score} {truth} ± {within}");
        }
    }

    #[test]
    fn a_limit_on_values_is_a_beam_and_a_wide_one_is_exact(
        checked in checked(), table in tables(), logic in logics(), count in 1usize..4, most in 1usize..3
    ) {
        let Some(plan) = tree_without_sub_queries(&checked) else { return Ok(()) };
        let expected = naive(&table, &checked.normal_form, logic);
        let run = |most| {
            let goal = Goal::Top { count, keep: &|_| true, within: 0.0, most: Some(most) };
            Exact::new(&plan, &table, logic, &Control::default()).unwrap().run(goal).unwrap()
        };
        let (narrow, wide) = (run(most), run(100));
        prop_assert!(narrow.scores.iter().zip(&expected).all(|(low, truth)| low <= &(truth + 1e-5)));
        let scores = |scores: &[f32]| best(scores, count, |_| true).iter().map(|it| it.1).collect::<Vec<_>>();
        let proven = matches!(wide.certainty, Certainty::Exact { .. });
        prop_assert!(proven, "{:?}", wide.certainty);
        prop_assert!(close(&scores(&wide.scores), &scores(&expected)), "{:?} {expected:?}", wide.scores);
        if let Certainty::Exact { .. } = narrow.certainty {
            prop_assert!(close(&scores(&narrow.scores), &scores(&expected)), "{:?} {expected:?}", narrow.scores);
        }
    }

    #[test]
    fn a_beam_that_widens_proves_the_true_top_of_every_question(
        checked in checked(), table in tables(), logic in logics(), count in 1usize..4, k in 1usize..3
    ) {
        let plan = Plan::new(&checked, &tiny_graph(&[]), PlanOptions { beam: k, ..PlanOptions::default() });
        let expected = naive(&table, &checked.normal_form, logic);
        let width = Width { k, paper: false };
        let mut beam = Beam::new(&plan, &table, logic, width, &Control::default(), false).unwrap();
        let goal = Widened { count, keep: &|x| x.0 != 1, within: 1e-5, effort: Effort::Some };
        let found = beam.widen(&goal).unwrap();
        let is_exact = matches!(found.certainty, Certainty::Exact { .. });
        prop_assert!(is_exact, "{:?}", found.certainty);
        let scores = |scores: &[f32]| best(scores, count, |x| x.0 != 1).iter().map(|it| it.1).collect::<Vec<_>>();
        prop_assert!(close(&scores(&found.scores), &scores(&expected)), "{:?} {expected:?}", found.scores);
    }

    #[test]
    fn a_limit_on_rows_is_kept_and_nothing_is_claimed_too_much(
        checked in checked(), table in tables(), logic in logics(), limit in 0usize..16, paper: bool
    ) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: WIDE.k, either_side: true, ..PlanOptions::default() });
        let expected = naive(&table, &checked.normal_form, logic);
        let control = Control::default().with_rows(limit);
        let mut beam = Beam::new(&plan, &table, logic, Width { paper, ..WIDE }, &control, false).unwrap();
        let mut found = vec![beam.run().unwrap()];
        if plan.is_tree() {
            let run = |goal| Exact::new(&plan, &table, logic, &control).unwrap().run(goal).unwrap();
            found.push(run(Goal::Top { count: 2, keep: &|_| true, within: 0.0, most: None }));
            let all = run(Goal::All { floor: 0.0, most: None });
            prop_assert!(all.rows <= limit, "{} of {limit}", all.rows);
        }
        for found in found {
            prop_assert!(found.rows <= limit, "{} of {limit}", found.rows);
            let too_much = |(low, truth): (&f32, &f32)| *low > truth + 1e-5;
            prop_assert!(!found.scores.iter().zip(&expected).any(too_much), "{:?} {expected:?}", found.scores);
        }
    }

    #[test]
    fn a_search_among_others_finds_what_it_finds_alone(checked in checked(), table in tables(), logic in logics()) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        prop_assume!(plan.is_tree());
        let run = || {
            let goal = Goal::Top { count: 2, keep: &|_| true, within: 0.0, most: None };
            Exact::new(&plan, &table, logic, &Control::default()).unwrap().run(goal).unwrap()
        };
        let ((a, b), alone) = (rayon::join(run, run), run());
        prop_assert!(a == alone && b == alone);
    }

    #[test]
    fn a_narrow_beam_never_claims_too_much(
        checked in checked(), table in tables(), logic in logics(), k in 1usize..3
    ) {
        // Under negation, a search that misses something gives too high a score.
        prop_assume!(checked.normal_form.branches.iter().all(|branch| branch.negated.is_empty()));
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: k, either_side: true, ..PlanOptions::default() });
        let expected = naive(&table, &checked.normal_form, logic);
        for paper in [false, true] {
            let width = Width { k, paper };
            let beam = Beam::new(&plan, &table, logic, width, &Control::default(), false).unwrap().run().unwrap();
            prop_assert!(beam.scores.iter().zip(&expected).all(|(low, truth)| low <= &(truth + 1e-5)));
        }
    }
}

#[test]
fn of_raw_scores_a_variable_is_maximised_before_what_does_not_mention_it() {
    let graph = tiny_graph(&[]);
    let text = "?A : exists V. r0(plain, V) and r0(V, A) and 'has (part)'(plain, A)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let table = Table {
        values: vec![
            vec![vec![2.0, 0.5, 1.0], vec![-3.0, 1.0, 2.0], vec![1.0, -2.0, -4.0]],
            vec![vec![-1.0, 2.0, -0.5], vec![0.0; 3], vec![0.0; 3]],
        ],
    };
    let logic = Logic { t_norm: TNorm::Product, negation: Negation { scale: 1.0 } };
    let r = |relation: usize, x: usize, y: usize| table.values[relation][x][y];
    let best = |a: usize| (0..3).map(|v| r(0, 0, v) * r(0, v, a)).fold(f32::NEG_INFINITY, f32::max);
    let expected: Vec<f32> = (0..3).map(|a| best(a) * r(1, 0, a)).collect();
    for paper in [false, true] {
        let width = Width { k: 3, paper };
        let mut beam = Beam::new(&plan, &table, logic, width, &Control::default(), true).unwrap();
        assert_eq!(beam.run().unwrap().scores, expected);
        // The explanation is of the assignment that made the score.
        let answers = [0, 1, 2].map(EntityId::from_index);
        let explained = beam.assignments(0, &answers, 1).unwrap();
        assert_eq!(explained.iter().map(|best| best[0].1).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_wide_beam_that_is_stopped_gives_the_answers_of_a_narrower_one_with_their_assignments() {
    let mut builder = GraphBuilder::default();
    for entity in 0..300 {
        builder.add(Split::Train, &format!("e{entity}"), "r", &format!("e{}", entity * 7 % 300));
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.7, 3);
    let truth = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::Ignore);
    let text = "?A : exists V, W. r(e1, V) and r(V, W) and r(W, A)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let logic = Logic::default();
    let run = |k: usize, control: Control, widens: bool| {
        let plan = Plan::new(&question.checked, &graph, PlanOptions { beam: k, ..PlanOptions::default() });
        let mut beam = Beam::new(&plan, &truth, logic, Width { k, paper: false }, &control, false).unwrap();
        let goal = Widened { count: 5, keep: &|_| true, within: 0.0, effort: Effort::All };
        let found = if widens { beam.widen(&goal) } else { beam.run() }.unwrap();
        let top = best(&found.scores, 5, |_| true);
        let entities: Vec<EntityId> = top.iter().map(|(entity, _)| *entity).collect();
        let explained = beam.assignments(0, &entities, 1).unwrap();
        (found, top, explained)
    };
    // A pass with all values would take 1 + 300 + 300 rows.
    for widens in [false, true] {
        let (found, top, explained) = run(4096, Control::default().with_rows(200), widens);
        assert!(found.rows <= 200, "{}", found.rows);
        if !widens {
            assert!(matches!(found.certainty, Certainty::Stopped { .. }), "{:?}", found.certainty);
            assert_eq!(top, run(64, Control::default(), false).1);
        }
        assert_eq!(top.len(), 5);
        for ((_, score), assignments) in top.iter().zip(&explained) {
            assert!((assignments[0].1 - score).abs() < 1e-6, "an answer has its assignment");
        }
    }
    let (wide, unlimited) =
        (run(4096, Control::default().with_rows(5000), false), run(4096, Control::default(), false));
    assert_eq!((wide.0.scores, wide.0.certainty), (unlimited.0.scores, unlimited.0.certainty));
}

/// Three entities and three relations, with no edge.
fn three_by_three() -> Graph {
    let mut builder = GraphBuilder::default();
    for (entity, relation) in [("e0", "r0"), ("e1", "r1"), ("e2", "r2")] {
        builder.entity(entity);
        builder.relation(relation);
    }
    builder.finish().0
}

#[test]
fn shared_conditions_of_alternatives_count_once_where_they_are_joined_in_place() {
    let graph = three_by_three();
    let table = Table { values: [0.5, 0.4, 0.8].map(|truth| vec![vec![truth; 3]; 3]).to_vec() };
    let score = |text: &str, union| {
        let checked = read(text, Syntax::detect(text), &graph, Limits::default()).unwrap().checked;
        let plan = Plan::new(&checked, &graph, PlanOptions { union, ..PlanOptions::default() });
        let mut exact = Exact::new(&plan, &table, Logic::default(), &Control::default()).unwrap();
        let found = exact.run(Goal::All { floor: 0.0, most: None }).unwrap();
        (found.scores[0], found.rows)
    };
    let near = |(score, _): (f32, usize), expected: f32| {
        assert!((score - expected).abs() < 1e-6, "{score} {expected}");
    };
    let or = |x: f32, y: f32| x + y - x * y;
    let up = "?A : exists V. (r0(e0, V) or r1(e0, V)) and r2(V, A)";
    near(score(up, Union::InPlace), or(0.5, 0.4) * 0.8);
    near(score(up, Union::AtTheEnd), or(0.5 * 0.8, 0.4 * 0.8));
    assert_eq!(score(up, Union::InPlace).1, 2 + 3, "one row for each anchor and each value of V");
    let two_unions = "?A : (r0(e0, A) or r1(e0, A)) and (r2(e0, A) or r2(e1, A))";
    near(score(two_unions, Union::InPlace), or(0.5, 0.4) * or(0.8, 0.8));
    let absorbed = "?A : r0(e0, A) or (r0(e0, A) and r1(e0, A))";
    near(score(absorbed, Union::InPlace), 0.5);
    near(score(absorbed, Union::AtTheEnd), or(0.5, 0.2));
}

#[test]
fn values_treated_as_0_widen_the_certainty_of_answers_as_small() {
    let graph = three_by_three();
    let certainty = |truths: [f32; 3]| {
        let table = Table { values: truths.map(|truth| vec![vec![truth; 3]; 3]).to_vec() };
        let text = "?A : exists V, W. r0(e0, V) and r1(V, W) and r2(W, A)";
        let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        let mut exact = Exact::new(&plan, &table, Logic::default(), &Control::default()).unwrap();
        let found = exact.run(Goal::Top { count: 2, keep: &|_| true, within: 5e-5, most: None }).unwrap();
        let Certainty::Exact { within } = found.certainty else { panic!("{:?}", found.certainty) };
        let expected = naive(&table, &checked.normal_form, Logic::default());
        assert!(found.scores.iter().zip(&expected).all(|(low, truth)| truth - low <= within), "{found:?}");
        within
    };
    assert!(certainty([1e-4, 1e-3, 0.5]) > 0.0, "messages of 1e-7 were not followed");
    assert!(certainty([0.1, 0.1, 0.5]) <= 0.0, "nothing was ignored");
}
