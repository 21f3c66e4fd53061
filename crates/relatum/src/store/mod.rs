//! The project folder on disk: written whole or not at all, mapped, and checked on demand.
//!
//! In reading order: a [`Column`] is an array in memory or in a mapped file; `file` is the
//! container it lies in; a [`Staging`] folder becomes visible only when it is complete; a
//! [`Project`] is the folder, and its [`Manifest`] what it says of itself.

mod atomic;
mod check;
mod column;
mod error;
mod file;
mod manifest;
pub(crate) mod memory;
mod project;
mod queries;
mod tensors;

pub use atomic::{Staging, write_atomically};
pub use column::Column;
pub use error::StoreError;
pub use manifest::{Counts, Manifest, Source};
pub use project::{Project, Queries};
pub(crate) use tensors::{Tensor, TensorFile, write_tensors};
