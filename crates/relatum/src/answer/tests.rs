//! Explanations re-fold to their scores, and say what is known.

use std::collections::HashMap;
use std::time::Instant;

use proptest::prelude::*;

use super::alternatives::NextBest;
use super::explanation::{atoms, value_of};
use super::{
    Answer, Ask, Explaining, Explanation, Marks, Method, SubQuery, Witness, answer, ask, known_answers,
};
use crate::control::Control;
use crate::graph::{EntityId, Graph, GraphBuilder, Split};
use crate::logic::TNorm;
use crate::model::{Calibration, Model, predictor};
use crate::plan::{Plan, PlanOptions};
use crate::query::testing::tiny_graph;
use crate::query::{Limits, Syntax, VariableId, read};
use crate::random::Rng;
use crate::search::beam::Width;
use crate::search::testing::{Table, every_score, naive};
use crate::search::tests::{checked, logics, tables};
use crate::search::{Certainty, Known, Limit, Logic, Scorer, SearchError, best};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_explanation_refolds_to_its_score(checked in checked(), table in tables(), logic in logics(), by_beam: bool) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: 10_000, either_side: true, ..PlanOptions::default() });
        let method = if by_beam { Method::Beam } else { Method::Auto };
        let how = Ask { logic, method, explain: true, width: Width { k: 10_000, paper: false }, ..Ask::default() };
        let known = Marks::new(known_answers(&plan, &graph, Known::ALL, &how.control));
        let found = answer(&plan, &table, &known, &|_, _| Vec::new(), &how).unwrap();
        for answer in &found.answers {
            let explanation = answer.explanation.as_ref().expect("every answer has a reason");
            let (branch, score) = (explanation.branch_scores[explanation.branch], explanation.refold(logic));
            prop_assert!((branch - score).abs() < 1e-4, "branch {branch}, re-folded {score}: {explanation:?}");
            let joined = logic.t_norm.any(explanation.branch_scores.iter().copied());
            prop_assert!((joined - answer.score).abs() < 1e-4, "joined {joined}, answer {}", answer.score);
            for other in &explanation.alternatives {
                prop_assert!(other.score <= branch + 1e-5);
            }
            prop_assert!(are_witnessed(&explanation.sub_queries, logic), "{explanation:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn alternatives_are_the_next_best_of_all_assignments(
        checked in checked(), table in tables(), logic in logics(), by_beam: bool, either_side: bool
    ) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: 10_000, either_side, ..PlanOptions::default() });
        let exactly = plan.is_tree() && !by_beam;
        // A beam at full width, as in the paper, for trees too.
        let (method, width) = (if exactly { Method::Auto } else { Method::Beam }, Width { k: 10_000, paper: by_beam });
        let how = Ask { logic, method, explain: true, width, ..Ask::default() };
        let found = answer(&plan, &table, &Marks::default(), &|_, _| Vec::new(), &how).unwrap();
        for answer in &found.answers {
            let explanation = answer.explanation.as_ref().expect("every answer has a reason");
            let branch = &checked.normal_form.branches[explanation.branch];
            let values = HashMap::from([(plan.target, answer.entity)]);
            let expected = padded(every_score(&table, branch, &values, logic).into_iter().skip(1));
            let listed = padded(explanation.alternatives.iter().map(|other| other.score));
            prop_assert!(are_close(&listed, &expected), "{listed:?}, naive {expected:?}: {explanation:?}");
            // Where other alternatives already make it entirely true, one of them may stay open.
            let open = explanation.branches_open[explanation.branch];
            prop_assert!(open || explanation.alternatives_certain == exactly, "{explanation:?}");
            for (index, other) in explanation.alternatives.iter().enumerate() {
                let values: HashMap<VariableId, EntityId> = other.assignment.iter().copied().collect();
                prop_assert!((every_score(&table, branch, &values, logic)[0] - other.score).abs() < 1e-5);
                let earlier = explanation.alternatives[..index].iter().map(|it| &it.assignment);
                let all: Vec<HashMap<VariableId, EntityId>> = earlier
                    .chain([&explanation.assignment])
                    .map(|assignment| assignment.iter().copied().collect())
                    .collect();
                prop_assert!(!all.contains(&values), "{explanation:?}");
            }
        }
    }

    #[test]
    fn where_few_values_are_tried_certain_alternatives_are_the_next_best(
        checked in checked(), table in tables(), logic in logics(), tried in 1usize..3, either_side: bool
    ) {
        let graph = tiny_graph(&[]);
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: 64, either_side, ..PlanOptions::default() });
        if !plan.is_tree() {
            return Ok(());
        }
        let answers: Vec<EntityId> = graph.entities.ids().collect();
        let next_best = NextBest::new(&plan, &table, logic, &Control::default(), None, tried).unwrap();
        for (planned, branch) in plan.branches.iter().zip(&checked.normal_form.branches) {
            let listed = next_best.of_branch(planned, &answers).unwrap();
            for (listed, answer) in listed.iter().zip(&answers).filter(|(listed, _)| listed.certain) {
                let expected = padded(every_score(&table, branch, &HashMap::from([(plan.target, *answer)]), logic).into_iter());
                let scores = padded(listed.ranked.iter().map(|(_, score)| *score));
                prop_assert!(are_close(&scores, &expected), "{scores:?}, naive {expected:?}");
            }
        }
    }
}

/// The first three scores, and nothing where there are fewer.
fn padded(scores: impl Iterator<Item = f32>) -> Vec<f32> {
    scores.chain(std::iter::repeat(0.0)).take(3).collect()
}

fn are_close(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-5)
}

/// Whether each sub-query is at least as true as its witness, whose parts fold to its score. (It may
/// be said to be truer: a proof goes no further than the score of the answer needs.)
fn are_witnessed(sub_queries: &[SubQuery], logic: Logic) -> bool {
    sub_queries.iter().all(|nested| {
        let holds = |witness: &Witness| {
            let folded = Explanation::fold(logic, &witness.atoms, &witness.sub_queries);
            (witness.score - folded).abs() < 1e-6
                && witness.score <= nested.truth + 1e-4
                && are_witnessed(&witness.sub_queries, logic)
        };
        (nested.value + nested.truth - 1.0).abs() < 1e-6 && nested.witness.as_ref().is_none_or(holds)
    })
}

fn films() -> Graph {
    let mut builder = GraphBuilder::default();
    for (film, relation, thing) in [
        ("Bad Boys", "stars", "Will Smith"),
        ("Bad Boys", "genre", "Action"),
        ("Hitch", "stars", "Will Smith"),
        ("Hitch", "genre", "Comedy"),
        ("Life", "stars", "Eddie Murphy"),
        ("Life", "genre", "Comedy"),
    ] {
        builder.add(Split::Train, film, relation, thing);
    }
    builder.finish().0
}

fn asked(graph: &Graph, text: &str, how: &Ask) -> Vec<(String, bool)> {
    let model = Model::random(predictor("complex", 4).unwrap(), graph, 0.5, 1);
    let question = read(text, Syntax::Text, graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, graph, PlanOptions::default());
    let answers = ask(&plan, &model, graph, how).unwrap().answers;
    answers.iter().map(|answer| (graph.entity_text(answer.entity), answer.known == Some(true))).collect()
}

#[test]
fn answers_of_stored_edges_are_known_and_come_first() {
    let graph = films();
    let how = Ask { top: 3, ..Ask::default() };
    let genres = r#"?G : exists F. stars(F, "Will Smith") and genre(F, G)"#;
    let answers = asked(&graph, genres, &how);
    assert_eq!(answers[..2], [("Action".to_owned(), true), ("Comedy".to_owned(), true)]);
    assert!(!answers[2].1);
    let new = asked(&graph, genres, &Ask { new_only: true, ..how });
    assert!(new.iter().all(|(name, known)| !known && name != "Action" && name != "Comedy"), "{new:?}");
}

#[test]
fn a_negated_sub_query_shows_its_best_witness() {
    let graph = films();
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = r#"?F : genre(F, Comedy) and not (exists A. stars(F, A) and stars("Bad Boys", A))"#;
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    for width in [Width { k: 64, paper: false }, Width { k: 64, paper: true }] {
        let how = Ask { method: Method::Beam, width, explain: true, top: 1, ..Ask::default() };
        let found = ask(&plan, &model, &graph, &how).unwrap();
        let explanation = found.answers[0].explanation.as_ref().unwrap();
        assert_eq!(graph.entity_text(found.answers[0].entity), "Life");
        let [nested] = explanation.sub_queries.as_slice() else { panic!("one sub-query: {explanation:?}") };
        let witness = nested.witness.as_ref().unwrap();
        assert!(nested.truth > 0.0 && (nested.truth - witness.score).abs() < 1e-5, "{nested:?}");
        assert_eq!(witness.atoms.len(), 2, "with the truth of each of its atoms");
        let negated = &question.checked.normal_form.branches[0].negated[0];
        let truth = Scorer::new(&model, &graph, how.calibration, how.known);
        let (film, own) = ((plan.target, found.answers[0].entity), negated.bound[0]);
        let by = |actor: EntityId| {
            let plan = &plan.branches[0].negated[0];
            Explanation::fold(how.logic, &atoms(plan, &truth, how.logic, &vec![film, (own, actor)]), &[])
        };
        let best = graph.entities.ids().max_by(|&a, &b| by(a).total_cmp(&by(b)));
        let actor = best.unwrap();
        assert!((by(actor) - nested.truth).abs() < 1e-5, "{actor:?} {nested:?}");
        assert_eq!(value_of(&witness.assignment, own), Some(actor));
    }
}

#[test]
fn answers_not_settled_in_time_are_neither_known_nor_predicted() {
    let graph = films();
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = r#"?G : exists F. stars(F, "Will Smith") and genre(F, G)"#;
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let late = Control::default().with_deadline(std::time::Instant::now());
    for method in [Method::Auto, Method::Beam, Method::Continuous] {
        let calibration = Calibration::Sigmoid;
        let how = Ask { method, calibration, new_only: true, control: late.clone(), ..Ask::default() };
        let found = ask(&plan, &model, &graph, &how).unwrap();
        assert_eq!(found.certainty, Certainty::Stopped { by: Limit::Time });
        assert!(found.answers.iter().all(|answer| answer.known.is_none()), "{found:?}");
    }
    let scorer = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::ALL);
    let found = answer(
        &plan,
        &scorer,
        &Marks::default(),
        &|_, _| Vec::new(),
        &Ask { new_only: true, ..Ask::default() },
    )
    .unwrap();
    assert!(!found.answers.is_empty() && found.answers.iter().all(|answer| answer.known.is_none()));
}

#[test]
fn negation_takes_known_answers_away() {
    let graph = films();
    let how = Ask { top: 1, ..Ask::default() };
    let without = r#"?F : genre(F, Comedy) and not stars(F, "Will Smith")"#;
    assert_eq!(asked(&graph, without, &how), [("Life".to_owned(), true)]);
}

#[test]
fn both_methods_agree_on_a_tree() {
    let graph = films();
    for t_norm in TNorm::ALL {
        let logic = crate::search::Logic { t_norm, ..Default::default() };
        let how = |method| Ask { method, logic, width: Width { k: 1000, paper: false }, ..Ask::default() };
        let text = "?A : exists F. stars(F, A) and (genre(F, Comedy) or genre(F, Action))";
        assert_eq!(
            asked(&graph, text, &how(Method::Exact)),
            asked(&graph, text, &how(Method::Beam)),
            "{t_norm}"
        );
    }
}

#[test]
fn continuous_optimisation_explains_itself_by_the_nearest_entities() {
    let graph = films();
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = r#"?G : exists F. stars(F, "Will Smith") and genre(F, G) and not exists A. (stars(F, A) and stars(Life, A))"#;
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let how = Ask {
        method: Method::Continuous,
        calibration: Calibration::Sigmoid,
        explain: true,
        ..Ask::default()
    };
    let found = ask(&plan, &model, &graph, &how).unwrap();
    assert!(matches!(found.certainty, Certainty::Continuous { steps: 1.., .. }));
    assert_eq!(found.answers.len(), graph.entities.len().min(how.top));
    let film = |answer: &Answer| answer.explanation.as_ref().unwrap().assignment[0];
    for answer in &found.answers {
        let explanation = answer.explanation.as_ref().unwrap();
        assert_eq!(explanation.assignment.last(), Some(&(plan.target, answer.entity)));
        assert_eq!((explanation.atoms.len(), explanation.sub_queries.len()), (2, 1));
        assert!(
            explanation.sub_queries[0].witness.is_some()
                && are_witnessed(&explanation.sub_queries, how.logic)
        );
        assert!((explanation.score - explanation.refold(how.logic)).abs() < 1e-6);
        assert_eq!(explanation.branch_scores, [answer.score]);
        assert_eq!(film(answer), film(&found.answers[0]), "one vector, one film");
        assert_eq!(explanation.alternatives.len(), 3);
    }
    let refused = ask(&plan, &model, &graph, &Ask { calibration: Calibration::SoftmaxCount, ..how });
    assert_eq!(refused, Err(SearchError::NeedsARow { calibration: Calibration::SoftmaxCount }));
}

#[test]
fn an_alternative_that_could_not_change_the_answer_is_left_open_not_called_false() {
    let mut builder = GraphBuilder::default();
    for (head, relation, tail) in [("Bride", "stars", "Richard"), ("Alien", "genre", "Drama")] {
        builder.add(Split::Train, head, relation, tail);
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = "?F : stars(F, Richard) or genre(F, Drama)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let of = |known| {
        let how = Ask { explain: true, top: 1, known, ..Ask::default() };
        let found = ask(&plan, &model, &graph, &how).unwrap();
        let explanation = found.answers[0].explanation.clone().unwrap();
        explanation.branch_scores.into_iter().zip(explanation.branches_open).collect::<Vec<(f32, bool)>>()
    };
    let proven = of(Known::ALL);
    assert!(proven.contains(&(1.0, false)), "{proven:?}");
    assert!(proven.iter().any(|(_, open)| *open), "the other need not be scored: {proven:?}");
    assert!(of(Known::Ignore).iter().all(|(_, open)| !open), "all is scored: {:?}", of(Known::Ignore));
}

#[test]
fn an_alternative_may_differ_far_from_the_target_and_at_a_loop() {
    let mut builder = GraphBuilder::default();
    for (head, relation, tail) in [
        ("Bride", "stars", "Richard"),
        ("Bride", "genre", "Drama"),
        ("Bride", "genre", "Comedy"),
        ("Alien", "genre", "Drama"),
        ("Alien", "genre", "Comedy"),
        ("Drama", "like", "Drama"),
        ("Comedy", "like", "Comedy"),
    ] {
        builder.add(Split::Train, head, relation, tail);
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    for text in [
        "?A : exists F, D. stars(F, A) and genre(F, D) and genre(Alien, D)",
        "?A : exists F, D. stars(F, A) and genre(F, D) and genre(Alien, D) and like(D, D)",
    ] {
        let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
        let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
        let found = ask(&plan, &model, &graph, &Ask { explain: true, top: 1, ..Ask::default() }).unwrap();
        let explanation = found.answers[0].explanation.as_ref().unwrap();
        let other = &explanation.alternatives[0];
        let values = |assignment: &[(VariableId, EntityId)]| {
            let mut names: Vec<String> =
                assignment.iter().map(|&(_, value)| graph.entity_text(value)).collect();
            names.sort();
            names
        };
        let mut both = [values(&explanation.assignment), values(&other.assignment)];
        both.sort();
        assert_eq!(both, [["Bride", "Comedy", "Richard"], ["Bride", "Drama", "Richard"]], "{text}");
        assert_eq!((explanation.score, other.score), (1.0, 1.0));
    }
}

#[test]
fn of_many_equal_values_the_one_that_makes_the_answer_is_tried() {
    let mut builder = GraphBuilder::default();
    for film in 0..300 {
        builder.add(Split::Train, &format!("film {film}"), "genre", "Drama");
    }
    for (head, relation, tail) in
        [("Alien", "genre", "Drama"), ("Bride", "genre", "Drama"), ("Bride", "stars", "Richard")]
    {
        builder.add(Split::Train, head, relation, tail);
    }
    for film in ["Alien", "Bride"] {
        builder.add(Split::Train, film, "genre", "Comedy");
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = "?A : exists F, D. stars(F, A) and genre(F, D) and genre(Alien, D)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let options = PlanOptions::default();
    let plan = Plan::new(&question.checked, &graph, options);
    let found = ask(&plan, &model, &graph, &Ask { explain: true, top: 1, ..Ask::default() }).unwrap();
    let explanation = found.answers[0].explanation.as_ref().unwrap();
    assert_eq!(graph.entity_text(found.answers[0].entity), "Richard");
    assert_eq!((explanation.score, explanation.alternatives[0].score), (1.0, 1.0), "{explanation:?}");
}

#[test]
fn answers_of_stored_edges_that_a_beam_missed_are_explained_by_these_edges() {
    let mut builder = GraphBuilder::default();
    for ring in 0..12 {
        for at in 0..3 {
            builder.add(
                Split::Train,
                &format!("e{ring} {at}"),
                "knows",
                &format!("e{ring} {}", (at + 1) % 3),
            );
        }
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = "?T : exists U, V. knows(U, V) and knows(V, T) and knows(T, U)";
    let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions { beam: 1, ..PlanOptions::default() });
    let width = Width { k: 1, paper: false };
    let how = Ask { method: Method::Beam, width, top: 36, explain: true, ..Ask::default() };
    let found = ask(&plan, &model, &graph, &how).unwrap();
    assert_eq!(found.answers.len(), 36);
    for answer in &found.answers {
        let explanation = answer.explanation.as_ref().expect("every answer has a reason");
        assert!((explanation.refold(how.logic) - answer.score).abs() < 1e-6);
        assert!(explanation.atoms.iter().all(|atom| atom.known == Some(Split::Train)));
    }
}

#[test]
fn in_paper_mode_a_beam_finds_only_what_it_reached() {
    let mut builder = GraphBuilder::default();
    for person in ["Ann", "Bea", "Cid"] {
        builder.add(Split::Train, person, "likes", "tea");
        builder.add(Split::Train, person, "likes", &format!("the cat of {person}"));
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = "?T : exists V. likes(V, tea) and likes(V, T)";
    let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions { beam: 1, ..PlanOptions::default() });
    let certain = |paper| {
        let how = Ask { method: Method::Beam, width: Width { k: 1, paper }, explain: true, ..Ask::default() };
        let found = ask(&plan, &model, &graph, &how).unwrap();
        assert!(found.answers.iter().all(|answer| answer.explanation.is_some()));
        found.answers.iter().filter(|answer| answer.score >= 1.0).count()
    };
    assert_eq!(certain(true), 2, "tea and one cat");
    assert_eq!(certain(false), 4, "stored edges are followed from every value");
}

/// A table in which few edges are likely, like those of a trained model.
fn skewed_table(entities: usize, relations: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed);
    let mut value = || {
        let x = rng.below(1000) as f32 / 1000.0;
        0.95 * x.powi(8)
    };
    let mut row = || (0..entities).map(|_| value()).collect::<Vec<f32>>();
    let values = (0..relations).map(|_| (0..entities).map(|_| row()).collect()).collect();
    Table { values }
}

fn named_graph(entities: usize, relations: usize) -> Graph {
    let mut builder = GraphBuilder::default();
    for id in 0..entities {
        builder.entity(&format!("e{id}"));
    }
    for id in 0..relations {
        builder.relation(&format!("r{id}"));
    }
    builder.finish().0
}

#[test]
fn cyclic_questions_on_a_small_graph_are_proven_exact() {
    let (graph, table) = (named_graph(40, 3), skewed_table(40, 3, 7));
    for text in [
        "?T : exists U, V. r0(e1, U) and r1(U, V) and r2(V, T) and not r0(U, T)",
        "?T : exists U, V. r0(e2, U) and r1(U, V) and r2(V, T) and r0(U, T)",
        "?T : exists U, V. r0(U, V) and r1(V, T) and r2(T, U)",
        "?T : exists U. r0(e3, U) and r1(U, T) and r2(T, T)",
        "?T : exists U. r0(e4, U) and r1(U, T) and not exists W. (r2(U, W) and r0(W, T))",
    ] {
        let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
        let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
        assert!(!plan.is_tree(), "{text}");
        for method in [Method::Auto, Method::Exact] {
            let how = Ask { method, width: Width { k: 4, paper: false }, explain: true, ..Ask::default() };
            let found = answer(&plan, &table, &Marks::default(), &|_, _| Vec::new(), &how).unwrap();
            assert!(matches!(found.certainty, Certainty::Exact { .. }), "{text}: {:?}", found.certainty);
            let expected = best(&naive(&table, &question.checked.normal_form, how.logic), 10, |_| true);
            assert_eq!(found.answers.len(), 10);
            for (answer, (entity, score)) in found.answers.iter().zip(expected) {
                assert_eq!(answer.entity, entity, "{text}");
                assert!((answer.score - score).abs() < 1e-5, "{text}");
                let explanation = answer.explanation.as_ref().expect("a proven answer has its assignment");
                assert!((explanation.refold(how.logic) - score).abs() < 1e-4, "{text}");
            }
        }
    }
}

#[test]
fn known_answers_that_fill_the_top_end_a_search_before_it_begins() {
    let mut builder = GraphBuilder::default();
    for film in 0..400 {
        let (film, director) = (format!("film {film}"), format!("director {}", film % 100));
        builder.add(Split::Train, &film, "directed_by", &director);
        builder.add(Split::Train, &film, "stars", if film.ends_with('7') { &director } else { "someone" });
        builder.add(Split::Train, &director, "knows", "someone");
        builder.add(Split::Train, "someone", "likes", &film);
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    for text in [
        "?P : exists F. directed_by(F, P) and stars(F, P)",
        "?P : exists F, S. directed_by(F, P) and knows(P, S) and likes(S, F)",
    ] {
        let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
        let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
        let how = Ask { top: 3, explain: true, ..Ask::default() };
        let found = ask(&plan, &model, &graph, &how).unwrap();
        assert!(matches!(found.certainty, Certainty::Exact { .. }), "{text}");
        assert_eq!(found.rows, 0, "{text}");
        assert_eq!(found.answers.len(), 3);
        for answer in &found.answers {
            assert_eq!((answer.score, answer.known), (1.0, Some(true)), "{text}");
            assert!(answer.explanation.as_ref().is_some_and(|it| it.refold(how.logic) >= 1.0), "{text}");
        }
    }
}

#[test]
fn a_rounding_error_is_not_an_answer() {
    let (graph, table) = (named_graph(40, 1), skewed_table(40, 1, 3));
    let text = "?T : r0(e1, T) and not r0(e1, T)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let logic = Logic { t_norm: TNorm::Lukasiewicz, ..Logic::default() };
    let how = Ask { logic, ..Ask::default() };
    let found = answer(&plan, &table, &Marks::default(), &|_, _| Vec::new(), &how).unwrap();
    assert_eq!(found.answers, []);
}

#[test]
fn entities_of_another_kind_count_as_little_as_the_weight_says() {
    let mut builder = GraphBuilder::default();
    for (film, genre) in [("Jaws", "Thriller"), ("Hitch", "Comedy"), ("Alien", "Horror")] {
        builder.add(Split::Train, film, "genre", genre);
    }
    builder.add(Split::Valid, "Jaws", "genre", "Hitch");
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let question = read("?G : genre(Jaws, G)", Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    let scores = |unseen: f32, known: Known| {
        let found = ask(&plan, &model, &graph, &Ask { unseen, known, ..Ask::default() }).unwrap();
        let scores = found.answers.iter().map(|answer| (graph.entity_text(answer.entity), answer.score));
        scores.collect::<std::collections::BTreeMap<_, _>>()
    };
    let (plain, weighed, strict) =
        (scores(1.0, Known::Ignore), scores(0.1, Known::Ignore), scores(0.0, Known::Ignore));
    for genre in ["Thriller", "Comedy", "Horror"] {
        assert_eq!((plain[genre], plain[genre]), (weighed[genre], strict[genre]));
    }
    for film in ["Jaws", "Hitch", "Alien"] {
        assert!((plain[film] * 0.1 - weighed[film]).abs() < 1e-6);
        assert!(!strict.contains_key(film), "a score of 0 is no answer");
    }
    assert!(scores(0.0, Known::ALL)["Hitch"] >= 1.0, "a trusted edge counts whatever stands there");
}

#[test]
fn the_best_answer_is_always_explained_and_the_others_while_there_is_time() {
    let past = Control::default().with_deadline(Instant::now());
    let over = |skip| Explaining { control: past.clone(), skip };
    assert!(over(0).includes(0) && !over(0).includes(1));
    assert!(
        !over(2).includes(1) && over(2).includes(2) && !over(2).includes(3),
        "the best of those that are shown"
    );
    let how = Ask { control: past.clone(), ..Ask::default() };
    assert!(how.explaining().includes(1), "a moment is left after every search");
    how.control.cancel_token().cancel();
    assert!(!how.explaining().includes(1), "nobody waits for the others");
}

#[test]
fn answers_that_are_skipped_are_not_explained_and_the_others_as_before() {
    let mut builder = GraphBuilder::default();
    for (film, actor) in
        [("Bride", "Richard"), ("Alien", "Sigourney"), ("Avatar", "Sigourney"), ("Life", "Eddie")]
    {
        builder.add(Split::Train, film, "stars", actor);
    }
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
    let text = "?A : exists F. stars(F, Sigourney) and stars(F, A)";
    let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
    let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
    for method in [Method::Auto, Method::Beam, Method::Lists, Method::Continuous] {
        let calibration = Calibration::Sigmoid;
        let how = Ask { method, calibration, explain: true, top: 3, ..Ask::default() };
        let all = ask(&plan, &model, &graph, &how).unwrap().answers;
        let some = ask(&plan, &model, &graph, &Ask { skip: 1, ..how }).unwrap().answers;
        assert!(some[0].explanation.is_none() && all[0].explanation.is_some(), "{method:?}");
        assert_eq!(some[1..], all[1..], "{method:?}");
    }
}
