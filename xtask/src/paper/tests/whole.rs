//! The whole command on a small dataset.

use std::path::Path;

use clap::Parser;
use relatum::Engine;
use relatum::control::Control;
use relatum::engine::SampleOptions;
use relatum::graph::{GraphBuilder, Split};
use relatum::random::Rng;

use super::super::args::Args;
use super::super::run::run;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

/// A small dataset in the place of FB15k-237, in the form of BetaE: films, genres, countries and organisations, with
/// the relations and the persons of the paper's two questions.
fn dataset(data: &Path) {
    let mut builder = GraphBuilder::default();
    let mut rng = Rng::new(5);
    let [film, genre] = ["/film/actor/film./film/performance/film", "/film/film/genre"];
    let nationality = "/people/person/nationality";
    let member = "/user/ktrueman/default_domain/international_organization/member_states_reverse";
    let persons: Vec<String> = (0..12)
        .map(|i| ["/m/02633g", "/m/07kb5"].get(i).map_or(format!("p{i}"), |id| (*id).to_owned()))
        .collect();
    let mut add = |head: &str, relation: &str, tail: String| {
        let split = [Split::Train, Split::Train, Split::Train, Split::Valid, Split::Test][rng.below(5)];
        builder.add(split, head, relation, &tail);
    };
    let mut draw = Rng::new(9);
    for person in &persons {
        for _ in 0..5 {
            add(person, film, format!("film{}", draw.below(14)));
        }
        add(person, nationality, format!("country{}", draw.below(5)));
        add(person, nationality, format!("country{}", draw.below(5)));
    }
    for i in 0..14 {
        for _ in 0..3 {
            add(&format!("film{i}"), genre, format!("genre{}", draw.below(6)));
        }
    }
    for i in 0..5 {
        for _ in 0..3 {
            add(&format!("country{i}"), member, format!("org{}", draw.below(5)));
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::create_of(
        &scratch.path().join("kg"),
        builder,
        None,
        "a generated graph",
        &Control::default(),
    )
    .unwrap();
    let types = relatum::benchmark::PUBLISHED_TYPES.map(str::to_owned).to_vec();
    let options = SampleOptions {
        types,
        count: Some(6),
        betae: Some(data.join("fb15k-237")),
        ..SampleOptions::default()
    };
    engine.sample(&options, &Control::default()).unwrap();
}

#[test]
fn the_whole_command_trains_measures_writes_and_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let [data, work, docs] = ["data", "work", "docs"].map(|name| dir.path().join(name));
    std::fs::create_dir(&data).unwrap();
    let paper = |more: &[&str]| {
        let folders = [("--data", &data), ("--work", &work), ("--docs", &docs)];
        let mut line = vec!["paper".to_owned()];
        line.extend(folders.iter().flat_map(|(flag, path)| [(*flag).to_owned(), path.display().to_string()]));
        let common = ["--dataset", "fb15k-237", "--rank", "8", "--max-epochs", "2", "--tune-on", "3"];
        line.extend(common.iter().chain(more).map(|word| (*word).to_owned()));
        run(&Line::try_parse_from(line).unwrap().args)
    };
    let said = paper(&[]).unwrap_err().to_string();
    assert!(said.contains("expected the Query2Box folder of FB15k-237"), "{said}");

    dataset(&data);
    paper(&["--plan"]).unwrap();
    assert!(!work.exists() && !docs.exists(), "a plan changes nothing");
    paper(&["--limit", "4"]).unwrap();
    let results = docs.join("paper/results/fb15k-237");
    let read = |name: &str| std::fs::read_to_string(results.join(name)).unwrap();
    let document = || std::fs::read_to_string(docs.join("paper.md")).unwrap();
    let beam = "complex-8-paper-beam.json";
    assert!(read(beam).contains("\"queries\": 4"), "{}", read(beam));
    assert!(document().contains("\\* 4 of 6 queries"), "{}", document());

    paper(&[]).unwrap();
    let whole = document();
    for expected in [
        "| GQE, rank 64, ours |",
        "| Query2Box, rank 64, ours |",
        "| CQD-CO, rank 8, ours |",
        "| CQD-Beam, rank 8, ours |",
        "| best, rank 8, ours |",
        "| best with rules, rank 8, ours |",
        "| CQD-Beam with DistMult, rank 8, ours |",
        "![Milliseconds a query by type](paper/timing-fb15k-237.svg)",
        "In what genres of movies did Martin Lawrence appear?",
    ] {
        assert!(whole.contains(expected), "{expected}\n{whole}");
    }
    assert!(!whole.contains("\\* 4 of 6"), "parts are replaced: {whole}");
    for picture in ["ranks-fb15k-237.svg", "timing-fb15k-237.svg"] {
        assert!(std::fs::read_to_string(docs.join("paper").join(picture)).unwrap().contains("</svg>"));
    }

    // With nothing left to do, neither data nor models are needed.
    let before = read(beam);
    let away = dir.path().join("away");
    std::fs::rename(&work, &away).unwrap();
    paper(&[]).unwrap();
    assert!(!work.exists(), "nothing was left to do");
    std::fs::rename(&away, &work).unwrap();

    // What a run lost that was killed, or that somebody deleted, is done again, and nothing else.
    let times = |name: &str| std::fs::metadata(results.join(name)).unwrap().modified().unwrap();
    let other = times("gqe.json");
    std::fs::remove_file(results.join(beam)).unwrap();
    paper(&[]).unwrap();
    assert_eq!(times("gqe.json"), other);
    assert_eq!((read(beam), document()), (before, whole), "the figures kept with the model are the same");
}
