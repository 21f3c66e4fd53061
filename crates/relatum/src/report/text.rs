//! A reply for people.

use std::fmt::{Display, Formatter};
use std::ops::RangeInclusive;

use unicode_width::UnicodeWidthStr;

use super::reply::{
    Answer, Atom, Certainty, Clause, Entity, Explanation, Judged, Relation, RelationAnswer, Reply,
    RuleReason, Stop, StoredEdge, SubQuery, Why,
};
use super::{counted, grouped};
use crate::answer::score_text;
use crate::graph::visible;

/// How wide the column of names is. The score of a name that is longer than that stands in the line below, so that
/// one long name does not widen the whole list.
const NAMES: RangeInclusive<usize> = 30..=90;

impl Display for Reply {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.header())?;
        for remark in &self.remarks {
            writeln!(f, "{}", visible(remark))?;
        }
        if self.answers.iter().any(|answer| answer.known.is_none()) {
            writeln!(f, "time was up before it was clear which answers the stored edges already give")?;
        }
        writeln!(f)?;
        if let Some(judged) = &self.judged {
            return f.write_str(&judged.text());
        }
        if self.answers.is_empty() && self.relations.is_empty() {
            return match self.certainty {
                Certainty::Stopped { .. } => writeln!(f, "no answer so far"),
                _ => writeln!(f, "no answer"),
            };
        }
        f.write_str(&self.list())
    }
}

impl Reply {
    /// The question as it was understood, and how it was answered: the first lines for people.
    pub fn header(&self) -> String {
        let rows = match self.rows {
            1 => "1 row".to_owned(),
            rows => format!("{} rows", grouped(rows)),
        };
        format!("{}\n{}, {}, {rows} scored\n", visible(&self.question), self.shape, self.certainty)
    }

    /// The answers, a line each, with what explains them.
    fn list(&self) -> String {
        let of_answer = |it: &Answer| {
            let below = it.explanation.as_ref().map(Explanation::text).unwrap_or_default();
            (it.entity.shown(), it.score, it.standing(), below)
        };
        let of_relation = |it: &RelationAnswer| {
            let mut below = String::new();
            let lines: Vec<Line> = it.why.iter().flat_map(Why::lines).map(Line::plain).collect();
            draw(&lines, "     ", &mut below);
            (it.relation.shown(), it.score, it.standing(), below)
        };
        let rows: Vec<(String, f32, String, String)> =
            self.answers.iter().map(of_answer).chain(self.relations.iter().map(of_relation)).collect();
        let widths = rows.iter().map(|(name, ..)| name.width()).filter(|width| *width <= *NAMES.end());
        let name_width = widths.max().unwrap_or(0).max(*NAMES.start());
        let score_width = rows.iter().map(|(_, score, ..)| score_text(*score).len()).max().unwrap_or(0);
        let mut text = String::new();
        for (index, (name, score, standing, below)) in rows.into_iter().enumerate() {
            let (place, score) = (index + 1 + self.offset, score_text(score));
            let gap = match name_width.checked_sub(name.width()) {
                Some(gap) => " ".repeat(gap),
                None => format!("\n{}", " ".repeat(5 + name_width)),
            };
            text += &format!("{place:>3}. {name}{gap}  {score:>score_width$}  {standing}\n");
            text += &below;
        }
        text
    }
}

impl Answer {
    /// `known`, with the number of ways where there are several, `predicted`, or `undetermined` where time was
    /// up before it was clear which.
    pub fn standing(&self) -> String {
        match (self.known, self.ways) {
            (Some(true), Some(ways)) if ways.more => format!("known, {}+ ways", ways.count),
            (Some(true), Some(ways)) if ways.count > 1 => format!("known, {} ways", ways.count),
            (Some(true), _) => "known".to_owned(),
            (Some(false), _) => "predicted".to_owned(),
            (None, _) => "undetermined".to_owned(),
        }
    }
}

impl RelationAnswer {
    /// `known, train`, `predicted` or, for an edge that is stored but not trusted, `stored in train, scored by
    /// the model`.
    pub fn standing(&self) -> String {
        standing(self.known.as_deref(), self.stored.as_deref(), Why::speaker(self.why.as_ref()))
    }
}

impl Relation {
    /// For a list that a person reads.
    pub fn shown(&self) -> String {
        visible(&self.text).into_owned()
    }
}

impl Display for Certainty {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Exact { within } if within > 0.0 => write!(f, "proven exact to {}", rounded_up(within)),
            Self::Exact { .. } => f.write_str("proven exact"),
            Self::Beam { k, settled } => {
                let settled = if settled { ", same as with a narrower beam" } else { "" };
                write!(f, "the best of a beam of {k}{settled}")
            }
            Self::Continuous { steps, at_rest } => {
                let end = if at_rest { "" } else { " and not yet converged" };
                write!(f, "continuous optimisation, {steps} steps{end}; explained by the nearest entities")
            }
            Self::Stopped { by } => {
                let by = match by {
                    Stop::Time => "when the time was up",
                    Stop::Rows => "at the limit of rows",
                    Stop::Asked => "as asked",
                    Stop::Memory => "at the limit of memory",
                };
                write!(f, "stopped early {by}: the best so far")
            }
        }
    }
}

impl Explanation {
    /// The explanation as a tree of lines.
    pub fn text(&self) -> String {
        let mut lines: Vec<Line> = self.branch_text().map(Line::plain).into_iter().collect();
        lines.extend(conditions(&self.atoms, &self.sub_queries));
        lines.extend(self.alternative_texts().into_iter().map(Line::plain));
        let mut text = String::new();
        draw(&lines, "     ", &mut text);
        text
    }

    /// Which alternative carries the answer, and how each scores, where there are several:
    /// `alternative 1 of 2 (0.9000, 0.3000)`.
    pub(super) fn branch_text(&self) -> Option<String> {
        let text = |(&score, &open): (&f32, &bool)| match (open, score > 0.0) {
            (false, _) => score_text(score),
            (true, true) => format!("at least {}", score_text(score)),
            (true, false) => "left open".to_owned(),
        };
        let scores: Vec<String> = self.branch_scores.iter().zip(&self.branches_open).map(text).collect();
        let (which, count) = (self.branch + 1, scores.len());
        (count > 1).then(|| format!("alternative {which} of {count} ({})", scores.join(", ")))
    }

    /// The next best assignments, a line each: `or by F = Hitch  0.1430`. Where they are not proven to be the next
    /// best, the first line says so. The target has the same value in all of them, and is left out.
    pub(super) fn alternative_texts(&self) -> Vec<String> {
        let texts = self.alternatives.iter().enumerate().map(|(index, other)| {
            let proven = self.alternatives_certain || index > 0;
            let by = if proven { "or by" } else { "or, of those looked at, by" };
            let differs = |binding: &&super::Binding| !self.assignment.contains(binding);
            let values: Vec<String> = other
                .assignment
                .iter()
                .filter(differs)
                .map(|binding| format!("{} = {}", binding.variable, binding.value.read()))
                .collect();
            format!("{by} {}  {}", values.join(", "), score_text(other.score))
        });
        texts.collect()
    }
}

impl Entity {
    /// The text of the entity within a sentence.
    pub(super) fn read(&self) -> String {
        visible(&self.text).into_owned()
    }
}

impl Atom {
    /// What the atom is and where its truth comes from.
    pub fn standing(&self) -> String {
        standing(self.known.as_deref(), self.stored.as_deref(), Why::speaker(self.why.as_ref()))
    }

    /// The atom with its value: `not stars(Hitch, Eva)  0.9000  predicted with 0.1000`.
    pub fn text(&self) -> String {
        // The value is what enters the score, so that a reader can compute the score again.
        let (not, itself) = if self.negated {
            ("not ", format!(" with {}", score_text(self.truth)))
        } else {
            ("", String::new())
        };
        format!(
            "{not}{}({}, {})  {}  {}{itself}",
            self.relation.shown(),
            self.subject.read(),
            self.object.read(),
            score_text(self.value),
            self.standing()
        )
    }
}

impl Atom {
    /// The atom above what speaks for it.
    fn line(&self) -> Line {
        let below = self.why.as_ref().map(Why::lines).unwrap_or_default();
        Line { text: self.text(), below: below.into_iter().map(Line::plain).collect() }
    }
}

impl Why {
    /// Who says how true an edge is.
    fn speaker(why: Option<&Self>) -> &'static str {
        match why {
            None | Some(Self { rules_asked: false, .. }) => "the model",
            Some(why) if why.predictor > 0.0 => "model and rules",
            Some(_) => "rules",
        }
    }

    /// What speaks for the edge, a line each: how much comes from where, then the rules with what makes them true;
    /// or the most similar entities.
    pub(super) fn lines(&self) -> Vec<String> {
        let names: Vec<String> = self.similar.iter().map(Entity::read).collect();
        let like = match names.split_last() {
            None => String::new(),
            Some((last, [])) => format!(", as with {last}"),
            Some((last, others)) => format!(", as with {} and {last}", others.join(", ")),
        };
        if !self.rules_asked {
            // The truth of the atom stands above, and all of it is the predictor's.
            return if like.is_empty() { Vec::new() } else { vec![format!("by similarity{like}")] };
        }
        let mut by = Vec::new();
        if self.rules > 0.0 {
            by.push(format!("by rules {}", score_text(self.rules)));
        }
        if self.predictor > 0.0 {
            by.push(format!("by similarity {}{like}", score_text(self.predictor)));
        }
        let silent = match self.reasons.len() {
            _ if self.rules > 0.0 => None,
            0 => Some("no rule speaks for it"),
            _ => Some("rules speak for it, but count nothing for this relation"),
        };
        let by = (!by.is_empty()).then(|| by.join(", "));
        let first: Vec<&str> = by.as_deref().into_iter().chain(silent).collect();
        let mut lines = vec![first.join("; ")];
        lines.extend(self.reasons.iter().map(RuleReason::line));
        if self.more > 0 {
            lines.push(format!("and {}", counted(self.more as u64, "other rule")));
        }
        lines
    }
}

impl RuleReason {
    /// The rule with its counts and the stored edges that make it true: `h(X, c) ← b(X, d), right for 212 of 301,
    /// because b(x, d)`; where the counts are estimates, with the standard error: `right for about 1,546 ± 40 of 3,844`.
    fn line(&self) -> String {
        let mut correct = grouped(self.correct as usize);
        if let Some(error) = self.error {
            let error = (f64::from(error) * f64::from(self.predicted)).ceil();
            correct = format!("about {correct} ± {}", grouped(error as usize));
        }
        let predicted = grouped(self.predicted as usize);
        let edges: Vec<String> = self.because.iter().map(StoredEdge::read).collect();
        let because =
            if edges.is_empty() { String::new() } else { format!(", because {}", edges.join(" and ")) };
        let rule = visible(&self.rule);
        format!("{rule}  {}, right for {correct} of {predicted}{because}", score_text(self.confidence))
    }
}

impl StoredEdge {
    fn read(&self) -> String {
        format!("{}({}, {})", self.relation.shown(), self.subject.read(), self.object.read())
    }
}

fn standing(known: Option<&str>, stored: Option<&str>, by: &str) -> String {
    match (known, stored) {
        (Some(split), _) => format!("known, {split}"),
        (None, Some(split)) => format!("stored in {split}, scored by {by}"),
        (None, None) => "predicted".to_owned(),
    }
}

impl SubQuery {
    /// Its truth and the values of its own variables: `at best 0.2000 by A = Eva`.
    pub(super) fn reason(&self) -> String {
        /// A smaller difference of two scores does not show.
        const NOTICED: f32 = 1e-4;
        let truth = score_text(self.truth);
        let Some(witness) = &self.witness else {
            return format!("at most {truth}, no values found");
        };
        let own = witness.assignment.iter().filter(|binding| self.own.contains(&binding.variable));
        let values: Vec<String> =
            own.map(|binding| format!("{} = {}", binding.variable, binding.value.read())).collect();
        let values = values.join(", ");
        if self.truth - witness.score > NOTICED {
            format!("at most {truth}, and {} by {values}", score_text(witness.score))
        } else {
            format!("at best {truth} by {values}")
        }
    }

    pub(super) fn line(&self) -> String {
        format!("not {}  {}  {}", visible(&self.text), score_text(self.value), self.reason())
    }
}

impl Judged {
    /// How true the statement is, and the tree of reasons.
    fn text(&self) -> String {
        let standing = match self.known {
            Some(true) => "known",
            // Only a trusted edge makes a statement entirely false.
            Some(false) if self.truth <= 0.0 => "refuted by stored edges",
            Some(false) => "predicted",
            None => "undetermined",
        };
        let mut text = format!("truth {}  {standing}\n", score_text(self.truth));
        let mut lines = Vec::new();
        for (index, clauses) in self.alternatives.iter().enumerate() {
            let below: Vec<Line> = clauses.iter().map(Clause::line).collect();
            if self.alternatives.len() == 1 {
                lines = below;
            } else {
                lines.push(Line { text: format!("alternative {}", index + 1), below });
            }
        }
        draw(&lines, "", &mut text);
        text
    }
}

impl Clause {
    fn line(&self) -> Line {
        if let Some(atom) = &self.atom {
            return atom.line();
        }
        if let Some(exists) = &self.exists {
            let text = format!("{}  {}", visible(&exists.question), score_text(self.value));
            let Some(best) = &exists.best else {
                return Line { text, below: vec![Line::plain("nothing makes it true".to_owned())] };
            };
            let reasons = best.explanation.as_ref();
            let below = match reasons {
                Some(explanation) => conditions(&explanation.atoms, &explanation.sub_queries),
                None => Vec::new(),
            };
            let best =
                format!("best by {}  {}  {}", best.entity.shown(), score_text(best.score), best.standing());
            return Line { text, below: vec![Line { text: best, below }] };
        }
        let below = self.none_exists.iter().map(Self::line).collect();
        Line { text: format!("not  {}", score_text(self.value)), below }
    }
}

/// A line of a tree, and what stands below it.
struct Line {
    text: String,
    below: Vec<Line>,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { text, below: Vec::new() }
    }
}

/// The lines of an assignment: its atoms, and each negated sub-query with the best witness against it below.
fn conditions(atoms: &[Atom], sub_queries: &[SubQuery]) -> Vec<Line> {
    let atoms = atoms.iter().map(Atom::line);
    let sub_queries = sub_queries.iter().map(|nested| {
        let below = nested.witness.as_ref().map(|witness| conditions(&witness.atoms, &witness.sub_queries));
        Line { text: nested.line(), below: below.unwrap_or_default() }
    });
    atoms.chain(sub_queries).collect()
}

fn draw(lines: &[Line], indent: &str, out: &mut String) {
    for (index, line) in lines.iter().enumerate() {
        let is_last = index + 1 == lines.len();
        let (branch, trunk) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        *out += &format!("{indent}{branch} {}\n", line.text);
        draw(&line.below, &format!("{indent}{trunk}"), out);
    }
}

/// A bound with one digit, rounded up: `2e-5` for 0.0000123.
fn rounded_up(bound: f32) -> String {
    let nearest = format!("{bound:.0e}");
    match nearest.parse::<f32>() {
        Ok(shown) if shown < bound => {
            let (digit, power) = nearest.split_once('e').unwrap_or((&nearest, "0"));
            match (digit.parse::<u32>(), power.parse::<i32>()) {
                (Ok(digit), Ok(power)) if digit < 9 => format!("{}e{power}", digit + 1),
                (_, Ok(power)) => format!("1e{}", power + 1),
                _ => nearest,
            }
        }
        _ => nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing;

    fn reply(names: &[(String, f32)]) -> Reply {
        let answer = |(name, score): &(String, f32)| Answer {
            entity: Entity { id: 0, name: name.clone(), label: None, text: name.clone() },
            score: *score,
            known: Some(false),
            ways: None,
            explanation: None,
        };
        testing::reply(names.iter().map(answer).collect())
    }

    #[test]
    fn scores_stand_below_each_other_whatever_the_names() {
        let names = ["a".repeat(70), "日本語".repeat(8), "b".repeat(120), "c".to_owned()];
        let text = reply(&names.clone().map(|name| (name, 0.5))).to_string();
        let before = |line: &str| line.split_once("0.5000").map(|(before, _)| before.width());
        let places: Vec<usize> = text.lines().filter_map(before).collect();
        assert_eq!(places, [77; 4], "{text}");
        assert!(text.contains(&format!("{}\n", names[2])), "{text}");
    }

    #[test]
    fn small_scores_keep_their_digits_and_bounds_are_rounded_up() {
        let text = reply(&[("one".to_owned(), 0.75), ("other".to_owned(), 1.23e-12)]).to_string();
        assert!(text.contains("1p, proven exact to 2e-5, 1,234 rows scored"), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.ends_with("predicted")).collect();
        assert!(
            lines[0].ends_with("  0.7500  predicted") && lines[1].ends_with(" 1.2e-12  predicted"),
            "{text}"
        );
        assert_eq!(lines[0].len(), lines[1].len(), "{text}");
        assert_eq!([1.23e-5, 9.6e-5, 2e-5].map(rounded_up), ["2e-5", "1e-4", "2e-5"]);
    }

    #[test]
    fn a_reply_is_read_back_from_its_json() {
        let reply = reply(&[("one".to_owned(), 0.75)]);
        let json = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<Reply>(&json).unwrap(), reply);
    }

    #[test]
    fn the_alternative_that_carries_an_answer_is_named_with_the_score_of_each() {
        let explained = |open: [bool; 2]| Explanation {
            branch: 1,
            branch_scores: vec![0.0, 0.9],
            branches_open: open.to_vec(),
            score: 0.9,
            assignment: Vec::new(),
            atoms: Vec::new(),
            sub_queries: Vec::new(),
            alternatives: Vec::new(),
            alternatives_certain: true,
        };
        let said = |open| explained(open).branch_text().unwrap();
        assert_eq!(said([false, false]), "alternative 2 of 2 (0.0000, 0.9000)");
        assert_eq!(said([true, true]), "alternative 2 of 2 (left open, at least 0.9000)");
    }

    #[test]
    fn a_negated_sub_query_is_shown_with_the_values_that_make_it_truest() {
        let reply = testing::asked(testing::NEGATED);
        let explanation = reply.answers[0].explanation.as_ref().unwrap();
        let [nested] = &explanation.sub_queries[..] else { panic!("{explanation:?}") };
        let truth = score_text(nested.truth);
        assert_eq!(nested.reason(), format!("at best {truth} by A = Will\\nSmith"));
        let unsettled = SubQuery { truth: 0.9, witness: nested.witness.clone(), ..nested.clone() };
        assert!(unsettled.reason().starts_with("at most 0.9000, and "), "{}", unsettled.reason());
        let unfounded = SubQuery { witness: None, ..nested.clone() };
        assert_eq!(unfounded.reason(), format!("at most {truth}, no values found"));
    }

    #[test]
    fn edges_are_known_stored_or_predicted() {
        let text = |known, stored| standing(known, stored, "the model");
        assert_eq!(text(Some("train"), Some("train")), "known, train");
        assert_eq!(text(None, Some("train")), "stored in train, scored by the model");
        assert_eq!(text(None, None), "predicted");
    }

    #[test]
    fn what_says_nothing_is_not_named_and_an_estimate_has_its_error() {
        let why = |predictor, rules, reasons: &[RuleReason]| {
            let reasons = reasons.to_vec();
            Why { predictor, rules, reasons, more: 0, rules_asked: true, similar: Vec::new() }.lines()
        };
        assert_eq!(why(0.25, 0.5, &[]), ["by rules 0.5000, by similarity 0.2500"]);
        assert_eq!(why(0.0, 0.5, &[]), ["by rules 0.5000"]);
        assert_eq!(why(0.25, 0.0, &[]), ["by similarity 0.2500; no rule speaks for it"]);
        assert_eq!(why(0.0, 0.0, &[]), ["no rule speaks for it"]);
        let alone = Why {
            predictor: 0.25,
            rules: 0.0,
            reasons: Vec::new(),
            more: 0,
            rules_asked: false,
            similar: Vec::new(),
        };
        assert!(alone.lines().is_empty(), "the truth stands in the line of the atom");
        let estimated = RuleReason {
            rule: "h(X, Y) ← b(X, Y)".to_owned(),
            confidence: 0.4,
            predicted: 3844,
            correct: 1546,
            error: Some(0.0103),
            same: 0,
            because: Vec::new(),
        };
        assert_eq!(
            why(0.25, 0.0, &[estimated]),
            [
                "by similarity 0.2500; rules speak for it, but count nothing for this relation",
                "h(X, Y) ← b(X, Y)  0.4000, right for about 1,546 ± 40 of 3,844"
            ]
        );
    }
}
