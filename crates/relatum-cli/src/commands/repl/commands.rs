//! The commands of the prompt, which begin with a colon.

use anyhow::Context;
use relatum::Reply;
use relatum::answer::score_text;
use relatum::engine::Options;

use super::Session;
use crate::commands::ask::warn;
use crate::commands::{describe, find, plan, stats};
use crate::exit::Misuse;
use crate::output;

/// Every command, its arguments and what it does.
pub(super) const COMMANDS: [(&str, &str, &str); 8] = [
    ("help", "", "this list"),
    ("plan", "[QUESTION]", "how a question would be answered; without one, the last"),
    ("explain", "[N]", "why the N-th answer to the last question is an answer; without N, the first"),
    ("set", "[NAME [VALUE]]", "show the settings, or change one; `default` sets it back"),
    ("find", "TEXT", "entities and relations whose name contains a text"),
    ("describe", "NAME", "what the graph holds about an entity or a relation"),
    ("stats", "", "sizes, degrees and relations of the graph"),
    ("quit", "", "end, as Ctrl-D does"),
];

impl Session {
    /// Carries out a command, written without its colon; `None` ends the prompt.
    pub(super) fn command(&mut self, text: &str) -> anyhow::Result<Option<String>> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let engine = &self.engine;
        let needs = |what: &str| Misuse(format!(":{} needs {what}", named(word).unwrap_or(word)));
        Ok(Some(match named(word)? {
            "help" => help(),
            "plan" => self.plan(rest)?,
            "explain" => self.explain(rest)?,
            "set" => self.set(rest)?,
            "find" if rest.is_empty() => return Err(needs("a text to look for").into()),
            "find" => find::text(engine, unquoted(rest)),
            "describe" if rest.is_empty() => return Err(needs("the name of an entity or a relation").into()),
            "describe" => describe::text(engine, unquoted(rest))?,
            "stats" => stats::text(engine),
            _ => return Ok(None),
        }))
    }

    fn plan(&self, text: &str) -> anyhow::Result<String> {
        let source = if text.is_empty() { self.last()?.query.as_str() } else { text };
        let options = self.settings.flags.options();
        let question = self.engine.question(source, &options)?;
        let planned = self.engine.plan(&question.checked, &options)?;
        Ok(plan::as_text(source, &question.checked, &planned, self.engine.graph()))
    }

    fn explain(&mut self, which: &str) -> anyhow::Result<String> {
        let last = self.last()?;
        let first = last.offset + 1;
        let count = last.answers.len();
        if count == 0 {
            return Err(Misuse("the last question has no answer to explain".to_owned()).into());
        }
        let known = first..first + count;
        let place = if which.is_empty() { Some(first) } else { which.parse().ok() };
        let place = place.filter(|place| known.contains(place)).ok_or_else(|| {
            let last = known.end - 1;
            Misuse(format!("expected the number of an answer, {first} to {last}, not '{which}'"))
        })?;
        let answer = &last.answers[place - first];
        let mut text = format!("{}\n", last.header());
        text += &format!(
            "{place:>3}. {}  {}  {}\n",
            answer.entity.shown(),
            score_text(answer.score),
            answer.standing()
        );
        let explained = if let Some(explanation) = &answer.explanation {
            Some(explanation.text())
        } else {
            let flags = &self.settings.flags;
            let options = Options { explain: true, ..flags.options() };
            let reply = self.engine.explain(&last.query, &answer.entity.name, &options, &flags.control())?;
            let answer = reply.answers.into_iter().next();
            let answer = answer.context("the settings have changed since: ask the question again")?;
            answer.explanation.map(|explanation| explanation.text())
        };
        text += &explained.unwrap_or_else(|| {
            "     it has no explanation: the search ended before it reached an assignment for it\n".to_owned()
        });
        Ok(text)
    }

    fn set(&mut self, rest: &str) -> anyhow::Result<String> {
        let (name, value) = rest.split_once([' ', '=', '\t']).unwrap_or((rest, ""));
        let value = value.trim_start_matches('=').trim();
        if name.is_empty() {
            return Ok(self.settings.table());
        }
        if value.is_empty() {
            return Ok(self.settings.one(name)?);
        }
        let changed = self.settings.changed(name, value)?;
        let model = &changed.flags.model;
        if *model != self.settings.flags.model {
            warn(&self.dir, &self.engine, &changed.flags)?;
        }
        self.settings = changed;
        Ok(String::new())
    }

    fn last(&self) -> Result<&Reply, Misuse> {
        self.last.as_ref().ok_or_else(|| Misuse("no question has been answered yet".to_owned()))
    }
}

/// The command that a word means: its name or the beginning of it.
fn named(word: &str) -> Result<&'static str, Misuse> {
    let names = COMMANDS.map(|(name, ..)| name);
    let fits: Vec<&str> = names.into_iter().filter(|name| name.starts_with(word)).collect();
    match fits.as_slice() {
        _ if names.contains(&word) => Ok(names[names.iter().position(|name| *name == word).unwrap_or(0)]),
        [one] if !word.is_empty() => Ok(one),
        [] => Err(Misuse(format!("there is no command :{word}; :help lists them"))),
        _ => {
            let all: Vec<String> = fits.iter().map(|name| format!(":{name}")).collect();
            Err(Misuse(format!("which command? {}", all.join(", "))))
        }
    }
}

fn help() -> String {
    let mut table = output::table(&["command", "what it does"], &[]);
    for (name, arguments, text) in COMMANDS {
        table.add_row([format!(":{name} {arguments}").trim_end(), text]);
    }
    let example = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;
    format!(
        "{}\nEverything else is a question, as text, SPARQL or a nested tuple:\n  {example}\n",
        output::render(&table)
    )
}

/// A name may be written as in a question; the quotes do not belong to it.
fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text)
}
