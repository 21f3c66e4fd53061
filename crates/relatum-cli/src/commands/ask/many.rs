//! Many questions, answered side by side: lines in, lines of JSON out, in the same order.
//!
//! One thread reads, as many threads as there are cores answer, and this one writes. Few questions are held
//! between reading and writing, so a file of any length takes the same memory. No question waits for the next
//! one, so a program may ask one, wait for the answer, and ask the next.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::control::{Cancel, side_by_side};
use relatum::query::syntax::MAX_BYTES;
use relatum::{Engine, Error};
use serde_json::{Value, json};

use super::Flags;
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// How many lines are read ahead.
const WINDOW: usize = 64;

/// Lines of a file or of standard input.
pub(super) struct Questions {
    input: Box<dyn Read + Send>,
    /// The number of bytes in all, if it is known.
    bytes: Option<u64>,
}

impl Questions {
    /// The lines of a file, or of standard input where there is none.
    pub(super) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self { input: Box::new(std::io::stdin()), bytes: None }) };
        if path == Path::new("-") {
            return Self::open(None);
        }
        let name = path.display();
        let file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Misuse(format!("there is no file {name}")).into());
            }
            file => file.with_context(|| format!("cannot read {name}"))?,
        };
        let metadata = file.metadata().with_context(|| format!("cannot read {name}"))?;
        if metadata.is_dir() {
            return Err(
                Misuse(format!("{name} is a folder: name a file with a question on every line")).into()
            );
        }
        let bytes = metadata.is_file().then_some(metadata.len());
        Ok(Self { input: Box::new(file), bytes })
    }
}

/// A line that may hold a question.
pub(crate) struct Line {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Where the next line begins, in bytes from the beginning.
    end: u64,
    /// Its text, or why it has none.
    pub(crate) text: Result<String, String>,
}

/// A line of output, and whether it is an answer.
struct Answered {
    json: Value,
    is_answer: bool,
    end: u64,
}

/// Answers every line. Lines that cannot be answered are counted, and reported as one error at the end.
pub(super) fn answer(engine: &Engine, flags: &Flags, questions: Questions) -> anyhow::Result<()> {
    signals::watch()?;
    let progress = Progress::new(questions.bytes);
    let lines = read(questions.input);
    let cancel = Cancel::when(signals::stop_requested);
    let (mut counts, mut failure) = (Counts::default(), None);
    let work = |line: std::io::Result<Line>| line.map(|line| answered(engine, flags, &line));
    side_by_side(&lines, &cancel, work, |answer| {
        let written = answer.and_then(|answer| {
            *(if answer.is_answer { &mut counts.answered } else { &mut counts.failed }) += 1;
            progress.write(&answer, &counts)
        });
        if let Err(error) = written {
            failure.get_or_insert(error);
            cancel.cancel();
        }
    });
    progress.bar.finish_and_clear();
    if let Some(error) = failure {
        return Err(error.into());
    }
    let total = output::counted(counts.answered + counts.failed, "question");
    if signals::stop_requested() {
        output::say(&format!("stopped after {total}"));
        return Err(Stopped.into());
    }
    if counts.answered + counts.failed == 0 {
        output::say("there was no question in the input: write one on each line");
    }
    if counts.failed > 0 {
        let failed = output::grouped(counts.failed);
        anyhow::bail!("{failed} of {total} could not be answered: the output says why under \"error\"");
    }
    Ok(())
}

fn answered(engine: &Engine, flags: &Flags, line: &Line) -> Answered {
    let text = line.text.as_deref().unwrap_or_default().trim();
    let outcome = match &line.text {
        Err(error) => Err(error.clone()),
        Ok(_) => engine.ask_within(text, &flags.options(), &flags.control()).map_err(|error| message(&error)),
    };
    let outcome = outcome.and_then(|reply| serde_json::to_value(reply).map_err(|error| error.to_string()));
    let is_answer = outcome.is_ok();
    let mut json = outcome.unwrap_or_else(|error| json!({ "query": text, "error": error }));
    json["line"] = json!(line.number);
    Answered { json, is_answer, end: line.end }
}

/// The message without its first `error: `, because the JSON field is called `error` already.
fn message(error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[derive(Default)]
struct Counts {
    answered: u64,
    failed: u64,
}

/// Reads lines in a thread of its own, which is abandoned when no more lines are needed.
fn read(input: Box<dyn Read + Send>) -> Receiver<std::io::Result<Line>> {
    let (sender, lines) = mpsc::sync_channel(WINDOW);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        let mut place = (0, 0);
        loop {
            match next_question(&mut input, &mut place).transpose() {
                None => return,
                Some(line) => {
                    let last = line.is_err();
                    if sender.send(line).is_err() || last {
                        return;
                    }
                }
            }
        }
    });
    lines
}

/// The next line that is neither blank nor a comment; `place` is the line number and the byte.
fn next_question(input: &mut impl BufRead, place: &mut (u64, u64)) -> std::io::Result<Option<Line>> {
    loop {
        let line = next_line(input, place)?;
        let passed_over = |text: &String| {
            matches!(text.trim_start_matches('\u{feff}').trim().chars().next(), None | Some('#'))
        };
        if !line.as_ref().is_some_and(|line| line.text.as_ref().is_ok_and(passed_over)) {
            return Ok(line);
        }
    }
}

/// The next line; a line that is too long or not UTF-8 is read to its end and returned as an error.
pub(crate) fn next_line(input: &mut impl BufRead, place: &mut (u64, u64)) -> std::io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let mut read = input.by_ref().take(MAX_BYTES as u64 + 1).read_until(b'\n', &mut bytes)? as u64;
    if read == 0 {
        return Ok(None);
    }
    let too_long = bytes.len() > MAX_BYTES;
    if too_long && bytes.last() != Some(&b'\n') {
        read += input.skip_until(b'\n')? as u64;
    }
    *place = (place.0 + 1, place.1 + read);
    let text = if too_long {
        Err(format!("the line is longer than the {MAX_BYTES} bytes that a question may have"))
    } else {
        String::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())
    };
    Ok(Some(Line { number: place.0, end: place.1, text }))
}

/// Shows the progress on standard error, if that is a terminal.
struct Progress {
    bar: ProgressBar,
    bytes: Option<u64>,
    began: Instant,
}

impl Progress {
    fn new(bytes: Option<u64>) -> Self {
        let bar = if !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else if let Some(bytes) = bytes {
            let style = ProgressStyle::with_template("{bar:24} {wide_msg}");
            ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::new_spinner()
        };
        Self { bar, bytes, began: Instant::now() }
    }

    fn write(&self, answer: &Answered, counts: &Counts) -> std::io::Result<()> {
        let write = || {
            let mut out = output::out(true);
            writeln!(out, "{}", answer.json)?;
            out.flush()
        };
        if self.bar.is_hidden() {
            return write();
        }
        // On one terminal, output and progress bar would overwrite each other.
        if std::io::stdout().is_terminal() { self.bar.suspend(write) } else { write() }?;
        let done = counts.answered + counts.failed;
        let seconds = self.began.elapsed().as_secs_f64().max(1e-9);
        let wrong = if counts.failed > 0 { format!(" · {} wrong", counts.failed) } else { String::new() };
        let left = self.bytes.map_or_else(String::new, |bytes| {
            let left = seconds * bytes.saturating_sub(answer.end) as f64 / answer.end.max(1) as f64;
            format!(" · {} left", HumanDuration(Duration::from_secs_f64(left)))
        });
        let (total, rate) = (output::counted(done, "question"), done as f64 / seconds);
        self.bar.set_position(answer.end);
        self.bar.set_message(format!("{total} · {rate:.1}/s{wrong}{left}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(u64, u64, Result<String, String>)> {
        let mut input = BufReader::with_capacity(16, bytes);
        let mut place = (0, 0);
        std::iter::from_fn(|| next_question(&mut input, &mut place).unwrap())
            .map(|line| (line.number, line.end, line.text))
            .collect()
    }

    #[test]
    fn blank_lines_and_comments_are_skipped_but_counted() {
        let found = lines("\u{feff}# films\n\n?A : r(a, A)\r\n  # more\n?B : s(B, b)".as_bytes());
        let text = |line: &str| Ok(line.to_owned());
        assert_eq!(found, [(3, 26, text("?A : r(a, A)\r\n")), (5, 47, text("?B : s(B, b)"))]);
    }

    #[test]
    fn a_line_without_end_costs_no_memory_and_the_next_is_read() {
        let mut bytes = vec![b'x'; 3 * MAX_BYTES];
        bytes.extend_from_slice(b"\n?A : r(a, A)\n\xff\n");
        let found = lines(&bytes);
        assert_eq!(found.len(), 3);
        assert!(found[0].2.as_ref().unwrap_err().contains("longer than"));
        assert_eq!((found[1].0, found[1].2.clone()), (2, Ok("?A : r(a, A)\n".to_owned())));
        assert_eq!(found[2].2, Err("the line is not UTF-8".to_owned()));
    }
}
