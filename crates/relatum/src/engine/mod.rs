//! The façade: everything that a command line, a server or another language needs, behind one owned value.
//!
//! An [`Engine`] is a project with its models. It is cheap to clone, can be used from any thread, and opens
//! each model once, when it is first asked for. Each of its callers parses its input, calls the engine, and
//! prints.

mod ask;
mod baseline;
mod bench;
mod benchmark;
mod calibrate;
mod candidates;
mod check;
mod complete;
mod create;
mod error;
mod examples;
mod fit;
mod formula;
mod grid;
mod link_eval;
mod look;
mod many;
mod merge;
mod models;
mod named;
mod options;
mod predict;
mod quality;
mod quantize;
mod recipe;
mod rules;
mod sample;
mod show_rules;
#[cfg(test)]
mod testing;
mod train;
mod transfer;
mod workflow;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use baseline::{BaselineBegins, BaselineOptions, BaselineSummary, BaselineTrained};
pub use bench::{MeasuringBegins, TuningBegins, TypeMeasured, TypeTuned};
pub use benchmark::{BenchmarkOptions, TuneOptions};
pub use calibrate::Calibration;
pub use candidates::ScoredEntity;
pub use create::{Made, Making, Sources, SourcesError};
pub use error::{Error, Fault};
pub use examples::{Example, Examples};
pub use fit::{BeforeAfter, Fitting, MEASURED_PAIRS};
pub use grid::{GridOptions, Searched, Trial, TrialBegins, TrialDiverged};
pub use link_eval::LinkEvalOptions;
pub use look::Look;
pub use merge::{MergeOptions, Merged, MergedPart};
pub use models::{ModelDetails, ModelSummary, Models};
pub use options::{DEFAULT_K, DEFAULT_TOP, DEFAULT_UNSEEN, Options, OptionsError, Resolved};
pub use predict::{MissingEdges, Sought};
pub use quality::Quality;
pub use quantize::{QuantizeOptions, Quantized};
pub use recipe::{NotSearched, RecipeFound, RecipeTrialBegins, RecipeTried, Search, SearchBegins};
pub use rules::{OpenRules, RuleOptions, RulesMade};
pub use sample::{
    ALL_MISSING_TYPES, DEFAULT_SAMPLE, ExampleQuery, Existing, SampleError, SampleOptions, SampleReport,
    SampledType, SamplingBegins,
};
pub use show_rules::ShowRules;
pub use train::{Start, TrainOptions, Trained, TrainingBegins};
pub use transfer::{Exported, ImportOptions, Imported};
pub use workflow::{Divergence, WorkflowError};

use crate::benchmark::{Family, Setting, Tuned};
use crate::graph::{Graph, Split};
use crate::model::rules::Steps;
use crate::model::{Card, Model, StoredModel};
use crate::project::{Checkpoint, ModelFolder, Project, Queries, Results};
use crate::search::Evidence;

/// A project with its models.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    project: Project,
    /// The benchmark queries: those that the project was opened with, until new ones are sampled.
    queries: Mutex<Arc<Queries>>,
    /// The open models by name; each is opened once.
    models: Mutex<BTreeMap<String, Arc<OpenModel>>>,
    /// Rules by name; each is read once.
    rules: Mutex<BTreeMap<String, Arc<OpenRules>>>,
    /// The training edges along the relations of a model, for rules.
    steps: OnceLock<Arc<Steps>>,
    /// How many edges each relation has, all splits together; counted once.
    relation_uses: OnceLock<Vec<usize>>,
}

/// A model with what belongs to it.
#[derive(Debug)]
pub struct OpenModel {
    /// Its name.
    pub name: String,
    /// The model.
    pub model: Model,
    /// What it says of itself.
    pub card: Card,
    /// How far its training has come, where that is not finished.
    pub unfinished: Option<String>,
    /// Why the tuned settings of the model are not used, if they cannot be read.
    pub tuning_lost: Option<String>,
    tuned: Option<Tuned>,
    /// What was tuned with rules beside the model.
    tuned_with_rules: Option<Tuned>,
}

impl Engine {
    /// Opens a project folder. This takes the same time for every size; models are opened when they are needed.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self::of(Project::open(dir.as_ref())?))
    }

    /// An engine for a project that is open already.
    pub fn of(project: Project) -> Self {
        let queries = Mutex::new(Arc::new(project.queries().clone()));
        let shared = Shared {
            project,
            queries,
            models: Mutex::default(),
            rules: Mutex::default(),
            steps: OnceLock::new(),
            relation_uses: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.shared.project
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        self.project().graph()
    }

    /// The name of the model that is taken where none is named.
    pub fn default_model(&self) -> String {
        ModelFolder::default_name(self.project())
    }

    /// A model by its name, or the default one; opened once and shared.
    pub fn model(&self, name: Option<&str>) -> Result<Arc<OpenModel>, Error> {
        let name = name.map_or_else(|| self.default_model(), str::to_owned);
        let mut models = self.shared.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = models.get(&name) {
            return Ok(Arc::clone(open));
        }
        let open = Arc::new(OpenModel::open(self.project(), &name)?);
        models.insert(name, Arc::clone(&open));
        Ok(open)
    }

    /// Reads the models that are open again, because they may have been trained anew, and forgets those that were
    /// deleted; returns the names of those that are open now. If the default model is gone, or if any cannot be
    /// read, the old ones stay. Work that is running keeps the models it has.
    pub fn reload(&self) -> Result<Vec<String>, Error> {
        let mut models = self.shared.models.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut fresh, default) = (BTreeMap::new(), self.default_model());
        for name in models.keys() {
            if *name == default || ModelFolder::of(self.project(), name)?.dir().exists() {
                fresh.insert(name.clone(), Arc::new(OpenModel::open(self.project(), name)?));
            }
        }
        *models = fresh;
        self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(models.keys().cloned().collect())
    }

    /// How many edges each relation has, all splits together. All edges are counted once.
    fn relation_uses(&self) -> &[usize] {
        self.shared.relation_uses.get_or_init(|| {
            let (graph, mut uses) = (self.graph(), vec![0; self.graph().relations.len()]);
            for split in Split::ALL {
                let counts = graph.edges(split).relation_counts(uses.len());
                uses.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            uses
        })
    }

    /// Forgets one model that is open, because what is on disk has changed.
    fn forget(&self, name: &str) {
        self.shared.models.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

impl OpenModel {
    fn open(project: &Project, name: &str) -> Result<Self, Error> {
        let folder = ModelFolder::of(project, name)?;
        let StoredModel { model, card } = folder.load(project)?;
        let unfinished = Checkpoint::unfinished(&folder, &card);
        // Tuned settings are optional, because everything has a default: if they cannot be read, a remark says so.
        let (results, tuning_lost) = match Results::find(folder.dir(), &model) {
            Ok(results) => (results, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let of = |family| results.as_ref().and_then(|results| results.tuned(family).cloned());
        let (tuned, tuned_with_rules) = (of(Family::Best), of(Family::BestRules));
        Ok(Self { name: name.to_owned(), model, card, unfinished, tuning_lost, tuned, tuned_with_rules })
    }

    /// What was tuned, as text, by the shape of question.
    fn all_tuned(&self) -> BTreeMap<String, String> {
        let types = self.tuned.iter().flat_map(|tuned| &tuned.types);
        types.map(|(shape, choice)| (shape.clone(), choice.setting.to_string())).collect()
    }

    /// What was tuned for questions of a shape with this evidence; with rules where nothing was, what was tuned
    /// without.
    pub(super) fn tuned_for(&self, shape: &str, evidence: Evidence) -> Option<&Setting> {
        let with_rules = self.tuned_with_rules.as_ref().filter(|_| evidence == Evidence::Both);
        let own = with_rules.and_then(|tuned| Some(&tuned.types.get(shape)?.setting));
        own.or_else(|| self.tuned(shape))
    }

    /// What was tuned for questions of a shape.
    pub fn tuned(&self, shape: &str) -> Option<&Setting> {
        Some(&self.tuned.as_ref()?.types.get(shape)?.setting)
    }
}
