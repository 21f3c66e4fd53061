//! How long does it take from the text of a question to its plan, once a graph is open?

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use relatum::graph::{Graph, GraphBuilder, Split};
use relatum::plan::{Plan, PlanOptions};
use relatum::query::{Limits, Syntax, read};
use relatum::random::Rng;

/// As large as FB15k-237.
fn graph() -> Graph {
    let mut builder = GraphBuilder::default();
    let mut rng = Rng::new(7);
    for _ in 0..272_115 {
        let head = format!("entity {}", rng.below(14_505));
        let tail = format!("entity {}", rng.below(14_505));
        builder.add(Split::Train, &head, &format!("relation_{}", rng.below(237)), &tail);
    }
    builder.finish().0
}

fn from_text_to_plan(criterion: &mut Criterion) {
    let graph = graph();
    let questions = [
        ("one variable", r#"?A : relation_1("entity 5", A)"#),
        (
            "three variables",
            r#"?A : exists V, U. relation_1("entity 5", V) and relation_2(V, U) and relation_3("entity 9", U) and relation_4(U, A)"#,
        ),
        (
            "three variables, union and negation",
            r#"?A : exists V, U. (relation_1("entity 5", V) or relation_7("entity 6", V)) and relation_2(V, U) and relation_3(U, A) and not relation_4("entity 9", A)"#,
        ),
        (
            "three variables in SPARQL",
            r#"SELECT ?a { "entity 5" r:relation_1 ?v . ?v r:relation_2 ?u . "entity 9" r:relation_3 ?u . ?u r:relation_4 ?a }"#,
        ),
        ("3p as a tuple", "[[5,[1,2,3]]]"),
    ];
    let mut group = criterion.benchmark_group("plan");
    for (name, text) in questions {
        let syntax = Syntax::detect(text);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let question =
                    read(black_box(text), syntax, &graph, Limits::default()).expect("a right question");
                Plan::new(&question.checked, &graph, PlanOptions::default())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, from_text_to_plan);
criterion_main!(benches);
