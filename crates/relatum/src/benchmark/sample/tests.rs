//! Compares sampled queries with trying every assignment, one by one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::benchmark::skeleton::Skeleton;
use crate::graph::{EntityId, GraphBuilder, RelationId};
use crate::query::testing::brute_force;
use crate::query::{Branch, Formula, Query, Term};

/// Shapes of trees, a cycle, a given relation, a negated edge between variables.
const QUESTIONS: [&str; 4] = [
    "(('e',('r','r')),('e',('r','r')))",
    "?A : exists V. _(_, V) and _(V, A) and _(A, V)",
    "?A : exists V. r0(V, A) and _(V, _)",
    "?A : exists V. _(_, V) and _(_, A) and not _(V, A)",
];

/// A random graph, and the same entities and relations with the edges up to a split in train alone.
fn graphs(raw: &[(u32, u32, u32, usize)], pairs: bool) -> (Graph, impl Fn(Split) -> Graph) {
    let splits = [Split::Train, Split::Train, Split::Train, Split::Valid, Split::Test];
    let mut triples: Vec<(Split, Triple)> = raw
        .iter()
        .map(|&(h, r, t, split)| (splits[split], Triple::new(h, if pairs { 2 * r } else { r }, t)))
        .collect();
    if pairs {
        let backwards =
            |&(split, it): &(Split, Triple)| (split, Triple::new(it.tail.0, it.relation.0 + 1, it.head.0));
        triples.extend(triples.clone().iter().map(backwards));
    }
    let build = move |triples: &[(Split, Triple)]| {
        let mut builder = GraphBuilder::default();
        (0..6).for_each(|id| {
            builder.entity(&format!("e{id}"));
        });
        (0..4).for_each(|id| {
            builder.relation(&format!("r{id}"));
        });
        if pairs {
            builder.pair(RelationId(0), RelationId(1));
            builder.pair(RelationId(2), RelationId(3));
        }
        for &(split, triple) in triples {
            builder.add_ids(split, triple);
        }
        builder.finish().0
    };
    let graph = build(&triples);
    let upto = move |last| {
        let kept: Vec<(Split, Triple)> = triples
            .iter()
            .filter(|(split, _)| *split <= last)
            .map(|&(_, triple)| (Split::Train, triple))
            .collect();
        build(&kept)
    };
    (graph, upto)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn easy_and_hard_answers_are_those_of_trying_every_assignment(
        raw in prop::collection::vec((0u32..6, 0u32..2, 0u32..6, 0..5usize), 20..40),
        pairs: bool,
        seed: u64,
    ) {
        let (graph, upto) = graphs(&raw, pairs);
        let relations = Reciprocals::of(&graph);
        for (split, before) in [(Split::Valid, Split::Train), (Split::Test, Split::Valid)] {
            let (smaller, larger) = (upto(before), upto(split));
            let sampler = Sampler::new(&graph, split);
            for text in Skeleton::names().into_iter().chain(QUESTIONS) {
                let pattern = Pattern::parse(text, &graph).unwrap();
                let how = Sampling { attempts: 300, ..Sampling::of(4, seed) };
                let Sampled { group, walks } = sampler.sample(&pattern, &how, &Control::default());
                let lost = walks.stuck + walks.degenerate + walks.pointless + walks.too_many + walks.easy + walks.repeated;
                prop_assert_eq!(walks.tried, lost + group.len());
                let mut keys = BTreeSet::new();
                for index in 0..group.len() {
                    let query = group.template().unwrap().fill(group.query(index), &relations).unwrap();
                    let small: BTreeSet<EntityId> = brute_force(&query, &smaller).into_iter().collect();
                    let large: BTreeSet<EntityId> = brute_force(&query, &larger).into_iter().collect();
                    let easy: Vec<EntityId> = small.iter().copied().collect();
                    let hard: Vec<EntityId> = large.difference(&small).copied().collect();
                    prop_assert_eq!((group.easy(index), group.hard(index)), (&easy[..], &hard[..]), "{}", text);
                    prop_assert!(!hard.is_empty());
                    let normal = query.normal_form(crate::query::Limits::default()).unwrap();
                    prop_assert!(keys.insert(normal.canonical()), "{} is there twice", text);
                    let negates = normal.branches.iter().any(Branch::negates);
                    if let Some(positive) = without_negated(&query).filter(|_| negates) {
                        let more: BTreeSet<EntityId> = brute_force(&positive, &larger).into_iter().collect();
                        prop_assert!(large.is_subset(&more) && large != more, "{}: the negation removes nothing", text);
                        let refuted = small.difference(&large).next();
                        prop_assert!(refuted.is_some() || text.starts_with('?'), "{} refutes nothing", text);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn all_missing_hard_answers_have_no_proof_with_a_training_edge(
        raw in prop::collection::vec((0u32..6, 0u32..2, 0u32..6, 0..5usize), 12..30),
        pairs: bool,
        seed: u64,
    ) {
        let (graph, upto) = graphs(&raw, pairs);
        let relations = Reciprocals::of(&graph);
        for (split, before) in [(Split::Valid, Split::Train), (Split::Test, Split::Valid)] {
            let (smaller, larger) = (upto(before), upto(split));
            let sampler = Sampler::new(&graph, split);
            for text in Skeleton::names().into_iter().chain(QUESTIONS) {
                let pattern = Pattern::parse(text, &graph).unwrap();
                let how = Sampling { attempts: 300, all_missing: true, ..Sampling::of(4, seed) };
                let group = sampler.sample(&pattern, &how, &Control::default()).group;
                prop_assert!(group.is_empty() || pattern.is_conjunctive(), "{}", text);
                for index in 0..group.len() {
                    let query = group.template().unwrap().fill(group.query(index), &relations).unwrap();
                    let all: BTreeSet<EntityId> = brute_force(&query, &larger).into_iter().collect();
                    let mut easy: BTreeSet<EntityId> = brute_force(&query, &smaller).into_iter().collect();
                    easy.extend(helped_by_training(&query, &graph, &larger));
                    let hard: Vec<EntityId> = all.difference(&easy).copied().collect();
                    let easy: Vec<EntityId> = easy.into_iter().collect();
                    prop_assert_eq!((group.easy(index), group.hard(index)), (&easy[..], &hard[..]), "{}", text);
                    prop_assert!(!hard.is_empty());
                }
            }
        }
    }
}

/// The answers of a conjunction that have a proof with a training edge, by trying every assignment.
fn helped_by_training(query: &Query, graph: &Graph, larger: &Graph) -> Vec<EntityId> {
    let mut atoms = Vec::new();
    query.formula.for_each_atom(&mut |atom| atoms.push(*atom));
    let (variables, entities) = (query.variables.len() as u32, graph.entities.len());
    let mut found = Vec::new();
    for number in 0..entities.pow(variables) {
        let value = |id: crate::query::VariableId| {
            EntityId((number / entities.pow(id.index() as u32) % entities) as u32)
        };
        let term = |term: Term| match term {
            Term::Entity(id) => id,
            Term::Variable(id) => value(id),
        };
        let edges: Vec<Triple> = atoms
            .iter()
            .map(|it| Triple { head: term(it.subject), relation: it.relation, tail: term(it.object) })
            .collect();
        let holds = |split, graph: &Graph, edge: &Triple| graph.edges(split).contains(*edge);
        // The larger graph has all its edges in train.
        if edges.iter().all(|edge| holds(Split::Train, larger, edge))
            && edges.iter().any(|edge| holds(Split::Train, graph, edge))
        {
            found.push(value(query.target));
        }
    }
    found
}

#[test]
fn every_type_that_can_lack_all_its_edges_is_found_along_held_out_edges() {
    // Around every training edge of a ring there are held-out ones, but chains and crossings of
    // held-out edges alone are rare.
    let mut raw = Vec::new();
    for id in 0..6u32 {
        raw.push((id, 0, (id + 1) % 6, 0));
        raw.push((id, 1, (id + 2) % 6, 3));
        raw.push((id, 0, (id + 3) % 6, 3));
    }
    let (graph, _) = graphs(&raw, false);
    for (text, atoms) in
        [("1p", 1), ("2p", 2), ("3p", 3), ("2i", 2), ("3i", 3), ("4i", 4), ("ip", 3), ("pi", 3)]
    {
        let pattern = Pattern::parse(text, &graph).unwrap();
        let how = Sampling { attempts: 20_000, all_missing: true, ..Sampling::of(5, 1) };
        let group = Sampler::new(&graph, Split::Valid).sample(&pattern, &how, &Control::default()).group;
        assert!(!group.is_empty(), "{text}");
        let missing =
            crate::benchmark::missing_links_of(&group, &graph, Split::Valid, &[Split::Train]).unwrap();
        assert!(missing.iter().flatten().all(|&links| links == Some(atoms)), "{text}: {missing:?}");
    }
}

/// The query without its negated parts; `None` if it has no such parts, or nothing else.
fn without_negated(query: &Query) -> Option<Query> {
    fn positive(formula: &Formula) -> Option<Formula> {
        let all = |parts: &[Formula]| parts.iter().filter_map(positive).collect();
        match formula {
            Formula::Not(_) => None,
            Formula::And(parts) => Some(Formula::And(all(parts))),
            Formula::Or(parts) => Some(Formula::Or(all(parts))),
            Formula::Exists(ids, body) => {
                positive(body).map(|body| Formula::Exists(ids.clone(), Box::new(body)))
            }
            Formula::Atom(atom) => Some(Formula::Atom(*atom)),
        }
    }
    let formula = positive(&query.formula)?;
    (formula != query.formula).then(|| Query { formula, ..query.clone() })
}

/// Many negations on one graph, because the random graphs above give few of them.
#[test]
fn every_negation_of_a_shape_refutes_an_answer_of_the_smaller_graph() {
    let (graph, _) = crate::graph::films().finish();
    let relations = Reciprocals::of(&graph);
    let [smaller, larger] =
        [&[Split::Train, Split::Valid][..], &Split::ALL].map(|splits| World::of(&graph, splits));
    for shape in ["2in", "3in", "inp", "pin", "pni"] {
        let group = films_sample(shape, &Sampling::of(10, 3)).group;
        assert!(!group.is_empty(), "{shape}");
        for index in 0..group.len() {
            let query = group.template().unwrap().fill(group.query(index), &relations).unwrap();
            let query = query.normal_form(crate::query::Limits::default()).unwrap();
            let [before, after] = [&smaller, &larger].map(|world| crate::symbolic::answers(&query, world));
            assert!(before.iter().any(|answer| !after.contains(answer)), "{shape} {index}");
        }
    }
}

fn films_sample(text: &str, how: &Sampling) -> Sampled {
    let (graph, _) = crate::graph::films().finish();
    let pattern = Pattern::parse(text, &graph).unwrap();
    Sampler::new(&graph, Split::Test).sample(&pattern, how, &Control::default())
}

#[test]
fn a_seed_gives_the_same_queries_whatever_the_threads() {
    let sample = |threads: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| films_sample("pi", &Sampling::of(20, seed)))
    };
    let one = sample(1, 5);
    assert_eq!(one.group.len(), 20);
    assert_eq!(one, sample(3, 5));
    assert_ne!(one.group, sample(1, 6).group);
}

#[test]
fn a_smaller_sample_is_the_beginning_of_a_larger_one() {
    let few = films_sample("2i", &Sampling::of(5, 1)).group;
    let more = films_sample("2i", &Sampling::of(30, 1)).group;
    assert_eq!((few.len(), &few.arguments[..]), (5, &more.arguments[..20]));
}

#[test]
fn a_hop_is_not_undone_by_the_next_and_answers_stay_below_the_limit() {
    let (graph, _) = crate::graph::films().finish();
    let relations = Reciprocals::of(&graph);
    let how = Sampling { max_answers: 7, ..Sampling::of(40, 2) };
    let group = films_sample("3p", &how).group;
    assert_eq!(group.len(), 40);
    for index in 0..group.len() {
        let hops: Vec<RelationId> = group.query(index)[1..].iter().map(|&id| RelationId(id)).collect();
        assert!(hops.windows(2).all(|pair| relations.inverse(pair[0]) != pair[1]), "{hops:?}");
        assert!(group.easy(index).len() + group.hard(index).len() <= 7);
    }
}

#[test]
fn no_two_branches_are_the_same_in_other_variables() {
    let (graph, _) = graphs(&[(0, 0, 1, 0), (1, 1, 2, 3), (3, 0, 1, 0)], false);
    let pattern = Pattern::parse("(('e',('r','r')),('e',('r','r')))", &graph).unwrap();
    let how = Sampling { attempts: 2000, ..Sampling::of(5, 0) };
    let sampled = Sampler::new(&graph, Split::Valid).sample(&pattern, &how, &Control::default());
    // From 0 and from 3 to 2, by way of 1; the two ends exchanged are the same query.
    assert_eq!((sampled.group.len(), sampled.group.hard(0)), (1, &[EntityId(2)][..]));
    assert!(sampled.walks.degenerate > 0);
}

#[test]
fn a_question_keeps_the_names_that_it_gives() {
    let (graph, _) = crate::graph::films().finish();
    let group = films_sample("?G : exists F. stars(F, _) and has_genre(F, G)", &Sampling::of(10, 0)).group;
    assert_eq!((group.shape.as_str(), group.len()), ("?G : exists F. stars(F, _) and has_genre(F, G)", 10));
    let fixed = [graph.relation("stars").unwrap().0, graph.relation("has_genre").unwrap().0];
    for index in 0..group.len() {
        let &[stars, _, genre] = group.query(index) else { panic!("three arguments") };
        assert_eq!([stars, genre], fixed);
    }
}

#[test]
fn a_graph_that_has_no_such_query_is_given_up() {
    let (graph, _) = graphs(&[(0, 0, 1, 0), (1, 1, 2, 3)], false);
    let sample = |text: &str| {
        let how = Sampling { attempts: 2000, ..Sampling::of(5, 0) };
        Sampler::new(&graph, Split::Valid).sample(
            &Pattern::parse(text, &graph).unwrap(),
            &how,
            &Control::default(),
        )
    };
    let chains = sample("1p");
    assert_eq!((chains.group.len(), chains.walks.tried), (2, 2000));
    let wide = sample("3i");
    assert!(wide.group.is_empty() && wide.group.hard.is_empty());
    assert_eq!((wide.walks.tried, wide.walks.easy + wide.walks.stuck + wide.walks.degenerate), (2000, 2000));
}

#[test]
fn a_count_that_no_graph_can_fill_is_given_up_after_many_walks_in_vain() {
    let (graph, _) = graphs(&[(0, 0, 1, 0), (1, 1, 2, 3)], false);
    let how = Sampling { patience: 3000, ..Sampling::of(usize::MAX, 0) };
    let pattern = Pattern::parse("1p", &graph).unwrap();
    let Sampled { group, walks } =
        Sampler::new(&graph, Split::Valid).sample(&pattern, &how, &Control::default());
    assert_eq!(group.len(), 2);
    assert!(walks.in_vain >= 3000 && walks.tried < 100_000, "{walks:?}");
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let (graph, _) = crate::graph::films().finish();
    let message = |text: &str| Pattern::parse(text, &graph).unwrap_err().to_string();
    insta::assert_snapshot!(message("7p"), @r#"there is no query type "7p"; there are 1p 2p 3p 4p 5p 2i 3i 4i ip pi 2u up 2in 3in inp pin pni 2u-DM up-DM, skeletons as in ('e',('r','r')), and questions as in ?A : exists V. _(_, V) and _(V, A)"#);
    insta::assert_snapshot!(message(r#"?F : stars(F, "Martin Lawrence")"#), @r#"the question "?F : stars(F, \"Martin Lawrence\")" has no hole: write _ in place of an entity or a relation"#);
    insta::assert_snapshot!(message("('e',('n','r'))"), @"expected a path ('e',('r',)) or a tuple of such branches, found ('e',('n','r'))");
    assert!(message("?F : strs(F, _)").contains("there is no relation 'strs'"));
    assert!(message("?F : not _(F, _)").contains('^'));
}
