//! Shows a line with the progress of a search that takes long.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use relatum::Engine;
use relatum::answer::score_text;
use relatum::control::Control;
use relatum::search::Progress;

use crate::output;

/// The line appears only if the search takes longer than this.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs a search with a line on the terminal: rows scored, the best answer so far, how many answers are
/// proven. The line disappears when the search ends.
pub(crate) fn watched<T>(engine: &Engine, control: Control, search: impl FnOnce(&Control) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return search(&control);
    }
    watched_on(ProgressDrawTarget::stderr, engine, control, search)
}

fn watched_on<T>(
    target: impl Fn() -> ProgressDrawTarget + Send + Sync + 'static,
    engine: &Engine,
    control: Control,
    search: impl FnOnce(&Control) -> T,
) -> T {
    let line = Arc::new(Mutex::new(None::<ProgressBar>));
    let (engine, shown, began) = (engine.clone(), Arc::clone(&line), Instant::now());
    let control = control.on(move |progress: &Progress| {
        if began.elapsed() < PATIENCE {
            return;
        }
        let mut line = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = line.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, target()).with_style(style)
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

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;
    use relatum::engine::Sources;
    use relatum::graph::{EntityId, Split};

    use super::*;

    #[test]
    fn the_line_appears_when_a_search_takes_long_and_disappears_with_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("g.tsv");
        std::fs::write(&table, "Alien\tstars\tSigourney Weaver\n").unwrap();
        let sources = Sources { files: vec![(Split::Train, table)], ..Sources::default() };
        let (engine, _) = Engine::create(&folder.path().join("p"), &sources, &Control::default()).unwrap();
        let term = InMemoryTerm::new(5, 100);
        let shown = term.clone();
        let target = move || ProgressDrawTarget::term_like(Box::new(shown.clone()));
        watched_on(target, &engine, Control::default(), |control| {
            let progress = Progress { rows: 7, best: vec![(EntityId(0), 0.25)], proven: 2, wanted: 10 };
            control.tell(&progress);
            assert_eq!(term.contents(), "", "no line for a search that may end at once");
            std::thread::sleep(PATIENCE);
            control.tell(&progress);
            let text = term.contents();
            assert!(text.contains("7 rows scored · best so far Alien 0.2500 · 2 of 10 proven"), "{text}");
        });
        assert_eq!(term.contents(), "", "the line is gone when the answer comes");
    }
}
