//! Rows of truth values in buffers that are reused.

use super::{AtomTruth, Logic, SearchError};
use crate::graph::EntityId;
use crate::kernels::{has_nan, meet};
use crate::plan::SignedHop;
use crate::query::Hop;

/// One row for each entity, the conjunction of all hops, into the first of two buffers.
pub(crate) fn of(
    truth: &dyn AtomTruth,
    logic: Logic,
    from: &[EntityId],
    hops: &[SignedHop],
    buffers: &mut (Vec<f32>, Vec<f32>),
) -> Result<(), SearchError> {
    let len = from.len() * truth.entities();
    let mut pairs: Vec<(EntityId, Hop)> = Vec::with_capacity(from.len());
    let (all, one) = buffers;
    resize(all, len);
    if hops.is_empty() {
        all.fill(1.0);
    }
    for (index, signed) in hops.iter().enumerate() {
        let rows = if index == 0 { &mut *all } else { &mut *one };
        resize(rows, len);
        pairs.clear();
        pairs.extend(from.iter().map(|&entity| (entity, signed.hop)));
        truth.pairs(&pairs, rows);
        check(rows)?;
        if signed.negated {
            for value in rows.iter_mut() {
                *value = logic.negation.not(*value);
            }
        }
        if index > 0 {
            meet(logic.t_norm, all, one);
        }
    }
    Ok(())
}

/// One row for each pair.
pub(super) fn pairs(
    truth: &dyn AtomTruth,
    pairs: &[(EntityId, Hop)],
    rows: &mut Vec<f32>,
) -> Result<(), SearchError> {
    resize(rows, pairs.len() * truth.entities());
    truth.pairs(pairs, rows);
    check(rows)
}

/// Sets the length; what was there before is overwritten by the caller.
fn resize(rows: &mut Vec<f32>, len: usize) {
    if rows.len() > len {
        rows.truncate(len);
    } else {
        rows.resize(len, 0.0);
    }
}

fn check(rows: &[f32]) -> Result<(), SearchError> {
    if has_nan(rows) { Err(SearchError::NotANumber) } else { Ok(()) }
}
