//! A line that says how far a search is, while it runs longer than a person likes to wait.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use relatum::Engine;
use relatum::answer::score_text;
use relatum::control::Control;
use relatum::search::Progress;

use crate::output;

/// A search that is done by then needs no line.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs a search with a line on the terminal: rows scored, the best answer so far, how many answers are
/// proven. It is gone when the search ends.
pub(crate) fn watched<T>(engine: &Engine, control: Control, search: impl FnOnce(&Control) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return search(&control);
    }
    let line = Arc::new(Mutex::new(None::<ProgressBar>));
    let (engine, shown, began) = (engine.clone(), Arc::clone(&line), Instant::now());
    let control = control.on(move |progress: &Progress| {
        if began.elapsed() < PATIENCE {
            return;
        }
        let mut line = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = line.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        bar.set_message(message(&engine, progress));
        bar.tick();
    });
    let found = search(&control);
    if let Some(bar) = line.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
    found
}

fn message(engine: &Engine, progress: &Progress) -> String {
    let rows = output::counted(progress.rows as u64, "row");
    let best = progress.best.first().map_or_else(String::new, |&(entity, score)| {
        format!(" · best so far {} {}", engine.graph().entity_shown(entity), score_text(score))
    });
    format!("{rows} scored{best} · {} of {} proven", progress.proven, progress.wanted)
}
