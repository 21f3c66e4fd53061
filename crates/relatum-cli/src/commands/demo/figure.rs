//! The paper's figure of explained answers: the value of the variable by which each answer was found, and
//! whether the answer is correct.

use std::io::Write;

use relatum::control::Control;
use relatum::report::Answer;
use relatum::search::{Evidence, Known};
use relatum::{Engine, Options};
use unicode_width::UnicodeWidthStr;

/// As many answers as the figure has.
const TOP: usize = 10;

/// Prints the figure for a question with one variable beside its target. No stored edge is trusted, as in the
/// paper: the predictor finds the values of the variable too. An answer is correct if the facts of all splits,
/// the held-out ones among them, make it one.
pub(super) fn print(engine: &Engine, text: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let alone = Options {
        known: Some(Known::Ignore),
        evidence: Some(Evidence::Model),
        top: Some(TOP),
        explain: true,
        ..Options::default()
    };
    let reply = engine.ask(text, &alone)?;
    let target = reply.target.clone().unwrap_or_default();
    let all = Options { known: Some(Known::ALL), ..Options::default() };
    let mut variable = String::new();
    let mut rows = Vec::new();
    for (rank, answer) in reply.answers.iter().enumerate() {
        let Some((name, value)) = assigned(answer, &target) else { continue };
        variable = name;
        let judged = engine.explain(text, &answer.entity.name, &all, &Control::default())?;
        let is_correct = judged.answers.first().is_some_and(|answer| answer.known == Some(true));
        rows.push((value, answer.entity.shown(), rank + 1, is_correct));
    }
    let width = |column: fn(&(String, String, usize, bool)) -> &String, head: &str| {
        rows.iter().map(|row| column(row).width()).max().unwrap_or(0).max(head.width())
    };
    let (of_variable, of_target) = (width(|row| &row.0, &variable), width(|row| &row.1, &target));
    let pad = |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
    writeln!(out, "  the predictor alone, as in the paper's figure of explanations:")?;
    let (head, answer) = (pad(&variable, of_variable), pad(&target, of_target));
    writeln!(out, "    {head}  {answer}  rank  correct")?;
    for (value, answer, rank, is_correct) in &rows {
        let (value, answer) = (pad(value, of_variable), pad(answer, of_target));
        writeln!(out, "    {value}  {answer}  {rank:>4}  {}", if *is_correct { "✓" } else { "✗" })?;
    }
    Ok(())
}

/// The variable beside the target, and its value for an answer.
fn assigned(answer: &Answer, target: &str) -> Option<(String, String)> {
    let bindings = &answer.explanation.as_ref()?.assignment;
    let binding = bindings.iter().find(|binding| binding.variable != target)?;
    Some((binding.variable.clone(), binding.value.shown()))
}
