//! The aggregate by itself, without a cluster: what an executor sees that a client cannot see.

mod common;

use std::sync::Arc;

use common::{ENTITIES, project, run_within};
use datafusion::arrow::array::AsArray;
use datafusion::prelude::{SessionContext, col};
use relatum::Engine;
use relatum::graph::{EntityId, RelationId};
use relatum::model::{CandidateSource, SourceError};
use relatum_cluster::aggregate::BestCandidates;
use relatum_cluster::manifest::Manifest;
use relatum_cluster::place::Place;
use relatum_cluster::round::{Gathered, Head, Round};
use relatum_cluster::session;

/// Runs a round on this machine, with whatever files lie at the place.
async fn gathered(
    place: &Place,
    manifest: &Manifest,
    read: &Manifest,
    round: &Round,
) -> Result<Gathered, String> {
    let (_, table) = session::client("127.0.0.1:1", place, read).unwrap();
    let local = SessionContext::new_with_state(session::state(session::config()).unwrap());
    let arguments = session::columns(manifest).map(col).collect();
    let best = BestCandidates::of(round.encode()).call(arguments).alias("best");
    let table = local.read_table(Arc::new(table)).unwrap().aggregate(vec![], vec![best]).unwrap();
    let batches = table.collect().await.map_err(|error| error.to_string())?;
    Gathered::decode(batches[0].column(0).as_binary::<i64>().value(0), round.head.rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_wrong_or_missing_shards_is_refused_and_a_whole_one_is_the_row_itself() {
    let home = tempfile::tempdir().unwrap();
    let dir = project(home.path());
    let (name, to) = (dir.to_str().unwrap(), home.path().join("shards"));
    assert!(run_within(60, &["shard", name, "--to", to.to_str().unwrap(), "--shards", "3"]).status.success());
    let place = Place::open(to.to_str().unwrap()).unwrap();
    let manifest = Manifest::open(&place).await.unwrap();
    let engine = Engine::open(&dir).unwrap();
    let open = engine.model(None).unwrap();
    let rows = [(EntityId(5), RelationId(1)), (EntityId(16_999), RelationId(6))];
    let queries = open.model.query_vectors(&rows).unwrap();
    let round = Round { head: Head::new(&manifest, 2, 40, Some(1.0)), queries };

    let whole = gathered(&place, &manifest, &manifest, &round).await.unwrap();
    let expected = open.model.best_candidates(&rows, 40, Some(1.0)).unwrap();
    for (row, expected) in whole.rows.into_iter().zip(expected) {
        assert_eq!(row.finish(ENTITIES, true).unwrap(), expected);
    }

    // A table that lacks a file is short, and that is noticed however it came about.
    let mut fewer = manifest.clone();
    let lost = fewer.shards.remove(1);
    let part = gathered(&place, &manifest, &fewer, &round).await.unwrap();
    let scanned = ENTITIES - (lost.end - lost.start);
    let expected = SourceError::Incomplete { scanned, entities: ENTITIES, first: lost.start as u64 };
    assert_eq!(part.rows[0].clone().finish(ENTITIES, true), Err(expected));

    // Two shards with the same entities.
    let mut twice = manifest.clone();
    twice.shards[2] = twice.shards[1].clone();
    twice.shards[2].file = "copy.parquet".to_owned();
    std::fs::copy(to.join(&lost.file), to.join("copy.parquet")).unwrap();
    let refused = gathered(&place, &manifest, &twice, &round).await.unwrap_err();
    assert!(refused.contains("read twice"), "{refused}");

    // A shard of another model: every row names its model.
    let others = home.path().join("others");
    let other = ["shard", name, "--model", "other", "--to", others.to_str().unwrap(), "--shards", "3"];
    assert!(run_within(60, &other).status.success());
    std::fs::copy(others.join(&lost.file), to.join(&lost.file)).unwrap();
    let refused = gathered(&place, &manifest, &manifest, &round).await.unwrap_err();
    assert!(refused.contains(&lost.file) && refused.contains("is of a model"), "{refused}");
}
