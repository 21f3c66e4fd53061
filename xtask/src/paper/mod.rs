//! `cargo xtask paper`: every table and figure of the paper, by one command.
//!
//! [`work`] says which rows the tables have, [`recipes`] how their models are trained, [`results`] keeps what was
//! measured, in the repository; [`plan`] says what is left and, with [`cost`], how long it will take; [`run`] does
//! it, with [`timing`] and [`examples`]; [`render`] and [`pictures`] write the document.

mod args;
#[cfg(feature = "engine")]
mod cost;
#[cfg(feature = "engine")]
mod examples;
#[cfg(feature = "engine")]
mod home;
#[cfg(feature = "engine")]
mod pictures;
#[cfg(feature = "engine")]
mod plan;
#[cfg(feature = "engine")]
mod recipes;
#[cfg(feature = "engine")]
mod render;
#[cfg(feature = "engine")]
mod results;
#[cfg(feature = "engine")]
mod run;
#[cfg(all(test, feature = "engine"))]
mod tests;
#[cfg(feature = "engine")]
mod timing;
#[cfg(feature = "engine")]
mod work;

pub(crate) use args::Args;
#[cfg(feature = "engine")]
pub(crate) use run::run;

/// Training and measuring need optimisation, which this program usually lacks; so it builds itself again.
#[cfg(not(feature = "engine"))]
pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    crate::with_engine()
}
