//! Answers as text and as JSON.

use relatum::answer::{Alternative, Answer, Answers, ExplainedAtom, Explanation};
use relatum::graph::{EntityId, Graph, Split};
use relatum::query::{Question, VariableId};
use relatum::search::Certainty;
use serde_json::{Map, Value, json};

use crate::output;

fn certainty_text(answers: &Answers) -> String {
    match answers.certainty {
        Certainty::Exact { within } if within > 0.0 => format!("proven exact to {within:.0e}"),
        Certainty::Exact { .. } => "proven exact".to_owned(),
        Certainty::Beam => "the best of a beam".to_owned(),
        Certainty::Continuous { steps } => {
            format!("continuous optimisation, {steps} steps; explained by the nearest entities")
        }
        Certainty::Stopped => "stopped early: the best so far".to_owned(),
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
    text.push('\n');
    if answers.answers.is_empty() {
        text += match (answers.certainty, new_only) {
            (Certainty::Stopped, _) => "no answer so far\n",
            (_, true) => "no new answer\n",
            _ => "no answer\n",
        };
    }
    for (index, answer) in answers.answers.iter().enumerate() {
        text += &answer_line(graph, index + 1 + question.offset, answer);
        if let Some(explanation) = &answer.explanation {
            text += &explanation_text(graph, question, explanation);
        }
    }
    text
}

pub(crate) fn answer_line(graph: &Graph, place: usize, answer: &Answer) -> String {
    let known = if answer.known { "known" } else { "predicted" };
    format!("{place:>3}. {:<50} {:.4}  {known}\n", graph.entity_shown(answer.entity), answer.score)
}

pub(crate) fn explanation_text(graph: &Graph, question: &Question, explanation: &Explanation) -> String {
    let normal_form = &question.checked.normal_form;
    let mut lines = Vec::new();
    if explanation.branch_scores.len() > 1 {
        let scores: Vec<String> =
            explanation.branch_scores.iter().map(|score| format!("{score:.4}")).collect();
        lines.push(format!(
            "alternative {} of {} ({})",
            explanation.branch + 1,
            scores.len(),
            scores.join(", ")
        ));
    }
    for atom in &explanation.atoms {
        let edge = atom.edge;
        let known = atom.known.map_or_else(|| "predicted".to_owned(), |split| format!("known, {split}"));
        // What enters the score, so that a reader can fold it again.
        let (not, itself) =
            if atom.negated { ("not ", format!(" with {:.4}", atom.truth)) } else { ("", String::new()) };
        lines.push(format!(
            "{not}{}({}, {})  {:.4}  {known}{itself}",
            graph.relation_text(edge.relation),
            graph.entity_text(edge.head),
            graph.entity_text(edge.tail),
            atom.value
        ));
    }
    let negated = normal_form.branches.get(explanation.branch).map_or(&[][..], |branch| &branch.negated);
    for (nested, truth) in negated.iter().zip(&explanation.sub_queries) {
        lines.push(format!("not {}  {:.4}", normal_form.sub_query_text(nested, graph), 1.0 - truth));
    }
    for other in &explanation.alternatives {
        let values = other.assignment.iter().filter(|(id, _)| *id != normal_form.target);
        let values: Vec<String> = values
            .map(|&(id, value)| format!("{} = {}", normal_form.variable_name(id), graph.entity_text(value)))
            .collect();
        if !values.is_empty() {
            lines.push(format!("or by {}  {:.4}", values.join(", "), other.score));
        }
    }
    let last = lines.len().saturating_sub(1);
    let branch = |index| if index == last { "└─" } else { "├─" };
    lines.iter().enumerate().map(|(index, line)| format!("     {} {line}\n", branch(index))).collect()
}

pub(crate) fn as_json(text: &str, graph: &Graph, question: &Question, answers: &Answers) -> Value {
    let name = |id| graph.entities.name(id);
    let normal_form = &question.checked.normal_form;
    let assignment = |values: &[(VariableId, EntityId)]| {
        let pairs =
            values.iter().map(|&(id, value)| (normal_form.variable_name(id).to_owned(), json!(name(value))));
        pairs.collect::<Map<_, _>>()
    };
    let explained = |explanation: &Explanation| {
        let atom = |atom: &ExplainedAtom| {
            json!({
                "relation": graph.relations.name(atom.edge.relation),
                "subject": name(atom.edge.head),
                "object": name(atom.edge.tail),
                "negated": atom.negated,
                "truth": atom.truth,
                "value": atom.value,
                "known": atom.known.map(Split::name),
            })
        };
        let other = |other: &Alternative| json!({ "assignment": assignment(&other.assignment), "score": other.score });
        json!({
            "branch": explanation.branch,
            "branch_scores": explanation.branch_scores,
            "score": explanation.score,
            "assignment": assignment(&explanation.assignment),
            "atoms": explanation.atoms.iter().map(atom).collect::<Vec<_>>(),
            "sub_queries": explanation.sub_queries,
            "alternatives": explanation.alternatives.iter().map(other).collect::<Vec<_>>(),
        })
    };
    let answer = |answer: &Answer| {
        json!({
            "name": name(answer.entity),
            "label": graph.entities.label(answer.entity),
            "score": answer.score,
            "known": answer.known,
            "explanation": answer.explanation.as_ref().map(explained),
        })
    };
    json!({
        "query": text,
        "shape": question.checked.shape.map_or("general", |shape| shape.name()),
        "certainty": certainty_text(answers),
        "rows": answers.rows,
        "answers": answers.answers.iter().map(answer).collect::<Vec<_>>(),
    })
}
