//! `stats`, `describe`, `find`, `check`: what people see of a project.

mod support;

use support::Desk;

fn films() -> Desk {
    let desk = Desk::new();
    let mut lines = String::new();
    for (film, actors) in
        [("Bad Boys", ["Will Smith", "Martin Lawrence"]), ("Hitch", ["Will Smith", "Eva Mendes"])]
    {
        for actor in actors {
            lines += &format!("{film}\tstars\t{actor}\n");
        }
        lines += &format!("{film}\thas genre\tComedy\n");
    }
    desk.put("train.tsv", lines).put("test.tsv", "Bad Boys\thas genre\tAction\n");
    desk.ok(&["init", "films", "--train", "train.tsv", "--test", "test.tsv"]);
    desk
}

#[test]
fn stats_show_sizes_degrees_and_relations() {
    insta::assert_snapshot!(films().ok(&["stats", "films"]), @r"
                                   count
    entities                           7
    relations                          2
    train edges                        6
    valid edges                        0
    test edges                         1
    entities without a train edge      1

    train edges   mean  min  25%  median  75%  90%  99%  max
    of an entity   1.7    0    1       2    3    3    3    3
    out of it      0.9    0    0       0    3    3    3    3
    into it        0.9    0    0       1    2    2    2    2

    relation   edges  heads  tails  tails/head  heads/tail  kind
    stars          4      2      3         2.0         1.3  1-N
    has genre      2      2      1         1.0         2.0  N-1
    ");
}

#[test]
fn stats_as_json_hold_the_same() {
    let json: serde_json::Value = serde_json::from_str(&films().ok(&["stats", "films", "--json"])).unwrap();
    assert_eq!(json["entities"], 7);
    assert_eq!(json["edges"], serde_json::json!({ "train": 6, "valid": 0, "test": 1 }));
    assert_eq!(json["by_relation"][0]["cardinality"], "1-N");
    assert_eq!(json["sources"][0]["format"], "TSV");
}

#[test]
fn describe_shows_both_directions_and_what_is_held_out() {
    let desk = films();
    insta::assert_snapshot!(desk.ok(&["describe", "films", "Bad Boys"]), @r"
    Bad Boys: entity, 4 edges

      stars →  (2)
        Will Smith
        Martin Lawrence

      has genre →  (2)
        Comedy
        Action  [test]
    ");
    insta::assert_snapshot!(desk.ok(&["describe", "films", "Will Smith", "--limit", "1"]), @r"
    Will Smith: entity, 2 edges

      ← stars  (2)
        Bad Boys
        … and 1 more (--limit 0 shows all)
    ");
    let json: serde_json::Value =
        serde_json::from_str(&desk.ok(&["describe", "films", "Hitch", "--json"])).unwrap();
    assert_eq!(json["relations"][0]["edges"][1]["tail"], "Eva Mendes");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let outcome = films().run(&["describe", "films", "star"]);
    insta::assert_snapshot!(outcome.stderr, @"error: there is no entity or relation 'star'; the nearest entities: none; the nearest relations: 'stars'");
    let outcome = films().run(&["describe", "films", "will smit"]);
    insta::assert_snapshot!(outcome.stderr, @"error: there is no entity 'will smit'; the nearest: 'Will Smith'");
    assert_eq!(outcome.code, 2);
}

#[test]
fn a_name_without_its_prefix_case_or_accents_is_answered_with_the_one_that_has_them() {
    let desk = Desk::new();
    desk.put(
        "g.tsv",
        "film:Shining\tdirector\tperson:Stanley Kubrick\nfilm:Am\u{e9}lie\tdirector\tperson:Jean-Pierre Jeunet\n\
         film:Spartacus\tstars\tperson:Stanley Tucci\n",
    );
    desk.ok(&["init", "p", "g.tsv"]);
    let said = |name: &str| desk.run(&["describe", "p", name]).stderr;
    insta::assert_snapshot!(said("Stanley Kubrick"), @"error: there is no entity 'Stanley Kubrick'; the nearest: 'person:Stanley Kubrick'");
    insta::assert_snapshot!(said("AMELIE"), @"error: there is no entity 'AMELIE'; the nearest: 'film:Amélie'");
    insta::assert_snapshot!(said("ley Tuc"), @"error: there is no entity 'ley Tuc'; the nearest: 'person:Stanley Tucci'");
    // Two code points for one letter.
    assert!(desk.ok(&["describe", "p", "film:Ame\u{301}lie"]).starts_with("film:Am\u{e9}lie: entity"));
    insta::assert_snapshot!(desk.run(&["plan", "p", "?F : director(F, \"Stanley Kubrick\")"]).stderr, @r#"
    error: there is no entity 'Stanley Kubrick'
      |
    1 | ?F : director(F, "Stanley Kubrick")
      |                  ^^^^^^^^^^^^^^^^^ not an entity of this graph
      |
      = help: the nearest name is "person:Stanley Kubrick"
    "#);
}

#[test]
fn find_looks_into_names() {
    let desk = films();
    insta::assert_snapshot!(desk.ok(&["find", "films", "s"]), @r#"
    3 entities with 's':
      edges  write
          4  "Bad Boys"
          2  "Will Smith"
          1  "Eva Mendes"

    2 relations with 's':
      edges  write
          4  stars
          3  "has genre"
    "#);
    insta::assert_snapshot!(desk.ok(&["find", "films", "zebra"]), @"no name or label contains 'zebra'");
    let json: serde_json::Value =
        serde_json::from_str(&desk.ok(&["find", "films", "smith", "--json"])).unwrap();
    assert_eq!(json[0]["text"], "Will Smith");
}

#[test]
fn things_with_the_same_label_can_be_told_apart() {
    let desk = Desk::new();
    desk.put("g.tsv", "/m/1\t-_in\t/m/3\n/m/2\t-_in\t/m/3\n")
        .put("l.tsv", "/m/1\tGeorgia\n/m/2\tGeorgia\n/m/3\tthe World\n");
    desk.ok(&["init", "p", "g.tsv", "--labels", "l.tsv"]);
    insta::assert_snapshot!(desk.ok(&["find", "p", "georgia"]), @r"
    2 entities with 'georgia':
      edges  write  label
          1  /m/1   Georgia
          1  /m/2   Georgia
    ");
    insta::assert_snapshot!(desk.ok(&["describe", "p", "the World"]), @r"
    the World </m/3>: entity, 2 edges

      ← -_in  (2)
        /m/1 (Georgia)
        /m/2 (Georgia)
    ");
    assert!(desk.ok(&["describe", "p", "-_in"]).starts_with("-_in: relation, 2 edges"));
}

#[test]
fn a_relation_with_the_name_of_an_entity_can_be_described() {
    let desk = Desk::new();
    desk.put("g.tsv", "likes\tlikes\tBob\n");
    desk.ok(&["init", "p", "g.tsv"]);
    assert!(desk.ok(&["describe", "p", "likes"]).starts_with("likes: entity"));
    assert!(desk.ok(&["describe", "p", "likes", "--relation"]).starts_with("likes: relation"));
}

#[test]
fn check_finds_what_is_damaged() {
    let desk = films();
    let text = desk.ok(&["check", "films"]);
    assert!(text.ends_with("films: 7 files, all as they were written\n"), "{text}");
    let path = desk.path("films/graph/train.edges");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let outcome = desk.run(&["check", "films"]);
    insta::assert_snapshot!(outcome.stderr, @"error: films/graph/train.edges is damaged: its content does not match its checksum: restore it from a copy, or make it anew (read the files of the graph again, train the model again) (`relatum init` makes a graph, `relatum train` a model)");
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stdout.contains("BAD  graph/train.edges") && outcome.stdout.contains("ok   graph/test.edges")
    );
}

#[test]
fn a_relation_outside_the_graph_is_found_by_check_and_by_training() {
    let desk = films();
    desk.ok(&["train", "films", "--rank", "4", "--epochs", "1"]);
    let path = desk.path("films/graph/train.edges");
    let whole = std::fs::read(&path).unwrap();
    // The last bytes are an arc, a relation and a neighbour: either leads far outside.
    for from_the_end in [1, 5] {
        let mut bytes = whole.clone();
        let at = bytes.len() - from_the_end;
        bytes[at] ^= 0x80;
        std::fs::write(&path, bytes).unwrap();
        let outcome = desk.run(&["check", "films"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("BAD  graph/train.edges"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains("models: not read"), "{}", outcome.stdout);
        for command in [["train", "films", "--resume"], ["train", "films", "--restart"]] {
            let outcome = desk.run(&command);
            assert_eq!(outcome.code, 1, "{}", outcome.stderr);
            assert!(outcome.stderr.contains("train.edges is damaged"), "{}", outcome.stderr);
        }
    }
}

#[test]
fn a_folder_that_is_no_project_is_refused() {
    let desk = Desk::new();
    for command in [["stats", "here"], ["check", "here"]] {
        let outcome = desk.run(&command);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("here is not a Relatum project"), "{}", outcome.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = films();
    let command = format!("{} stats films | head -n 1", env!("CARGO_BIN_EXE_relatum"));
    let output =
        std::process::Command::new("sh").args(["-c", &command]).current_dir(desk.path(".")).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn a_mistyped_flag_is_told_and_never_looked_for_as_a_name() {
    let desk = films();
    for command in [["find", "films", "--foo"], ["describe", "films", "--foo"], ["ask", "films", "--foo"]] {
        let outcome = desk.run(&command);
        assert_eq!(outcome.code, 2, "{command:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("unexpected argument '--foo' found"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("-- --foo"), "the way out: {}", outcome.stderr);
    }
    assert_eq!(desk.ok(&["find", "films", "--", "--foo"]), "no name or label contains '--foo'\n");
}
