//! The most likely missing edges, with their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Engine, Error, OpenModel, Options, Resolved};
use crate::answer::{Ask, Predicted, PredictedEdge, Wanted, predict};
use crate::benchmark::Setting;
use crate::control::Control;
use crate::graph::EntityId;
use crate::model::Calibration;
use crate::query::Direction;
use crate::report::{self, Certainty, Description, Kind, MissingEdge};

/// Which missing edges are sought.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    /// Along this relation; if omitted, along all.
    pub relation: Option<String>,
    /// With this entity at one end.
    pub about: Option<String>,
    /// At least so true.
    pub min_truth: f32,
}

/// The result of a search for missing edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingEdges {
    /// How many were found.
    pub found: usize,
    /// How many of them, from the first on, are proven to be the most likely: all, unless the search was stopped.
    pub proven: usize,
    /// How sure they are.
    pub certainty: Certainty,
    /// Rows scored.
    pub rows: usize,
    /// Rows that scoring everything would have taken.
    pub rows_of_all: usize,
    /// What spoke for the edges: `model`, `rules` or `both`.
    pub evidence: String,
}

impl Engine {
    /// Adds to the description of an entity the most likely edges that the graph does not hold, as many as
    /// `options.top` says; of a relation, those along it.
    pub fn add_predicted(
        &self,
        description: &mut Description,
        along: Option<&str>,
        options: &Options,
        control: &Control,
    ) -> Result<(), Error> {
        let named = Some(description.name.clone());
        let sought = match description.kind {
            Kind::Entity => Sought { about: named, relation: along.map(str::to_owned), min_truth: 0.0 },
            Kind::Relation => Sought { relation: named, ..Sought::default() },
        };
        let mut predicted = Vec::new();
        let found = self.predict(&sought, options, control, |edge| predicted.push(edge))?;
        description.predicted = Some(predicted);
        description.evidence = Some(found.evidence);
        Ok(())
    }

    /// Finds the most likely edges that the graph does not hold, best first, as many as `options.top` says;
    /// `each` gets every one as soon as it is proven to be the next.
    ///
    /// Both ends are of the kinds that stand there in training, unless `options.unseen` says how much other
    /// entities count. An edge is as true as [`ask`](Self::ask) says that it is when the entity from which it is
    /// scored is named and the other end is sought: by the same rules, and as tuned for such questions. Only where
    /// those were tuned for a calibration whose edges cannot be bounded, the default one is used.
    pub fn predict(
        &self,
        sought: &Sought,
        options: &Options,
        control: &Control,
        mut each: impl FnMut(MissingEdge),
    ) -> Result<MissingEdges, Error> {
        let graph = self.graph();
        let relations = match &sought.relation {
            Some(name) => vec![graph.relation(name)?],
            None => Vec::new(),
        };
        let about = sought.about.as_deref().map(|name| graph.entity(name)).transpose()?;
        let model = self.model(options.model.as_deref())?;
        let how = self.scoring_edges(&model, options, control)?;
        let unseen = options.unseen.unwrap_or(0.0);
        let (evidence, how) = (how.evidence, Ask { unseen, ..how.ask });
        let scorer = how.scorer(&model.model, graph)?;
        let wanted = Wanted { relations, about, least: sought.min_truth, top: options.wanted(None) };
        let entity = |id: EntityId| report::entity(graph, id);
        let mut give = |found: PredictedEdge| {
            each(MissingEdge {
                subject: entity(found.edge.head),
                relation: report::relation(graph, found.edge.relation),
                object: entity(found.edge.tail),
                truth: found.truth,
                scored_from: if found.read == Direction::Forward { "subject" } else { "object" }.to_owned(),
            });
        };
        let Predicted { found, proven, certainty, rows, rows_of_all } =
            predict(&scorer, graph, &wanted, control, &mut give)?;
        let evidence = evidence.name().to_owned();
        Ok(MissingEdges { found, proven, certainty: certainty.into(), rows, rows_of_all, evidence })
    }

    /// How single edges are scored: as for a question of one edge, with the rules that speak beside the model.
    pub(super) fn scoring_edges(
        &self,
        model: &OpenModel,
        options: &Options,
        control: &Control,
    ) -> Result<Resolved, Error> {
        let evidence = self.chosen_evidence(options);
        let bounds =
            |setting: &&Setting| setting.calibration.is_truth() && setting.calibration != Calibration::MinMax;
        let tuned = model.tuned_for("1p", evidence).filter(bounds);
        let resolved = options.resolve(Some("1p"), tuned)?;
        let rules = self.evidence(evidence, model, options.rules.as_deref())?;
        let ask = Ask { rules, ..resolved.asking_for(1, None, control) };
        Ok(Resolved { ask, evidence, ..resolved })
    }
}
