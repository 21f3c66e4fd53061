//! A plan with names instead of ids: what is printed, drawn and sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::branch::{BranchPlan, Factor, Step};
use super::message::{Message, SignedHop};
use super::{Plan, Scan};
use crate::graph::{EntityId, Graph, RelationId};
use crate::query::syntax::name_text;
use crate::query::{Atom, Direction, Hop, Term, VariableId};

/// A plan in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// The name of the target.
    pub target: String,
    /// The shape of the literature, or `general`.
    pub shape: String,
    /// Whether exact search can run all of it.
    pub tree: bool,
    /// About how many rows will be scored.
    pub rows: f64,
    /// How many states a beam keeps.
    pub beam: usize,
    /// Whether atoms may be scored from the target's side.
    pub either_side: bool,
    /// The alternatives.
    pub branches: Vec<BranchReport>,
    /// What exact search computes, parts before wholes.
    pub messages: Vec<MessageReport>,
}

/// A branch or a negated sub-query in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchReport {
    /// The variable that it is a condition on.
    pub target: String,
    /// Whether exact search can run it.
    pub tree: bool,
    /// The position of its message to the target.
    pub root: Option<usize>,
    /// Variables that have values already.
    pub inputs: Vec<String>,
    /// About how many rows it scores by itself.
    pub rows: f64,
    /// The atoms, as written.
    pub atoms: Vec<AtomReport>,
    /// The variables in the order in which they get their values.
    pub steps: Vec<StepReport>,
    /// Its negated sub-queries.
    pub negated: Vec<BranchReport>,
}

/// An atom in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtomReport {
    /// The relation.
    pub relation: String,
    /// The left side.
    pub subject: TermReport,
    /// The right side.
    pub object: TermReport,
    /// Whether it must not hold.
    pub negated: bool,
}

/// One side of an atom in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TermReport {
    /// An anchor.
    Entity(String),
    /// A variable.
    Variable(String),
}

/// A step in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// The variable that gets its values.
    pub variable: String,
    /// The conditions that give them.
    pub factors: Vec<FactorReport>,
    /// About how many values fit.
    pub candidates: f64,
    /// About how many rows are scored.
    pub rows: f64,
    /// How many states are kept, if a choice is made.
    pub beam: Option<usize>,
    /// Variables that are still needed: states that agree on them are merged.
    pub needed: Vec<String>,
    /// Variables that are eliminated.
    pub eliminated: Vec<String>,
    /// The branch (from 1) and step (from 1) that leave the same states.
    pub same_as: Option<(usize, usize)>,
}

/// A factor in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FactorReport {
    /// Rows from a known side.
    Row {
        /// The relation.
        relation: String,
        /// Whether it is read backwards, through the reciprocal relation.
        backwards: bool,
        /// The known side.
        from: TermReport,
        /// Whether the atom is negated.
        negated: bool,
    },
    /// A relation of the variable with itself.
    Loop {
        /// The relation.
        relation: String,
        /// Whether the atom is negated.
        negated: bool,
    },
    /// A negated sub-query.
    Negated {
        /// Its position among the sub-queries of the branch.
        index: usize,
    },
}

/// A message in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageReport {
    /// `all`, `row`, `not`, `meet`, `join`, `project` or `look`.
    pub kind: String,
    /// What is scored: `stars⁻¹("Martin Lawrence", ·)`.
    pub scores: Vec<String>,
    /// The positions of the messages that it is made of.
    pub parts: Vec<usize>,
    /// For a projection: the number of its scan; projections of one scan share their rows.
    pub scan: Option<usize>,
    /// About how many rows the scan scores, all its projections together.
    pub scan_rows: Option<f64>,
}

impl Plan {
    /// The plan with the names of a graph.
    pub fn describe(&self, graph: &Graph) -> PlanReport {
        let words = Words { plan: self, graph };
        PlanReport {
            target: self.variable_name(self.target).to_owned(),
            shape: self.shape.map_or("general", |shape| shape.name()).to_owned(),
            tree: self.is_tree(),
            rows: self.rows,
            beam: self.options.beam,
            either_side: self.options.either_side,
            branches: self.branches.iter().map(|branch| words.branch(branch)).collect(),
            messages: self.messages.iter().map(|message| words.message(message)).collect(),
        }
    }
}

struct Words<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
}

impl Words<'_> {
    fn branch(&self, plan: &BranchPlan) -> BranchReport {
        let positive = plan.branch.positive.iter().map(|atom| self.atom(atom, false));
        let negative = plan.branch.negative.iter().map(|atom| self.atom(atom, true));
        BranchReport {
            target: self.variable(plan.target),
            tree: plan.root.is_some(),
            root: plan.root.map(super::MessageId::index),
            inputs: plan.inputs.iter().map(|&id| self.variable(id)).collect(),
            rows: plan.rows,
            atoms: positive.chain(negative).collect(),
            steps: plan.steps.iter().map(|step| self.step(step)).collect(),
            negated: plan.negated.iter().map(|nested| self.branch(nested)).collect(),
        }
    }

    fn atom(&self, atom: &Atom, negated: bool) -> AtomReport {
        AtomReport {
            relation: self.relation(atom.relation),
            subject: self.term(atom.subject),
            object: self.term(atom.object),
            negated,
        }
    }

    fn step(&self, step: &Step) -> StepReport {
        let variables = |ids: &[VariableId]| ids.iter().map(|&id| self.variable(id)).collect();
        StepReport {
            variable: self.variable(step.variable),
            factors: step.factors.iter().map(|factor| self.factor(factor)).collect(),
            candidates: step.candidates,
            rows: step.rows,
            beam: step.beam,
            needed: variables(&step.needed),
            eliminated: variables(&step.eliminated),
            same_as: step.same_as.map(|(branch, step)| (branch + 1, step + 1)),
        }
    }

    fn factor(&self, factor: &Factor) -> FactorReport {
        match *factor {
            Factor::Row { from, hop, negated } => FactorReport::Row {
                relation: self.relation(hop.relation),
                backwards: hop.direction == Direction::Backward,
                from: self.term(from),
                negated,
            },
            Factor::Loop { relation, negated } => {
                FactorReport::Loop { relation: self.relation(relation), negated }
            }
            Factor::Negated(index) => FactorReport::Negated { index },
        }
    }

    fn message(&self, message: &Message) -> MessageReport {
        let hops = |hops: &[SignedHop]| hops.iter().map(|signed| self.signed(*signed)).collect();
        let (kind, scores) = match message {
            Message::All => ("all", Vec::new()),
            Message::Row { anchor, hop } => {
                let anchor = name_text(&self.entity(*anchor));
                ("row", vec![format!("{}({anchor}, ·)", self.hop(*hop))])
            }
            Message::Not(_) => ("not", Vec::new()),
            Message::Meet(_) => ("meet", Vec::new()),
            Message::Join(_) => ("join", Vec::new()),
            Message::Project { hops: along, .. } => ("project", hops(along)),
            Message::Look { hops: along, .. } => ("look", hops(along)),
        };
        let scan: Option<(usize, &Scan)> = match message {
            Message::Project { scan, .. } => {
                self.plan.scans.get(scan.0 as usize).map(|it| (scan.0 as usize, it))
            }
            _ => None,
        };
        MessageReport {
            kind: kind.to_owned(),
            scores,
            parts: message.parts().iter().map(|part| part.index()).collect(),
            scan: scan.map(|(index, _)| index),
            scan_rows: scan.map(|(_, scan)| scan.rows),
        }
    }

    fn signed(&self, signed: SignedHop) -> String {
        let not = if signed.negated { "1 − " } else { "" };
        format!("{not}{}", self.hop(signed.hop))
    }

    fn hop(&self, hop: Hop) -> String {
        let name = name_text(&self.relation(hop.relation));
        if hop.direction == Direction::Backward { format!("{name}⁻¹") } else { name }
    }

    fn term(&self, term: Term) -> TermReport {
        match term {
            Term::Entity(id) => TermReport::Entity(self.entity(id)),
            Term::Variable(id) => TermReport::Variable(self.variable(id)),
        }
    }

    /// The text of an entity as it is, because JSON has it too; text for people quotes it or makes it visible.
    fn entity(&self, id: EntityId) -> String {
        self.graph.entities.readable(id, &self.graph.prefixes)
    }

    fn relation(&self, id: RelationId) -> String {
        self.graph.relations.readable(id, &self.graph.prefixes)
    }

    fn variable(&self, id: VariableId) -> String {
        self.plan.variable_name(id).to_owned()
    }
}

impl std::fmt::Display for TermReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Entity(name) => f.write_str(&name_text(name)),
            Self::Variable(name) => f.write_str(name),
        }
    }
}
