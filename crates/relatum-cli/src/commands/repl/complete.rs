//! Tab and Enter at the prompt: names are completed, open parentheses wait for more.

use relatum::Engine;
use relatum::query::is_unfinished;
use relatum::report::Completion;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};

use super::commands::COMMANDS;
use super::settings;

pub(super) struct Helper {
    engine: Engine,
}

impl Helper {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Where the word before the cursor begins, and what could stand there.
    fn candidates(&self, text: &str) -> (usize, Vec<Pair>) {
        let Some(command) = text.strip_prefix(':') else {
            return pairs(self.engine.complete(text, text.len()));
        };
        let Some((word, rest)) = command.split_once(' ') else {
            let names = COMMANDS.iter().map(|(name, ..)| format!("{name} "));
            return (1, beginning_with(command, names));
        };
        let start = text.len() - rest.len();
        let shifted = |(at, found): (usize, Vec<Pair>)| (start + at, found);
        match word {
            "plan" => shifted(pairs(self.engine.complete(rest, rest.len()))),
            "describe" | "find" => shifted(pairs(self.engine.complete_name(rest))),
            "set" => shifted(setting(rest)),
            _ => (start, Vec::new()),
        }
    }
}

fn pairs(completion: Completion) -> (usize, Vec<Pair>) {
    let candidates = completion.candidates.into_iter();
    let pairs = candidates.map(|it| Pair { display: it.shown, replacement: it.replacement });
    (completion.start, pairs.collect())
}

fn beginning_with(beginning: &str, words: impl Iterator<Item = String>) -> Vec<Pair> {
    words
        .filter(|word| word.starts_with(beginning))
        .map(|word| Pair { display: word.trim_end().to_owned(), replacement: word })
        .collect()
}

/// `:set NAME VALUE`, after `:set `.
fn setting(text: &str) -> (usize, Vec<Pair>) {
    let settings = settings::all();
    let Some((name, value)) = text.split_once(' ') else {
        return (0, beginning_with(text, settings.iter().map(|setting| format!("{} ", setting.name))));
    };
    let choices = settings.into_iter().find(|setting| setting.name == name).map(|setting| setting.choices);
    (text.len() - value.len(), beginning_with(value, choices.unwrap_or_default().into_iter()))
}

/// Whether what was typed goes on in the next line. A command never does.
pub(super) fn is_open(text: &str) -> bool {
    !text.trim_start().starts_with(':') && is_unfinished(text)
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        Ok(self.candidates(&line[..pos]))
    }
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let input = context.input();
        let blank_line = input.ends_with('\n');
        let open = is_open(input) && !blank_line;
        Ok(if open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Helper {
    type Hint = String;
}

impl Highlighter for Helper {}

impl rustyline::Helper for Helper {}

#[cfg(test)]
mod tests {
    use super::*;
    use relatum::graph::{GraphBuilder, Split};
    use relatum::project::{Project, Queries};
    use relatum::store::Staging;

    #[test]
    fn commands_settings_and_their_values_are_completed() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "Bad Boys", "stars", "Martin Lawrence");
        builder.add(Split::Train, "Hitch", "stars", "Will Smith");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("films");
        let staging = Staging::begin(&path).unwrap();
        Project::create(staging, &builder.finish().0, &Queries::default(), Vec::new()).unwrap();
        let helper = Helper::new(Engine::open(&path).unwrap());
        let completed = |text: &str| {
            let (start, found) = helper.candidates(text);
            found.iter().map(|pair| format!("{}{}", &text[..start], pair.replacement)).collect::<Vec<_>>()
        };
        assert_eq!(completed(":pl"), [":plan "]);
        assert_eq!(completed(":set t-"), [":set t-norm "]);
        assert_eq!(completed(":set t-norm l"), [":set t-norm lukasiewicz"]);
        assert_eq!(completed(":set explain "), [":set explain on", ":set explain off"]);
        assert_eq!(completed(":describe Bad"), [":describe Bad Boys"]);
        assert_eq!(completed(":plan ?A : stars(Hi"), [":plan ?A : stars(Hitch"]);
    }

    #[test]
    fn a_command_ends_with_its_line_and_a_question_when_its_brackets_are_closed() {
        assert!(is_open("?A : stars(F,"));
        assert!(!is_open(":set k ("));
        assert!(!is_open("?A : stars(F, A)"));
    }
}
