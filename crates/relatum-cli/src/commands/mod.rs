//! The subcommands, one file each.

mod ask;
mod baseline;
mod benchmark;
mod calibrate;
mod check;
mod demo;
mod describe;
mod export;
mod find;
mod grid;
mod import;
pub(crate) mod init;
mod link_eval;
mod mcp;
mod merge;
mod model;
mod models;
mod plan;
mod predict;
mod quantize;
mod repl;
mod rules;
mod sample;
mod searching;
mod serve;
mod settings;
mod stats;
mod train;
mod training;
mod tune;

use clap::{Parser, Subcommand};

/// Answers logical questions over incomplete knowledge graphs, and explains every answer.
#[derive(Parser)]
#[command(name = "relatum", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Relatum {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Init(Box<init::Args>),
    Check(check::Args),
    Stats(stats::Args),
    Describe(describe::Args),
    Find(find::Args),
    Plan(plan::Args),
    Predict(predict::Args),
    Ask(Box<ask::Args>),
    Repl(Box<repl::Args>),
    Train(Box<train::Args>),
    Grid(Box<grid::Args>),
    Models(models::Args),
    Merge(merge::Args),
    Quantize(quantize::Args),
    Calibrate(calibrate::Args),
    Rules(Box<rules::Args>),
    LinkEval(link_eval::Args),
    Sample(Box<sample::Args>),
    Import(import::Args),
    Export(export::Args),
    Benchmark(Box<benchmark::Args>),
    Tune(tune::Args),
    Serve(Box<serve::Args>),
    Mcp(mcp::Args),
}

impl Relatum {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Demo(args) => demo::run(&args),
            Command::Init(args) => init::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Stats(args) => stats::run(&args),
            Command::Describe(args) => describe::run(&args),
            Command::Find(args) => find::run(&args),
            Command::Ask(args) => ask::run(&args),
            Command::Repl(args) => repl::run(&args),
            Command::Plan(args) => plan::run(&args),
            Command::Predict(args) => predict::run(&args),
            Command::Train(args) => train::run(&args),
            Command::Grid(args) => grid::run(&args),
            Command::Models(args) => models::run(&args),
            Command::Merge(args) => merge::run(&args),
            Command::Quantize(args) => quantize::run(&args),
            Command::Calibrate(args) => calibrate::run(&args),
            Command::Rules(args) => rules::run(&args),
            Command::LinkEval(args) => link_eval::run(&args),
            Command::Sample(args) => sample::run(&args),
            Command::Import(args) => import::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Benchmark(args) => benchmark::run(&args),
            Command::Tune(args) => tune::run(&args),
            Command::Serve(args) => serve::run(&args),
            Command::Mcp(args) => mcp::run(&args),
        }
    }
}
