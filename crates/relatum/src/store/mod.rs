//! Files on disk: written whole or not at all, with checksums, and mapped.
//!
//! In reading order: `file` is the container that arrays lie in; `tensors` are tables with names;
//! [`write_atomically`] gives a file its name only when it is whole, and a [`Staging`] folder becomes visible
//! only when it is complete.

mod atomic;
mod error;
mod file;
mod tensors;

pub(crate) use atomic::sync_folder;
pub use atomic::{Staging, write_atomically};
pub use error::StoreError;
pub(crate) use file::{MappedFile, Seal, VERSION as CONTAINER_VERSION, write_sections};
pub(crate) use safetensors::Dtype;
pub(crate) use tensors::{CHECKSUM, Tensor, TensorFile, Values, write_tensors};
