//! A program run on many queries at a time, and run backwards for the gradients.

use rayon::prelude::*;

use super::Encoded;
use super::meet::{Attended, Shrunk, interleaved, separated};
use super::model::{Baseline, Table};
use super::program::{Branch, Node};
use crate::kernels::add;

/// Rows of vectors that one task takes.
const ROWS: usize = 32;

/// The regions of every node, with what the way back needs.
pub(super) struct Tape {
    values: Vec<Encoded>,
    met: Vec<Option<(Attended, Option<Shrunk>)>>,
}

/// The gradient of a loss: for the tables of vectors a list of rows, each with the index of the vector that it belongs
/// to; an index may stand there often. For the networks a matrix.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    /// Of entities, relations and offsets.
    pub(super) rows: [Rows; 3],
    /// Of the networks, in the order of their tables; empty where none was used.
    pub(super) nets: [Vec<f32>; 4],
}

/// Gradients of single vectors.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) ids: Vec<u32>,
    pub(super) values: Vec<f32>,
}

impl Rows {
    pub(super) fn push(&mut self, ids: impl Iterator<Item = u32>, values: &[f32]) {
        self.ids.extend(ids);
        self.values.extend_from_slice(values);
    }
}

impl Tape {
    /// Runs a branch.
    pub(super) fn forward(model: &Baseline, branch: &Branch, queries: &[&[u32]]) -> Self {
        let mut tape = Self { values: Vec::new(), met: Vec::new() };
        for node in &branch.nodes {
            let (value, met) = match node {
                Node::Anchor(place) => (anchors(model, *place, queries), None),
                Node::Project { of, relation } => {
                    (project(model, &tape.values[*of], *relation, queries), None)
                }
                Node::Meet(parts) => {
                    let parts: Vec<&Encoded> = parts.iter().map(|&part| &tape.values[part]).collect();
                    let (value, met) = meet(model, &parts);
                    (value, Some(met))
                }
            };
            tape.values.push(value);
            tape.met.push(met);
        }
        tape
    }

    /// The regions of the answers.
    pub(super) fn last(&self) -> Option<&Encoded> {
        self.values.last()
    }

    /// The same, without the rest.
    pub(super) fn into_last(mut self) -> Encoded {
        self.values.pop().unwrap_or_default()
    }

    /// Adds the gradients of all vectors and networks, given that of the regions of the answers.
    pub(super) fn backward(
        &self,
        model: &Baseline,
        branch: &Branch,
        queries: &[&[u32]],
        by_last: Encoded,
        gradients: &mut Gradients,
    ) {
        let mut by: Vec<Option<Encoded>> = vec![None; branch.nodes.len()];
        if let Some(last) = by.last_mut() {
            *last = Some(by_last);
        }
        for (index, node) in branch.nodes.iter().enumerate().rev() {
            let Some(own) = by[index].take() else { continue };
            match node {
                Node::Anchor(place) => {
                    gradients.rows[0].push(queries.iter().map(|query| query[*place]), &own.centres);
                }
                Node::Project { of, relation } => {
                    let ids = || queries.iter().map(|query| query[*relation]);
                    gradients.rows[1].push(ids(), &own.centres);
                    if model.boxes() {
                        gradients.rows[2].push(ids(), &own.halves);
                    }
                    join(&mut by[*of], own);
                }
                Node::Meet(parts) => {
                    let Some((attended, shrunk)) = &self.met[index] else { continue };
                    let by_centre = attended.backward(model, &own.centres, &mut gradients.nets);
                    let by_half = shrunk
                        .as_ref()
                        .map(|shrunk| shrunk.backward(model, &own.halves, &mut gradients.nets));
                    let centres = separated(&by_centre, parts.len(), model.width);
                    let halves = by_half.map(|by| separated(&by, parts.len(), model.width));
                    let mut halves = halves.into_iter().flatten();
                    for (&part, centres) in parts.iter().zip(centres) {
                        let halves = halves.next().unwrap_or_default();
                        join(&mut by[part], Encoded { width: model.width, centres, halves });
                    }
                }
            }
        }
    }
}

/// Adds a gradient to that of a node, which may have several uses.
fn join(place: &mut Option<Encoded>, by: Encoded) {
    match place {
        Some(there) => {
            add(&mut there.centres, &by.centres);
            add(&mut there.halves, &by.halves);
        }
        None => *place = Some(by),
    }
}

/// The points of anchors; as boxes they have no width.
fn anchors(model: &Baseline, place: usize, queries: &[&[u32]]) -> Encoded {
    let width = model.width;
    let ids: Vec<u32> = queries.iter().map(|query| query[place]).collect();
    let centres = gathered(model, Table::Entities, &ids);
    let halves = vec![0.0; if model.boxes() { centres.len() } else { 0 }];
    Encoded { width, centres, halves }
}

/// The vectors of these ids, one after another.
pub(super) fn gathered(model: &Baseline, table: Table, ids: &[u32]) -> Vec<f32> {
    let mut rows = vec![0.0; ids.len() * model.width];
    let copy = |(row, &id): (&mut [f32], &u32)| row.copy_from_slice(model.row(table, id));
    rows.par_chunks_mut(model.width).zip(ids).with_min_len(ROWS).for_each(copy);
    rows
}

/// Every region moved by the translation of its relation, and wider by its offset.
fn project(model: &Baseline, of: &Encoded, relation: usize, queries: &[&[u32]]) -> Encoded {
    let mut moved = of.clone();
    let by = |values: &mut [f32], table: Table| {
        let shift = |(row, query): (&mut [f32], &&[u32])| add(row, model.row(table, query[relation]));
        values.par_chunks_mut(model.width).zip(queries).with_min_len(ROWS).for_each(shift);
    };
    by(&mut moved.centres, Table::Relations);
    if model.boxes() {
        by(&mut moved.halves, Table::Offsets);
    }
    moved
}

fn meet(model: &Baseline, parts: &[&Encoded]) -> (Encoded, (Attended, Option<Shrunk>)) {
    let centres: Vec<&[f32]> = parts.iter().map(|part| &part.centres[..]).collect();
    let attended = Attended::forward(model, interleaved(&centres, model.width), parts.len());
    let shrunk = model.boxes().then(|| {
        let halves: Vec<&[f32]> = parts.iter().map(|part| &part.halves[..]).collect();
        Shrunk::forward(model, interleaved(&halves, model.width), parts.len())
    });
    let value = Encoded {
        width: model.width,
        centres: attended.out.clone(),
        halves: shrunk.as_ref().map(|shrunk| shrunk.out.clone()).unwrap_or_default(),
    };
    (value, (attended, shrunk))
}
