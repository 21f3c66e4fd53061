//! What other programs read: benchmark folders in the form of BetaE, models as arrays.

mod arrays;
mod betae;

pub use arrays::write_arrays;
pub use betae::write_betae;
