//! Answers as text and as JSON.

use relatum::answer::{Alternative, Answer, Answers, Ask, ExplainedAtom, Explanation, SubQuery, score_text};
use relatum::graph::{EntityId, Graph, Split};
use relatum::query::{Direction, Negated, NormalForm, Question, VariableId};
use relatum::search::{Certainty, Known, Limit};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use crate::output;

fn certainty_text(answers: &Answers) -> String {
    match answers.certainty {
        Certainty::Exact { within } if within > 0.0 => format!("proven exact to {}", at_most(within)),
        Certainty::Exact { .. } => "proven exact".to_owned(),
        Certainty::Beam => "the best of a beam".to_owned(),
        Certainty::Continuous { steps, at_rest } => {
            let end = if at_rest { "" } else { " and not yet at rest" };
            format!("continuous optimisation, {steps} steps{end}; explained by the nearest entities")
        }
        Certainty::Stopped { by } => {
            let by = match by {
                Limit::Time => "by --timeout",
                Limit::Rows => "by --max-rows",
                Limit::Asked => "as asked",
            };
            format!("stopped early {by}: the best so far")
        }
    }
}

/// A bound with one digit, rounded up: `2e-5` for 0.0000123.
fn at_most(bound: f32) -> String {
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

/// The question as it was understood, and how it was answered.
pub(crate) fn header(graph: &Graph, question: &Question, answers: &Answers) -> String {
    let shape = question.checked.shape.map_or("general", |shape| shape.name());
    format!(
        "{}\n{shape}, {}, {} scored\n",
        question.checked.query.named(graph),
        certainty_text(answers),
        output::counted(answers.rows as u64, "row")
    )
}

pub(crate) fn as_text(
    graph: &Graph,
    question: &Question,
    answers: &Answers,
    new_only: bool,
    caveat: Option<String>,
) -> String {
    let mut text = header(graph, question, answers);
    if let Some(caveat) = caveat {
        text += &format!("{caveat}\n");
    }
    if answers.answers.iter().any(|answer| answer.known.is_none()) {
        text += "time was up before it was clear which answers the stored edges already give\n";
    }
    text.push('\n');
    if answers.answers.is_empty() {
        text += match (answers.certainty, new_only) {
            (Certainty::Stopped { .. }, _) => "no answer so far\n",
            (_, true) => "no new answer\n",
            _ => "no answer\n",
        };
    }
    let columns = Columns::of(graph, &answers.answers);
    for (index, answer) in answers.answers.iter().enumerate() {
        text += &columns.line(graph, index + 1 + question.offset, answer);
        if let Some(explanation) = &answer.explanation {
            text += &explanation_text(graph, question, explanation);
        }
    }
    text
}

/// How wide names and scores of some answers are, so that the scores stand below each other.
pub(crate) struct Columns {
    name: usize,
    score: usize,
}

impl Columns {
    /// A list is not torn apart by one name that is longer than a line: its score stands below it.
    const NAMES: std::ops::RangeInclusive<usize> = 50..=90;

    pub(crate) fn of(graph: &Graph, answers: &[Answer]) -> Self {
        let names = answers.iter().map(|answer| graph.entity_shown(answer.entity).width());
        let scores = answers.iter().map(|answer| score_text(answer.score).len());
        let names = names.filter(|width| width <= Self::NAMES.end());
        Self { name: names.max().unwrap_or(0).max(*Self::NAMES.start()), score: scores.max().unwrap_or(0) }
    }

    /// The line of an answer.
    pub(crate) fn line(&self, graph: &Graph, place: usize, answer: &Answer) -> String {
        let (name, score) = (graph.entity_shown(answer.entity), score_text(answer.score));
        let begin = format!("{place:>3}. {name}");
        let gap = match self.name.checked_sub(name.width()) {
            Some(gap) => " ".repeat(gap),
            None => format!("\n{}", " ".repeat(5 + self.name)),
        };
        format!("{begin}{gap} {score:>width$}  {}\n", answer.standing(), width = self.score)
    }
}

pub(crate) fn explanation_text(graph: &Graph, question: &Question, explanation: &Explanation) -> String {
    let normal_form = &question.checked.normal_form;
    let mut lines = Vec::new();
    lines.extend(explanation.branch_text().map(Line::plain));
    let negated = normal_form.branches.get(explanation.branch).map_or(&[][..], |branch| &branch.negated);
    lines.extend(conditions(graph, normal_form, &explanation.atoms, negated, &explanation.sub_queries));
    lines.extend(explanation.alternative_texts(normal_form, graph).into_iter().map(Line::plain));
    let mut text = String::new();
    draw(&lines, "     ", &mut text);
    text
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

/// What an assignment says: its atoms, and each negated sub-query above the best witness against it.
fn conditions(
    graph: &Graph,
    normal_form: &NormalForm,
    atoms: &[ExplainedAtom],
    negated: &[Negated],
    found: &[SubQuery],
) -> Vec<Line> {
    let atoms = atoms.iter().map(|atom| Line::plain(atom.text(graph)));
    let sub_queries = negated.iter().zip(found).map(|(nested, found)| {
        let below = found.witness.as_ref().map(|witness| {
            conditions(graph, normal_form, &witness.atoms, &nested.branch.negated, &witness.sub_queries)
        });
        let text = format!(
            "not {}  {}  {}",
            normal_form.sub_query_text(nested, graph),
            score_text(found.value),
            found.text(nested, normal_form, graph)
        );
        Line { text, below: below.unwrap_or_default() }
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

pub(crate) fn as_json(text: &str, graph: &Graph, question: &Question, how: &Ask, answers: &Answers) -> Value {
    let json = Json { graph, normal_form: &question.checked.normal_form };
    json!({
        "query": text,
        "shape": question.checked.shape.map_or("general", |shape| shape.name()),
        "method": answers.method.name(),
        "settings": settings(how),
        "certainty": certainty_text(answers),
        "stopped_by": stopped_by(answers.certainty),
        "rows": answers.rows,
        "answers": answers.answers.iter().map(|answer| json.answer(answer)).collect::<Vec<_>>(),
    })
}

/// All that a score depends on beside the model, so that it can be had again.
fn settings(how: &Ask) -> Map<String, Value> {
    let known = match how.known {
        Known::Ignore => "ignore",
        Known::TRAIN => "train",
        Known::Trust(_) => "trust",
    };
    let mut settings = Map::new();
    let mut set = |name: &str, value: Value| settings.insert(name.to_owned(), value);
    set("t_norm", json!(how.logic.t_norm.name()));
    set("calibration", json!(how.calibration.name()));
    if how.sharpness.to_bits() != 1f32.to_bits() {
        set("sharpness", json!(how.sharpness));
    }
    set("known", json!(known));
    set("negation_scale", json!(how.logic.negation.scale));
    settings
}

/// The limit that ended a search before it was done; none if it was done.
fn stopped_by(certainty: Certainty) -> Option<&'static str> {
    let Certainty::Stopped { by } = certainty else { return None };
    Some(match by {
        Limit::Time => "timeout",
        Limit::Rows => "max-rows",
        Limit::Asked => "interrupt",
    })
}

/// Writes answers as JSON, with the names that they have in the graph.
struct Json<'a> {
    graph: &'a Graph,
    normal_form: &'a NormalForm,
}

impl Json<'_> {
    fn answer(&self, answer: &Answer) -> Value {
        json!({
            "name": self.graph.entities.name(answer.entity),
            "label": self.graph.entities.label(answer.entity),
            "score": answer.score,
            "known": answer.known,
            "explanation": answer.explanation.as_ref().map(|explanation| self.explanation(explanation)),
        })
    }

    fn explanation(&self, explanation: &Explanation) -> Value {
        let branch = self.normal_form.branches.get(explanation.branch);
        let negated = branch.map_or(&[][..], |branch| &branch.negated);
        let other = |other: &Alternative| json!({ "assignment": self.assignment(&other.assignment), "score": other.score });
        json!({
            "branch": explanation.branch,
            "branch_scores": explanation.branch_scores,
            "branches_open": explanation.branches_open,
            "score": explanation.score,
            "assignment": self.assignment(&explanation.assignment),
            "atoms": self.atoms(&explanation.atoms),
            "sub_queries": self.sub_queries(negated, &explanation.sub_queries),
            "alternatives": explanation.alternatives.iter().map(other).collect::<Vec<_>>(),
            "alternatives_certain": explanation.alternatives_certain,
        })
    }

    fn atoms(&self, atoms: &[ExplainedAtom]) -> Vec<Value> {
        let name = |id| self.graph.entities.name(id);
        let atom = |atom: &ExplainedAtom| {
            json!({
                "relation": self.graph.relations.name(atom.edge.relation),
                "subject": name(atom.edge.head),
                "object": name(atom.edge.tail),
                "negated": atom.negated,
                "truth": atom.truth,
                "value": atom.value,
                "scored_from": if atom.read == Direction::Forward { "subject" } else { "object" },
                "known": atom.known.map(Split::name),
                "stored": atom.stored.map(Split::name),
            })
        };
        atoms.iter().map(atom).collect()
    }

    fn sub_queries(&self, negated: &[Negated], found: &[SubQuery]) -> Vec<Value> {
        let one = |(nested, found): (&Negated, &SubQuery)| {
            let witness = found.witness.as_ref().map(|witness| {
                json!({
                    "score": witness.score,
                    "assignment": self.assignment(&witness.assignment),
                    "atoms": self.atoms(&witness.atoms),
                    "sub_queries": self.sub_queries(&nested.branch.negated, &witness.sub_queries),
                })
            });
            json!({
                "text": self.normal_form.sub_query_text(nested, self.graph),
                "truth": found.truth,
                "value": found.value,
                "witness": witness,
            })
        };
        negated.iter().zip(found).map(one).collect()
    }

    fn assignment(&self, values: &[(VariableId, EntityId)]) -> Map<String, Value> {
        let name = |id: VariableId| self.normal_form.variable_name(id).to_owned();
        values.iter().map(|&(id, value)| (name(id), json!(self.graph.entities.name(value)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use relatum::answer::Method;
    use relatum::graph::GraphBuilder;
    use relatum::query::{Limits, Syntax, read};

    use super::*;

    #[test]
    fn scores_stand_below_each_other_whatever_the_names() {
        let names = ["a".repeat(70), "日本語".repeat(8), "b".repeat(120), "c".to_owned()];
        let mut builder = GraphBuilder::default();
        for name in &names {
            builder.entity(name);
        }
        let (graph, _) = builder.finish();
        let answer = |id| Answer { entity: EntityId(id), score: 0.5, known: Some(false), explanation: None };
        let answers: Vec<Answer> = (0..4).map(answer).collect();
        let columns = Columns::of(&graph, &answers);
        let text: String = answers.iter().map(|answer| columns.line(&graph, 1, answer)).collect();
        let places: Vec<usize> = text
            .lines()
            .filter_map(|line| line.split_once("0.5000").map(|(before, _)| before.width()))
            .collect();
        assert_eq!(places, [76; 4], "{text}");
        assert!(text.contains(&format!("{}\n", names[2])), "{text}");
    }

    #[test]
    fn small_scores_keep_their_digits_and_stand_below_the_others() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "a", "r", "b");
        let (graph, _) = builder.finish();
        let question = read("?A : r(a, A)", Syntax::Text, &graph, Limits::default()).unwrap();
        let answer =
            |id, score| Answer { entity: EntityId(id), score, known: Some(false), explanation: None };
        let answers = vec![answer(1, 0.75), answer(0, 1.23e-12)];
        let answers = Answers { answers, method: Method::Beam, certainty: Certainty::Beam, rows: 1 };
        let text = as_text(&graph, &question, &answers, false, None);
        let lines: Vec<&str> = text.lines().filter(|line| line.ends_with("predicted")).collect();
        assert!(
            lines[0].ends_with("  0.7500  predicted") && lines[1].ends_with(" 1.2e-12  predicted"),
            "{text}"
        );
        assert_eq!(lines[0].len(), lines[1].len(), "{text}");
    }
}
