//! What other programs read: benchmark folders in the form of BetaE.

mod betae;

pub use betae::write_betae;
