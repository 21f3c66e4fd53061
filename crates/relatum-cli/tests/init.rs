//! `relatum init`: what comes in, and how. What goes wrong is in `bad_input.rs`.

mod support;

use std::io::Write;
use std::process::Stdio;

use support::{Desk, Outcome};

const FILMS: &str =
    "Bad Boys\tstars\tWill Smith\nBad Boys\tstars\tMartin Lawrence\nBad Boys\thas genre\tAction\n";

#[test]
fn a_table_becomes_a_project() {
    let desk = Desk::new();
    let outcome = desk.put("films.tsv", FILMS).run(&["init", "films", "films.tsv"]);
    insta::assert_snapshot!(outcome.stdout, @r"
    made films: 4 entities, 2 relations
      edges: 3 train, 0 valid, 0 test
      nothing is held out; --split 0.9/0.05/0.05 would let you measure what a model has learnt
    next: relatum stats films, relatum find films TEXT, relatum describe films NAME
    ");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert_eq!(desk.names(), ["films", "films.tsv"]);
    desk.ok(&["check", "films"]);
}

#[test]
fn standard_input_is_read_also_compressed() {
    let compressed = zstd::encode_all(FILMS.as_bytes(), 1).unwrap();
    for bytes in [FILMS.as_bytes(), &compressed] {
        let desk = Desk::new();
        let mut child = desk
            .command(&["init", "films", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let outcome = Outcome::of(&child.wait_with_output().unwrap());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(desk.ok(&["describe", "films", "Action"]).contains("← has genre"));
    }
}

#[test]
fn files_can_be_given_for_each_split() {
    let desk = Desk::new();
    desk.put("a.tsv", FILMS)
        .put("b.tsv", "Bad Boys\thas genre\tComedy\n")
        .put("c.csv", "Will Smith,likes,Bad Boys\n");
    let outcome = desk.run(&["init", "p", "--train", "a.tsv", "--valid", "b.tsv", "--test", "c.csv"]);
    assert!(outcome.stdout.contains("edges: 3 train, 1 valid, 1 test"), "{}", outcome.stdout);
    insta::assert_snapshot!(outcome.stderr, @r"
    note: valid has 1 entity and 0 relations that are not in train: nothing can be learnt about them
    note: test has 0 entities and 1 relation that are not in train: nothing can be learnt about them
    ");
}

#[test]
fn a_folder_with_files_for_each_split_is_recognised() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("kg")).unwrap();
    desk.put("kg/train.txt", FILMS).put("kg/valid.txt", "Bad Boys\tstars\tAction\n");
    assert!(desk.ok(&["init", "p", "kg"]).contains("edges: 3 train, 1 valid, 0 test"));
}

#[test]
fn a_seed_gives_the_same_bytes() {
    let desk = Desk::new();
    let triples: String = (0..400).map(|i| format!("e{}\tr{}\te{}\n", i % 20, i % 3, i * 7 % 23)).collect();
    desk.put("g.tsv", triples);
    for name in ["a", "b"] {
        desk.ok(&["init", name, "g.tsv", "--split", "0.8/0.1/0.1", "--seed", "7"]);
    }
    desk.ok(&["init", "c", "g.tsv", "--split", "0.8/0.1/0.1", "--seed", "8"]);
    let bytes = |name: &str| std::fs::read(desk.path(name).join("graph/valid.edges")).unwrap();
    assert_eq!(bytes("a"), bytes("b"));
    assert_ne!(bytes("a"), bytes("c"));
}

#[test]
fn rdf_brings_labels_and_prefixes() {
    let desk = Desk::new();
    let turtle = "@prefix dbr: <http://dbpedia.org/resource/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\
        dbr:Berlin dbr:capitalOf dbr:Germany ; rdfs:label 'Berlin'@de, 'the capital'@en ; dbr:people 3600000 .\n";
    let outcome = desk.put("x.ttl", turtle).run(&["init", "p", "x.ttl"]);
    insta::assert_snapshot!(outcome.stderr, @"note: x.ttl: 1 triple with a literal left out (--literals keeps them)");
    let texts = ["dbr:Berlin", "the capital", "<http://dbpedia.org/resource/Berlin>"]
        .map(|name| desk.ok(&["describe", "p", name]));
    assert!(texts[1..].iter().all(|text| *text == texts[0]));
    insta::assert_snapshot!(texts[0], @r"
    the capital <http://dbpedia.org/resource/Berlin>: entity, 1 edge

      dbr:capitalOf →  (1)
        dbr:Germany
    ");
}

#[test]
fn labels_come_from_a_file() {
    let desk = Desk::new();
    desk.put("g.tsv", "/m/1\t/r/1\t/m/2\n")
        .put("l.txt", "/m/1\tBerlin\n/m/2\tBerlin\n/m/3\tParis\n/r/1\ttwin of\n");
    let outcome = desk.run(&["init", "p", "g.tsv", "--labels", "l.txt"]);
    insta::assert_snapshot!(outcome.stderr, @r"
    note: l.txt: 3 labels given
    note: l.txt: 1 label of names that are not in the graph left out
    ");
    let ambiguous = desk.run(&["describe", "p", "Berlin"]);
    insta::assert_snapshot!(ambiguous.stderr, @"error: the label 'Berlin' belongs to 2 entities: write the name of one of them: '/m/1', '/m/2'");
    assert_eq!(ambiguous.code, 2);
    assert!(desk.ok(&["describe", "p", "twin of"]).contains("/m/1 (Berlin) → /m/2 (Berlin)"));
}

#[test]
fn bad_lines_can_be_passed_over() {
    let desk = Desk::new();
    let outcome = desk.put("g.tsv", "a\tr\tb\nc\tr\nd\t\te\nb\tr\tc\n").run(&[
        "init",
        "p",
        "g.tsv",
        "--skip-bad-lines",
    ]);
    assert_eq!(outcome.code, 0);
    insta::assert_snapshot!(outcome.stderr, @r"
    note: g.tsv: 2 bad lines skipped
    note:   g.tsv:2: expected 3 columns, found 2
    note:   g.tsv:3: column 2 is empty
    ");
}

#[test]
fn columns_are_taken_by_name() {
    let desk = Desk::new();
    desk.put("deals.csv", "seller,amount,kind,buyer\nAda,3,sold to,Bob\n");
    desk.ok(&["init", "p", "deals.csv", "--columns", "seller,kind,buyer"]);
    assert!(desk.ok(&["describe", "p", "Ada"]).contains("sold to →"));
}

#[test]
fn a_header_that_no_table_of_names_knows_is_seen_said_and_can_be_denied() {
    let rows = "package,field,value\nbash,depends,libc\nbash,depends,ncurses\nzsh,suggests,bash\nzsh,suggests,libc\n";
    let desk = Desk::new();
    desk.put("p.csv", rows).put("w.csv", "n,package,field,value\n".to_owned() + &numbered(rows));
    let outcome = desk.run(&["init", "a", "p.csv"]);
    assert!(outcome.stdout.contains("edges: 4 train"), "{}", outcome.stdout);
    insta::assert_snapshot!(outcome.stderr, @"note: p.csv: the first line (package, field, value) is taken for a header, because none of its words comes again; --header no reads it as a triple");
    let chosen = desk.run(&["init", "b", "w.csv", "--columns", "2,3,4"]);
    assert!(chosen.stdout.contains("edges: 4 train"), "{}", chosen.stdout);
    insta::assert_snapshot!(chosen.stderr, @"note: w.csv: the first line (n, package, field, value) is taken for a header, because it has a text above a column of numbers; --header no reads it as a triple");
    for (at, flags) in [&["--header", "no"][..], &["--header=no"], &["--no-header"]].into_iter().enumerate() {
        let denied = desk.run(&[&["init", &format!("no{at}"), "p.csv"], flags].concat());
        assert!(denied.stdout.contains("edges: 5 train"), "{flags:?}: {}", denied.stdout);
        assert_eq!(denied.stderr, "");
    }
    // The flag that had no value is still understood, wherever it stands.
    desk.put("few.csv", "x,y,z\na,b,c\n");
    for (at, arguments) in [
        &["few.csv", "--header"][..],
        &["--header", "few.csv"],
        &["--header", "yes", "few.csv"],
        &["few.csv", "--header=yes"],
    ]
    .into_iter()
    .enumerate()
    {
        let made = desk.ok(&[&["init", &format!("yes{at}")], arguments].concat());
        assert!(made.contains("edges: 1 train"), "{arguments:?}: {made}");
    }
}

/// The rows below the header, with a number before each.
fn numbered(rows: &str) -> String {
    rows.lines().skip(1).enumerate().map(|(at, row)| format!("{at},{row}\n")).collect()
}

#[test]
fn a_column_of_weights_is_passed_over_where_the_header_names_the_others() {
    let desk = Desk::new();
    desk.put("g.csv", "source,target,relation,weight\nAda,Bob,knows,0.5\n");
    let outcome = desk.run(&["init", "p", "g.csv"]);
    insta::assert_snapshot!(outcome.stderr, @r"
    note: g.csv: the first line (source, target, relation, weight) is taken for a header, because it holds the usual names of columns; --header no reads it as a triple
    note: g.csv: head, relation and tail are the columns source, relation, target; --columns takes others
    ");
    assert!(desk.ok(&["describe", "p", "Ada"]).contains("knows →"));
}
