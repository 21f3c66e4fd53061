//! Training from the command line: what a person sees, what is on disk afterwards, and that a run
//! that was killed ends with the same bytes as one that was not.

mod support;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::Desk;

/// A ring of people who know their neighbours: learnable, and small.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut triples = String::new();
    for person in 0..120 {
        for (relation, by) in [("knows", 1), ("trusts", 5), ("fears", 11)] {
            writeln!(triples, "p{person}\t{relation}\tp{}", (person + by) % 120).unwrap();
        }
    }
    desk.put("ring.tsv", triples);
    assert_eq!(desk.run(&["init", "ring", "ring.tsv", "--split", "0.9/0.05/0.05"]).code, 0);
    desk
}

fn model(desk: &Desk, name: &str) -> Vec<u8> {
    fs::read(desk.path(&format!("ring/models/{name}/model.safetensors"))).unwrap()
}

#[test]
fn a_person_trains_without_flags_and_learns_what_was_chosen_and_why() {
    let desk = desk();
    let trained = desk.run(&["train", "ring"]);
    assert_eq!(trained.code, 0, "{}", trained.stderr);
    for part in [
        "rank",
        "directed training triples",
        "batch size",
        "relation loss",
        "epoch 1/",
        "triples/s",
        "of peak",
        "valid MRR",
    ] {
        assert!(trained.stderr.contains(part), "'{part}' is not in: {}", trained.stderr);
    }
    for part in ["kept the model of epoch", "next: relatum link-eval ring"] {
        assert!(trained.stdout.contains(part), "'{part}' is not in: {}", trained.stdout);
    }
    let folder = desk.path("ring/models/default");
    for file in ["model.safetensors", "card.json", "checkpoint.safetensors", "training.jsonl", "training.svg"]
    {
        assert!(folder.join(file).exists(), "{file}");
    }
    let evaluated = desk.run(&["link-eval", "ring", "--split", "valid", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&evaluated.stdout).unwrap();
    let card: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("card.json")).unwrap()).unwrap();
    assert_eq!(report["overall"]["mrr"], card["valid"]["mrr"], "the card says what link-eval measures");
    assert_eq!(report["ties"], "mean");
    let svg = fs::read_to_string(folder.join("training.svg")).unwrap();
    assert!(svg.contains(&format!(">kept: epoch {}<", card["epoch"])), "{svg}");
    assert!(
        desk.ok(&["train", "--help"]).contains("% of peak` means"),
        "every figure of the display is explained"
    );
    let tails = report["tails"]["count"].as_u64().unwrap();
    assert_eq!(report["heads"]["count"].as_u64().unwrap(), tails, "both directions are measured");
    let table = desk.run(&["link-eval", "ring", "--ties", "pessimistic"]);
    assert!(
        table.stdout.contains("ties take their worst rank") && table.stdout.contains("knows"),
        "{}",
        table.stdout
    );
}

#[test]
fn a_run_cools_down_for_a_tenth_of_its_epochs_whatever_their_number_becomes() {
    let desk = desk();
    let cooled = |name: &str| {
        let card = fs::read(desk.path(&format!("ring/models/{name}/card.json"))).unwrap();
        let card: serde_json::Value = serde_json::from_slice(&card).unwrap();
        card["training"]["cool_down"].as_u64().unwrap()
    };
    let quick = ["--rank", "4", "--patience", "0"];
    let train = |name: &str, more: &[&str]| desk.run(&[&["train", "ring", "--model", name], more].concat());
    let first = train("a", &[&quick[..], &["--epochs", "10"]].concat());
    assert_eq!((first.code, cooled("a")), (0, 1), "{}", first.stderr);
    assert!(first.stdout.contains("--model a 'QUERY'"), "{}", first.stdout);
    let longer = train("a", &["--resume", "--epochs", "30"]);
    assert_eq!((longer.code, cooled("a")), (0, 3), "{}", longer.stderr);
    let shorter = train("a", &["--resume", "--epochs", "8"]);
    assert_eq!(shorter.code, 2);
    assert!(shorter.stderr.contains("has done 30 epochs already"), "{}", shorter.stderr);
    let few = train("b", &[&quick[..], &["--epochs", "9"]].concat());
    assert_eq!((few.code, cooled("b")), (0, 0), "{}", few.stderr);
    let all = train("c", &[&quick[..], &["--epochs", "5", "--cool-down", "6"]].concat());
    assert_eq!(all.code, 2);
    assert!(all.stderr.contains("cool down is 6"), "{}", all.stderr);
}

const SLOW: [&str; 10] =
    ["--rank", "64", "--epochs", "60", "--batch-size", "8", "--eval-every", "3", "--patience", "0"];

#[test]
fn killed_at_any_moment_and_resumed_a_run_ends_with_the_same_bytes() {
    let desk = desk();
    let whole = desk.run(&[&["train", "ring", "--model", "whole"], &SLOW[..]].concat());
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let mut command = desk.command(&[&["train", "ring", "--model", "killed"], &SLOW[..]].concat());
    let mut kills = 0;
    loop {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let checkpoint = desk.path("ring/models/killed/checkpoint.safetensors");
        let before = modified(&checkpoint);
        let began = Instant::now();
        // Wait for a new checkpoint, then kill a little later, somewhere in the work after it.
        while child.try_wait().unwrap().is_none()
            && modified(&checkpoint) == before
            && began.elapsed() < Duration::from_mins(1)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(7 * kills));
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if kills == 6 {
            assert_eq!(desk.run(&["train", "ring", "--model", "killed", "--resume"]).code, 0);
            break;
        }
        command = desk.command(&["train", "ring", "--model", "killed", "--resume"]);
    }
    assert!(kills > 0, "the run was over before it could be killed");
    assert!(model(&desk, "whole") == model(&desk, "killed"), "after {kills} kills");
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

#[test]
fn the_number_of_threads_does_not_change_the_model() {
    let desk = desk();
    for threads in ["1", "2"] {
        let trained = desk.run(&["train", "ring", "--model", threads, "--epochs", "3", "--threads", threads]);
        assert_eq!(trained.code, 0, "{}", trained.stderr);
    }
    assert!(model(&desk, "1") == model(&desk, "2"));
}

#[test]
fn an_unfinished_run_is_not_lost_by_forgetting_a_flag() {
    let desk = desk();
    let resumed = desk.run(&["train", "ring", "--resume"]);
    assert_eq!(resumed.code, 2);
    assert!(resumed.stderr.contains("nothing to resume"), "{}", resumed.stderr);
    assert_eq!(desk.run(&["train", "ring", "--epochs", "2"]).code, 0);
    let other = desk.run(&["train", "ring", "--resume", "--rank", "7"]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("begun with") && other.stderr.contains("rank 7"), "{}", other.stderr);
    let longer = desk.run(&["train", "ring", "--resume", "--epochs", "3"]);
    assert_eq!(longer.code, 0, "{}", longer.stderr);
    assert!(longer.stdout.contains("trained 3 epochs"), "{}", longer.stdout);
}

#[test]
fn bad_values_of_every_flag_are_refused_by_name() {
    let desk = desk();
    for (flag, value, expected) in [
        ("--predictor", "hole", "complex"),
        ("--rank", "0", "at least 1"),
        ("--epochs", "0", "at least 1"),
        ("--batch-size", "many", "at least 1"),
        ("--regulariser", "l1", "n3, f2 or none"),
        ("--reg", "-1", "at least 0"),
        ("--reg", "NaN", "at least 0"),
        ("--optimiser", "magic", "adagrad, adam or sgd"),
        ("--lr", "0", "above 0"),
        ("--relation-loss", "inf", "at least 0"),
        ("--candidates", "0", "at least 1"),
        ("--init-scale", "-0.1", "above 0"),
        ("--init-scale", "0", "above 0"),
        ("--eval-every", "0", "at least 1"),
        ("--patience", "-1", "patience"),
        ("--seed", "x", "seed"),
        ("--threads", "0", "1..=1024"),
        ("--model", "../elsewhere", "letters, digits"),
    ] {
        let given = format!("{flag}={value}");
        let refused = desk.run(&["train", "ring", &given]);
        assert_eq!(refused.code, 2, "{given}: {}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{given}: {}", refused.stderr);
    }
    let refused = desk.run(&["train", "ring", "--predictor", "transe", "--relation-loss", "1"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("transe"), "{}", refused.stderr);
    let missing = desk.run(&["link-eval", "ring", "--model", "nobody"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("relatum train ring --model nobody"), "{}", missing.stderr);
}

#[test]
fn a_loss_out_of_bounds_stops_with_advice() {
    let desk = desk();
    let wild = desk.run(&["train", "ring", "--optimizer", "sgd", "--lr", "1e30", "--init-scale", "1"]);
    assert_eq!(wild.code, 1, "{}", wild.stderr);
    assert!(wild.stderr.contains("lower the learning rate"), "{}", wild.stderr);
}

#[test]
fn a_diverged_run_saves_nothing_and_says_what_to_type_next() {
    let desk = desk();
    let flags = ["--rank", "4", "--epochs", "1", "--batch-size", "100000"];
    let wild = desk.run(&[&["train", "ring", "--model", "w", "--lr", "1e38"], &flags[..]].concat());
    assert_eq!(wild.code, 1, "{}", wild.stderr);
    assert!(!desk.path("ring/models/w/model.safetensors").exists());
    assert!(wild.stderr.contains("nothing of this run was saved"), "{}", wild.stderr);
    let (_, next) = wild.stderr.split_once("next: relatum ").unwrap();
    assert!(next.contains("--restart") && next.contains("--rank 4"), "{next}");
    // The advice is a command that is understood; a tenth of far too much is still too much.
    let next: Vec<&str> = next.split_whitespace().collect();
    assert_eq!(desk.run(&next).code, 1);
    let calm = desk.run(&[&["train", "ring", "--model", "w", "--lr", "0.1"], &flags[..]].concat());
    assert_eq!(calm.code, 0, "{}", calm.stderr);
    let before = model(&desk, "w");
    let again =
        desk.run(&[&["train", "ring", "--model", "w", "--lr", "1e38", "--restart"], &flags[..]].concat());
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(again.stderr.contains("is unchanged"), "{}", again.stderr);
    assert!(before == model(&desk, "w"));
}

#[test]
fn more_candidates_than_entities_are_all_of_them() {
    let desk = desk();
    for (name, candidates) in [("all", "all"), ("most", "18446744073709551615")] {
        let arguments = ["train", "ring", "--epochs", "1", "--model", name, "--candidates", candidates];
        let trained = desk.run(&arguments);
        assert_eq!(trained.code, 0, "{}", trained.stderr);
    }
    let epochs = |name: &str| {
        let lines = fs::read_to_string(desk.path(&format!("ring/models/{name}/training.jsonl"))).unwrap();
        serde_json::from_str::<serde_json::Value>(&lines).unwrap()["loss"].clone()
    };
    assert_eq!(epochs("all"), epochs("most"));
}

#[test]
fn a_model_is_not_replaced_by_forgetting_a_flag() {
    let desk = desk();
    assert_eq!(desk.run(&["train", "ring", "--epochs", "1"]).code, 0);
    let before = model(&desk, "default");
    let again = desk.run(&["train", "ring", "--epochs", "1", "--seed", "1"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("--restart"), "{}", again.stderr);
    let grid = desk.run(&["grid", "ring", "--rank", "4", "--epochs", "1"]);
    assert_eq!(grid.code, 2, "{}", grid.stderr);
    assert!(grid.stderr.contains("--replace"), "{}", grid.stderr);
    assert!(before == model(&desk, "default"));
    assert_eq!(desk.run(&["train", "ring", "--epochs", "1", "--seed", "1", "--restart"]).code, 0);
    assert!(before != model(&desk, "default"));
    assert_eq!(desk.run(&["grid", "ring", "--rank", "4", "--epochs", "1", "--replace"]).code, 0);
    assert_eq!(desk.run(&["grid", "ring", "--rank", "5", "--epochs", "1"]).code, 0, "a grid follows a grid");
}

/// A run long enough to do something about, and its checkpoint written once.
#[cfg(unix)]
fn under_way(desk: &Desk, arguments: &[&str], checkpoint: &str) -> std::process::Child {
    let mut child = desk.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !desk.path(checkpoint).exists() && began.elapsed() < Duration::from_mins(1) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its time");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Past the first checkpoint, which stands before the first batch.
    std::thread::sleep(Duration::from_millis(300));
    child
}

#[cfg(unix)]
fn terminated(child: std::process::Child) -> support::Outcome {
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    support::Outcome::of(&child.wait_with_output().unwrap())
}

const ENDLESS: [&str; 8] = ["--rank", "64", "--epochs", "100000", "--batch-size", "8", "--patience", "0"];

#[test]
#[cfg(unix)]
fn a_run_asked_to_stop_saves_and_exits_with_130_and_nobody_joins_or_discards_it() {
    let desk = desk();
    let arguments = [&["train", "ring"], &ENDLESS[..]].concat();
    let child = under_way(&desk, &arguments, "ring/models/default/checkpoint.safetensors");
    desk.put("x.safetensors", "");
    for second in [
        &["train", "ring", "--restart"][..],
        &["train", "ring", "--resume"],
        &["grid", "ring", "--replace"],
        &["import", "ring", "x.safetensors", "--replace"],
    ] {
        let refused = desk.run(second);
        assert_eq!(refused.code, 2, "{second:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("busy"), "{second:?}: {}", refused.stderr);
    }
    let stopped = terminated(child);
    assert_eq!(stopped.code, 130);
    assert!(stopped.stdout.contains("next: relatum train ring --resume"), "{}", stopped.stdout);
    assert!(desk.path("ring/models/default/model.safetensors").exists());
    let forgot = desk.run(&["train", "ring"]);
    assert_eq!(forgot.code, 2);
    assert!(forgot.stderr.contains("--resume goes on with it"), "{}", forgot.stderr);
}

#[test]
#[cfg(unix)]
fn a_run_stopped_in_its_first_epoch_is_not_discarded_either() {
    let desk = desk();
    // Batches of one triple and much to compute: the first epoch is far from over.
    let arguments = ["train", "ring", "--rank", "20000", "--batch-size", "1", "--epochs", "2"];
    let stopped = terminated(under_way(&desk, &arguments, "ring/models/default/checkpoint.safetensors"));
    assert_eq!(stopped.code, 130);
    assert!(stopped.stdout.contains("stopped in epoch 1;"), "{}", stopped.stdout);
    let forgot = desk.run(&["train", "ring"]);
    assert_eq!(forgot.code, 2, "{}", forgot.stderr);
    assert!(forgot.stderr.contains("after 0 of 2 epochs"), "{}", forgot.stderr);
}

#[test]
#[cfg(unix)]
fn a_grid_asked_to_stop_exits_with_130() {
    let desk = desk();
    let arguments = [
        "grid",
        "ring",
        "--rank",
        "64",
        "--epochs",
        "100000",
        "--batch-size",
        "8",
        "--patience",
        "0",
        "--reg",
        "0.1",
        "--lr",
        "0.1",
        "--seed",
        "0",
    ];
    let checkpoint = "ring/models/default/grid/complex-rank64-batch8-n30.1-adagrad0.1-relation0-seed0/checkpoint.safetensors";
    let stopped = terminated(under_way(&desk, &arguments, checkpoint));
    assert_eq!(stopped.code, 130);
    assert!(stopped.stdout.contains("the same command goes on"), "{}", stopped.stdout);
}

#[test]
fn a_combination_that_diverges_does_not_end_the_grid() {
    let desk = desk();
    let arguments = ["grid", "ring", "--rank", "4", "--lr", "1e38,0.1", "--epochs", "2", "--eval-every", "1"];
    let first = desk.run(&arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout.lines().filter(|line| line.contains("diverged")).count(), 1, "{}", first.stdout);
    let card = fs::read_to_string(desk.path("ring/models/default/card.json")).unwrap();
    let card: serde_json::Value = serde_json::from_str(&card).unwrap();
    assert!((card["training"]["learning_rate"].as_f64().unwrap() - 0.1).abs() < 1e-6);
    let again = desk.run(&arguments);
    assert_eq!((again.code, &again.stdout), (0, &first.stdout));
    assert!(!again.stderr.contains("diverged:"), "nothing is tried twice: {}", again.stderr);
    let none = desk.run(&["grid", "ring", "--model", "n", "--rank", "4", "--lr", "1e38", "--epochs", "2"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("every combination diverged"), "{}", none.stderr);
}

#[test]
fn reasons_are_true() {
    let desk = Desk::new();
    desk.put("two.tsv", "a\tr\tb\nb\tr\tc\n");
    assert_eq!(desk.run(&["init", "two", "two.tsv"]).code, 0);
    let trained = desk.run(&["train", "two", "--epochs", "1"]);
    assert_eq!(trained.code, 0, "{}", trained.stderr);
    let row = |line: &&str, name: &str| line.trim_start().starts_with(name);
    let line = |name: &str| trained.stderr.lines().find(|line| row(line, name)).unwrap().to_owned();
    assert!(line("validation").contains("none"), "{}", line("validation"));
    assert!(!line("seed").contains("paper"), "{}", line("seed"));
}

#[test]
fn a_grid_tries_all_goes_on_and_installs_the_winner() {
    let desk = desk();
    let arguments =
        ["grid", "ring", "--rank", "4,16", "--reg", "0.001,0.1", "--epochs", "4", "--eval-every", "2"];
    let first = desk.run(&arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout.lines().filter(|line| line.contains("complex")).count(), 4, "{}", first.stdout);
    let results: Vec<serde_json::Value> =
        serde_json::from_slice(&fs::read(desk.path("ring/models/default/grid.json")).unwrap()).unwrap();
    let best = results.iter().map(|run| run["valid"]["mrr"].as_f64().unwrap()).fold(0.0, f64::max);
    let card: serde_json::Value =
        serde_json::from_slice(&fs::read(desk.path("ring/models/default/card.json")).unwrap()).unwrap();
    assert!((card["valid"]["mrr"].as_f64().unwrap() - best).abs() < 1e-12);
    let again = desk.run(&arguments);
    assert!(!again.stderr.contains("epoch 1/"), "nothing is trained twice: {}", again.stderr);
    assert_eq!(again.stdout, first.stdout);
}

#[test]
fn a_model_travels_out_and_in_again() {
    let desk = desk();
    assert_eq!(desk.run(&["train", "ring", "--epochs", "3"]).code, 0);
    assert_eq!(desk.run(&["export", "ring", "out.safetensors"]).code, 0);
    assert_eq!(desk.run(&["export", "ring", "arrays"]).code, 0);
    let back = desk.run(&["import", "ring", "out.safetensors", "--model", "a"]);
    assert_eq!(back.code, 0, "{}", back.stderr);
    let arrays = ["import", "ring", "arrays/entities.npy", "arrays/relations.npy", "--model", "b"];
    let names = ["--entity-names", "arrays/entities.json", "--relation-names", "arrays/relations.json"];
    let back = desk.run(&[&arrays[..], &names[..]].concat());
    assert_eq!(back.code, 0, "{}", back.stderr);
    let scores = |name: &str| desk.run(&["link-eval", "ring", "--model", name]).stdout.replacen(name, "", 1);
    assert_eq!(scores("default"), scores("a"));
    assert_eq!(scores("default"), scores("b"));
    let twice = desk.run(&["import", "ring", "out.safetensors", "--model", "a"]);
    assert_eq!(twice.code, 2);
    assert!(twice.stderr.contains("--replace"), "{}", twice.stderr);
    assert!(desk.path("ring/models/default/checkpoint.safetensors").exists());
    let replaced = desk.run(&["import", "ring", "out.safetensors", "--replace"]);
    assert_eq!(replaced.code, 0, "{}", replaced.stderr);
    for left in ["checkpoint.safetensors", "training.jsonl", "training.svg"] {
        assert!(!desk.path(&format!("ring/models/default/{left}")).exists(), "{left} is the old run's");
    }
    assert_eq!(desk.run(&["export", "ring", "x.onnx"]).code, 2);

    desk.put("other.tsv", "a\tr\tb\n");
    assert_eq!(desk.run(&["init", "other", "other.tsv"]).code, 0);
    let misfit = desk.run(&["import", "other", "arrays/entities.npy", "arrays/relations.npy"]);
    assert_eq!(misfit.code, 2);
    assert!(misfit.stderr.contains("fingerprint"), "{}", misfit.stderr);
    std::fs::remove_file(desk.path("arrays/card.json")).unwrap();
    let nameless =
        ["import", "other", "arrays/entities.npy", "arrays/relations.npy", "--predictor", "complex"];
    let misfit = desk.run(&nameless);
    assert_eq!(misfit.code, 2);
    for side in ["120 entities", "2 entities"] {
        assert!(misfit.stderr.contains(side), "{}", misfit.stderr);
    }
    desk.put("bad.pt", "this is no checkpoint");
    assert_eq!(desk.run(&["import", "ring", "bad.pt", "--model", "c"]).code, 1);
}

#[test]
fn the_reference_checkpoint_is_imported_and_measured() {
    let (Some(folder), Some(reference)) = (support::shared("fb15k-237"), support::shared("reference")) else {
        return;
    };
    let desk = Desk::new();
    let mut files = fs::read_dir(reference).unwrap().map(|entry| entry.unwrap().path());
    let checkpoint = files.find(|path| path.extension().is_some_and(|e| e == "pt")).unwrap();
    assert_eq!(desk.run(&["init", "fb", folder.to_str().unwrap()]).code, 0);
    let imported = desk.run(&["import", "fb", checkpoint.to_str().unwrap()]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert!(
        imported.stdout.contains("complex, rank 100, 14,505 entities and 474 relations"),
        "{}",
        imported.stdout
    );
}
