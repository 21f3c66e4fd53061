//! The project folder on disk.

mod column;

pub use column::Column;
