#![expect(clippy::float_cmp, reason = "rows are whole numbers")]

use proptest::prelude::*;

use super::naive::{fold, step_through};
use super::*;
use crate::graph::{Graph, GraphBuilder, RelationId, Split};
use crate::query::testing::{any_query, brute_force, edges, random_query, safe_query, tiny_graph};
use crate::query::{Atom, Direction, Limits, Syntax, Term, read};

/// Ten films: `lead` is in one, `extra` in all; genre and country are shared by many.
fn films() -> Graph {
    let mut builder = GraphBuilder::default();
    for n in 0..10 {
        let film = format!("film{n}");
        builder.add(Split::Train, &film, "stars", "extra");
        builder.add(Split::Train, &film, "genre", if n % 2 == 0 { "drama" } else { "comedy" });
        builder.add(Split::Train, &film, "country", "France");
    }
    builder.add(Split::Train, "film0", "stars", "lead");
    builder.add(Split::Train, "drama", "like", "comedy");
    for n in 0..200 {
        builder.entity(&format!("other{n}"));
    }
    builder.finish().0
}

fn plan_with(text: &str, options: PlanOptions) -> (Plan, PlanReport) {
    let graph = films();
    let question =
        read(text, Syntax::detect(text), &graph, Limits::default()).unwrap_or_else(|it| panic!("{it}"));
    let plan = Plan::new(&question.checked, &graph, options);
    let report = plan.describe(&graph);
    (plan, report)
}

/// Atoms may be scored from either side: then costs alone decide, which most tests here are about.
const EITHER_SIDE: PlanOptions = PlanOptions { beam: 64, either_side: true, union: Union::AtTheEnd };

fn plan(text: &str) -> (Plan, PlanReport) {
    plan_with(text, EITHER_SIDE)
}

fn order(text: &str) -> Vec<String> {
    plan(text).1.branches[0].steps.iter().map(|step| step.variable.clone()).collect()
}

#[test]
fn an_anchor_costs_one_row_and_a_hop_one_row_a_candidate() {
    assert_eq!(plan("?A : stars(A, lead)").0.rows, 1.0);
    assert_eq!(plan("?A : stars(A, lead) and genre(A, drama)").0.rows, 2.0);
    // One film with the lead, ten with the extra.
    assert_eq!(plan("?G : exists F. stars(F, lead) and genre(F, G)").0.rows, 2.0);
    assert_eq!(plan("?G : exists F. stars(F, extra) and genre(F, G)").0.rows, 11.0);
}

#[test]
fn a_beam_bounds_the_rows_of_a_hop() {
    let narrow = PlanOptions { beam: 4, ..EITHER_SIDE };
    assert_eq!(plan_with("?G : exists F. stars(F, extra) and genre(F, G)", narrow).0.rows, 5.0);
}

#[test]
fn a_chain_starts_at_its_most_selective_anchor() {
    // From `France`: ten films; from `comedy` through `like`: one genre.
    let text = "?A : exists F, G. country(F, France) and genre(F, G) and like(G, comedy) and stars(F, A)";
    assert_eq!(order(text), ["G", "F", "A"]);
}

#[test]
fn an_intersection_scores_its_cheap_side_first() {
    // Ten films with the extra, one with the lead: A is found by the lead, its films looked up.
    let cheap_target = "?A : exists F. country(F, France) and genre(F, A) and like(drama, A)";
    assert_eq!(order(cheap_target), ["A", "F"]);
    assert_eq!(plan(cheap_target).0.rows, 3.0);
    // Where every entity must be ranked, the target has no cheap side.
    let all = PlanOptions::default();
    let ranked = plan_with(cheap_target, all);
    assert_eq!(ranked.1.branches[0].steps[0].variable, "F");
    assert_eq!(ranked.0.rows, 12.0);
}

#[test]
fn up_scores_its_shared_projection_once() {
    let (up, report) = plan("?G : exists F. (stars(F, extra) or country(F, France)) and genre(F, G)");
    assert_eq!(report.shape, "up");
    assert_eq!(up.branches.len(), 2);
    // Two anchors, and one set of rows for both projections instead of two of ten rows each.
    assert_eq!(up.scans.len(), 1);
    assert_eq!(up.scans[0].projections.len(), 2);
    let narrow = PlanOptions { beam: 10, ..EITHER_SIDE };
    let (narrow, _) =
        plan_with("?G : exists F. (stars(F, extra) or country(F, France)) and genre(F, G)", narrow);
    assert_eq!(narrow.rows, 12.0);
    assert_eq!(narrow.branches.iter().map(|branch| branch.rows).sum::<f64>(), 22.0);
}

#[test]
fn equal_parts_of_branches_are_one_message_and_one_step() {
    let text = "?A : exists F, G. stars(F, lead) and genre(F, G) and (like(G, A) or like(A, G))";
    let (plan, _) = plan(text);
    // row stars⁻¹(lead), projection to the genre; then two projections, one for each branch.
    assert_eq!(plan.messages.len(), 4);
    assert_eq!(
        plan.branches[1].steps.iter().map(|step| step.same_as).collect::<Vec<_>>(),
        [Some((0, 0)), Some((0, 1)), None]
    );
}

#[test]
fn rows_of_one_relation_in_a_chain_are_not_one_scan() {
    let (plan, _) = plan("?A : exists V, U. like(drama, V) and like(V, U) and like(U, A)");
    assert_eq!(plan.scans.len(), 2);
}

#[test]
fn trees_are_told_from_other_graphs() {
    let tree = |text: &str| plan(text).0.is_tree();
    assert!(tree("?A : exists F. stars(F, lead) and genre(F, A)"));
    // Two atoms between the same variables are one edge with two hops.
    assert!(tree("?A : exists F. stars(F, lead) and genre(F, A) and country(F, A)"));
    assert!(tree("?A : genre(film0, A) and not (exists F. stars(F, lead) and genre(F, A))"));
    assert!(!tree("?A : exists F, U. stars(F, lead) and genre(F, A) and like(F, U) and like(U, A)"));
    assert!(!tree("?A : genre(film0, A) and like(A, A)"));
    assert!(!tree(
        "?A : exists F. stars(F, lead) and genre(F, A) and not (exists U. like(F, U) and like(U, A))"
    ));
}

#[test]
fn variables_not_needed_later_are_eliminated_and_states_are_merged_by_the_rest() {
    let text = "?A : exists F, U. stars(F, extra) and like(F, U) and genre(F, A) and like(U, A)";
    let (_, report) = plan_with(text, PlanOptions::default());
    let steps = &report.branches[0].steps;
    assert_eq!(steps[0].needed, ["F"]);
    assert_eq!(steps[1].needed, ["F", "U"]);
    assert_eq!(steps[2].needed, ["A"]);
    assert_eq!(steps[2].eliminated, ["F", "U"]);
    assert_eq!((steps[1].beam, steps[2].beam), (Some(64), None));
}

#[test]
fn a_sub_query_about_two_variables_gets_one_of_them_as_its_input() {
    let text = "?A : exists F. stars(F, lead) and genre(F, A) and not (exists U. like(F, U) and like(U, A))";
    let (plan, _) = plan(text);
    let branch = &plan.branches[0];
    assert_eq!(branch.negated[0].inputs.len(), 1);
    assert_eq!(branch.negated[0].target, plan.target);
    assert!(branch.steps[1].factors.contains(&Factor::Negated(0)));
}

#[test]
fn a_plan_is_printed_as_a_tree() {
    let (_, report) =
        plan("?G : exists F. (stars(F, lead) or country(F, France)) and genre(F, G) and not like(G, drama)");
    insta::assert_snapshot!(report, @r#"
    general, tree, about 14 rows to score, beam 64
    ├─ branch 1 of 2 about G: tree, 3 rows
    │  ├─ 1. F by stars⁻¹(lead, ·): 1 row, about 1 fit, keep 64, merge by F
    │  ├─ 2. G by genre(F, ·) and not like⁻¹(drama, ·): 2 rows, eliminate F
    │  └─ message to G
    │     └─ #4 all of
    │        ├─ #1 1 −
    │        │  └─ #0 like⁻¹(drama, ·)
    │        └─ #3 max, projected along genre (rows shared: scan 0)
    │           └─ #2 stars⁻¹(lead, ·)
    └─ branch 2 of 2 about G: tree, 12 rows
       ├─ 1. F by country⁻¹(France, ·): 1 row, about 10 fit, keep 64, merge by F
       ├─ 2. G by genre(F, ·) and not like⁻¹(drama, ·): 11 rows, eliminate F
       └─ message to G
          └─ #7 all of
             ├─ #1 1 −
             │  └─ #0 like⁻¹(drama, ·)
             └─ #6 max, projected along genre (rows shared: scan 0)
                └─ #5 country⁻¹(France, ·)
    "#);
}

#[test]
fn a_negated_sub_query_is_a_plan_in_the_plan() {
    let (_, report) = plan("[[\"lead\",[\"like\",\"genre\",-2]],[\"film0\",[\"genre\"]]]");
    insta::assert_snapshot!(report, @r#"
    pni, tree, about 3 rows to score, beam 64
    └─ branch about A: tree, 3 rows
       ├─ 1. A by genre(film0, ·) and not (sub-query 1): 3 rows
       ├─ not (sub-query 1) about A: tree, 2 rows
       │  ├─ 1. V by like(lead, ·): 1 row, about 1 fit, keep 64, merge by V
       │  └─ 2. A by genre(V, ·): 1 row, eliminate V
       └─ message to A
          └─ #4 all of
             ├─ #2 genre(film0, ·)
             └─ #3 1 −
                └─ #1 max, projected along genre
                   └─ #0 like(lead, ·)
    "#);
}

#[test]
fn a_general_plan_has_steps_but_no_message() {
    let (_, report) =
        plan("?A : exists F, U. stars(F, lead) and genre(F, A) and like(F, U) and like(U, A) and like(A, A)");
    insta::assert_snapshot!(report, @r#"
    general, no tree, about 5 rows to score, beam 64
    └─ branch about A: no tree, 5 rows
       ├─ 1. F by stars⁻¹(lead, ·): 1 row, about 1 fit, keep 64, merge by F
       ├─ 2. U by like(F, ·): 1 row, about 1 fit, keep 64, merge by F, U
       └─ 3. A by genre(F, ·) and like(U, ·) and like(·, ·): 3 rows, eliminate F, U
    "#);
}

#[test]
fn a_question_without_anchor_begins_with_every_entity() {
    let (_, report) = plan("?A : exists F. genre(F, A)");
    insta::assert_snapshot!(report, @r#"
    general, tree, about 215 rows to score, beam 64
    └─ branch about A: tree, 215 rows
       ├─ 1. F by every entity: 0 rows
       ├─ 2. A by genre(F, ·): 215 rows, eliminate F
       └─ message to A
          └─ #1 max, projected along genre
             └─ #0 every entity
    "#);
}

#[test]
fn the_dependency_graph_is_drawn() {
    let (_, report) =
        plan("?G : exists F. stars(F, \"lead\") and genre(F, G) and not (exists U. like(U, G))");
    insta::assert_snapshot!(report.to_dot(), @r#"
    digraph query {
      rankdir=LR;
      node [shape=circle];
      subgraph "cluster_b1" {
        label="branch 1, about 3 rows";
        "b1:e:lead" [shape=box, label="lead"];
        "b1:v:F" [shape=circle, label="F\n1"];
        "b1:v:G" [shape=doublecircle, label="G\n2"];
        "b1:v:F" -> "b1:e:lead" [label="stars"];
        "b1:v:F" -> "b1:v:G" [label="genre"];
        subgraph "cluster_b1_n1" {
          label="not, about 1 row";
          "b1_n1:v:U" [shape=circle, label="U\n2"];
          "b1_n1:v:G" [shape=doublecircle, label="G\n1"];
          "b1_n1:v:U" -> "b1_n1:v:G" [label="like"];
        }
      }
    }
    "#);
}

/// The rows that folding and stepping really score.
fn counted(text: &str, options: PlanOptions) -> (usize, usize) {
    let graph = films();
    let (plan, _) = plan_with(text, options);
    (fold(&plan, &graph).map_or(0, |outcome| outcome.rows), step_through(&plan, &graph).rows)
}

#[test]
fn atoms_are_scored_away_from_named_entities_whatever_it_costs() {
    // From `lead` there is one film to go on from, from `France` ten: yet both sides of `like` are read
    // towards the target.
    let text = "?A : exists F, G, H. country(F, A) and stars(F, lead) and like(F, G) and genre(H, G) and country(H, France)";
    let looks = |options| {
        let (plan, _) = plan_with(text, options);
        plan.messages.iter().filter(|message| matches!(message, Message::Look { .. })).count()
    };
    assert_eq!(looks(PlanOptions::default()), 0);
    assert!(looks(EITHER_SIDE) > 0, "costs alone would decide otherwise");
    // Where the other side has no named entity, an atom is scored from the target's side.
    let (plan, _) = plan_with("?A : exists F. stars(A, lead) and genre(A, F)", PlanOptions::default());
    assert!(plan.messages.iter().any(|message| matches!(message, Message::Look { .. })));
}

#[test]
fn as_many_rows_are_scored_as_were_estimated() {
    let top = EITHER_SIDE;
    let all = PlanOptions { either_side: false, ..top };
    for (text, options, rows) in [
        ("?G : exists F. stars(F, lead) and genre(F, G)", top, 2),
        ("?G : exists F. stars(F, extra) and genre(F, G)", top, 11),
        ("?A : exists F. country(F, France) and genre(F, A) and like(drama, A)", top, 3),
        ("?A : exists F. country(F, France) and genre(F, A) and like(drama, A)", all, 12),
        ("?A : exists F, G. country(F, France) and genre(F, G) and like(G, comedy) and stars(F, A)", top, 8),
    ] {
        assert_eq!(plan_with(text, options).0.rows, rows as f64, "{text}");
        assert_eq!(counted(text, options), (rows, rows), "{text}");
    }
}

#[test]
fn a_union_before_a_projection_scores_the_projection_once() {
    let up = "?G : exists F. (stars(F, extra) or country(F, France)) and genre(F, G)";
    // Two anchors and ten films, which both alternatives lead to.
    assert_eq!(counted(up, EITHER_SIDE).0, 12);
}

#[test]
fn equal_conditions_of_different_variables_all_count() {
    let (plan, _) = plan("?A : exists V, U. like(A, comedy) and genre(V, A) and genre(U, A)");
    let root = plan.branches[0].root.expect("a tree");
    let parts = plan.messages[root.index()].parts();
    assert_eq!(parts.len(), 3);
    assert_eq!(parts[1], parts[2]);
}

#[test]
fn a_sub_query_runs_once_for_each_value_of_its_input() {
    // Ten films with the extra; for each of them one row from the film and one from the genre asked about.
    let text = "?A : exists F. stars(F, extra) and genre(F, A) and not (exists U. like(F, U) and like(U, A))";
    let (plan, _) = plan(text);
    let nested = &plan.branches[0].negated[0];
    assert_eq!(nested.inputs.len(), 1);
    assert_eq!(nested.steps[0].rows, 1.0, "an input has one value in a run");
    let step = plan.branches[0].steps.last().expect("steps");
    assert_eq!(step.rows, 10.0 + 10.0 * nested.rows);
}

#[test]
fn a_beam_is_taken_exactly_where_the_estimate_says_so() {
    // A negated atom alone does not rank values: the search goes on with all values of U.
    let text = "?A : exists U. like(U, A) and not genre(film0, U)";
    let (_, report) = plan(text);
    let steps = &report.branches[0].steps;
    assert_eq!((steps[0].variable.as_str(), steps[0].beam, steps[1].rows), ("U", None, 215.0));
    let all = PlanOptions::default();
    let (ranked, _) = plan_with("?A : exists F. stars(A, lead) and genre(A, F) and like(F, drama)", all);
    for step in ranked.branches[0].steps.iter().filter(|step| step.variable == ranked.target) {
        assert_eq!(step.beam, None, "a target that is ranked whole is not cut");
    }
}

/// Atoms as (relation, subject, object, negated).
type Written = (RelationId, Term, Term, bool);

/// Each atom of a branch is scored in one factor of one step, each sub-query in one.
fn assert_every_literal_is_in_one_factor(plan: &BranchPlan) {
    let written = |atom: &Atom, negated| (atom.relation, atom.subject, atom.object, negated);
    let mut expected: Vec<Written> = plan.branch.positive.iter().map(|atom| written(atom, false)).collect();
    expected.extend(plan.branch.negative.iter().map(|atom| written(atom, true)));
    let (mut found, mut asked): (Vec<Written>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        let to = Term::Variable(step.variable);
        for factor in &step.factors {
            match *factor {
                Factor::Row { from, hop, negated } => found.push(match hop.direction {
                    Direction::Forward => (hop.relation, from, to, negated),
                    Direction::Backward => (hop.relation, to, from, negated),
                }),
                Factor::Loop { relation, negated } => found.push((relation, to, to, negated)),
                Factor::Negated(which) => asked.push(which),
            }
        }
    }
    expected.sort_unstable();
    found.sort_unstable();
    asked.sort_unstable();
    assert_eq!(found, expected, "{plan:#?}");
    assert_eq!(asked, (0..plan.branch.negated.len()).collect::<Vec<_>>(), "{plan:#?}");
    assert_eq!(plan.negated.len(), plan.branch.negated.len());
    for (nested, sub) in plan.negated.iter().zip(&plan.branch.negated) {
        assert_eq!(nested.branch, sub.branch);
        assert_every_literal_is_in_one_factor(nested);
    }
}

#[test]
fn conditions_of_a_sub_query_on_its_inputs_alone_are_not_lost() {
    let (plan, _) = plan(
        "?A : exists P. genre(A, P) and stars(A, lead) and not (exists F. \
         stars(F, P) and like(F, A) and country(A, France) and like(A, P) and like(A, A))",
    );
    // not country(A, France), not like(A, P), not like(A, A), and the sub-query without them.
    assert_eq!(plan.branches.len(), 4);
    plan.branches.iter().for_each(assert_every_literal_is_in_one_factor);
}

/// What makes a plan interesting.
#[derive(Default, Debug)]
struct Coverage {
    refused: usize,
    single_atoms: usize,
    unions: usize,
    general: usize,
    loops: usize,
    sub_queries: usize,
    with_inputs: usize,
    nested: usize,
}

#[test]
fn random_questions_are_of_every_kind() {
    let graph = tiny_graph(&[]);
    let mut seen = Coverage::default();
    for seed in 0..1000 {
        let Ok(checked) = random_query(seed).check(Limits::default()) else {
            seen.refused += 1;
            continue;
        };
        let plan = Plan::new(&checked, &graph, EITHER_SIDE);
        let all = &plan.branches;
        let any = |test: &dyn Fn(&BranchPlan) -> bool| usize::from(all.iter().any(test));
        let loops = |atom: &Atom| atom.subject == atom.object;
        seen.single_atoms += usize::from(all.len() == 1 && all[0].branch.atoms() == 1);
        seen.unions += usize::from(all.len() > 1);
        seen.general += usize::from(!plan.is_tree());
        seen.loops += any(&|branch| branch.branch.positive.iter().any(loops));
        seen.sub_queries += any(&|branch| !branch.negated.is_empty());
        seen.with_inputs += any(&|branch| branch.negated.iter().any(|nested| !nested.inputs.is_empty()));
        seen.nested += any(&|branch| branch.negated.iter().any(|nested| !nested.negated.is_empty()));
    }
    assert!(seen.refused < 50 && seen.single_atoms < 250, "{seen:?}");
    let kinds = [seen.unions, seen.general, seen.loops, seen.sub_queries, seen.with_inputs, seen.nested];
    assert!(kinds.iter().all(|&count| count >= 50), "{seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_run_a_plan_finds_the_answers(query in prop_oneof![any_query().boxed(), safe_query().boxed()], edges in edges(), either_side: bool, in_place: bool) {
        let graph = tiny_graph(&edges);
        let expected = brute_force(&query, &graph);
        if let Ok(checked) = query.check(Limits { branches: 512, ..Limits::default() }) {
            let union = if in_place { Union::InPlace } else { Union::AtTheEnd };
            let options = PlanOptions { either_side, union, ..PlanOptions::default() };
            let plan = Plan::new(&checked, &graph, options);
            plan.branches.iter().for_each(assert_every_literal_is_in_one_factor);
            prop_assert_eq!(&step_through(&plan, &graph).answers, &expected);
            if let Some(outcome) = fold(&plan, &graph) {
                prop_assert_eq!(&outcome.answers, &expected);
            }
        }
    }
}
