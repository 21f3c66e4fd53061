//! `relatum tune`: how to answer each type of query best, chosen on validation queries.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use relatum::benchmark::{Choice, Family, Part, Tuned};
use relatum::graph::Split;
use relatum::project::Project;

use super::benchmark::work::{self, Bench, Tuning};
use super::train::use_threads;
use crate::{output, signals};

/// Choose how to answer each type of query, on validation queries only
///
/// Per type: t-norm, calibration and its sharpness, values of a variable and thresholds, trusted
/// facts, scale of negation. What is chosen is kept with the model; `benchmark` and `ask` use it
/// (but for `negated=edge`, which would change what is asked).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    model: Option<String>,
    /// What to choose from
    #[arg(long, default_value = "best")]
    family: FamilyName,
    /// The types of query [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    types: Vec<String>,
    /// How many validation queries of each type to choose on; what was chosen on fewer is chosen again
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = super::settings::positive)]
    limit: usize,
    /// Choose again where a choice was made before
    #[arg(long)]
    again: bool,
    /// Show everything that was tried
    #[arg(long)]
    trials: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON, with everything that was tried
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FamilyName {
    /// Exact search, calibrated, with the training edges trusted or not
    Best,
    /// CQD-Beam with the paper's choices
    PaperBeam,
    /// CQD-CO with the paper's choices
    PaperCo,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    signals::watch()?;
    let project = Project::open(&args.dir)?;
    work::queries(&project, Split::Valid)?;
    let (folder, stored) = work::load(&project, args.model.as_deref())?;
    let family = match args.family {
        FamilyName::Best => Family::Best,
        FamilyName::PaperBeam => Family::PaperBeam,
        FamilyName::PaperCo => Family::PaperContinuous,
    };
    let mut bench = Bench::new(&project, &folder, &stored)?;
    let tuned = bench.tuned(&Tuning {
        family,
        types: &args.types,
        part: &|_| Part::All,
        queries: args.limit,
        again: args.again,
    })?;
    bench.finish();
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &tuned)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", as_text(&tuned, args))?;
    }
    Ok(())
}

fn as_text(tuned: &Tuned, args: &Args) -> String {
    let mut table = output::table(&["type", "queries", "H@3", "MRR", "setting"], &[1, 2, 3]);
    let wanted = |shape: &String| args.types.is_empty() || args.types.contains(shape);
    for (shape, choice) in tuned.types.iter().filter(|(shape, _)| wanted(shape)) {
        for trial in shown(choice, args.trials) {
            let mark = if args.trials && trial.setting == choice.setting { " *" } else { "" };
            let figures = [trial.metrics.hits[1], trial.metrics.mrr].map(|value| format!("{value:.4}"));
            table.add_row([
                shape.clone(),
                output::grouped(trial.metrics.count),
                figures[0].clone(),
                figures[1].clone(),
                format!("{}{mark}", trial.setting),
            ]);
        }
        if choice.trials.is_empty() {
            let none = || "–".to_owned();
            table.add_row([shape.clone(), none(), none(), none(), choice.setting.to_string()]);
        }
    }
    output::render(&table)
}

fn shown(choice: &Choice, all: bool) -> impl Iterator<Item = &relatum::benchmark::Trial> {
    choice.trials.iter().filter(move |trial| all || trial.setting == choice.setting)
}
