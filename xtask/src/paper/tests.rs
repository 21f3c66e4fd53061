//! What is left, what is kept, what is written; and the whole command on a small dataset.

mod whole;

use std::collections::BTreeMap;

use relatum::benchmark::{Family, PUBLISHED_TYPES};

use super::args::{Name, Table};
use super::cost::Rates;
use super::home::Home;
use super::plan::{self, Job};
use super::render;
use super::results::{Cell, Measured, RowResult, Store, left};
use super::work::{Chosen, Row, Subject};

fn cell(hits_at_3: f64, queries: usize, of: usize) -> Cell {
    let setting = "paper k=64 product sigmoid none".to_owned();
    Cell { hits_at_3, mrr: 0.25, queries, of, setting, chosen_on: 500, seconds: 1.5 }
}

fn result(cells: impl IntoIterator<Item = (&'static str, Cell)>) -> RowResult {
    RowResult {
        method: "paper-beam".to_owned(),
        model: "complex-1000".to_owned(),
        predictor: "complex".to_owned(),
        rank: 1000,
        recipe: "rank 1000, 20 epochs".to_owned(),
        epoch: 20,
        valid_mrr: Some(0.3614),
        cells: cells.into_iter().map(|(shape, cell)| (shape.to_owned(), cell)).collect::<BTreeMap<_, _>>(),
    }
}

fn whole() -> RowResult {
    result(PUBLISHED_TYPES.map(|shape| (shape, cell(0.5, 5_000, 5_000))))
}

fn row() -> Row {
    let subject = Subject::Predictor { predictor: "complex", rank: 1000, own: false };
    Row { dataset: Name::Fb15k237, subject, family: Some(Family::PaperBeam) }
}

fn chosen(tables: &[Table]) -> Chosen {
    Chosen {
        datasets: vec![Name::Fb15k237],
        ranks: vec![100, 500, 1000],
        tables: tables.to_vec(),
        methods: Vec::new(),
        limit: None,
        tune_on: 500,
        again: false,
        max_epochs: None,
    }
}

#[test]
fn results_are_read_as_they_were_written_and_damage_is_told_with_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store(dir.path().join("results"));
    assert_eq!(store.row(row()).unwrap(), None);
    let written = result([("1p", cell(0.512_345_678_9, 1_000, 22_812))]);
    store.keep(Name::Fb15k237, &row().file(), &written).unwrap();
    assert_eq!(store.row(row()).unwrap(), Some(written.clone()));
    assert_eq!(store.all(Name::Fb15k237).unwrap(), Measured { rows: vec![written], ..Measured::default() });
    let file = dir.path().join("results/fb15k-237/complex-1000-paper-beam.json");
    std::fs::write(&file, "{").unwrap();
    let said = store.row(row()).unwrap_err().to_string();
    assert!(said.contains("complex-1000-paper-beam.json") && said.contains("delete it"), "{said}");
}

#[test]
fn a_cell_joins_those_of_another_run_of_the_same_model_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store(dir.path().join("results"));
    let types = |store: &Store| {
        let kept = store.row(row()).unwrap().unwrap();
        kept.cells.into_keys().collect::<Vec<_>>()
    };
    store.keep_cell(row(), &result([]), "2p", cell(0.5, 5_000, 5_000)).unwrap();
    store.keep_cell(row(), &result([]), "1p", cell(0.5, 22_812, 22_812)).unwrap();
    assert_eq!(types(&store), ["1p", "2p"]);
    let other = RowResult { recipe: "rank 1000, 40 epochs".to_owned(), ..result([]) };
    store.keep_cell(row(), &other, "3p", cell(0.5, 5_000, 5_000)).unwrap();
    assert_eq!(types(&store), ["3p"], "one row, one model");
}

#[test]
fn the_epochs_that_are_done_are_not_planned_again() {
    let chosen = chosen(&[Table::Main]);
    for subject in [Subject::Baseline(relatum::baseline::Kind::Gqe), row().subject] {
        let cost = |done| Job::Train { dataset: Name::Fb15k237, subject, done, of: 20 }.costs(&chosen)[0].1;
        assert!(cost(0) > 0.0 && (cost(15) - cost(0) / 4.0).abs() <= 1e-9 * cost(0), "{}", subject.name());
    }
}

#[test]
fn a_part_is_enough_for_a_part_and_is_measured_again_for_all() {
    let mut done = whole();
    assert!(left(Some(&done), None, None, false).is_empty());
    done.cells.insert("2p".to_owned(), cell(0.5, 1_000, 5_000));
    assert!(left(Some(&done), None, Some(1_000), false).is_empty());
    assert_eq!(left(Some(&done), None, Some(2_000), false), ["2p"]);
    assert_eq!(left(Some(&done), None, None, false), ["2p"]);
    assert_eq!(left(Some(&done), None, None, true), PUBLISHED_TYPES);
    done.cells.remove("up");
    assert_eq!(left(Some(&done), Some("rank 1000, 20 epochs"), None, false), ["2p", "up"]);
    assert_eq!(left(Some(&done), Some("another"), None, false), PUBLISHED_TYPES, "one row, one model");
    assert!(left(Some(&whole()), Some("another"), None, false).is_empty(), "what is finished stays");
    assert_eq!(left(None, None, None, false), PUBLISHED_TYPES);
}

#[test]
fn rows_of_other_methods_than_those_named_are_left_out() {
    let all = Chosen { methods: Vec::new(), ..chosen(&[Table::Main]) };
    let some = Chosen { methods: vec!["best".to_owned(), "gqe".to_owned()], ..chosen(&[Table::Main]) };
    let names = |chosen: &Chosen| {
        chosen.rows(Name::Fb15k237).into_iter().map(super::work::Row::method).collect::<Vec<_>>()
    };
    assert_eq!(names(&all).len(), 6);
    assert_eq!(names(&some), ["best", "gqe"]);
}

#[test]
fn a_model_is_planned_once_and_only_for_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store(dir.path().join("results"));
    let work = dir.path().join("work");
    let mut home = Home::new(&dir.path().join("data"), &work);
    let mut plan = |tables: &[Table]| plan::jobs(&chosen(tables), &store, &mut home).unwrap();
    let trained = |jobs: &[Job]| {
        let of = |job: &Job| match job {
            Job::Train { subject, .. } => Some(subject.name()),
            _ => None,
        };
        jobs.iter().filter_map(of).collect::<Vec<String>>()
    };
    let all = plan(&[Table::Main, Table::Ranks, Table::Timing, Table::Distmult, Table::Examples]);
    assert_eq!(
        trained(&all),
        [
            "complex-100",
            "complex-500",
            "complex-500-relations",
            "complex-1000",
            "distmult-1000",
            "gqe",
            "query2box"
        ]
    );
    // Eleven rows, seven trainings, rules, timing and examples.
    assert_eq!(all.len(), 11 + 7 + 1 + 2);
    assert_eq!(trained(&plan(&[Table::Examples])), ["complex-1000"]);
    store.keep(Name::Fb15k237, &row().file(), &whole()).unwrap();
    assert_eq!(trained(&plan(&[Table::Distmult])), ["distmult-1000"], "ComplEx is measured");
    let rates = Rates::of(&work);
    let words = plan::in_words(&plan(&[Table::Distmult]), &chosen(&[Table::Distmult]), &rates);
    assert!(words.starts_with("2 steps left, about "), "{words}");
    assert!(words.contains("FB15k-237: train distmult-1000  (not measured here yet)"), "{words}");
    assert!(words.contains("FB15k-237: measure paper-beam of distmult-1000: 1p 2p 3p"), "{words}");
    assert_eq!(plan::in_words(&[], &chosen(&[]), &rates), "nothing is left to do");
    let said = Home::new(&dir.path().join("data"), &work).check_data(Name::Nell995).unwrap_err().to_string();
    assert!(said.contains("expected the Query2Box folder of NELL995") && said.contains("--data"), "{said}");
}

#[test]
fn rates_of_this_machine_take_the_place_of_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let mut rates = Rates::of(dir.path());
    rates.products = 1e9;
    assert!((rates.seconds("train complex", 3e9) - 3.0).abs() < 1e-9 && !rates.knows("train complex"));
    rates.note("train complex", 1e9, 2.0).unwrap();
    rates.note("train complex", 1e9, 4.0).unwrap();
    let again = Rates::of(dir.path());
    assert!((again.seconds("train complex", 1e9) - 3.0).abs() < 1e-9 && again.knows("train complex"));
}

#[test]
fn published_rows_stand_alone_until_something_is_measured() {
    let nothing: Vec<(Name, Measured)> =
        [Name::Fb15k, Name::Fb15k237, Name::Nell995].map(|name| (name, Measured::default())).into();
    let text = render::markdown(&nothing);
    for line in [
        "| CQD-Beam, rank 1000, published | .290 | .512 | .288 | .221 | .352 | .457 | .129 | .249 | .284 | .121 |",
        "| CQD-Beam, ours | not measured yet | | | | | | | | | |",
        "| GQE, rank 800, published | .384 | .630 | .346 | .250 | .515 | .611 | .153 | .320 | .362 | .271 |",
        "| CQD-CO, rank 200, ours | not measured yet | | | | | | | | | |",
        "| CQD-Beam with DistMult, rank 1000, published | .365 | .642 | .348 | .297 | .392 | .517 | .160 | .260 | .502 | .169 |",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn our_rows_stand_below_the_published_ones_and_parts_are_marked_and_counted() {
    let mut row = whole();
    row.cells.insert("2p".to_owned(), cell(0.352_4, 1_000, 5_000));
    let measured = |row: RowResult| {
        let own = Measured { rows: vec![row], ..Measured::default() };
        render::markdown(&[(Name::Fb15k237, own)])
    };
    let text = measured(row.clone());
    for line in [
        "| CQD-Beam, rank 1000, ours | .484\\* | .500 | .352\\* | .500 | .500 | .500 | .500 | .500 | .500 | .500 |",
        "- CQD-Beam, rank 1000, ours: model complex-1000, rank 1000, 20 epochs; epoch 20, validation MRR .361; settings \
         chosen on 500 validation queries a type; \\* 1,000 of 5,000 queries",
        "| CQD-Beam with ComplEx, rank 1000, ours | .484\\* |",
        "2p `paper k=64 product sigmoid none` (on 500)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    row.cells.remove("up");
    let text = measured(row);
    assert!(
        text.contains("ours | – | .500 | .352\\* | .500 | .500 | .500 | .500 | .500 | .500 | – |"),
        "{text}"
    );
}

#[test]
fn the_document_in_the_repository_is_what_its_results_give() {
    let docs = crate::shell::root().join("docs");
    let measured = render::all(&Store(docs.join("paper/results"))).unwrap();
    let written = std::fs::read_to_string(docs.join("paper.md")).unwrap();
    assert!(
        written == render::markdown(&measured),
        "docs/paper.md is stale: run `cargo xtask paper --render`"
    );
}
