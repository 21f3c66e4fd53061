//! `relatum train --baseline`: GQE and Query2Box, with which the paper compares itself.

use std::io::Write;
use std::path::Path;

use relatum::Engine;
use relatum::baseline::{BaselineSettings, GivenBaseline, Kind, recommend_baseline};
use relatum::engine::{BaselineBegins, BaselineOptions, BaselineTrained, Start};
use relatum::graph::Split;
use relatum::project::Outcome;
use relatum::train::GivenSettings;

use super::settings::{positive, rate, weight};
use super::training::Watch;
use crate::exit::Stopped;
use crate::{output, signals};

/// Flags of a baseline. It shares --epochs, --batch-size (queries a step), --lr, --eval-every, --patience and --seed with
/// link predictors, and has none of their other flags.
#[derive(clap::Args)]
pub(crate) struct BaselineFlags {
    /// Train a baseline of the paper instead of a link predictor: one that embeds a whole query, is trained on queries,
    /// and explains nothing; `relatum benchmark --method` measures it
    #[arg(long, help_heading = "Baselines", value_name = "gqe|query2box", value_parser = kind, conflicts_with_all = [
        "predictor", "rank", "reg", "relation_loss", "regularizer", "optimizer", "cool_down", "candidates", "init_scale",
    ])]
    baseline: Option<Kind>,
    /// Values of a vector [default: 800 for gqe, 400 for query2box, fewer for small graphs]
    #[arg(long, help_heading = "Baselines", value_parser = positive, requires = "baseline")]
    dimension: Option<usize>,
    /// The distance at which an entity is as likely an answer as not [default: 24]
    #[arg(long, help_heading = "Baselines", value_parser = rate, requires = "baseline")]
    margin: Option<f32>,
    /// Random entities that all queries of a batch are told from [default: 512]
    #[arg(long, help_heading = "Baselines", value_name = "N", value_parser = positive, requires = "baseline")]
    negatives: Option<usize>,
    /// How much the hardest negatives count more: the sharpness of a softmax over their scores [default: 0, all alike]
    #[arg(long, help_heading = "Baselines", value_name = "SHARPNESS", value_parser = weight, requires = "baseline")]
    adversarial: Option<f32>,
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::from_name(text).ok_or_else(|| "must be gqe or query2box".to_owned())
}

impl BaselineFlags {
    /// The baseline that was asked for.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.baseline
    }

    /// What these flags give, and those that link predictors have too.
    pub(super) fn given(&self, shared: &GivenSettings) -> GivenBaseline {
        GivenBaseline {
            dimension: self.dimension,
            margin: self.margin,
            negatives: self.negatives,
            adversarial: self.adversarial,
            batch_size: shared.batch_size,
            learning_rate: shared.learning_rate,
            epochs: shared.epochs,
            seed: shared.seed,
            eval_every: shared.eval_every,
            patience: shared.patience,
        }
    }
}

pub(super) fn run(
    dir: &Path,
    engine: &Engine,
    kind: Kind,
    name: Option<String>,
    settings: GivenBaseline,
    start: Start,
) -> anyhow::Result<()> {
    let watch = Watch::default();
    let chosen = recommend_baseline(engine.graph(), kind);
    let control = signals::watched_control()?.on(move |begins: &BaselineBegins| introduce(begins, &chosen));
    let options = BaselineOptions { kind, name, settings, start };
    let trained = engine.train_baseline(&options, &watch.over(control));
    watch.end();
    conclude(dir, engine, &trained?)
}

/// Shows what is trained, and which of it was given.
fn introduce(begins: &BaselineBegins, chosen: &BaselineSettings) {
    if let Some(at) = begins.resumed {
        output::say(&format!("resuming {} after epoch {}, step {}", begins.name, at.epoch, at.batch));
        return;
    }
    let mut table = output::table(&["setting", "value", "why"], &[]);
    for ((setting, value), (_, default)) in begins.settings.in_words().into_iter().zip(chosen.in_words()) {
        let why = match setting {
            _ if value != default || setting == "baseline" => "given",
            "margin" => "the authors'",
            "dimension" => "the authors', fewer for small graphs",
            "negatives" => "the authors draw 128 for each query; shared ones cost less",
            "learning rate" => "the authors take 0.0001 for ten times as many steps",
            "hard negatives" => "as the authors: all negatives count alike",
            "batch size" | "epochs" => "by the size of the graph",
            "seed" => "any will do; the same gives the same model",
            _ => "the best model is kept",
        };
        table.add_row([setting, &value, why]);
    }
    output::say(&output::render(&table));
    let sizes = format!(
        "an epoch: {} queries in {} steps, 1p 2p 3p 2i 3i in turn",
        output::grouped(begins.queries),
        output::grouped(begins.steps)
    );
    output::say(&match begins.validated {
        0 => format!("{sizes}; no validation queries (`relatum sample` makes some): the last model is kept"),
        most => format!("{sizes}; a validation answers at most {most} validation queries of each type"),
    });
}

fn conclude(dir: &Path, engine: &Engine, trained: &BaselineTrained) -> anyhow::Result<()> {
    let dir = output::typed(dir);
    let kind = trained.settings.kind.name();
    let model = if trained.name == kind {
        String::new()
    } else {
        format!(" --model {}", output::shown(&trained.name))
    };
    let mut out = output::out(false);
    match trained.outcome {
        Outcome::Interrupted => {
            writeln!(out, "stopped in epoch {}; everything is saved", trained.epochs + 1)?;
            writeln!(out, "next: relatum train {dir} --baseline {kind}{model} --resume")?;
            return Err(Stopped.into());
        }
        Outcome::StoppedEarly => {
            writeln!(out, "stopped after epoch {}: got no better for several validations", trained.epochs)?;
        }
        Outcome::Finished => writeln!(out, "trained {} epochs", trained.epochs)?,
    }
    if let Some((epoch, valid)) = trained.best {
        let [h1, h3, h10] = valid.hits;
        writeln!(
            out,
            "kept the model of epoch {epoch}: valid MRR {:.4}, H@1 {h1:.3}, H@3 {h3:.3}, H@10 {h10:.3} (filtered, mean \
             over types, {} queries)",
            valid.mrr,
            output::grouped(valid.count)
        )?;
    }
    writeln!(out, "model: {}", trained.file.display())?;
    let method = if trained.name == kind {
        format!("--method {kind}")
    } else {
        format!("--baseline {}", trained.name)
    };
    let queries = engine.queries();
    if [Split::Test, Split::Valid].into_iter().any(|split| queries.of(split).is_some()) {
        writeln!(out, "next: relatum benchmark {dir} {method}")?;
    } else {
        writeln!(out, "next: relatum sample {dir}, then relatum benchmark {dir} {method}")?;
    }
    Ok(())
}
