//! `relatum quantize`: models in fewer bits, what may be done with them, and how they go wrong.

mod support;

use serde_json::Value;
use support::Desk;

const QUESTION: &str = "?X : exists Y. knows(p3, Y) and trusts(Y, X)";

fn desk() -> Desk {
    let desk = support::ring(60);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.8/0.1/0.1"]);
    desk.ok(&["train", "ring", "--rank", "20", "--epochs", "3"]);
    desk
}

fn json(desk: &Desk, arguments: &[&str]) -> Value {
    serde_json::from_str(&desk.ok(arguments)).unwrap()
}

#[test]
fn a_model_in_fewer_bits_is_a_model_of_its_own() {
    let desk = desk();
    desk.ok(&["calibrate", "ring", "--kind", "adaptive", "--queries", "20", "--epochs", "1"]);
    let made = json(&desk, &["quantize", "ring", "--to", "int8", "--json"]);
    assert_eq!((&made["name"], &made["card"]["precision"]), (&"default-int8".into(), &"int8".into()));
    assert!(made["bytes"][1].as_u64() < made["bytes"][0].as_u64(), "{made}");
    let text = desk.ok(&["quantize", "ring", "--to", "f16", "--as", "half"]);
    assert!(text.contains("half") && text.contains("f16") && text.contains("valid MRR"), "{text}");
    for model in ["default-int8", "half"] {
        for more in
            [&[][..], &["--method", "beam"], &["--calibration", "adaptive"], &["--method", "continuous"]]
        {
            let arguments =
                [&["ask", "ring", QUESTION, "--model", model, "--known", "none", "--json"], more].concat();
            let reply = json(&desk, &arguments);
            assert!(!reply["answers"].as_array().unwrap().is_empty(), "{model} {more:?}: {reply}");
            if more.is_empty() {
                assert_eq!(reply["certainty"]["kind"], "exact", "{reply}");
            }
        }
        desk.ok(&["link-eval", "ring", "--model", model]);
    }
    let all = json(&desk, &["models", "ring", "--json"]);
    let precisions: Vec<&Value> =
        all["models"].as_array().unwrap().iter().map(|it| &it["precision"]).collect();
    assert_eq!(precisions, ["f32", "int8", "f16"]);
    assert!(desk.ok(&["models", "ring"]).contains("int8"));
    desk.ok(&["check", "ring"]);
}

#[test]
fn what_needs_all_bits_says_so() {
    let desk = desk();
    desk.ok(&["quantize", "ring", "--to", "int8"]);
    for (arguments, word) in [
        (&["quantize", "ring", "--model", "default-int8", "--to", "f16"][..], "cannot be quantized"),
        (&["quantize", "ring", "--to", "int4"], "int8"),
        (&["quantize", "ring", "--to", "f32"], "f32"),
        (&["quantize", "ring"], "--to"),
        (&["quantize", "ring", "--to", "int8"], "--replace"),
        (&["quantize", "ring", "--to", "int8", "--as", "default"], "--as"),
        (&["quantize", "ring", "--to", "int8", "--as", "../x"], "letters"),
        (&["quantize", "ring", "--model", "none", "--to", "int8"], "no model"),
        (&["merge", "ring", "default", "default-int8", "--model", "both"], "cannot be merged"),
        (&["export", "ring", "out", "--model", "default-int8"], "cannot be exported"),
    ] {
        let failed = desk.run(arguments);
        assert_eq!(failed.code, 2, "{arguments:?}: {}", failed.stderr);
        assert!(failed.stderr.contains(word), "{arguments:?}: {}", failed.stderr);
    }
    assert!(!desk.path("out").exists() && !desk.path("ring/models/both").exists());
    desk.ok(&["quantize", "ring", "--to", "int8", "--replace"]);
}

#[test]
fn a_damaged_file_is_found_by_check_and_a_cut_one_at_once() {
    let desk = desk();
    desk.ok(&["quantize", "ring", "--to", "int8"]);
    let path = desk.path("ring/models/default-int8/model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &changed).unwrap();
    let failed = desk.run(&["check", "ring"]);
    assert!(
        failed.code == 1 && failed.stdout.contains("checksum") | failed.stderr.contains("checksum"),
        "{}",
        failed.stderr
    );
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let failed = desk.run(&["ask", "ring", QUESTION, "--model", "default-int8"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
}
