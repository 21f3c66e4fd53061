use proptest::prelude::*;

use super::*;
use crate::query::syntax;
use crate::query::testing::{any_query, brute_force, edges, safe_query, tiny_graph};

/// The normal form of a text whose names are r0, "has (part)" and plain.
fn normal(text: &str) -> String {
    let graph = tiny_graph(&[]);
    let query = syntax::parse(text).unwrap().resolve(&graph).unwrap();
    query.normal_form(Limits::default()).unwrap().to_query().named(&graph).to_string()
}

#[test]
fn conjunctions_are_distributed_over_disjunctions() {
    assert_eq!(
        normal("?A : exists V. (r0(plain, V) or r0(#1, V)) and #1(V, A)"),
        r#"?A : (exists V. r0(plain, V) and "has (part)"(V, A)) or (exists V. r0("with blank \"é\"", V) and "has (part)"(V, A))"#
    );
}

#[test]
fn negation_goes_to_the_atoms_but_not_through_a_quantifier() {
    assert_eq!(
        normal("?A : r0(plain, A) and not (r0(#1, A) or r0(#2, A))"),
        r#"?A : r0(plain, A) and not r0("with blank \"é\"", A) and not r0("and", A)"#
    );
    assert_eq!(
        normal("?A : r0(plain, A) and not not not #1(#1, A)"),
        r#"?A : r0(plain, A) and not "has (part)"("with blank \"é\"", A)"#
    );
    assert_eq!(
        normal("?A : not (exists V. r0(plain, V) and r0(V, A)) and r0(#1, A)"),
        r#"?A : r0("with blank \"é\"", A) and not (exists V. r0(plain, V) and r0(V, A))"#
    );
    assert_eq!(
        normal("?A : r0(plain, A) and not (exists V. r0(plain, A) or r0(V, A))"),
        "?A : r0(plain, A) and not r0(plain, A) and not (exists V. r0(V, A))"
    );
}

#[test]
fn what_is_said_twice_counts_once() {
    assert_eq!(normal("?A : r0(plain, A) and r0(plain, A) and not not r0(plain, A)"), "?A : r0(plain, A)");
    assert_eq!(normal("?A : r0(plain, A) or r0(plain, A)"), "?A : r0(plain, A)");
    assert_eq!(
        normal("?A : (r0(plain, A) and r0(#1, A)) or (r0(#1, A) and r0(plain, A))"),
        r#"?A : r0(plain, A) and r0("with blank \"é\"", A)"#
    );
    // The same but for the names of the variables.
    assert_eq!(
        normal("?A : (exists V. r0(plain, V) and #1(V, A)) or (exists U. #1(U, A) and r0(plain, U))"),
        r#"?A : exists V. r0(plain, V) and "has (part)"(V, A)"#
    );
}

#[test]
fn more_branches_than_the_limit_are_refused_before_they_are_made() {
    let pair = |n: usize| format!("(r0(#0, A) and r0(A, #1) and #1(A, #{}) or #1(#{}, A))", n % 3, n % 2);
    let many = (0..40).map(pair).collect::<Vec<_>>().join(" and ");
    let graph = tiny_graph(&[]);
    let query = syntax::parse(&format!("?A : {many}")).unwrap().resolve(&graph).unwrap();
    assert!(query.normal_form(Limits { branches: 1, ..Limits::default() }).is_err());
    let wide = (0..65)
        .map(|n| format!("(exists V{n}. {} r0(V{n}, A))", "r0(A, A) and ".repeat(n % 2)))
        .collect::<Vec<_>>();
    let query = syntax::parse(&format!("?A : {}", wide.join(" or "))).unwrap().resolve(&graph).unwrap();
    assert_eq!(query.normal_form(Limits::default()).unwrap().branches.len(), 2);
}

#[test]
fn a_sub_query_has_only_literals_with_variables_of_its_own() {
    assert_eq!(
        normal("?A : r0(plain, A) and not (exists V. r0(V, A) and r0(A, A) and not (exists U. #1(U, A)))"),
        "?A : r0(plain, A) and not (exists V. r0(V, A)) or r0(plain, A) and not r0(A, A) or \
         (exists U. r0(plain, A) and \"has (part)\"(U, A))"
    );
}

/// Variables of a branch and, at any depth, those that its sub-queries bind.
fn roles(branch: &Branch) -> Vec<VariableId> {
    let mut ids = branch.variables();
    branch.bound_below(&mut ids);
    ids
}

#[test]
fn a_variable_has_one_role_in_a_branch() {
    let graph = tiny_graph(&[]);
    for text in [
        "?A : r0(A, A) and not (exists W. (r0(W, A) or r0(#0, A)) and not (exists U. #1(U, A)))",
        "?A : exists P. r0(A, P) and not (exists W. (r0(W, A) or #1(P, A)) and not (exists U. #1(U, A) and not (exists T. r0(T, U) and r0(T, P))))",
    ] {
        let query = syntax::parse(text).unwrap().resolve(&graph).unwrap();
        for branch in query.normal_form(Limits::default()).unwrap().branches {
            let ids = roles(&branch);
            let mut once = ids.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(ids.len(), once.len(), "{branch:?}");
        }
    }
}

#[test]
fn a_normal_form_that_explodes_is_refused() {
    let graph = tiny_graph(&[]);
    let mut text = "r0(V20, A)".to_owned();
    for n in (0..20).rev() {
        let v = format!("V{}", n + 1);
        // Both alternatives get a copy of everything below.
        text = format!("not (exists {v}. r0(V{n}, {v}) and (r0({v}, A) or #1({v}, A)) and {text})");
    }
    let query =
        syntax::parse(&format!("?A : exists V0. r0(V0, A) and {text}")).unwrap().resolve(&graph).unwrap();
    let error = query.normal_form(Limits::default()).unwrap_err();
    insta::assert_snapshot!(error, @"the query has 36860 atoms in normal form, more than the 32768 that are allowed");
}

#[test]
fn long_branches_are_told_apart_and_recognised() {
    let graph = tiny_graph(&[]);
    let chain = |name: &str, anchor: usize| {
        let variables: Vec<String> = (0..60).map(|n| format!("{name}{n}")).collect();
        let hops: Vec<String> =
            variables.windows(2).map(|pair| format!("r0({}, {})", pair[0], pair[1])).collect();
        format!(
            "(exists {}. r0(#{anchor}, {name}0) and {} and #1({name}59, A))",
            variables.join(", "),
            hops.join(" and ")
        )
    };
    let text =
        format!("?A : {} or {} or {} or {}", chain("V", 0), chain("U", 1), chain("W", 0), chain("T", 2));
    let query = syntax::parse(&text).unwrap().resolve(&graph).unwrap();
    assert_eq!(query.normal_form(Limits::default()).unwrap().branches.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_query_and_its_normal_form_have_the_same_answers(
        query in prop_oneof![any_query().boxed(), safe_query().boxed()], edges in edges()
    ) {
        let graph = tiny_graph(&edges);
        let limits = Limits { branches: 256, ..Limits::default() };
        if let Ok(normal_form) = query.normal_form(limits) {
            prop_assert_eq!(brute_force(&query, &graph), brute_force(&normal_form.to_query(), &graph));
        }
    }

    #[test]
    fn the_normal_form_of_a_normal_form_is_itself(query in prop_oneof![any_query().boxed(), safe_query().boxed()]) {
        let limits = Limits { branches: 256, atoms: 100_000 };
        if let Ok(once) = query.normal_form(limits) {
            let twice = once.to_query().normal_form(limits).unwrap();
            prop_assert_eq!(once.branches.len(), twice.branches.len());
            for (a, b) in once.branches.iter().zip(&twice.branches) {
                prop_assert_eq!(a.sorted(), b.sorted());
            }
        }
    }
}

#[test]
fn every_outer_variable_of_a_sub_query_is_written_alike() {
    let graph = tiny_graph(&[]);
    let text =
        "?Y : exists X. r0(X, Y) and not (exists W. r0(Y, W) and r0(W, X) and not (exists Z. r0(Z, W)))";
    let normal =
        syntax::parse(text).unwrap().resolve(&graph).unwrap().normal_form(Limits::default()).unwrap();
    let nested = &normal.branches[0].negated[0];
    assert_eq!(
        normal.sub_query_text(nested, &graph),
        "(exists W. r0(Y, W) and r0(W, X) and not (exists Z. r0(Z, W)))"
    );
    assert_eq!(normal.sub_query_text(&nested.branch.negated[0], &graph), "(exists Z. r0(Z, W))");
}
