//! A plan as a tree of text.

use std::fmt::{Display, Formatter, Result, Write};

use super::describe::{BranchReport, FactorReport, PlanReport, StepReport};
use crate::query::syntax::name_text;

/// What a branch is part of.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Query,
    Tree,
    General,
}

impl Display for PlanReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let how = if self.tree { "tree" } else { "no tree" };
        writeln!(f, "{}, {how}, about {} to score, beam {}", self.shape, rows(self.rows), self.beam)?;
        let many = self.branches.len();
        for (index, branch) in self.branches.iter().enumerate() {
            let title =
                if many == 1 { "branch".to_owned() } else { format!("branch {} of {many}", index + 1) };
            self.branch(f, branch, &title, "", index + 1 == many, Inside::Query)?;
        }
        Ok(())
    }
}

impl PlanReport {
    fn branch(
        &self,
        f: &mut Formatter<'_>,
        branch: &BranchReport,
        title: &str,
        indent: &str,
        last: bool,
        inside: Inside,
    ) -> Result {
        let how = if branch.tree { "tree" } else { "no tree" };
        let inputs = if branch.inputs.is_empty() {
            String::new()
        } else {
            format!(", given {}", branch.inputs.join(", "))
        };
        writeln!(
            f,
            "{indent}{}{title} about {}: {how}, {}{inputs}",
            fork(last),
            branch.target,
            rows(branch.rows)
        )?;
        let inner = format!("{indent}{}", bar(last));
        // A sub-query of a tree is printed as a part of its message.
        let root = branch.root.filter(|_| inside != Inside::Tree);
        let more = root.is_some() || !branch.negated.is_empty();
        for (index, step) in branch.steps.iter().enumerate() {
            let last = !more && index + 1 == branch.steps.len();
            writeln!(f, "{inner}{}{}. {}", fork(last), index + 1, step_text(step, inside))?;
        }
        let around = if branch.tree { Inside::Tree } else { Inside::General };
        for (index, nested) in branch.negated.iter().enumerate() {
            let last = root.is_none() && index + 1 == branch.negated.len();
            self.branch(f, nested, &format!("not (sub-query {})", index + 1), &inner, last, around)?;
        }
        if let Some(root) = root {
            writeln!(f, "{inner}└─ message to {}", branch.target)?;
            self.message(f, root, &format!("{inner}   "), true)?;
        }
        Ok(())
    }

    fn message(&self, f: &mut Formatter<'_>, at: usize, indent: &str, last: bool) -> Result {
        let message = &self.messages[at];
        let scores = message.scores.join(" and ");
        let text = match message.kind.as_str() {
            "all" => "every entity".to_owned(),
            "row" => scores,
            "not" => "1 −".to_owned(),
            "meet" => "all of".to_owned(),
            "join" => "any of".to_owned(),
            "project" => format!("max, projected along {scores}"),
            _ => format!("max, looked up along {scores}"),
        };
        let shared = message
            .scan
            .filter(|scan| self.messages.iter().filter(|other| other.scan == Some(*scan)).count() > 1);
        let shared = shared.map_or(String::new(), |scan| format!(" (rows shared: scan {scan})"));
        writeln!(f, "{indent}{}#{at} {text}{shared}", fork(last))?;
        let inner = format!("{indent}{}", bar(last));
        for (index, &part) in message.parts.iter().enumerate() {
            self.message(f, part, &inner, index + 1 == message.parts.len())?;
        }
        Ok(())
    }
}

fn step_text(step: &StepReport, inside: Inside) -> String {
    let factors: Vec<String> = step.factors.iter().map(factor_text).collect();
    let by = match (factors.is_empty(), inside) {
        (false, _) => factors.join(" and "),
        (true, Inside::Query) => "every entity".to_owned(),
        (true, _) => "the values asked about".to_owned(),
    };
    let mut text = format!("{} by {by}: {}", step.variable, rows(step.rows));
    if let Some(beam) = step.beam {
        let _ = write!(text, ", about {} fit, keep {beam}", number(step.candidates));
    }
    if !step.eliminated.is_empty() {
        let _ = write!(text, ", eliminate {}", step.eliminated.join(", "));
    }
    if step.beam.is_some() && !step.needed.is_empty() {
        let _ = write!(text, ", merge by {}", step.needed.join(", "));
    }
    if let Some((branch, at)) = step.same_as {
        let _ = write!(text, " (same as step {at} of branch {branch})");
    }
    text
}

fn factor_text(factor: &FactorReport) -> String {
    let not = |negated: &bool| if *negated { "not " } else { "" };
    match factor {
        FactorReport::Row { relation, backwards, from, negated } => {
            let inverse = if *backwards { "⁻¹" } else { "" };
            format!("{}{}{inverse}({from}, ·)", not(negated), name_text(relation))
        }
        FactorReport::Loop { relation, negated } => format!("{}{}(·, ·)", not(negated), name_text(relation)),
        FactorReport::Negated { index } => format!("not (sub-query {})", index + 1),
    }
}

fn rows(count: f64) -> String {
    let count = number(count);
    if count == "1" { "1 row".to_owned() } else { format!("{count} rows") }
}

fn number(count: f64) -> String {
    format!("{}", count.round())
}

fn fork(last: bool) -> &'static str {
    if last { "└─ " } else { "├─ " }
}

fn bar(last: bool) -> &'static str {
    if last { "   " } else { "│  " }
}
