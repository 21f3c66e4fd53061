//! `relatum repl`: questions one after another, with the model kept at hand.

mod commands;
mod complete;
mod settings;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use relatum::{Engine, Error, Reply};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

use super::ask::{Flags, next_line, rendered, warn, watched};
use crate::{exit, output, signals};
use complete::{Helper, is_open};
use settings::Settings;

/// Ask questions at a prompt
///
/// Names are completed with Tab, a question goes on in the next line while a parenthesis is open,
/// and commands begin with a colon; :help lists them. Ctrl-C cancels the line or the question that
/// runs, Ctrl-D ends. Where standard input is not a terminal, its lines are answered without a prompt,
/// and the exit code is 1 if one of them failed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

/// What to do after a line.
enum Next {
    Line,
    End,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    args.flags.options().resolve(None, None).map_err(Error::from)?;
    let engine = Engine::open(&args.dir)?;
    warn(&args.dir, &engine, &args.flags)?;
    let mut flags = args.flags.clone();
    flags.model = Some(engine.model(flags.model.as_deref())?.name.clone());
    let settings = Settings::new(flags);
    let mut session = Session { engine, dir: args.dir.clone(), settings, last: None, failed: 0 };
    if std::io::stdin().is_terminal() { session.converse(&args.dir) } else { session.read_lines() }
}

struct Session {
    engine: Engine,
    dir: PathBuf,
    settings: Settings,
    last: Option<Reply>,
    /// How many questions could not be answered, or commands carried out.
    failed: u64,
}

impl Session {
    /// A prompt on a terminal.
    fn converse(&mut self, dir: &Path) -> anyhow::Result<()> {
        let config = Config::builder().completion_type(CompletionType::List).max_history_size(1000)?.build();
        let mut editor: Editor<Helper, DefaultHistory> = Editor::with_config(config)?;
        editor.set_helper(Some(Helper::new(self.engine.clone())));
        let history = history_file();
        if let Some(path) = &history {
            // The first time there is no history yet.
            let _ = editor.load_history(path);
        }
        signals::watch()?;
        let model = self.engine.model(self.settings.flags.model.as_deref())?;
        let predictor = model.model.predictor();
        output::say(&format!(
            "{}: model {} ({}, rank {}). :help lists the commands, Tab completes names, Ctrl-D ends.",
            dir.display(),
            model.name,
            predictor.name(),
            predictor.rank()
        ));
        loop {
            let line = match signals::while_idle(|| editor.readline("relatum> ")) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error.into()),
            };
            if !line.trim().is_empty() {
                let _ = editor.add_history_entry(line.as_str());
                // Saved at once, so that nothing is lost when the window is closed.
                keep(&mut editor, history.as_deref());
            }
            for input in inputs(&line) {
                if let Next::End = self.line(&input)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Answers the lines of a file or of another program. A failure does not stop the rest; failures are
    /// reported as one error at the end.
    fn read_lines(&mut self) -> anyhow::Result<()> {
        let mut input = std::io::stdin().lock();
        let (mut begun, mut place) = (String::new(), (0, 0));
        while let Some(line) = next_line(&mut input, &mut place)? {
            let text = match &line.text {
                Ok(text) => text.trim_end_matches(['\n', '\r']),
                Err(error) => {
                    self.failed += 1;
                    output::say(&format!("error: line {}: {error}", line.number));
                    // The question that the line is part of cannot be answered either.
                    begun.clear();
                    continue;
                }
            };
            if !begun.is_empty() {
                begun.push('\n');
            }
            begun += text;
            // A parenthesis that is never closed must not turn the rest into one question.
            if is_open(&begun) && !text.trim().is_empty() {
                continue;
            }
            if let Next::End = self.line(&std::mem::take(&mut begun))? {
                break;
            }
        }
        self.line(&begun)?;
        if self.failed > 0 {
            anyhow::bail!("{} could not be answered, as said above", output::counted(self.failed, "line"));
        }
        Ok(())
    }

    /// Answers a question or carries out a command. An error is printed, and the next line may come.
    fn line(&mut self, line: &str) -> anyhow::Result<Next> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(Next::Line);
        }
        let outcome = match line.strip_prefix(':') {
            Some(command) => self.command(command.trim()),
            None => self.ask(line).map(Some),
        };
        let mut out = output::out(self.settings.flags.json);
        match outcome {
            Ok(None) => return Ok(Next::End),
            Ok(Some(text)) => write!(out, "{text}")?,
            Err(error) => {
                self.failed += 1;
                exit::say(&error);
            }
        }
        out.flush()?;
        Ok(Next::Line)
    }

    fn ask(&mut self, text: &str) -> anyhow::Result<String> {
        let flags = &self.settings.flags;
        let reply = watched(&self.engine, flags.control(), |control| {
            self.engine.ask_within(text, &flags.options(), control)
        })?;
        let shown = rendered(&reply, flags)?;
        self.last = Some(reply);
        Ok(shown)
    }
}

/// Splits typed or pasted text into questions and commands: each ends with its line, unless a question is
/// unfinished there.
fn inputs(text: &str) -> Vec<String> {
    let mut inputs: Vec<String> = Vec::new();
    let mut begun = String::new();
    for line in text.lines() {
        if !begun.is_empty() {
            begun.push('\n');
        }
        begun += line;
        if !is_open(&begun) || line.trim().is_empty() {
            inputs.push(std::mem::take(&mut begun));
        }
    }
    inputs.push(begun);
    inputs
}

fn keep(editor: &mut Editor<Helper, DefaultHistory>, path: Option<&Path>) {
    let Some(path) = path else { return };
    // The history is a convenience: if it cannot be saved, the prompt works without it.
    if let Some(folder) = path.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.append_history(path);
}

/// The file of the history: in the user's own folder for such files, never in the project.
fn history_file() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = var("XDG_STATE_HOME")
        .or_else(|| var("LOCALAPPDATA"))
        .or_else(|| var("HOME").map(|home| home.join(".local/state")))?;
    Some(folder.join("relatum/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_lines_are_as_many_inputs_but_a_question_may_go_on() {
        let pasted = ":set top 3\n?G : has_genre(Hitch, G)\n?F : has_genre(F,\n  Comedy)\n:plan";
        let [set, one, two, plan, rest] = inputs(pasted).try_into().unwrap();
        assert_eq!([set, one, plan, rest].map(|it| it.len()), [10, 24, 5, 0]);
        assert_eq!(two, "?F : has_genre(F,\n  Comedy)");
    }
}
