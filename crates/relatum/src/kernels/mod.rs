//! The arithmetic everything stands on: matrix products and vector loops at the machine's speed.
//!
//! The instruction set is chosen at run time, so a plain release build is a fast build. Sums are
//! taken in a fixed number of lanes and never split by thread: the same numbers come out whatever
//! the machine's vector width and however many threads work.

mod product;
mod softmax;
mod update;
mod vector;

pub use product::{Threads, View, ViewMut, product};
pub use softmax::{exp_row, exp_sum};
pub use update::{adagrad, adam, sgd};
pub use vector::{add, axpy, count_above, dot, sum_of_squares};

/// Runs a loop compiled for the best instruction set of this machine.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call boundary would leave the loop in the baseline instruction set")]
fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
