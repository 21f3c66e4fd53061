//! Lists are those of a full sort, whatever the block, the depth and the number of threads.

use super::*;
use crate::model::{Precision, predictor};
use crate::random::Rng;

/// A model whose scores tie often: few distinct values in every vector.
fn model(name: &str, entities: usize, seed: u64) -> Model {
    let predictor = predictor(name, 3).unwrap();
    let mut rng = Rng::new(seed);
    let mut table = |len: usize| (0..len).map(|_| rng.below(3) as f32 - 1.0).collect::<Vec<f32>>();
    let entities = table(entities * predictor.entity_width());
    let relations = table(4 * predictor.relation_width());
    Model::new(predictor, entities, relations).unwrap()
}

fn rows(count: u32) -> Vec<(EntityId, RelationId)> {
    (0..count).map(|at| (EntityId(at), RelationId(at % 4))).collect()
}

#[test]
fn the_best_of_a_row_are_those_of_a_full_sort() {
    // Within a block, on its boundary, and beyond it.
    for entities in [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5] {
        for (name, precision) in [
            ("complex", Precision::F32),
            ("transe-norm", Precision::F32),
            ("complex", Precision::F16),
            ("complex", Precision::Int8),
            ("transe-norm", Precision::Int8),
        ] {
            let model = model(name, entities, 3).rounded(precision).unwrap();
            let rows = rows(entities.min(5) as u32);
            let mut all = vec![0.0; rows.len() * entities];
            model.scores(&rows, &mut all);
            for count in [0, 1, 10, entities, entities + 100] {
                let found = model.best_candidates(&rows, count, Some(0.5)).unwrap();
                for (found, scores) in found.iter().zip(all.chunks_exact(entities)) {
                    let mut expected: Vec<(EntityId, f32)> = scores
                        .iter()
                        .enumerate()
                        .map(|(x, &score)| (EntityId::from_index(x), score))
                        .collect();
                    expected.sort_by(better);
                    expected.truncate(count);
                    assert_eq!(found.best, expected, "{name}, {count} of {entities}");
                    let sum: f64 = scores.iter().map(|&score| f64::from(0.5 * score).exp()).sum();
                    assert!((found.summary.log_sum - sum.ln()).abs() < 1e-5);
                    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let min = scores.iter().copied().fold(f32::INFINITY, f32::min);
                    assert_eq!((found.summary.max, found.summary.min), (max, min));
                    assert_eq!(found.summary.entities, entities);
                }
            }
        }
    }
}

#[test]
fn a_score_has_the_same_bits_in_a_list_and_by_itself() {
    let names = ["complex", "distmult", "cp", "rotate", "transe"];
    for (name, precision) in
        names.into_iter().flat_map(|name| Precision::ALL.map(|precision| (name, precision)))
    {
        let predictor = predictor(name, 19).unwrap();
        let mut rng = Rng::new(7);
        let mut table = |len: usize| (0..len).map(|_| rng.normal() as f32).collect::<Vec<f32>>();
        let entities = table((BLOCK + 90) * predictor.entity_width());
        let relations = table(4 * predictor.relation_width());
        let model = Model::new(predictor, entities, relations).unwrap().rounded(precision).unwrap();
        let rows = rows(9);
        let found = model.best_candidates(&rows, 300, None).unwrap();
        let mut edges = Vec::new();
        let mut expected = Vec::new();
        for (&(head, relation), row) in rows.iter().zip(&found) {
            for &(tail, score) in &row.best {
                edges.push(Triple { head, relation, tail });
                expected.push(score);
            }
        }
        assert_eq!(model.edge_scores(&edges).unwrap(), expected, "{name}");
        let alone = model.best_candidates(&rows[3..4], 10, None).unwrap();
        assert_eq!(alone[0].best, found[3].best[..10], "{name}: company and depth change nothing");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let model = model("complex", 20 * BLOCK + 3, 5);
    let ask = || model.best_candidates(&rows(6), 50, Some(1.3)).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(ask)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn nan_infinity_and_foreign_ids_are_refused() {
    let width = predictor("distmult", 1).unwrap().entity_width();
    for (bad, sharpness) in [(f32::NAN, None), (f32::INFINITY, Some(1.0))] {
        let mut entities = vec![0.5; 30 * width];
        entities[17] = bad;
        let model = Model::new(predictor("distmult", 1).unwrap(), entities, vec![1.0; 2]).unwrap();
        assert_eq!(model.best_candidates(&rows(1), 3, sharpness), Err(SourceError::NotANumber));
    }
    let model = model("complex", 3, 1);
    let nobody = model.best_candidates(&[(EntityId(3), RelationId(0))], 1, None);
    assert!(matches!(nobody, Err(SourceError::NoSuchRow { head: 3, .. })));
    let edge = Triple { head: EntityId(0), relation: RelationId(4), tail: EntityId(0) };
    assert!(matches!(model.edge_scores(&[edge]), Err(SourceError::NoSuchRow { relation: 4, .. })));
}

#[test]
fn shards_in_any_order_give_the_row_of_the_whole_table_to_the_bit() {
    let entities = 5 * BLOCK + 77;
    for (name, precision) in [
        ("complex", Precision::Int8),
        ("transe-norm", Precision::Int8),
        ("complex", Precision::F32),
        ("rotate", Precision::F16),
    ] {
        let model = model(name, entities, 8).rounded(precision).unwrap();
        let rows = rows(70);
        let whole = model.best_candidates(&rows, 30, Some(0.7)).unwrap();
        let queries = model.query_vectors(&rows).unwrap();
        for shards in [vec![vec![0, 1, 2], vec![3, 4, 5]], vec![vec![5, 1], vec![4, 0, 3], vec![2]]] {
            let mut merged: Vec<PartialRow> = rows.iter().map(|_| PartialRow::new(30)).collect();
            for shard in shards {
                let mut parts: Vec<PartialRow> = rows.iter().map(|_| PartialRow::new(30)).collect();
                for block in shard {
                    let start = block * BLOCK;
                    let stored = model.stored_rows(start..(start + BLOCK).min(entities));
                    let block = CandidateBlock::new(model.predictor(), precision, stored, start).unwrap();
                    block.add_to(&queries, &mut parts, Some(0.7)).unwrap();
                }
                for (row, part) in merged.iter_mut().zip(parts) {
                    let mut bytes = Vec::new();
                    part.write(&mut bytes);
                    let mut left = bytes.as_slice();
                    let part = PartialRow::read(&mut left).unwrap();
                    assert!(left.is_empty() && PartialRow::read(&mut &bytes[..bytes.len() - 1]).is_none());
                    row.merge(part).unwrap();
                }
            }
            for (merged, whole) in merged.into_iter().zip(&whole) {
                let merged = merged.finish(entities, true).unwrap();
                assert_eq!(&merged, whole, "{name}");
                assert_eq!(merged.summary.log_sum.to_bits(), whole.summary.log_sum.to_bits());
            }
        }
    }
}

#[test]
fn a_row_of_too_few_or_too_many_blocks_is_refused() {
    let entities = 2 * BLOCK + 5;
    let model = model("complex", entities, 1);
    let queries = model.query_vectors(&rows(1)).unwrap();
    let add = |row: &mut PartialRow, start: usize| {
        let stored = model.stored_rows(start..(start + BLOCK).min(entities));
        let block = CandidateBlock::new(model.predictor(), Precision::F32, stored, start).unwrap();
        block.add_to(&queries, std::slice::from_mut(row), Some(1.0))
    };
    let mut row = PartialRow::new(3);
    add(&mut row, 0).unwrap();
    add(&mut row, 2 * BLOCK).unwrap();
    let missing = SourceError::Incomplete { scanned: BLOCK + 5, entities, first: BLOCK as u64 };
    assert_eq!(row.clone().finish(entities, true), Err(missing));
    assert_eq!(add(&mut row.clone(), 0), Err(SourceError::Twice { block: 0 }));
    add(&mut row, BLOCK).unwrap();
    assert!(row.finish(entities, true).is_ok());
    assert!(PartialRow::new(3).finish(entities, true).is_err(), "an empty scan is no row");
    let stored = model.stored_rows(0..BLOCK);
    assert!(CandidateBlock::new(model.predictor(), Precision::F32, stored, 1).is_none());
    assert!(CandidateBlock::new(model.predictor(), Precision::F32, (&stored.0[1..], &[]), 0).is_none());
}
