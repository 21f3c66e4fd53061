//! `relatum plan` from the outside: what it prints and how it ends.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use relatum::graph::{GraphBuilder, Split};
use relatum::project::{Project, Queries};
use relatum::store::Staging;

/// A project with a few films.
fn films() -> tempfile::TempDir {
    let mut builder = GraphBuilder::default();
    for (film, actor, genre) in [
        ("Bad Boys", "Martin Lawrence", "comedy"),
        ("Blue Streak", "Martin Lawrence", "comedy"),
        ("Hitch", "Will Smith", "romance"),
        ("Bad Boys", "Will Smith", "action"),
    ] {
        builder.add(Split::Train, film, "stars", actor);
        builder.add(Split::Train, film, "has_genre", genre);
    }
    let (graph, _) = builder.finish();
    let dir = tempfile::tempdir().expect("a folder");
    let staging = Staging::begin(&dir.path().join("films")).expect("a staging folder");
    Project::create(staging, &graph, &Queries::default(), Vec::new()).expect("a project");
    dir
}

fn plan(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_relatum"));
    let output = command.arg("plan").arg(dir.join("films")).args(args).output().expect("an output");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const GENRES: &str = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;

#[test]
fn a_plan_is_printed_as_a_tree() {
    let dir = films();
    let (code, stdout, stderr) = plan(dir.path(), &[GENRES]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(stdout, @r#"
    ?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)
    one of the paper's valid queries: anchors as sources, the target as the only sink, no directed cycle

    2p, tree, about 3 rows to score, beam 64
    └─ branch about G: tree, 3 rows
       ├─ 1. F by stars⁻¹("Martin Lawrence", ·): 1 row, about 2 fit, keep 64, merge by F
       ├─ 2. G by has_genre(F, ·): 2 rows, eliminate F
       └─ message to G
          └─ #1 max, projected along has_genre
             └─ #0 stars⁻¹("Martin Lawrence", ·)
    "#);
}

#[test]
fn sparql_and_text_give_the_same_plan() {
    let dir = films();
    let sparql = r#"SELECT ?G WHERE { ?F r:stars "Martin Lawrence" ; r:has_genre ?G }"#;
    let text = plan(dir.path(), &[GENRES]);
    assert_eq!(plan(dir.path(), &[sparql]), text);
    assert_eq!(plan(dir.path(), &["--sparql", sparql]), text);
}

#[test]
fn json_names_everything() {
    let dir = films();
    let (code, stdout, _) = plan(dir.path(), &["--json", GENRES]);
    assert_eq!(code, Some(0));
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(json["plan"]["shape"], "2p");
    assert_eq!(json["valid"], true);
    assert_eq!((&json["query"], &json["question"]), (&GENRES.into(), &GENRES.into()));
    assert_eq!(json["sparql"], "SELECT ?G WHERE { ?F r:stars e:Martin%20Lawrence . ?F r:has_genre ?G . }");
    assert_eq!(json["plan"]["branches"][0]["steps"][0]["factors"][0]["backwards"], true);
    assert_eq!(json["plan"]["rows"], 3.0);
}

#[test]
fn a_question_with_negation_is_valid_but_for_that() {
    let dir = films();
    let negated = r#"?F : stars(F, "Martin Lawrence") and not has_genre(F, comedy)"#;
    let (code, stdout, stderr) = plan(dir.path(), &[negated]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("one of the paper's valid queries, but for negation: "), "{stdout}");
    let json: serde_json::Value =
        serde_json::from_str(&plan(dir.path(), &["--json", negated]).1).expect("JSON");
    assert_eq!(json["valid"], false);
    assert_eq!(json["diagnostics"][0]["severity"], "note");
}

#[test]
fn a_normal_form_is_printed_only_where_it_says_something_new() {
    let dir = films();
    let as_it_is = r#"?F : stars(F, "Martin Lawrence") or has_genre(F, comedy)"#;
    let (_, stdout, _) = plan(dir.path(), &[as_it_is]);
    assert!(stdout.contains("branch 1 of 2") && !stdout.contains("normal form"), "{stdout}");
    let nested = r#"?F : stars(F, "Martin Lawrence") and (has_genre(F, comedy) or has_genre(F, action))"#;
    assert!(plan(dir.path(), &[nested]).1.contains("normal form: ?F : stars("));
}

#[test]
fn dot_is_a_digraph() {
    let dir = films();
    let (code, stdout, _) = plan(dir.path(), &["--dot", GENRES]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("digraph query {") && stdout.ends_with("}\n"), "{stdout}");
}

#[test]
fn a_query_may_come_from_standard_input() {
    let dir = films();
    let mut command = Command::new(env!("CARGO_BIN_EXE_relatum"));
    command.arg("plan").arg(dir.path().join("films")).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    child.stdin.take().expect("its input").write_all(GENRES.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an output");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("2p, tree"));
}

#[test]
fn a_mistake_is_shown_with_a_caret_and_ends_with_2() {
    let dir = films();
    let (code, stdout, stderr) = plan(dir.path(), &["?G : has_gender(\"Bad Boys\", G)"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(stderr, @r#"
    error: there is no relation 'has_gender'
      |
    1 | ?G : has_gender("Bad Boys", G)
      |      ^^^^^^^^^^ not a relation of this graph
      |
      = help: the nearest name is has_genre
    "#);
}

#[test]
fn a_folder_that_is_no_project_is_misuse() {
    let dir = tempfile::tempdir().expect("a folder");
    let (code, _, stderr) = plan(dir.path(), &[GENRES]);
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: "), "{stderr}");
}

#[test]
fn a_beam_of_0_is_misuse() {
    let dir = films();
    assert_eq!(plan(dir.path(), &["--k", "0", GENRES]).0, Some(2));
}
