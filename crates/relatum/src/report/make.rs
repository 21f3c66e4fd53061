//! Makes reports from results: names in place of ids.

use super::reply::{
    Alternative, Answer, Atom, Binding, Certainty, Clause, Entity, Existence, Explanation, Judged, Relation,
    RelationAnswer, RuleReason, Stop, StoredEdge, SubQuery, Ways, Why, Witness,
};
use crate::answer::{self, ClauseReason, JudgedClause, Judgement, RankedRelation};
use crate::control::Limit;
use crate::graph::{EntityId, Graph, RelationId, Split, Triple};
use crate::model::Reciprocals;
use crate::model::rules::{Reason, rule_text};
use crate::query::{Branch, Direction, Negated, NormalForm, Term, VariableId};
use crate::search;

/// The names of a graph and of the variables of a question.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) normal_form: &'a NormalForm,
}

/// The answers of a search.
pub(crate) fn of_answers(names: Names<'_>, answers: &[answer::Answer]) -> Vec<Answer> {
    answers.iter().map(|answer| names.answer(answer)).collect()
}

/// Relations between two things, each with what speaks for it.
pub(crate) fn of_relations(
    graph: &Graph,
    ranked: &[RankedRelation],
    why: impl Fn(&RankedRelation) -> Option<search::Why>,
) -> Vec<RelationAnswer> {
    let of = |it: &RankedRelation| RelationAnswer {
        relation: relation(graph, it.relation),
        score: it.truth,
        known: split(it.known),
        stored: split(it.stored),
        why: why(it).map(|why| of_why(graph, &why)),
    };
    ranked.iter().map(of).collect()
}

/// The truth of a statement.
pub(crate) fn of_judgement(graph: &Graph, judgement: &Judgement) -> Judged {
    let alternatives = judgement.alternatives.iter();
    let clauses = |clauses: &[JudgedClause]| clauses.iter().map(|it| clause(graph, it)).collect::<Vec<_>>();
    Judged {
        truth: judgement.truth,
        known: judgement.known,
        alternatives: alternatives.map(|alternative| clauses(&alternative.clauses)).collect(),
    }
}

fn clause(graph: &Graph, judged: &JudgedClause) -> Clause {
    let mut clause = Clause {
        value: judged.value,
        known: judged.known,
        atom: None,
        exists: None,
        none_exists: Vec::new(),
    };
    match &judged.reason {
        ClauseReason::Atom(it) => clause.atom = Some(atom(graph, it, [None, None])),
        ClauseReason::Exists { question, plan, answers } => {
            let names = Names { graph, normal_form: &plan.normal_form() };
            let best = answers.answers.first().map(|answer| names.answer(answer));
            clause.exists = Some(Existence { question: question.named(graph).to_string(), best });
        }
        ClauseReason::NoneExists(inner) => {
            clause.none_exists = inner.iter().map(|it| self::clause(graph, it)).collect();
        }
    }
    clause
}

impl From<search::Certainty> for Certainty {
    fn from(certainty: search::Certainty) -> Self {
        match certainty {
            search::Certainty::Exact { within } => Self::Exact { within },
            search::Certainty::Beam { k, settled } => Self::Beam { k, settled },
            search::Certainty::Continuous { steps, at_rest } => Self::Continuous { steps, at_rest },
            search::Certainty::Stopped { by } => Self::Stopped {
                by: match by {
                    Limit::Time => Stop::Time,
                    Limit::Rows => Stop::Rows,
                    Limit::Asked => Stop::Asked,
                    Limit::Memory => Stop::Memory,
                },
            },
        }
    }
}

/// An entity with its names.
pub(crate) fn entity(graph: &Graph, id: EntityId) -> Entity {
    Entity {
        id: id.0,
        name: graph.entities.name(id).to_owned(),
        label: graph.entities.label(id).map(str::to_owned),
        text: graph.entities.readable(id, &graph.prefixes),
    }
}

/// A relation with its names.
pub(crate) fn relation(graph: &Graph, id: RelationId) -> Relation {
    Relation {
        id: id.0,
        name: graph.relations.name(id).to_owned(),
        label: graph.relations.label(id).map(str::to_owned),
        text: graph.relations.readable(id, &graph.prefixes),
    }
}

fn split(split: Option<Split>) -> Option<String> {
    split.map(|split| split.name().to_owned())
}

/// An atom; `variables` are those of its two sides.
fn atom(graph: &Graph, atom: &answer::ExplainedAtom, variables: [Option<String>; 2]) -> Atom {
    let [subject_variable, object_variable] = variables;
    Atom {
        relation: relation(graph, atom.edge.relation),
        subject: entity(graph, atom.edge.head),
        subject_variable,
        object: entity(graph, atom.edge.tail),
        object_variable,
        negated: atom.negated,
        truth: atom.truth,
        value: atom.value,
        scored_from: if atom.read == Direction::Forward { "subject" } else { "object" }.to_owned(),
        known: split(atom.known),
        stored: split(atom.stored),
        why: atom.why.as_ref().map(|why| of_why(graph, why)),
    }
}

fn of_why(graph: &Graph, why: &search::Why) -> Why {
    let reciprocals = Reciprocals::of(graph);
    let edge = |&(from, along, to): &(EntityId, RelationId, EntityId)| {
        let Triple { head, relation: along, tail } = reciprocals.hop(along).edge(from, to);
        StoredEdge {
            relation: relation(graph, along),
            subject: entity(graph, head),
            object: entity(graph, tail),
        }
    };
    let reason = |reason: &Reason| RuleReason {
        rule: rule_text(&reason.rule, graph, &reciprocals),
        confidence: reason.rule.confidence,
        predicted: reason.rule.predicted,
        correct: reason.rule.correct,
        error: (reason.rule.error > 0.0).then_some(reason.rule.error),
        same: reason.same,
        because: reason.grounding.iter().map(edge).collect(),
    };
    Why {
        predictor: why.by_predictor,
        rules: why.by_rules,
        reasons: why.reasons.iter().map(reason).collect(),
        more: why.more,
        rules_asked: why.rules_asked,
        similar: why.similar.iter().map(|&id| entity(graph, id)).collect(),
    }
}

impl Names<'_> {
    fn answer(&self, answer: &answer::Answer) -> Answer {
        Answer {
            entity: entity(self.graph, answer.entity),
            score: answer.score,
            known: answer.known,
            ways: answer.ways.map(|ways| Ways { count: ways.count, more: ways.more }),
            explanation: answer.explanation.as_ref().map(|explanation| self.explanation(explanation)),
        }
    }

    fn explanation(&self, explanation: &answer::Explanation) -> Explanation {
        let nothing = Branch::default();
        let branch = self.normal_form.branches.get(explanation.branch).unwrap_or(&nothing);
        let alternatives = explanation.alternatives.iter();
        Explanation {
            branch: explanation.branch,
            branch_scores: explanation.branch_scores.clone(),
            branches_open: explanation.branches_open.clone(),
            score: explanation.score,
            assignment: self.assignment(&explanation.assignment),
            atoms: self.atoms(branch, &explanation.assignment, &explanation.atoms),
            sub_queries: self.sub_queries(&branch.negated, &explanation.sub_queries),
            alternatives: alternatives
                .map(|it| Alternative { assignment: self.assignment(&it.assignment), score: it.score })
                .collect(),
            alternatives_certain: explanation.alternatives_certain,
        }
    }

    /// The atoms of a branch, which were explained in its order; atoms without values were skipped.
    fn atoms(
        &self,
        branch: &Branch,
        assignment: &[(VariableId, EntityId)],
        explained: &[answer::ExplainedAtom],
    ) -> Vec<Atom> {
        let has_value = |term: Term| match term {
            Term::Entity(_) => true,
            Term::Variable(id) => assignment.iter().any(|(other, _)| *other == id),
        };
        let all = branch.positive.iter().chain(&branch.negative);
        let shown = all.filter(|atom| has_value(atom.subject) && has_value(atom.object));
        let name = |term: Term| term.variable().map(|id| self.variable(id));
        let of = |(source, explained): (&crate::query::Atom, &answer::ExplainedAtom)| {
            atom(self.graph, explained, [name(source.subject), name(source.object)])
        };
        shown.zip(explained).map(of).collect()
    }

    fn sub_queries(&self, negated: &[Negated], found: &[answer::SubQuery]) -> Vec<SubQuery> {
        negated.iter().zip(found).map(|(nested, found)| self.sub_query(nested, found)).collect()
    }

    fn sub_query(&self, nested: &Negated, found: &answer::SubQuery) -> SubQuery {
        let names = |ids: &[VariableId]| ids.iter().map(|&id| self.variable(id)).collect();
        let witness = found.witness.as_ref().map(|witness| Witness {
            score: witness.score,
            assignment: self.assignment(&witness.assignment),
            atoms: self.atoms(&nested.branch, &witness.assignment, &witness.atoms),
            sub_queries: self.sub_queries(&nested.branch.negated, &witness.sub_queries),
        });
        SubQuery {
            text: self.normal_form.sub_query_text(nested, self.graph),
            shares: names(&nested.free()),
            own: names(&nested.bound),
            truth: found.truth,
            value: found.value,
            witness,
        }
    }

    fn assignment(&self, values: &[(VariableId, EntityId)]) -> Vec<Binding> {
        let binding = |&(id, value): &(VariableId, EntityId)| Binding {
            variable: self.variable(id),
            value: entity(self.graph, value),
        };
        values.iter().map(binding).collect()
    }

    fn variable(&self, id: VariableId) -> String {
        self.normal_form.variable_name(id).to_owned()
    }
}
