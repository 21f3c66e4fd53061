//! One rule.

use std::cmp::Reverse;

use crate::graph::{EntityId, RelationId};

/// What is added to the number of predictions before a confidence is taken: a rule that was right once
/// out of once is worth 1/6, not 1.
pub const PESSIMISM: f64 = 5.0;

/// A rule: where its body holds, so does its head, more often than not or at least sometimes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The relation of the head, one of the model's: `head(X, Y)`, or `head(X, c)` with a constant.
    pub head: RelationId,
    /// When the head is predicted.
    pub body: Body,
    /// How many different edges the rule predicts in the training graph; an estimate where `error` is above 0.
    pub predicted: u32,
    /// How many of them are there.
    pub correct: u32,
    /// How far the rule is to be believed: `correct / (predicted + 5)`, unless a person gave it.
    pub confidence: f32,
    /// The standard error of the share that is correct, above 0 where it was estimated from a sample of walks; else 0.
    pub error: f32,
}

/// The condition of a rule. Different variables stand for different entities, and X for none of the constants; only the
/// A of `head(X, c) ← relation(X, A)` may be c, because nobody asks where that edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Body {
    /// `head(X, Y) ← b1(X, A), b2(A, B), b3(B, Y)`: a walk of one to three steps.
    Path(Path),
    /// `head(X, object) ← relation(X, to)`.
    Edge {
        /// What the head names.
        object: EntityId,
        /// The relation of the body.
        relation: RelationId,
        /// Where it must lead.
        to: EntityId,
    },
    /// `head(X, object) ← relation(X, A)`: X has such an edge at all.
    Some {
        /// What the head names.
        object: EntityId,
        /// The relation of the body.
        relation: RelationId,
    },
    /// `head(X, object)`: what holds for most is the first guess for all. It is read from X to the object only.
    Always {
        /// What the head names.
        object: EntityId,
    },
}

/// Up to three relations, one after another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    len: u8,
    steps: [RelationId; 3],
}

impl Path {
    /// The longest walk.
    pub const LONGEST: usize = 3;

    /// A walk along these relations; `None` unless there are one to three.
    pub fn new(steps: &[RelationId]) -> Option<Self> {
        if steps.is_empty() || steps.len() > Self::LONGEST {
            return None;
        }
        let mut all = [RelationId(0); Self::LONGEST];
        all[..steps.len()].copy_from_slice(steps);
        Some(Self { len: steps.len() as u8, steps: all })
    }

    /// The relations.
    pub fn steps(&self) -> &[RelationId] {
        &self.steps[..usize::from(self.len)]
    }

    /// The same walk from its other end.
    #[must_use]
    pub fn reversed(&self, inverse: impl Fn(RelationId) -> RelationId) -> Self {
        let mut steps = self.steps;
        for (to, from) in steps.iter_mut().zip(self.steps().iter().rev()) {
            *to = inverse(*from);
        }
        Self { len: self.len, steps }
    }
}

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.steps()).finish()
    }
}

impl Body {
    /// The number of atoms.
    pub fn atoms(&self) -> usize {
        match self {
            Self::Path(path) => path.steps().len(),
            Self::Edge { .. } | Self::Some { .. } => 1,
            Self::Always { .. } => 0,
        }
    }

    /// The constant that the head names, if it names one.
    pub fn object(&self) -> Option<EntityId> {
        match *self {
            Self::Path(_) => None,
            Self::Edge { object, .. } | Self::Some { object, .. } | Self::Always { object } => Some(object),
        }
    }
}

impl Rule {
    /// A rule that was counted, with the confidence that its counts give.
    pub fn counted(head: RelationId, body: Body, predicted: u32, correct: u32) -> Self {
        let confidence = (f64::from(correct) / (f64::from(predicted) + PESSIMISM)) as f32;
        Self { head, body, predicted, correct, confidence, error: 0.0 }
    }

    /// The order in which rules are kept: by head, the most confident first, then by what they say.
    pub fn order(&self) -> impl Ord + use<> {
        // Confidences have no sign, not even that of -0, so their bits are in their order.
        (self.head, Reverse(self.confidence.to_bits()), Reverse(self.correct), self.body)
    }
}

/// A rule as it is kept in a file: nine numbers.
pub(super) const WORDS: usize = 9;

impl Rule {
    pub(super) fn to_words(self) -> [u32; WORDS] {
        let (tag, numbers) = match self.body {
            Body::Path(path) => (u32::from(path.len), path.steps.map(|step| step.0)),
            Body::Edge { object, relation, to } => (4, [object.0, relation.0, to.0]),
            Body::Some { object, relation } => (5, [object.0, relation.0, 0]),
            Body::Always { object } => (6, [object.0, 0, 0]),
        };
        let [a, b, c] = numbers;
        let (confidence, error) = (self.confidence.to_bits(), self.error.to_bits());
        [self.head.0, tag, a, b, c, self.predicted, self.correct, confidence, error]
    }

    /// `None` if the numbers are no rule of a graph with so many entities and so many relations of its model.
    pub(super) fn from_words(words: [u32; WORDS], entities: usize, relations: usize) -> Option<Self> {
        let [head, tag, a, b, c, predicted, correct, confidence, error] = words;
        let relation = |id: u32| ((id as usize) < relations).then_some(RelationId(id));
        let entity = |id: u32| ((id as usize) < entities).then_some(EntityId(id));
        let body = match tag {
            1..=3 => {
                let steps =
                    [a, b, c][..tag as usize].iter().map(|&id| relation(id)).collect::<Option<Vec<_>>>()?;
                Body::Path(Path::new(&steps)?)
            }
            4 => Body::Edge { object: entity(a)?, relation: relation(b)?, to: entity(c)? },
            5 => Body::Some { object: entity(a)?, relation: relation(b)? },
            6 => Body::Always { object: entity(a)? },
            _ => return None,
        };
        let (confidence, error) = (f32::from_bits(confidence), f32::from_bits(error));
        // By its bits, -0 would be the largest of all.
        let is_share = |value: f32| value.is_sign_positive() && (0.0..=1.0).contains(&value);
        (is_share(confidence) && error >= 0.0).then_some(())?;
        Some(Self { head: relation(head)?, body, predicted, correct, confidence, error })
    }
}
