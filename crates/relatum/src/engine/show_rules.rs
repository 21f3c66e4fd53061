//! Looking at rules: sorted, with examples for and against.

use super::{Engine, Error, OpenRules};
use crate::graph::{EntityId, Split};
use crate::model::rules::{Body, Rule, RuleSet, Walker, rule_text};
use crate::report::{RuleList, ShownRule};

/// Which rules to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShowRules {
    /// The name of the rules; none: the default ones.
    pub rules: Option<String>,
    /// The relation that they predict.
    pub relation: String,
    /// An entity that they speak of.
    pub about: Option<String>,
    /// How many; none: 20.
    pub top: Option<usize>,
}

/// How many rules are shown where nobody says it.
const TOP: usize = 20;
/// Examples of each kind.
const EXAMPLES: usize = 3;
/// Starts from which examples are sought.
const SOUGHT: usize = 2_000;
/// Arcs that a walk may look at for an example.
const REACH: usize = 20_000;

impl Engine {
    /// The rules that predict a relation, in either direction, the most confident first, with examples.
    pub fn show_rules(&self, show: &ShowRules) -> Result<RuleList, Error> {
        let graph = self.graph();
        let relation = graph.relation(&show.relation)?;
        let about = show.about.as_deref().map(|name| graph.entity(name)).transpose()?;
        let open = self.rules(show.rules.as_deref())?;
        let (set, steps) = (open.index.set(), open.index.steps());
        let inverse = steps.inverse(relation);
        let mut places: Vec<usize> = set.of_head(relation).collect();
        if inverse != relation {
            places.extend(set.of_head(inverse));
        }
        let speaks =
            |place: &usize| about.is_none_or(|entity| RuleSet::mentions(&set.rules()[*place], entity));
        places.retain(speaks);
        places.sort_by(|&a, &b| {
            let [a_rule, b_rule] = [a, b].map(|place| &set.rules()[place]);
            b_rule
                .confidence
                .total_cmp(&a_rule.confidence)
                .then(b_rule.correct.cmp(&a_rule.correct))
                .then(a.cmp(&b))
        });
        let found = places.len();
        places.truncate(show.top.unwrap_or(TOP));
        let rules = places.into_iter().map(|place| self.shown(&open, place)).collect();
        let name = |entity: EntityId| graph.entities.name(entity).to_owned();
        Ok(RuleList {
            name: open.name.clone(),
            relation: graph.relations.name(relation).to_owned(),
            about: about.map(name),
            found,
            rules,
        })
    }

    fn shown(&self, open: &OpenRules, place: usize) -> ShownRule {
        let set = open.index.set();
        let rule = &set.rules()[place];
        let [examples, against] = self.examples_of(open, rule);
        ShownRule {
            rule: rule_text(rule, self.graph(), open.index.steps().reciprocals()),
            confidence: rule.confidence,
            predicted: rule.predicted,
            correct: rule.correct,
            error: (rule.error > 0.0).then_some(rule.error),
            cluster: set.leaders()[place],
            examples,
            against,
        }
    }

    /// Edges that a rule predicts: such as are stored, and such as are in no split.
    fn examples_of(&self, open: &OpenRules, rule: &Rule) -> [Vec<String>; 2] {
        let (graph, steps) = (self.graph(), open.index.steps());
        let mut found = [Vec::new(), Vec::new()];
        let mut put = |x: EntityId, y: EntityId| {
            let edge = open.index.steps().reciprocals().hop(rule.head).edge(x, y);
            let stored = Split::ALL.iter().any(|&split| graph.edges(split).contains(edge));
            let texts = &mut found[usize::from(!stored)];
            if x != y && texts.len() < EXAMPLES {
                texts.push(format!(
                    "{}({}, {})",
                    graph.relation_text(edge.relation),
                    graph.entity_text(edge.head),
                    graph.entity_text(edge.tail)
                ));
            }
            found.iter().all(|texts| texts.len() == EXAMPLES)
        };
        match rule.body {
            Body::Path(path) => {
                let (mut walker, mut ends) = (Walker::new(steps.entities()), Vec::new());
                for &x in steps.starts(path.steps()[0]).iter().take(SOUGHT) {
                    walker.ends(steps, x, &path, REACH, &mut ends);
                    if ends.iter().any(|&y| put(x, y)) {
                        break;
                    }
                }
            }
            Body::Edge { object, relation, to } => {
                let members = steps.along(to, steps.inverse(relation)).iter().map(|arc| arc.neighbour);
                let _ = members.into_iter().any(|x| put(x, object));
            }
            Body::Some { object, relation } => {
                let _ = steps.starts(relation).iter().take(SOUGHT).any(|&x| put(x, object));
            }
            Body::Always { object } => {
                let _ = steps.starts(rule.head).iter().take(SOUGHT).any(|&x| put(x, object));
            }
        }
        found
    }
}
