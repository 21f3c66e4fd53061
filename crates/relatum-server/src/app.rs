//! The state that all requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use relatum::answer::Method;
use relatum::control::{Cancel, Control};
use relatum::engine::{Examples, OpenModel, Quality};
use relatum::query::{Asked, Clause};
use relatum::report::GraphStats;
use relatum::{Engine, Error, Options, Reply};

use crate::cache::Cache;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::question::AskBody;
use crate::searches::{Planned, Searches, Undone};
use crate::settings::{Limits, Settings};

/// The engine, the threads that search, and the model that was chosen for this process.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) searches: Searches,
    pub(crate) metrics: Metrics,
    cache: Cache,
    /// Cancelled when the server was asked to stop and its grace period is over.
    pub(crate) ending: Cancel,
    /// The model that answers if a request names none.
    model: RwLock<Option<String>>,
    examples: OnceLock<Examples>,
    stats: OnceLock<GraphStats>,
    /// How good each model is, measured when it is first asked for.
    quality: Mutex<Measured>,
}

pub(crate) type Shared = Arc<App>;
/// Models that were measured, by name.
type Measured = HashMap<String, (Arc<OpenModel>, Arc<Quality>)>;

/// Plans with more rows than this are heavy.
const LIGHT_ROWS: f64 = 32.0;
/// Questions with more explained answers than this are heavy.
const LIGHT_EXPLANATIONS: usize = 32;
/// Questions with more answers than this, those before an offset too, are heavy: there is less to leave out.
const LIGHT_ANSWERS: usize = 1_000;
/// Scores that the quality of a model is measured with at most: a second's work or so.
const MEASURED_SCORES: usize = 40_000_000;

impl App {
    pub(crate) fn new(engine: Engine, settings: &Settings) -> std::io::Result<Self> {
        Ok(Self {
            engine,
            limits: settings.limits.clone(),
            searches: Searches::new(settings.limits.searches, settings.limits.queue)?,
            metrics: Metrics::new(),
            cache: Cache::new(settings.cache),
            ending: Cancel::default(),
            model: RwLock::new(settings.model.clone()),
            examples: OnceLock::new(),
            stats: OnceLock::new(),
            quality: Mutex::default(),
        })
    }

    /// The name of the model that answers if a request names none.
    pub(crate) fn default_model(&self) -> String {
        let chosen = self.model.read().unwrap_or_else(PoisonError::into_inner).clone();
        chosen.unwrap_or_else(|| self.engine.default_model())
    }

    /// Makes a model the one that answers if a request names none.
    pub(crate) fn choose_model(&self, name: &str) -> Result<(), Error> {
        self.engine.model(Some(name))?;
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
        Ok(())
    }

    /// Questions made from the graph, once.
    pub(crate) fn examples(&self) -> &Examples {
        self.examples.get_or_init(|| self.engine.examples())
    }

    /// The figures of the graph, counted once: it does not change while it is open.
    pub(crate) fn stats(&self) -> &GraphStats {
        self.stats.get_or_init(|| self.engine.stats())
    }

    /// Reads models again that were trained anew; returns the names of those that are open. If one cannot be read,
    /// the old ones stay.
    pub(crate) fn reload(&self) -> Result<Vec<String>, Error> {
        let models = self.engine.reload()?;
        self.cache.clear();
        self.measured().clear();
        tracing::info!(?models, "models are read again");
        Ok(models)
    }

    /// Checks a question against the limits of this server, and fills in the model if it names none.
    pub(crate) fn admitted(&self, ask: AskBody) -> Result<AskBody, Problem> {
        let mut ask = ask.within(&self.limits)?;
        // Contradictory options are reported first, whatever the question is.
        ask.options.resolve(None, None).map_err(Error::from)?;
        let branches = ask.options.limits().branches.min(self.limits.branches);
        ask.options.max_branches = Some(branches);
        ask.options.model.get_or_insert_with(|| self.default_model());
        Ok(ask)
    }

    /// A token that is cancelled with the server.
    pub(crate) fn cancel(&self) -> Cancel {
        let ending = self.ending.clone();
        Cancel::when(move || ending.is_cancelled())
    }

    /// Runs short work with the engine on a thread that may block.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = Arc::clone(self);
        self.counted(self.searches.run(move || Planned::Done(work(&app))).await)?
    }

    /// How good a model is, measured once on some of the validation edges.
    pub(crate) async fn quality(self: &Arc<Self>, model: String) -> Result<Arc<Quality>, Problem> {
        let (cancel, app) = (self.cancel(), Arc::clone(self));
        let guard = CancelOnDrop::new(self, cancel.clone());
        let work = move || -> Planned<Result<Arc<Quality>, Error>> {
            let open = match app.engine.model(Some(&model)) {
                Ok(open) => open,
                Err(error) => return Planned::Done(Err(error)),
            };
            // A model that was trained anew is another one under the same name.
            if let Some((of, quality)) = app.measured().get(&model)
                && Arc::ptr_eq(of, &open)
            {
                return Planned::Done(Ok(Arc::clone(quality)));
            }
            Planned::Heavy(Box::new(move || {
                let most = (MEASURED_SCORES / app.engine.graph().entities.len().max(1)).clamp(50, 2_000);
                let control = Control::default().with_cancel(cancel);
                let quality = Arc::new(app.engine.quality(Some(&model), most, &control)?);
                app.measured().insert(model, (open, Arc::clone(&quality)));
                Ok(quality)
            }))
        };
        let quality = self.searches.run(work).await;
        guard.disarm();
        Ok(self.counted(quality)??)
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.quality.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question on a search thread, or from the cache. When the future is dropped, because the client
    /// has gone, the search is cancelled.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        ask: AskBody,
        patient: bool,
        watch: impl FnOnce(Control) -> Control + Send + 'static,
    ) -> Result<Arc<Reply>, Problem> {
        let ask = self.admitted(ask)?;
        let key = format!("{ask:?}");
        let kept = self.cache.get(&key);
        self.metrics.cache(kept.is_ok());
        let generation = match kept {
            Ok(reply) => return Ok(reply),
            Err(generation) => generation,
        };
        let (cancel, app) = (self.cancel(), Arc::clone(self));
        let guard = CancelOnDrop::new(self, cancel.clone());
        let work = move || -> Planned<Result<Reply, Error>> {
            let asked = match app.engine.read(&ask.question, &ask.options) {
                Ok(asked) => asked,
                Err(error) => return Planned::Done(Err(error)),
            };
            let heavy = app.is_heavy(&asked, &ask.options);
            let search = move || {
                let began = Instant::now();
                let control = watch(ask.control(cancel));
                let reply = app.engine.answer(&ask.question, &asked, &ask.options, &control)?;
                app.metrics.searched(&reply.shape, reply.rows, began.elapsed());
                Ok(reply)
            };
            if heavy { Planned::Heavy(Box::new(search)) } else { Planned::Done(search()) }
        };
        let reply =
            if patient { self.searches.run_patiently(work).await } else { self.searches.run(work).await };
        guard.disarm();
        let reply = Arc::new(self.counted(reply)??);
        self.cache.keep(key, &reply, generation);
        Ok(reply)
    }

    /// Counts a refused search in the metrics; returns the outcome unchanged.
    pub(crate) fn counted<T>(&self, outcome: Result<T, Undone>) -> Result<T, Undone> {
        outcome.inspect_err(|undone| {
            if matches!(undone, Undone::Full { .. }) {
                self.metrics.refused();
            }
        })
    }

    /// Whether a question takes so many rows that others must not wait behind it.
    pub(crate) fn is_heavy(&self, asked: &Asked, options: &Options) -> bool {
        match asked {
            Asked::Entities(question) => {
                let climbs = matches!(options.method, Method::Beam | Method::Continuous) || options.paper;
                // Every explanation scores its atoms again, and looks for the rules that speak for them.
                let wanted = options.wanted(question.limit);
                climbs
                    || options.explain && wanted > LIGHT_EXPLANATIONS
                    || wanted.saturating_add(question.offset) > LIGHT_ANSWERS
                    || self
                        .engine
                        .plan(&question.checked, options)
                        .is_ok_and(|plan| !plan.is_tree() || plan.rows > LIGHT_ROWS)
            }
            // Each atom of a statement takes one row; a clause with `exists` must be searched.
            Asked::Truth(statement) => {
                let mut clauses = statement.alternatives.iter().flatten();
                !clauses.all(|clause| matches!(clause, Clause::Atom(_) | Clause::NotAtom(_)))
            }
            Asked::Relations { .. } => false,
        }
    }
}

/// Cancels a search when it is dropped before the search is done.
pub(crate) struct CancelOnDrop(Option<(Shared, Cancel)>);

impl CancelOnDrop {
    pub(crate) fn new(app: &Shared, cancel: Cancel) -> Self {
        Self(Some((Arc::clone(app), cancel)))
    }

    /// Called when the search is done: dropping no longer cancels it.
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some((app, cancel)) = &self.0 {
            cancel.cancel();
            app.metrics.cancelled();
        }
    }
}
