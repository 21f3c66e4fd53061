//! Whatever is wrong, the message says what and where and what to do, the exit code tells misuse
//! from failure, and nothing is left behind.

mod support;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Desk, Outcome};

/// A broken `init` must fail with this code, mention all of this, and leave no folder.
fn refused(desk: &Desk, arguments: &[&str], code: i32, mentions: &[&str]) {
    let before = desk.names();
    let outcome = desk.run(arguments);
    assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "one message: {}", outcome.stderr);
    for part in mentions {
        assert!(outcome.stderr.contains(part), "{arguments:?}: '{part}' is not in: {}", outcome.stderr);
    }
    assert_eq!(desk.names(), before, "{arguments:?} left something behind");
}

fn refused_file(name: &str, bytes: impl AsRef<[u8]>, code: i32, mentions: &[&str]) {
    let desk = Desk::new();
    desk.put(name, bytes);
    refused(&desk, &["init", "p", name], code, mentions);
}

#[test]
fn wrong_number_of_columns() {
    refused_file(
        "x.tsv",
        "a\tr\tb\na\tr\n",
        1,
        &["x.tsv:2", "expected 3 columns, found 2", "--skip-bad-lines"],
    );
    refused_file("x.tsv", "a\tr\tb\t0.7\n", 1, &["x.tsv:1", "found 4", "--columns"]);
}

/// A table of several megabytes, in which every line has a weight, as many have.
fn weighted(separator: &str) -> String {
    let row =
        |i: u32| [format!("a{i}"), "r".to_owned(), format!("b{i}"), "0.5".to_owned()].join(separator) + "\n";
    (0..200_000).map(row).collect()
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_bad_line_ends_the_reading_of_a_large_table_wherever_it_comes_from() {
    let desk = Desk::new();
    let plain = weighted("\t");
    // The first line is right, so that it is the reading that meets the bad ones.
    let late = format!("a\tr\tb\n{plain}");
    desk.put("w.tsv", &plain).put("w.csv", weighted(",")).put("w.tsv.gz", gzipped(&plain));
    desk.put("late.tsv", &late).put("late.csv", late.replace('\t', ",")).put("late.tsv.gz", gzipped(&late));
    desk.put("good.tsv", "a\tr\tb\n");
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.put("folder/train.tsv", &late);
    let before = desk.names();
    for (files, mentions) in [
        (&["w.tsv"][..], ["w.tsv:1", "--columns 1,2,3"]),
        (&["w.csv"], ["w.csv:1", "--columns 1,2,3"]),
        (&["w.tsv.gz"], ["w.tsv.gz:1", "--columns 1,2,3"]),
        (&["late.tsv"], ["late.tsv:2", "--columns"]),
        (&["late.csv"], ["late.csv:2", "--columns"]),
        (&["late.tsv.gz"], ["late.tsv.gz:2", "--columns"]),
        (&["folder"], ["folder/train.tsv:2", "--columns"]),
        (&["good.tsv", "--valid", "late.tsv"], ["late.tsv:2", "--columns"]),
        (&["good.tsv", "--labels", "late.tsv"], ["late.tsv:1", "expected 2 columns, found 3"]),
        (&["-"], ["standard input:2", "--columns"]),
    ] {
        let input = std::fs::File::open(desk.path("late.tsv")).unwrap();
        let outcome = desk.run_soon(&[&["init", "p"], files].concat(), input.into());
        assert_eq!(outcome.code, 1, "{files:?}: {}", outcome.stderr);
        for part in mentions {
            assert!(outcome.stderr.contains(part), "{files:?}: '{part}' is not in: {}", outcome.stderr);
        }
        assert_eq!(desk.names(), before);
    }
    let taken = desk.ok(&["init", "p", "w.tsv", "--columns", "1,2,3"]);
    assert!(taken.contains("edges: 200,000 train"), "{taken}");
}

#[test]
fn a_bad_line_is_reported_while_more_could_still_come() {
    let desk = Desk::new();
    let mut command = desk.command(&["init", "p", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The pipe stays open, as that of a program which has not finished.
    input.write_all(format!("a\tr\tb\n{}", weighted("\t")).as_bytes()).unwrap_or_default();
    let outcome = support::end_soon(child);
    drop(input);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("standard input:2"), "{}", outcome.stderr);
}

#[test]
fn empty_fields() {
    refused_file("x.tsv", "a\tr\tb\n\tr\tb\n", 1, &["x.tsv:2", "column 1 is empty"]);
}

#[test]
fn invalid_utf8() {
    refused_file("x.tsv", b"a\tr\tb\na\tr\tcaf\xe9\n", 1, &["x.tsv:2", "column 3", "UTF-8"]);
}

#[test]
fn a_stray_nul() {
    refused_file("x.tsv", b"a\tr\tb\na\0\tr\tb\n", 1, &["x.tsv:2", "column 1", "NUL"]);
}

#[test]
fn a_line_of_a_hundred_megabytes() {
    let mut bytes = b"a\tr\tb\n".to_vec();
    bytes.resize(100 << 20, b'x');
    refused_file("x.tsv", &bytes, 1, &["x.tsv:2", "longer than 1024 KiB"]);
    bytes.extend(b"\nb\tr\tc\n");
    let desk = Desk::new();
    desk.put("x.tsv", &bytes);
    assert!(desk.ok(&["init", "p", "x.tsv", "--skip-bad-lines"]).contains("edges: 2 train"));
}

#[test]
fn a_truncated_gzip() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for i in 0..20_000 {
        writeln!(encoder, "e{i}\tr\te{}", i * 31 % 977).unwrap();
    }
    let bytes = encoder.finish().unwrap();
    for cut in [12, bytes.len() / 2, bytes.len() - 1] {
        refused_file("x.tsv.gz", &bytes[..cut], 1, &["x.tsv.gz", "damaged gzip", "fetch it again"]);
    }
}

#[test]
fn an_empty_file() {
    refused_file("x.tsv", "", 1, &["x.tsv holds no triples", "empty"]);
    refused_file("x.csv", "head,relation,tail\n", 1, &["x.csv holds no triples"]);
}

#[test]
fn a_syntax_error_in_turtle() {
    refused_file("x.ttl", "<http://a> <http://b> <http://c> .\n<http://a> <http://b .\n", 1, &["x.ttl:2"]);
}

#[test]
fn a_file_of_no_known_kind() {
    refused_file("picture", b"\x89PNG\r\n\x1a\n", 1, &["cannot tell what picture is", "--format"]);
}

#[test]
fn a_file_that_is_not_there() {
    let desk = Desk::new();
    refused(&desk, &["init", "p", "nothing.tsv"], 2, &["there is no file nothing.tsv"]);
    refused(&desk, &["init", "p"], 2, &["no file to read"]);
    desk.put("x.tsv", "a\tr\tb\n");
    refused(&desk, &["init", "p", "--valid", "x.tsv"], 2, &["at least one file of triples for training"]);
    refused(&desk, &["init", "p", "x.tsv", "--labels", "gone.txt"], 2, &["gone.txt"]);
}

#[test]
fn a_column_or_split_that_cannot_be() {
    let desk = Desk::new();
    desk.put("x.csv", "a,b,c\n1,2,3\n").put("y.csv", "1,2,3\n");
    refused(&desk, &["init", "p", "x.csv", "--columns", "a,b,d"], 2, &["no column 'd'", "'a', 'b', 'c'"]);
    refused(&desk, &["init", "p", "x.csv", "--valid", "y.csv", "--split", "0.8/0.1/0.1"], 2, &["not both"]);
    for no_header in [&["--no-header"][..], &["--header", "no"]] {
        let by_name = [&["init", "p", "x.csv", "--columns", "a,b,c"], no_header].concat();
        refused(&desk, &by_name, 2, &["needs a header"]);
    }
    for arguments in [
        ["--split", "0.9/0.9/0.9"],
        ["--columns", "1,2"],
        ["--columns", "1,1,2"],
        ["--format", "xlsx"],
        ["--seed", "-1"],
    ] {
        let outcome = desk.run(&["init", "p", "x.csv", arguments[0], arguments[1]]);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert_eq!(desk.names(), ["x.csv", "y.csv"]);
    }
}

#[test]
fn splits_that_are_too_small_are_said() {
    let desk = Desk::new();
    desk.put("x.tsv", "a\tr\tb\nb\tr\tc\nc\tr\ta\n");
    let outcome = desk.run(&["init", "p", "x.tsv", "--split", "0.9/0.05/0.05"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("valid is empty: its share of 3 triples"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("--split"), "it was given: {}", outcome.stdout);
    let outcome = desk.run(&["init", "q", "x.tsv", "--split", "0/0/1"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("train must be above 0"), "{}", outcome.stderr);
}

#[test]
fn forms_that_are_not_read_are_named_with_a_command_that_converts_them() {
    refused_file("x.parquet", b"PAR1\x15\x04\x15", 1, &["x.parquet is a Parquet file", "duckdb -c"]);
    refused_file(
        "x.xlsx",
        b"PK\x03\x04\x14\0[Content_Types].xml",
        1,
        &["x.xlsx is an Excel file", "libreoffice"],
    );
    refused_file("x.csv", b"PK\x03\x04\x14\0xl/workbook.xml", 1, &["x.csv is an Excel file"]);
    refused_file(
        "x.jsonl",
        "{\"head\": 1}\n{\"head\": 2}\n",
        1,
        &["x.jsonl is JSON, or lines of it", "jq -r"],
    );
}

#[test]
fn a_graph_of_a_file_that_has_none() {
    let desk = Desk::new();
    desk.put("x.tsv", "a\tr\tb\n");
    refused(&desk, &["init", "p", "x.tsv", "--graph", "http://g"], 2, &["no named graphs", "--graph"]);
}

#[test]
fn a_folder_that_exists_already() {
    let desk = Desk::new();
    desk.put("x.tsv", "a\tr\tb\n");
    std::fs::create_dir(desk.path("p")).unwrap();
    desk.put("p/mine", "precious");
    refused(&desk, &["init", "p", "x.tsv"], 2, &["p exists already"]);
    assert_eq!(std::fs::read(desk.path("p/mine")).unwrap(), b"precious");
    refused(&desk, &["init", "x.tsv", "x.tsv"], 2, &["x.tsv exists already"]);
    refused(&desk, &["init", "x.tsv/p", "x.tsv"], 1, &["x.tsv/p", "is a file, not a folder"]);
    std::fs::create_dir(desk.path("empty")).unwrap();
    refused(&desk, &["init", "empty", "gone.tsv"], 2, &["gone.tsv"]);
    desk.ok(&["init", "empty", "x.tsv"]);
    std::fs::create_dir(desk.path("here")).unwrap();
    let inside = desk.command(&["init", ".", "../x.tsv"]).current_dir(desk.path("here")).output().unwrap();
    assert_eq!(inside.status.code(), Some(2), "nobody's current folder is replaced");
}

#[test]
fn an_open_quote_does_not_swallow_the_file() {
    let rows: String = (0..100).map(|i| format!("a,r,{}b{i}\n", if i == 7 { "\"" } else { "" })).collect();
    refused_file("x.csv", rows, 1, &["x.csv:8", "column 3", "quote left open"]);
}

#[test]
fn a_pipe_that_nobody_writes_to_can_be_left() {
    let desk = Desk::new();
    let pipe = desk.path("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this machine has no mkfifo");
        return;
    }
    let child = desk.command(&["init", "p", "pipe"]).stderr(Stdio::piped()).spawn().unwrap();
    let outcome = interrupt(&desk, child);
    assert_eq!(outcome.code, 130, "{}", outcome.stderr);
    assert_eq!(desk.names(), ["pipe"]);
}

#[test]
fn flags_for_files_do_not_go_with_a_benchmark_folder() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("kg")).unwrap();
    desk.put("kg/train.txt", "0\t0\t1\n").put("kg/valid-queries.pkl", b"\x80\x04}.").put("kg/stats.txt", "");
    refused(&desk, &["init", "p", "kg", "--columns", "1,2,3"], 2, &["BetaE folder", "--columns"]);
}

#[test]
fn a_folder_of_no_known_kind() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("photos")).unwrap();
    refused(&desk, &["init", "p", "photos"], 2, &["photos is a folder of no known kind", "train.*"]);
}

#[test]
fn a_read_only_target() {
    if cfg!(target_os = "linux") {
        let desk = Desk::new();
        desk.put("x.tsv", "a\tr\tb\n");
        // Not even root makes folders there.
        refused(
            &desk,
            &["init", "/sys/relatum-test", "x.tsv"],
            1,
            &["cannot create /sys/relatum-test", "may write"],
        );
    }
}

#[test]
fn a_full_disk() {
    let desk = Desk::new();
    let triples: String = (0..200_000).map(|i| format!("entity {i}\tr\tentity {}\n", i * 7)).collect();
    desk.put("x.tsv", triples);
    let disk = desk.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this machine does not let the test mount a small disk");
        return;
    }
    let outcome = desk.run(&["init", "disk/p", "x.tsv"]);
    let left = support::names(&disk);
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stderr.contains("No space left on device") && outcome.stderr.contains("free some space"),
        "{}",
        outcome.stderr
    );
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn ctrl_c_leaves_nothing() {
    let desk = Desk::new();
    let mut child =
        desk.command(&["init", "p", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\tr\tb\n").unwrap();
    let outcome = interrupt(&desk, child);
    drop(input);
    assert_eq!(outcome.code, 130, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing was kept"), "{}", outcome.stderr);
    assert!(desk.names().is_empty(), "{:?}", desk.names());
}

#[test]
fn a_killed_init_leaves_nothing_that_looks_finished_and_can_be_repeated() {
    let desk = Desk::new();
    let mut child = desk.command(&["init", "p", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\tr\tb\n").unwrap();
    wait_for(|| desk.path(".p.partial").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!desk.path("p").exists());
    assert_eq!(desk.run(&["stats", "p"]).code, 2);
    desk.put("x.tsv", "a\tr\tb\n");
    desk.ok(&["init", "p", "x.tsv"]);
    assert_eq!(desk.names(), ["p", "x.tsv"]);
}

/// Ctrl-C, once the work has begun.
fn interrupt(desk: &Desk, mut child: Child) -> Outcome {
    wait_for(|| desk.path(".p.partial").exists());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    for _ in 0..200 {
        if child.try_wait().unwrap().is_some() {
            return Outcome::of(&child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("a waiting read does not hear Ctrl-C");
}

fn wait_for(condition: impl Fn() -> bool) {
    for _ in 0..1000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited ten seconds in vain");
}
