//! What people see of the search for settings: a line for each trial, then all of them in a table, and why the
//! winner won.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use relatum::control::Control;
use relatum::engine::{NotSearched, RecipeFound, RecipeTrialBegins, RecipeTried, Search, SearchBegins};
use relatum::train::{Open, PlannedTrial, RecipeTrial};

use crate::output;

/// The control, with a listener that shows the search.
pub(super) fn shown(control: Control) -> Control {
    let bar =
        if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    // Nothing of it stays on the screen if the search is stopped.
    let bar = Arc::new(bar.with_finish(ProgressFinish::AndClear));
    let [begins, tried, found] = std::array::from_fn(|_| Arc::clone(&bar));
    control
        .on(|why: &NotSearched| output::say(&format!("settings are not searched: {why}")))
        .on(|event: &SearchBegins| output::say(&introduction(*event)))
        .on(move |RecipeTrialBegins(planned): &RecipeTrialBegins| {
            begins.set_message(under_way(planned));
            begins.enable_steady_tick(Duration::from_millis(100));
        })
        .on(move |RecipeTried(trial): &RecipeTried| tried.suspend(|| output::say(&line(trial))))
        .on(move |event: &RecipeFound| {
            found.finish_and_clear();
            output::say(&table(event));
            output::say(&conclusion(event));
        })
}

/// `off`, or the share of the final run's work.
pub(super) fn parse(text: &str) -> Result<Search, String> {
    if text == "off" {
        return Ok(Search::Off);
    }
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= Search::MOST => Ok(Search::Share(share)),
        _ => Err(format!("must be a number above 0 and at most {}, or `off`", Search::MOST)),
    }
}

fn introduction(SearchBegins { share, done, open }: SearchBegins) -> String {
    let share = percent(share);
    if done > 0 {
        return format!("going on with the search for settings after {done} of its trials");
    }
    format!(
        "searching for settings ({}) with up to {share} of the work of the run itself; --search off takes \
         the plain ones",
        searched(open).join(", ")
    )
}

fn searched(open: Open) -> Vec<&'static str> {
    let all = [
        (open.regularizer_weight, "regularisation"),
        (open.learning_rate, "rate"),
        (open.batch_size, "batch size"),
        (open.relation_loss, "relation loss"),
    ];
    all.into_iter().filter_map(|(open, name)| open.then_some(name)).collect()
}

fn under_way(PlannedTrial { rung, number, of, recipe, settings }: &PlannedTrial) -> String {
    format!("rung {rung}, {number} of {of} · rank {}, {} epochs · {recipe}", settings.rank, settings.epochs)
}

fn line(trial: &RecipeTrial) -> String {
    let RecipeTrial { rung, rank, epochs, recipe, .. } = trial;
    format!("rung {rung} · rank {rank}, {epochs} epochs · {recipe} · {}", measured(trial))
}

fn measured(trial: &RecipeTrial) -> String {
    trial.mrr.map_or("diverged".to_owned(), |mrr| format!("valid MRR {mrr:.4}"))
}

/// Every trial, those of a rung together, best first.
fn table(found: &RecipeFound) -> String {
    let header = ["rung", "rank", "epochs", "reg", "lr", "batch", "relation loss", "valid MRR", ""];
    let mut table = output::table(&header, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let last = found.trials.last().map_or(0, |trial| trial.rung);
    for rung in found.trials.chunk_by(|a, b| a.rung == b.rung) {
        let mut rung = rung.to_vec();
        rung.sort_by(|a, b| b.mrr.unwrap_or(-1.0).total_cmp(&a.mrr.unwrap_or(-1.0)));
        for (place, trial) in rung.iter().enumerate() {
            let recipe = trial.recipe;
            let note = match (recipe == found.chosen, recipe == found.plain) {
                (true, _) if trial.rung == last => "chosen",
                (_, true) => "plain",
                _ if place == 0 => "goes on",
                _ => "",
            };
            table.add_row([
                trial.rung.to_string(),
                trial.rank.to_string(),
                trial.epochs.to_string(),
                recipe.regularizer_weight.to_string(),
                recipe.learning_rate.to_string(),
                recipe.batch_size.to_string(),
                recipe.relation_loss.to_string(),
                trial.mrr.map_or("diverged".to_owned(), |mrr| format!("{mrr:.4}")),
                note.to_owned(),
            ]);
        }
    }
    output::render(&table)
}

fn conclusion(found: &RecipeFound) -> String {
    format!(
        "chosen: {}\nbecause it is {}\n{} trials took {} of the work of the run itself ({} were allowed)",
        found.chosen,
        found.reason,
        found.trials.len(),
        percent(found.spent),
        percent(found.share)
    )
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}
