//! The real benchmark folders, where they are at hand: everything in them loads, with the counts
//! that the literature gives.

mod support;

use serde_json::{Value, json};
use support::{Desk, shared};

const Q2B_TYPES: [&str; 8] = ["2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"];

fn stats(folder: &str) -> Option<Value> {
    let source = shared(folder)?;
    let desk = Desk::new();
    desk.ok(&["init", "p", source.to_str().unwrap()]);
    desk.ok(&["check", "p"]);
    Some(serde_json::from_str(&desk.ok(&["stats", "p", "--json"])).unwrap())
}

/// `one` queries of type 1p and `other` of every other type.
fn expect_queries(stats: &Value, split: &str, types: &[&str], one: u64, other: u64) {
    let counts = &stats["queries"][split];
    assert_eq!(counts["1p"], one, "{split} 1p");
    for name in types {
        assert_eq!(counts[name], other, "{split} {name}");
    }
    assert_eq!(counts.as_object().unwrap().len(), types.len() + 1);
}

#[test]
fn fb15k_237_has_the_counts_of_the_paper() {
    let Some(stats) = stats("fb15k-237") else { return };
    assert_eq!((&stats["entities"], &stats["relations"]), (&json!(14_505), &json!(474)));
    assert_eq!(stats["edges"]["train"], 544_230);
    // A training query is a pair (head, relation).
    let relations = stats["by_relation"].as_array().unwrap();
    let training_queries: u64 = relations.iter().map(|row| row["heads"].as_u64().unwrap()).sum();
    assert_eq!(training_queries, 149_689);
    assert!(relations.iter().all(|row| row["inverse"].is_string()));
    expect_queries(&stats, "valid", &Q2B_TYPES, 20_101, 5_000);
    expect_queries(&stats, "test", &Q2B_TYPES, 22_812, 5_000);
}

#[test]
fn nell995_loads_with_its_queries() {
    let Some(stats) = stats("nell995") else { return };
    assert_eq!((&stats["entities"], &stats["relations"]), (&json!(63_361), &json!(400)));
    expect_queries(&stats, "valid", &Q2B_TYPES, 16_927, 4_000);
    expect_queries(&stats, "test", &Q2B_TYPES, 17_034, 4_000);
}

#[test]
fn wn18rr_loads_with_its_negations() {
    let Some(stats) = stats("wn18rr-qa") else { return };
    assert_eq!((&stats["entities"], &stats["relations"]), (&json!(40_559), &json!(22)));
    let negations = ["2in", "3in", "inp", "pin", "pni"];
    let types: Vec<&str> = Q2B_TYPES.into_iter().chain(negations).collect();
    expect_queries(&stats, "test", &types, 5_356, 1_000);
}

#[test]
fn labels_of_freebase_name_its_entities() {
    let (Some(source), Some(labels)) = (shared("fb15k-237"), shared("names/FB15k-237_entity2text.txt"))
    else {
        return;
    };
    let desk = Desk::new();
    desk.ok(&["init", "p", source.to_str().unwrap(), "--labels", labels.to_str().unwrap()]);
    assert!(desk.ok(&["describe", "p", "Jeremy Irons"]).starts_with("Jeremy Irons </m/016ywr>: entity"));
}

fn broken_betae(stats: &str, train: &str, queries: Option<&[u8]>) -> support::Outcome {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("kg")).unwrap();
    desk.put("kg/stats.txt", stats).put("kg/train.txt", train);
    desk.put("kg/valid-queries.pkl", queries.unwrap_or(b"\x80\x04}."));
    desk.put("kg/valid-easy-answers.pkl", b"\x80\x04}.").put("kg/valid-hard-answers.pkl", b"\x80\x04}.");
    let outcome = desk.run(&["init", "p", "kg"]);
    assert_eq!(desk.names(), ["kg"], "nothing is left of a broken folder");
    outcome
}

#[test]
fn ids_beyond_the_stats_are_refused() {
    let outcome =
        broken_betae("numentity: 3\nnumrelations: 2\n", "0\t0\t1\n1\t1\t0\n0\t0\t3\n1\t1\t2\n", None);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("train.txt") && outcome.stderr.contains('3'), "{}", outcome.stderr);
}

#[test]
fn a_damaged_pairing_is_an_error_not_all_memory() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("kg")).unwrap();
    desk.put("kg/stats.txt", "numentity: 2\nnumrelations: 2\n").put("kg/train.txt", "0\t0\t1\n1\t1\t0\n");
    for part in ["queries", "easy-answers", "hard-answers"] {
        desk.put(&format!("kg/valid-{part}.pkl"), b"\x80\x04}.");
    }
    desk.ok(&["init", "p", "kg"]);
    let path = desk.path("p/graph/inverses.pairs");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    for command in ["stats", "check"] {
        let outcome = desk.run(&[command, "p"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("inverses.pairs is damaged"), "{}", outcome.stderr);
    }
}

#[test]
fn a_pickle_that_names_os_system_is_refused_by_name() {
    let outcome = broken_betae(
        "numentity: 2\nnumrelations: 2\n",
        "0\t0\t1\n1\t1\t0\n",
        Some(b"cos\nsystem\n(S'touch hacked'\ntR."),
    );
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("os.system") && outcome.stderr.contains("valid-queries.pkl"),
        "{}",
        outcome.stderr
    );
}
