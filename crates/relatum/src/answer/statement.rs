//! How true a statement is, and why.

use super::explanation::explained_edge;
use super::{Answers, Ask, ExplainedAtom, ask};
use crate::graph::{Graph, Split, Triple};
use crate::model::Model;
use crate::plan::{Plan, PlanOptions};
use crate::query::{Atom, CheckedStatement, Clause, Direction, Query, Term};
use crate::search::{AtomTruth, Certainty, Known, SearchError};

/// How true a statement is.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Its truth: the t-conorm over [`alternatives`](Self::alternatives) of the t-norm over the clauses of
    /// each.
    pub truth: f32,
    /// Whether it follows from stored edges alone; `None` if the time was up before that was clear.
    pub known: Option<bool>,
    /// How sure the truth is: as sure as its least sure part.
    pub certainty: Certainty,
    /// Rows scored.
    pub rows: usize,
    /// The alternatives of its normal form.
    pub alternatives: Vec<JudgedAlternative>,
}

/// One alternative of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAlternative {
    /// The t-norm of its clauses.
    pub truth: f32,
    /// Its clauses.
    pub clauses: Vec<JudgedClause>,
}

/// One clause of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClause {
    /// What enters the alternative: its truth, negated if the clause is.
    pub value: f32,
    /// Whether it follows from stored edges alone.
    pub known: Option<bool>,
    /// Why it is as true as it is.
    pub reason: ClauseReason,
}

/// Why a clause is as true as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum ClauseReason {
    /// An edge, or its absence.
    Atom(ExplainedAtom),
    /// The best answer of a question.
    Exists {
        /// The question.
        question: Box<Query>,
        /// The plan.
        plan: Box<Plan>,
        /// Its best answer; empty if nothing makes it true.
        answers: Answers,
    },
    /// Nothing of this kind exists: 1 minus the t-norm of these clauses.
    NoneExists(Vec<JudgedClause>),
}

/// Judges a statement with a model of the graph, part by part.
pub fn judge(
    statement: &CheckedStatement,
    options: PlanOptions,
    model: &Model,
    graph: &Graph,
    how: &Ask,
) -> Result<Judgement, SearchError> {
    if !how.calibration.is_truth() {
        return Err(SearchError::RawScores);
    }
    let scorer = how.scorer(model, graph)?;
    // Stored answers are marked known even where their edges are not trusted.
    let trusted = if how.known == Known::Ignore { Known::ALL } else { how.known };
    let mut judge = Judge {
        options,
        model,
        graph,
        truth: &scorer,
        trusted: trusted.splits(),
        how: Ask { top: 1, new_only: false, ..how.clone() },
        certainty: Certainty::Exact { within: 0.0 },
        rows: 0,
        row: Vec::new(),
    };
    let t_norm = how.logic.t_norm;
    let mut alternatives = Vec::with_capacity(statement.alternatives.len());
    for clauses in &statement.alternatives {
        let clauses = judge.clauses(clauses)?;
        let truth = t_norm.all(clauses.iter().map(|clause| clause.value));
        alternatives.push(JudgedAlternative { truth, clauses });
    }
    let known = any(alternatives.iter().map(|it| all(it.clauses.iter().map(|clause| clause.known))));
    let truth = t_norm.any(alternatives.iter().map(|it| it.truth));
    let Judge { certainty, rows, .. } = judge;
    Ok(Judgement { truth, known, certainty, rows, alternatives })
}

struct Judge<'a> {
    options: PlanOptions,
    model: &'a Model,
    graph: &'a Graph,
    truth: &'a dyn AtomTruth,
    trusted: &'static [Split],
    how: Ask,
    certainty: Certainty,
    rows: usize,
    /// A buffer for one row.
    row: Vec<f32>,
}

impl Judge<'_> {
    fn clauses(&mut self, clauses: &[Clause]) -> Result<Vec<JudgedClause>, SearchError> {
        clauses.iter().map(|clause| self.clause(clause)).collect()
    }

    fn clause(&mut self, clause: &Clause) -> Result<JudgedClause, SearchError> {
        match clause {
            Clause::Atom(atom) => self.atom(atom, false),
            Clause::NotAtom(atom) => self.atom(atom, true),
            Clause::Exists(checked) => {
                let plan = Plan::new(checked, self.graph, self.options);
                let answers = ask(&plan, self.model, self.graph, &self.how)?;
                self.rows += answers.rows;
                self.certainty = less_sure(self.certainty, answers.certainty);
                let best = answers.answers.first();
                Ok(JudgedClause {
                    value: best.map_or(0.0, |best| best.score),
                    known: best.map_or(Some(false), |best| best.known),
                    reason: ClauseReason::Exists {
                        question: Box::new(checked.query.clone()),
                        plan: Box::new(plan),
                        answers,
                    },
                })
            }
            Clause::NoneExists(inner) => {
                let inner = self.clauses(inner)?;
                let truth = self.how.logic.t_norm.all(inner.iter().map(|clause| clause.value));
                let known = all(inner.iter().map(|clause| clause.known)).map(|known| !known);
                Ok(JudgedClause { value: 1.0 - truth, known, reason: ClauseReason::NoneExists(inner) })
            }
        }
    }

    fn atom(&mut self, atom: &Atom, negated: bool) -> Result<JudgedClause, SearchError> {
        let (Term::Entity(head), Term::Entity(tail)) = (atom.subject, atom.object) else {
            unreachable!("a clause is an atom only where both sides are named");
        };
        let edge = Triple { head, relation: atom.relation, tail };
        let logic = self.how.logic;
        let explained = explained_edge(edge, Direction::Forward, negated, self.truth, logic, &mut self.row);
        if explained.truth.is_nan() {
            return Err(SearchError::NotANumber);
        }
        self.rows += usize::from(explained.known.is_none());
        let is_stored = explained.stored.is_some_and(|split| self.trusted.contains(&split));
        Ok(JudgedClause {
            value: explained.value,
            known: Some(is_stored != negated),
            reason: ClauseReason::Atom(explained),
        })
    }
}

/// The lesser of two certainties.
fn less_sure(a: Certainty, b: Certainty) -> Certainty {
    let rank = |certainty: &Certainty| match certainty {
        Certainty::Exact { .. } => 0,
        Certainty::Beam { .. } | Certainty::Continuous { .. } => 1,
        Certainty::Stopped { .. } => 2,
    };
    match (a, b) {
        (Certainty::Exact { within: x }, Certainty::Exact { within: y }) => {
            Certainty::Exact { within: (x + y).min(1.0) }
        }
        _ if rank(&b) > rank(&a) => b,
        _ => a,
    }
}

/// Whether all hold; `None` if that is not clear.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let parts: Vec<Option<bool>> = parts.collect();
    let refuted = parts.contains(&Some(false));
    (refuted || !parts.contains(&None)).then_some(!refuted)
}

/// Whether one holds; `None` if that is not clear.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|holds| !holds))).map(|none_holds| !none_holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::model::predictor;
    use crate::query::{Asked, Limits, Syntax, read_any};

    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        for (split, head, relation, tail) in [
            (Split::Train, "Alien", "stars", "Weaver"),
            (Split::Train, "Alien", "genre", "Horror"),
            (Split::Train, "Hitch", "stars", "Eva"),
            (Split::Train, "Hitch", "genre", "Comedy"),
            (Split::Test, "Hitch", "stars", "Weaver"),
        ] {
            builder.add(split, head, relation, tail);
        }
        builder.finish().0
    }

    fn judged(graph: &Graph, text: &str, how: &Ask) -> Judgement {
        let model = Model::random(predictor("complex", 4).unwrap(), graph, 0.5, 1);
        let Asked::Truth(statement) = read_any(text, Syntax::detect(text), graph, Limits::default()).unwrap()
        else {
            panic!("{text} is a statement");
        };
        judge(&statement, PlanOptions::default(), &model, graph, how).unwrap()
    }

    #[test]
    fn a_statement_is_as_true_as_its_parts_make_it() {
        let graph = graph();
        let of = |text: &str| judged(&graph, text, &Ask { explain: true, ..Ask::default() });
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
        let known = of("stars(Alien, Weaver)");
        assert_eq!((known.truth, known.known, known.rows), (1.0, Some(true), 0));
        let predicted = of("genre(Alien, Comedy)");
        assert!(predicted.truth < 1.0 && predicted.known == Some(false) && predicted.rows == 1);
        near(of("not genre(Alien, Comedy)").truth, 1.0 - predicted.truth);
        near(of("stars(Alien, Weaver) and genre(Alien, Comedy)").truth, predicted.truth);
        let either = of("genre(Alien, Comedy) or genre(Hitch, Horror)");
        let other = of("genre(Hitch, Horror)").truth;
        near(either.truth, predicted.truth + other - predicted.truth * other);
        let exists = of("exists F. stars(F, Weaver) and genre(F, Horror)");
        assert_eq!((exists.truth, exists.known), (1.0, Some(true)));
        near(of("not exists F. stars(F, Weaver) and genre(F, Horror)").truth, 0.0);
        let ClauseReason::Exists { answers, .. } = &exists.alternatives[0].clauses[0].reason else {
            panic!()
        };
        assert!(answers.answers[0].explanation.is_some());
        near(of("ASK { e:Alien r:stars e:Weaver }").truth, 1.0);
    }

    #[test]
    fn what_is_trusted_decides_what_is_known() {
        let graph = graph();
        let of = |known| judged(&graph, "stars(Hitch, Weaver)", &Ask { known, ..Ask::default() });
        assert_eq!((of(Known::ALL).truth, of(Known::ALL).known), (1.0, Some(true)));
        assert!(of(Known::TRAIN).truth < 1.0 && of(Known::TRAIN).known == Some(false));
        assert!(
            of(Known::Ignore).truth < 1.0 && of(Known::Ignore).known == Some(true),
            "stored, not trusted"
        );
    }
}
