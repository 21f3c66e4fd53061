//! How every model is trained: one table.

use relatum::baseline::{BaselineSettings, Kind, recommend_baseline};
use relatum::graph::Graph;
use relatum::train::{Candidates, GivenSettings, Optimizer, Regularizer, Settings};

use super::args::Name;
use super::work::{Row, Subject};

/// A recipe for the ranks up to one: N3 weight, batch size, learning rate, candidates of the softmax (0: all
/// entities), epochs, epochs to cool down, weight of the relation loss.
struct Recipe(Name, bool, usize, f32, usize, f32, usize, usize, usize, f32);

// The paper's methods take models without relation loss: softmax, N3 and Adagrad with the weights and batch sizes of
// the paper. A rate of .2 that falls at the end reaches in 25 epochs what its 100 epochs reach, and a sample of the
// candidates costs little (BENCHMARKS.md). On FB15k the weight falls with the rank, as in the grid of kbc.
// `best` may have a model of its own, with the relation loss of QTO.
#[rustfmt::skip]
const RECIPES: [Recipe; 14] = [
    //     dataset         own    up to        N3       batch lr   sample epochs cool relations
    Recipe(Name::Fb15k237, false, 100,         0.05,    1000, 0.2, 0,     25,    5,   0.0),
    Recipe(Name::Fb15k237, false, 200,         0.05,    1000, 0.2, 4096,  30,    6,   0.0),
    Recipe(Name::Fb15k237, false, 500,         0.05,    1000, 0.1, 0,     20,    5,   0.0),
    Recipe(Name::Fb15k237, false, usize::MAX,  0.05,    1000, 0.1, 0,     20,    5,   0.0),
    Recipe(Name::Fb15k237, true,  200,         0.05,    1000, 0.2, 4096,  30,    6,   4.0),
    Recipe(Name::Fb15k237, true,  usize::MAX,  0.05,    1000, 0.2, 2048,  57,    6,   4.0),
    Recipe(Name::Nell995,  false, 200,         0.05,    1000, 0.2, 4096,  20,    5,   0.0),
    Recipe(Name::Nell995,  false, usize::MAX,  0.05,    1000, 0.2, 4096,  20,    5,   0.0),
    Recipe(Name::Nell995,  true,  usize::MAX,  0.05,    1000, 0.2, 4096,  20,    5,   0.0),
    Recipe(Name::Fb15k,    false, 100,         0.000_75, 100, 0.1, 2048,  24,    5,   0.0),
    Recipe(Name::Fb15k,    false, 200,         0.002,    200, 0.1, 2048,  24,    5,   0.0),
    Recipe(Name::Fb15k,    false, usize::MAX,  0.01,     100, 0.1, 2048,  24,    5,   0.0),
    Recipe(Name::Fb15k,    true,  200,         0.002,    200, 0.1, 2048,  24,    5,   0.1),
    Recipe(Name::Fb15k,    true,  usize::MAX,  0.01,     100, 0.1, 2048,  24,    5,   0.1),
];

/// The settings of a link predictor; `None` for a baseline, whose settings are those of docs/baselines.md.
pub(super) fn settings(dataset: Name, subject: Subject, max_epochs: Option<usize>) -> Option<GivenSettings> {
    let Subject::Predictor { predictor, rank, own } = subject else { return None };
    let fits = |it: &&Recipe| it.0 == dataset && it.1 == own && rank <= it.2;
    let &Recipe(_, _, _, weight, batch, rate, sample, epochs, cool_down, relations) =
        RECIPES.iter().find(fits)?;
    let epochs = max_epochs.map_or(epochs, |most| epochs.min(most));
    Some(GivenSettings {
        predictor: Some(predictor.to_owned()),
        rank: Some(rank),
        epochs: Some(epochs),
        batch_size: Some(batch),
        regularizer: Some(Regularizer::N3),
        regularizer_weight: Some(weight),
        optimizer: Some(Optimizer::Adagrad),
        learning_rate: Some(rate),
        cool_down: Some(cool_down.min(epochs)),
        relation_loss: Some(relations),
        candidates: Some(if sample == 0 { Candidates::All } else { Candidates::Sample(sample) }),
        init_scale: Some(1e-3),
        seed: Some(0),
        eval_every: Some(5),
        patience: Some(0),
    })
}

/// The settings of a baseline: those of docs/baselines.md.
pub(super) fn baseline(graph: &Graph, kind: Kind, max_epochs: Option<usize>) -> BaselineSettings {
    let settings = recommend_baseline(graph, kind);
    let epochs = max_epochs.map_or(settings.epochs, |most| settings.epochs.min(most));
    BaselineSettings { epochs, ..settings }
}

/// The same as settings that leave nothing open.
pub(super) fn resolved(dataset: Name, subject: Subject, max_epochs: Option<usize>) -> Option<Settings> {
    settings(dataset, subject, max_epochs).map(|given| given.resolve(Settings::default()))
}

/// The most atoms in the body of a rule. `FB15k` is full of inverse and duplicate relations, which two atoms tell.
pub(super) fn rule_length(dataset: Name) -> usize {
    if dataset == Name::Fb15k { 2 } else { 3 }
}

/// What a row is trained with, in words, as the results say it: the settings of its model, and the rules beside it.
pub(super) fn in_words(row: Row, settings: &str) -> String {
    if row.method() == "best-rules" {
        let atoms = rule_length(row.dataset);
        format!("{settings}; rules with up to {atoms} atoms, weighed on validation edges")
    } else {
        settings.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_every_dataset_has_a_recipe_that_can_be_trained() {
        for dataset in Name::ALL {
            for (predictor, own) in [("complex", false), ("complex", true), ("distmult", false)] {
                for rank in [8, 100, 200, 500, 1000, 4000] {
                    let subject = Subject::Predictor { predictor, rank, own };
                    let settings = resolved(dataset, subject, None).unwrap();
                    assert!(settings.predictor().is_ok(), "{settings}");
                    assert!(own || settings.relation_loss <= 0.0, "the paper has none: {settings}");
                    let short = resolved(dataset, subject, Some(2)).unwrap();
                    assert!(short.predictor().is_ok() && short.epochs == 2, "{short}");
                }
            }
        }
    }
}
