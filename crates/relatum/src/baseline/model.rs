//! The learnt vectors of a baseline.

use serde::{Deserialize, Serialize};

use super::tape::Tape;
use super::{Branch, Encoded, QueryEncoder};
use crate::graph::Graph;
use crate::kernels::distances;
use crate::model::Reciprocals;
use crate::random::Rng;

/// Which baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A query is a point (Hamilton et al., 2018).
    Gqe,
    /// A query is a box (Ren et al., 2020).
    Query2Box,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Gqe, Self::Query2Box];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gqe => "gqe",
            Self::Query2Box => "query2box",
        }
    }

    /// The baseline of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Why a question cannot be asked by a method of this name, if that is a baseline.
    pub fn refusal(method: &str) -> Option<String> {
        let kind = Self::from_name(method)?;
        Some(format!(
            "`{}` is a baseline: it ranks entities by one learnt region for the whole question, has no values of its \
             variables and so explains nothing; it is measured in benchmarks, and questions are answered by the other \
             methods",
            kind.name()
        ))
    }

    /// The dimension behind the published figures.
    pub fn published_dimension(self) -> usize {
        match self {
            Self::Gqe => 800,
            Self::Query2Box => 400,
        }
    }
}

/// How much a step inside a box counts, of one outside: the authors' choice.
pub(super) const INSIDE: f32 = 0.02;

/// The tables of a baseline; GQE has no `Offsets`, `OffsetIn` and `OffsetOut`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    /// A point for each entity.
    Entities,
    /// A translation for each relation.
    Relations,
    /// What each relation adds to the half-widths of a box.
    Offsets,
    /// The two layers of the network that weighs the centres of an intersection.
    CentreIn,
    CentreOut,
    /// The two layers of the network that shrinks the half-widths of an intersection.
    OffsetIn,
    OffsetOut,
}

impl Table {
    const ALL: [Self; 7] = [
        Self::Entities,
        Self::Relations,
        Self::Offsets,
        Self::CentreIn,
        Self::CentreOut,
        Self::OffsetIn,
        Self::OffsetOut,
    ];

    /// The tables of a baseline.
    pub(super) fn of(kind: Kind) -> impl Iterator<Item = Self> {
        let boxes = kind == Kind::Query2Box;
        Self::ALL
            .into_iter()
            .filter(move |table| boxes || !matches!(table, Self::Offsets | Self::OffsetIn | Self::OffsetOut))
    }

    /// The name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Entities => "entities",
            Self::Relations => "relations",
            Self::Offsets => "offsets",
            Self::CentreIn => "centre.0",
            Self::CentreOut => "centre.1",
            Self::OffsetIn => "offset.0",
            Self::OffsetOut => "offset.1",
        }
    }
}

/// A baseline with its learnt vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    pub(super) kind: Kind,
    pub(super) width: usize,
    pub(super) margin: f32,
    tables: [Vec<f32>; 7],
}

impl Baseline {
    /// Random vectors, as the authors draw them: with range = (γ + 2) / d, entities and relations from U(±range), half-widths
    /// from U(0, range), networks from U(±√(3/d)).
    pub fn random(kind: Kind, graph: &Graph, width: usize, margin: f32, seed: u64) -> Self {
        let mut baseline = Self { kind, width, margin, tables: Default::default() };
        let counts = (graph.entities.len(), Reciprocals::of(graph).len());
        let range = f64::from(margin + 2.0) / width as f64;
        let net = (3.0 / width as f64).sqrt();
        for table in Table::of(kind) {
            let rows = rows(table, counts, width);
            let (low, high) = match table {
                Table::Entities | Table::Relations => (-range, range),
                Table::Offsets => (0.0, range),
                _ => (-net, net),
            };
            let mut rng = Rng::stream(seed, 1 + table as u64);
            baseline.tables[table as usize] =
                (0..rows * width).map(|_| (low + (high - low) * rng.uniform()) as f32).collect();
        }
        baseline
    }

    /// A baseline of tables as they were stored, in the order of [`tables`](Self::tables); `None` if they do not fit
    /// each other.
    pub(crate) fn of_tables(kind: Kind, width: usize, margin: f32, stored: Vec<Vec<f32>>) -> Option<Self> {
        let mut baseline = Self { kind, width, margin, tables: Default::default() };
        let mut stored = stored.into_iter();
        for table in Table::of(kind) {
            baseline.tables[table as usize] = stored.next()?;
        }
        let counts = (baseline.entity_count(), baseline.relation_count());
        let right = |table: Table| baseline.table(table).len() == rows(table, counts, width) * width;
        (width > 0 && stored.next().is_none() && Table::of(kind).all(right)).then_some(baseline)
    }

    /// The names of the tables of a baseline, in order.
    pub(crate) fn table_names(kind: Kind) -> impl Iterator<Item = &'static str> {
        Table::of(kind).map(Table::name)
    }

    /// Every table with its name, in order.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &[f32])> {
        Table::of(self.kind).map(|table| (table.name(), self.table(table)))
    }

    /// Values of a vector.
    pub fn dimension(&self) -> usize {
        self.width
    }

    /// The margin γ.
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// How many entities there are.
    pub fn entity_count(&self) -> usize {
        self.table(Table::Entities).len() / self.width.max(1)
    }

    /// How many relations there are, reciprocal ones included.
    pub fn relation_count(&self) -> usize {
        self.table(Table::Relations).len() / self.width.max(1)
    }

    pub(super) fn table(&self, table: Table) -> &[f32] {
        &self.tables[table as usize]
    }

    pub(super) fn table_mut(&mut self, table: Table) -> &mut [f32] {
        &mut self.tables[table as usize]
    }

    /// A vector of a table.
    pub(super) fn row(&self, table: Table, index: u32) -> &[f32] {
        &self.table(table)[index as usize * self.width..][..self.width]
    }

    /// Whether queries are boxes.
    pub(super) fn boxes(&self) -> bool {
        self.kind == Kind::Query2Box
    }
}

fn rows(table: Table, (entities, relations): (usize, usize), width: usize) -> usize {
    match table {
        Table::Entities => entities,
        Table::Relations | Table::Offsets => relations,
        _ => width,
    }
}

impl QueryEncoder for Baseline {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn entities(&self) -> usize {
        self.entity_count()
    }

    fn encode(&self, branch: &Branch, queries: &[&[u32]]) -> Encoded {
        Tape::forward(self, branch, queries).into_last()
    }

    /// γ − D.
    fn scores(&self, encoded: &Encoded, mut rows: Vec<&mut [f32]>) {
        let again = rows.iter_mut().map(|row| &mut **row).collect();
        distances(again, encoded.regions(INSIDE), self.table(Table::Entities));
        for row in rows {
            for value in row.iter_mut() {
                *value = self.margin - *value;
            }
        }
    }
}
