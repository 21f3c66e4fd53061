//! The arithmetic everything stands on: matrix products and vector loops at the machine's speed.
//!
//! The instruction set is chosen at run time, so a plain release build is a fast build. No sum is
//! split by thread, so the number of threads never changes a result. The loops here sum in a fixed
//! number of lanes on every machine; the matrix products sum in the order of the machine's vector
//! width, so machines of different kinds may differ in a last digit.

#![cfg_attr(
    not(feature = "kernels"),
    allow(unreachable_pub, reason = "only the project's own benchmarks see this room from outside")
)]
#![allow(
    clippy::inline_always,
    reason = "a call boundary would leave a loop in the baseline instruction set"
)]

/// Defines a function whose body is compiled for several instruction sets, the best of which is
/// taken at run time. The body must call nothing that is not `#[inline(always)]`.
macro_rules! vectorised {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime>($($operand:ident: $type:ty),*) -> $out:ty $body:block) => {
        $(#[$attribute])*
        $visible fn $name<$life>($($operand: $type),*) -> $out {
            struct Kernel<$life> {
                $($operand: $type),*
            }
            impl<$life> pulp::NullaryFnOnce for Kernel<$life> {
                type Output = $out;

                #[inline(always)]
                fn call(self) -> $out {
                    let Self { $($operand),* } = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Kernel { $($operand),* })
        }
    };
}

mod attend;
mod bytes;
mod distance;
mod fold;
mod half;
mod logistic;
#[cfg(feature = "kernels")]
mod name;
mod one;
mod product;
mod softmax;
mod stream;
mod tiles;
mod update;
mod vector;

pub use attend::{attend, attend_back};
#[cfg(feature = "kernels")]
pub use bytes::ByteKernel;
pub use bytes::{ByteRows, byte_scores, to_bytes};
pub use distance::{Regions, Slopes, distances, pair_distances, pair_slopes, slopes};
pub use fold::{fold_max, has_nan, meet};
pub use half::HalfRows;
pub use logistic::{logistic, weighted_logistic};
#[cfg(feature = "kernels")]
pub use name::{f32_instructions, keep_to_avx2};
pub use product::{Threads, View, ViewMut, product};
pub use softmax::{exp_row, exp_sum};
#[cfg(feature = "kernels")]
pub use stream::stream;
pub use stream::{Source, stream_apart};
pub use update::{adagrad, adam, sgd};
pub use vector::{add, axpy, count_above, dot, scale_by, sum_of_squares};
