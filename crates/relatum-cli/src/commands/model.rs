//! The warning about a model whose training is not finished.

use std::path::Path;

use relatum::engine::OpenModel;
use relatum::model::Card;

use crate::output;

/// Warns of a model whose training is not finished.
pub(super) fn warn_if_unfinished(dir: &Path, open: &OpenModel) {
    if let Some(position) = &open.unfinished {
        output::say(&format!("warning: {}", warning(dir, &open.name, &open.card, position)));
    }
}

/// The warning, with how far the training has come and how to finish it.
pub(super) fn warning(dir: &Path, name: &str, card: &Card, position: &str) -> String {
    let remedy = match card.unfinished {
        Some(_) => "finish it where it was trained, and import it again".to_owned(),
        None => format!("`relatum train {} --model {name} --resume` goes on", output::typed(dir)),
    };
    format!("the model `{name}` is unfinished ({position}), so its answers may still change: {remedy}")
}
