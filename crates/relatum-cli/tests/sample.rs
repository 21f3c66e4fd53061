//! `relatum sample`: what it writes, what it refuses, and what others make of its files.

mod support;

use std::process::Command;

use support::shops;

#[test]
fn every_type_is_stored_for_both_splits_and_the_project_stays_sound() {
    let desk = shops();
    let table = desk.ok(&["sample", "shops", "--count", "20"]);
    assert_eq!(table.lines().count(), 1 + 2 * 14, "{table}");
    desk.ok(&["check", "shops"]);
    let stats = desk.ok(&["stats", "shops"]);
    assert!(stats.lines().any(|line| line.contains("pni")), "{stats}");
    let first = std::fs::read(desk.path("shops/queries/valid.queries")).unwrap();

    // What is there is not lost by accident.
    let again = desk.run(&["sample", "shops", "--count", "20"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("shops has 280 queries for valid already: add types"), "{}", again.stderr);
    let twice = desk.run(&["sample", "shops", "--types", "4p,2i", "--add"]);
    assert_eq!(twice.code, 2);
    assert!(twice.stderr.contains("has valid queries of type 2i already"), "{}", twice.stderr);
    desk.ok(&["sample", "shops", "--types", "4p", "--count", "5", "--split", "valid", "--add"]);
    desk.ok(&["check", "shops"]);
    assert!(desk.ok(&["stats", "shops", "--json"]).contains(r#""4p": 5"#));
    desk.ok(&["sample", "shops", "--count", "20", "--replace", "--threads", "1"]);
    desk.ok(&["check", "shops"]);
    assert_eq!(std::fs::read(desk.path("shops/queries/valid.queries")).unwrap(), first, "the seed decides");
}

#[test]
fn a_question_with_holes_is_sampled_and_shown() {
    let desk = shops();
    let text = "?G : exists S. sells(S, G) and near(_, S) and not needs(G, _)";
    let shown =
        desk.ok(&["sample", "shops", "--query", text, "--count", "5", "--split", "test", "--show", "1"]);
    assert!(shown.contains(&format!("── {text}")), "{shown}");
    assert!(shown.contains("hard ("), "{shown}");
    desk.ok(&["check", "shops"]);
}

#[test]
fn what_cannot_be_sampled_is_said() {
    let desk = shops();
    desk.ok(&["init", "whole", "shops.tsv"]);
    let whole = desk.run(&["sample", "whole"]);
    assert_eq!(whole.code, 2);
    assert!(whole.stderr.contains("no valid or test edges"), "{}", whole.stderr);
    let unknown = desk.run(&["sample", "shops", "--types", "9p"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there is no query type \"9p\""), "{}", unknown.stderr);
    let wrong = desk.run(&["sample", "shops", "--query", "?A : sell(_, A)"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("^^^^ not a relation of this graph"), "{}", wrong.stderr);
    // Only so many walks: what was found is kept, and said.
    let few = desk.run(&["sample", "shops", "--types", "1p", "--count", "100000", "--attempts", "1000"]);
    assert_eq!(few.code, 0, "{}", few.stderr);
    assert!(
        few.stderr.contains("of 100,000 valid queries of type 1p found in 1,000 walks"),
        "{}",
        few.stderr
    );
    // More than there are: given up long before the thousand walks for each that is wanted.
    let huge = desk.run(&[
        "sample",
        "shops",
        "--types",
        "1p",
        "--count",
        "4000000000",
        "--split",
        "test",
        "--replace",
    ]);
    assert_eq!(huge.code, 0, "{}", huge.stderr);
    assert!(
        huge.stderr.contains("of 4,000,000,000 test queries of type 1p found in")
            && huge.stderr.contains("given up because the last 1"),
        "{}",
        huge.stderr
    );
    // None at all: nothing is written.
    desk.put("line.tsv", "a\tr\tb\n").put("valid.tsv", "b\tr\tc\n");
    desk.ok(&["init", "line", "--train", "line.tsv", "--valid", "valid.tsv"]);
    let none = desk.run(&["sample", "line", "--types", "3i", "--attempts", "1000", "--betae", "out"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("nothing was written"), "{}", none.stderr);
    assert!(!desk.path("out").exists() && !desk.path("line/queries/valid.queries").exists());
}

#[test]
fn questions_in_words_are_in_the_betae_folder_where_it_can_say_them() {
    let desk = shops();
    let cycle = "?A : exists V. _(_, V) and _(V, A) and _(A, V)";
    let sampled = desk.run(&[
        "sample",
        "shops",
        "--count",
        "8",
        "--split",
        "test",
        "--betae",
        "betae",
        "--query",
        "?G : exists S. near(_, S) and sells(S, G)",
        "--query",
        "(('_',('sells',)),('_',('_',)))",
        "--query",
        cycle,
    ]);
    assert_eq!(sampled.code, 0, "{}", sampled.stderr);
    assert_eq!(
        sampled.stderr.matches("none of the structures of the BetaE files").count(),
        1,
        "{}",
        sampled.stderr
    );
    assert!(sampled.stderr.contains(&format!("warning: {cycle} has none")), "{}", sampled.stderr);
    desk.ok(&["init", "again", "betae"]);
    let stats = desk.ok(&["stats", "again", "--json"]);
    assert!(stats.contains(r#""2p": 8"#) && stats.contains(r#""2i": 8"#), "{stats}");
}

#[test]
fn all_missing_answers_lack_every_hop_and_other_types_are_refused() {
    let desk = shops();
    let refused = desk.run(&["sample", "shops", "--all-missing", "--types", "2p,2in"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("and 2in has one: possible are 1p 2p 3p 4p 5p 2i 3i 4i ip pi")
            && refused.stderr.contains("leave --all-missing out"),
        "{}",
        refused.stderr
    );
    let sampled = desk.ok(&["sample", "shops", "--all-missing", "--count", "20", "--json"]);
    for shape in ["1p", "2p", "3p", "4p", "2i", "3i", "4i", "ip", "pi"] {
        assert_eq!(sampled.matches(&format!(r#""type": "{shape}""#)).count(), 2, "{shape}: {sampled}");
    }
    desk.ok(&["check", "shops"]);
    desk.ok(&["train", "shops", "--epochs", "1", "--rank", "4"]);
    let setting = ["--setting", "beam train", "--types", "2p", "--by-missing-links", "--json"];
    let measured = desk.ok(&[&["benchmark", "shops"][..], &setting].concat());
    assert!(measured.contains(r#""links": 2"#) && !measured.contains(r#""links": 1"#), "{measured}");
}

const LOAD: &str = r"
import pickle, sys
load = lambda name: pickle.load(open(sys.argv[1] + '/' + name, 'rb'))
edges = {split: {tuple(map(int, line.split())) for line in open(f'{sys.argv[1]}/{split}.txt')} for split in ('train', 'valid', 'test')}
queries, easy, hard = load('test-queries.pkl'), load('test-easy-answers.pkl'), load('test-hard-answers.pkl')
small = edges['train'] | edges['valid']
for h, (r,) in queries[('e', ('r',))]:
    assert easy[(h, (r,))] == {t for (x, y, t) in small if (x, y) == (h, r)}
    assert hard[(h, (r,))] == {t for (x, y, t) in edges['test'] if (x, y) == (h, r)}
for (a, (r,)), (b, (s, n)) in queries[(('e', ('r',)), ('e', ('r', 'n')))]:
    assert n == -2
names, ids = load('id2rel.pkl'), load('rel2id.pkl')
assert all(ids[names[i]] == i for i in range(len(names))) and len(load('id2ent.pkl')) == len(load('ent2id.pkl'))
print({str(key): len(value) for key, value in queries.items()})
";

#[test]
fn a_betae_folder_is_read_by_python_and_by_init() {
    let desk = shops();
    desk.ok(&["sample", "shops", "--types", "1p,2in,up", "--count", "10", "--betae", "betae"]);
    let taken = desk.run(&["sample", "shops", "--types", "1p", "--replace", "--betae", "betae"]);
    assert_eq!(taken.code, 2, "{}", taken.stderr);
    desk.ok(&["init", "again", "betae"]);
    desk.ok(&["check", "again"]);
    let stats = desk.ok(&["stats", "again", "--json"]);
    assert!(stats.contains(r#""up": 10"#), "{stats}");
    let Ok(python) = Command::new("python3").arg("-c").arg(LOAD).arg(desk.path("betae")).output() else {
        eprintln!("skipped: there is no python3 on this machine");
        return;
    };
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let counts = String::from_utf8_lossy(&python.stdout);
    assert!(counts.contains(r#"(('e', ('r',)), ('e', ('r', 'n')))": 10"#), "{counts}");
}
