//! Relatum on many machines: entity vectors lie in shards, and Ballista's executors score them.
//!
//! [`shard`] writes the vectors of a model as Parquet files with a [`manifest`] of them. A [`round`] is a batch of
//! query vectors; [`aggregate`] is the user-defined aggregate that scores every shard for it and [`codec`] carries both
//! between processes. [`process`] starts Ballista's scheduler and executors with that aggregate in them. [`rounds`]
//! sends rounds and watches over them, and [`source`] is all of that as a source of candidates, so that the engine's
//! search by lists runs on it unchanged. [`place`] is a folder or an object store; [`layout`] is how vectors look in a
//! file.

pub mod aggregate;
pub mod codec;
pub mod error;
pub mod health;
pub mod layout;
pub mod manifest;
pub mod place;
pub mod process;
pub mod round;
pub mod rounds;
pub mod session;
pub mod shard;
pub mod source;

pub use error::ClusterError;
