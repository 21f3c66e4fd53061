//! The flags that say what to train and how; `train` and `grid` share them.

use relatum::train::{Candidates, GivenSettings, Optimizer, Regularizer, Settings};

/// Flags of a training run; an omitted flag keeps the value that is chosen for the graph.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// The link predictor
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(relatum::model::predictor_names()))]
    predictor: Option<String>,
    /// Factors of an entity (a complex factor has two numbers)
    #[arg(long, value_parser = positive)]
    rank: Option<usize>,
    /// Passes over the training edges
    #[arg(long, value_parser = positive)]
    epochs: Option<usize>,
    /// Triples a step
    #[arg(long, value_name = "TRIPLES", value_parser = positive)]
    batch_size: Option<usize>,
    /// The weight of the regulariser
    #[arg(long, value_name = "WEIGHT", value_parser = weight)]
    reg: Option<f32>,
    /// The length of the optimiser's steps
    #[arg(long, value_name = "RATE", value_parser = rate)]
    lr: Option<f32>,
    /// The weight of the auxiliary loss that predicts relations; 0 for none
    #[arg(long, value_name = "WEIGHT", value_parser = weight)]
    relation_loss: Option<f32>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Flags that a grid does not vary.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// The penalty that keeps the factors small
    #[arg(long = "regulariser", alias = "regularizer", value_parser = regularizer, value_name = "n3|f2|none")]
    regularizer: Option<Regularizer>,
    /// The rule that turns gradients into steps
    #[arg(long = "optimiser", alias = "optimizer", value_parser = optimizer, value_name = "adagrad|adam|sgd")]
    optimizer: Option<Optimizer>,
    /// The number of last epochs in which the learning rate falls to 0 [default: a tenth of all]; they come
    /// earlier if patience runs out
    #[arg(long, value_name = "EPOCHS")]
    cool_down: Option<usize>,
    /// The number of random entities that stand for all in the softmax, or `all`
    #[arg(long, value_name = "N", value_parser = candidates)]
    candidates: Option<Candidates>,
    /// The standard deviation of the first parameters
    #[arg(long, value_name = "SCALE", value_parser = rate)]
    init_scale: Option<f32>,
    /// The number of epochs between two validations
    #[arg(long, value_name = "EPOCHS", value_parser = positive)]
    eval_every: Option<usize>,
    /// Stop after this many validations without a better MRR; 0 for never
    #[arg(long, value_name = "VALIDATIONS")]
    patience: Option<usize>,
    /// The seed of all random numbers
    #[arg(long)]
    seed: Option<u64>,
}

impl Flags {
    /// What the flags give.
    pub(crate) fn given(&self) -> GivenSettings {
        GivenSettings {
            predictor: self.predictor.clone(),
            rank: self.rank,
            epochs: self.epochs,
            batch_size: self.batch_size,
            regularizer_weight: self.reg,
            learning_rate: self.lr,
            relation_loss: self.relation_loss,
            ..self.common.given()
        }
    }
}

impl Common {
    /// What the flags give.
    pub(crate) fn given(&self) -> GivenSettings {
        GivenSettings {
            regularizer: self.regularizer,
            optimizer: self.optimizer,
            cool_down: self.cool_down,
            candidates: self.candidates,
            init_scale: self.init_scale,
            eval_every: self.eval_every,
            patience: self.patience,
            seed: self.seed,
            ..GivenSettings::default()
        }
    }
}

/// The flags that turn the settings chosen by default into `settings`.
pub(super) fn flags_for(settings: &Settings, chosen: &Settings) -> String {
    let list = |s: &Settings| {
        [
            ("predictor", s.predictor.clone()),
            ("rank", s.rank.to_string()),
            ("epochs", s.epochs.to_string()),
            ("batch-size", s.batch_size.to_string()),
            ("regulariser", s.regularizer.name().to_owned()),
            ("reg", s.regularizer_weight.to_string()),
            ("optimiser", s.optimizer.name().to_owned()),
            ("lr", s.learning_rate.to_string()),
            ("cool-down", s.cool_down.to_string()),
            ("relation-loss", s.relation_loss.to_string()),
            ("candidates", s.candidates.map_or("all".to_owned(), |n| n.to_string())),
            ("init-scale", s.init_scale.to_string()),
            ("eval-every", s.eval_every.to_string()),
            ("patience", s.patience.to_string()),
            ("seed", s.seed.to_string()),
        ]
    };
    let pairs = list(settings).into_iter().zip(list(chosen));
    pairs.filter(|(a, b)| a != b).map(|((flag, value), _)| format!(" --{flag} {value}")).collect()
}

pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("must be a whole number of at least 1".to_owned()),
    }
}

pub(super) fn weight(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number of at least 0".to_owned()),
    }
}

pub(super) fn rate(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number above 0".to_owned()),
    }
}

fn regularizer(text: &str) -> Result<Regularizer, String> {
    let known = Regularizer::ALL.into_iter().find(|known| known.name() == text);
    known.ok_or_else(|| "must be n3, f2 or none".to_owned())
}

fn optimizer(text: &str) -> Result<Optimizer, String> {
    let known = Optimizer::ALL.into_iter().find(|known| known.name() == text);
    known.ok_or_else(|| "must be adagrad, adam or sgd".to_owned())
}

fn candidates(text: &str) -> Result<Candidates, String> {
    if text == "all" {
        return Ok(Candidates::All);
    }
    match positive(text) {
        Ok(number) => Ok(Candidates::Sample(number)),
        Err(_) => Err("must be a whole number of at least 1, or `all`".to_owned()),
    }
}
