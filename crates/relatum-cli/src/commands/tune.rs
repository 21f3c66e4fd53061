//! `relatum tune`: how to answer each type of query best, chosen on validation queries.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use relatum::Engine;
use relatum::benchmark::{Choice, Family, Tuned};
use relatum::engine::TuneOptions;

use super::benchmark::watched;
use super::train::use_threads;
use crate::{output, signals};

/// Choose how to answer each type of query, on validation queries only
///
/// For each type: t-norm, calibration and its sharpness, values of a variable and thresholds, trusted
/// facts, scale of negation. The choice is kept with the model. `benchmark` uses it, and `ask` uses that
/// of the family best (except with `negated=edge`, which would change the question).
///
/// The table says on how many queries each choice was made, the standard error of its Hits@3 (±), and by
/// how much it is ahead of the next best setting, with the standard error of that difference, paired by
/// query. A lead within two standard errors may be chance. It is below 0 where another setting ranks
/// better, but by too little to leave the simpler one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What to choose from
    #[arg(long, default_value = "best")]
    family: FamilyName,
    /// The types of query [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    types: Vec<String>,
    /// Choose on exactly so many validation queries of each type; what was chosen on fewer is chosen again
    /// [default: 100 for every setting, doubled for those within two standard errors of the best, up to
    /// 1600; in all at most 12000 answered queries a type]
    #[arg(long, value_name = "N", value_parser = super::settings::positive)]
    limit: Option<usize>,
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
    /// The same with the rules of `relatum rules` beside the model
    BestRules,
    /// CQD-Beam with the paper's choices
    PaperBeam,
    /// CQD-CO with the paper's choices
    PaperCo,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let control = signals::watched_control()?;
    let engine = Engine::open(&args.dir)?;
    let options = TuneOptions {
        model: args.model.clone(),
        family: match args.family {
            FamilyName::Best => Family::Best,
            FamilyName::BestRules => Family::BestRules,
            FamilyName::PaperBeam => Family::PaperBeam,
            FamilyName::PaperCo => Family::PaperContinuous,
        },
        types: args.types.clone(),
        queries: args.limit,
        again: args.again,
    };
    let tuned = watched(control, |control| engine.tune(&options, control))?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &tuned)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", as_text(&tuned, args.trials))?;
    }
    Ok(())
}

fn as_text(tuned: &Tuned, all: bool) -> String {
    let mut table =
        output::table(&["type", "queries", "H@3", "±", "MRR", "lead", "±", "setting"], &[1, 2, 3, 4, 5, 6]);
    for (shape, choice) in &tuned.types {
        for trial in shown(choice, all) {
            let mark = if all && trial.setting == choice.setting { " *" } else { "" };
            let lead = choice.lead.filter(|_| trial.setting == choice.setting);
            let figure = |value: f64| format!("{value:.4}");
            let known = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figure);
            table.add_row([
                shape.clone(),
                output::grouped(trial.metrics.count),
                figure(trial.metrics.hits[1]),
                known(trial.standard_error),
                figure(trial.metrics.mrr),
                known(lead.map(|lead| lead.difference)),
                known(lead.map(|lead| lead.standard_error)),
                format!("{}{mark}", trial.setting),
            ]);
        }
        if choice.trials.is_empty() {
            let none = || "–".to_owned();
            let setting = choice.setting.to_string();
            table.add_row([shape.clone(), none(), none(), none(), none(), none(), none(), setting]);
        }
    }
    output::render(&table)
}

fn shown(choice: &Choice, all: bool) -> impl Iterator<Item = &relatum::benchmark::Trial> {
    choice.trials.iter().filter(move |trial| all || trial.setting == choice.setting)
}
