//! Files of other programs: tables, RDF, benchmark folders, pickles, models, arrays.
//!
//! In reading order: [`read`] turns tables, RDF and benchmark folders into graphs; [`pickle`] is the machine under PyTorch's files, [`read_tables`] finds the
//! parameters in a checkpoint, safetensors or `.npy` files, [`adopt`] makes a [`Model`] of them that
//! fits a graph, [`write_npy`] writes arrays for others.
//!
//! [`Model`]: crate::model::Model

mod adopt;
mod npy;
pub mod pickle;
pub mod read;
mod tables;
mod torch;

pub use adopt::{Names, adopt, read_names, reciprocal_name};
pub use npy::write_npy;
pub use tables::{
    CALIBRATIONS, CARD, ENTITIES, ENTITY_NAMES, FITTED_CALIBRATIONS, Matrix, RELATION_NAMES, RELATIONS,
    Tables, read_tables,
};

use std::path::{Path, PathBuf};

use crate::model::ModelError;
use crate::store::StoreError;

/// Why a model could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The disk or a file on it is at fault; the message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model does not fit the graph; the message names both sides.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The pickle inside a checkpoint cannot be read: fetch or save the file again.
    #[error("{}: {source}", path.display())]
    Pickle {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with the pickle in it.
        source: pickle::PickleError,
    },
    /// The file is not what it should be; the message says what was expected and what came.
    #[error("{}: expected {expected}, found {found}", path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: String,
        /// What came.
        found: String,
    },
    /// There is no such file or folder. Check the spelling and the current folder.
    #[error("there is no file {}: check the spelling, and the folder you are in", .0.display())]
    NotFound(PathBuf),
    /// Nothing says which link predictor the numbers belong to: name it.
    #[error(
        "nothing in the file says which link predictor its numbers belong to, and several would fit: name it \
         ({known})"
    )]
    UnknownKind {
        /// The link predictors that there are.
        known: String,
    },
    /// The file says which link predictor it is of, and it is not the one that was named.
    #[error(
        "the card says that this is a {card} of rank {rank}, not a {wanted}: leave the link predictor open"
    )]
    OtherKind {
        /// What the card says.
        card: String,
        /// The rank of the card.
        rank: usize,
        /// What was named.
        wanted: String,
    },
    /// The card does not belong to the rows beside it. Take both from one export.
    #[error(
        "the card says rank {card}, but the rows have rank {rows}: they are not from one export, so import it again"
    )]
    OtherRank {
        /// The rank of the card.
        card: usize,
        /// The rank by the width of the rows.
        rows: usize,
    },
    /// The rows do not have the width of the link predictor: name the right one.
    #[error(
        "the file has {entities} values a row for entities and {relations} for relations, which is not a `{model}` \
         of any rank: that has {a_factor} and {a_relation_factor} values a factor; name another link predictor"
    )]
    Width {
        /// Values of an entity's row.
        entities: usize,
        /// Values of a relation's row.
        relations: usize,
        /// The link predictor they were taken as.
        model: String,
        /// Values that each factor of an entity has in it.
        a_factor: usize,
        /// Values that each factor of a relation has in it.
        a_relation_factor: usize,
    },
    /// The list of names is not the list of these rows: give one name for each row, each once.
    #[error(
        "the list of names of the {kind} does not fit: {problem}; it must name every row, each by its own name"
    )]
    Names {
        /// `entities` or `relations`.
        kind: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A parameter is infinite or NaN: the training that made it diverged; import an earlier
    /// checkpoint of it.
    #[error(
        "row {row} of the {kind} has the value {value}: every parameter must be a finite number; import a checkpoint from before the training diverged"
    )]
    NotFinite {
        /// `entities` or `relations`.
        kind: &'static str,
        /// The row in the file, from 0.
        row: usize,
        /// The value.
        value: f32,
    },
    /// The name of the file does not say how to read it: give it a known ending.
    #[error("{}: cannot tell what this is; known are .pt and .pth (PyTorch), .safetensors, the folder that an export of Relatum writes, and two .npy files (entities, then relations)", .0.display())]
    UnknownFormat(PathBuf),
}

impl ImportError {
    fn unexpected(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Unexpected { path: path.to_owned(), expected: expected.into(), found: found.into() }
    }

    fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| StoreError::io(action, path)(error).into()
    }
}
