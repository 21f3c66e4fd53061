//! Rules: mining them, reading and writing them, and what they count beside a model.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Engine, Error, OpenModel, Options, WorkflowError};
use crate::answer::Method;
use crate::control::Control;
use crate::model::Calibration;
use crate::model::rules::{
    Parsed, RuleCard, RuleError, RuleIndex, RuleSet, Steps, parse, write as rule_line,
};
use crate::project::{RuleFolder, StoredRules, load_weights, save_weights};
use crate::search::{Evidence, SharedRules};
use crate::train::rules::{Fitted, MineSettings, Mined, RuleWeights, fit, mine, weigh};

/// What to mine, and what to do with what is there already. What is left open is as in [`MineSettings`] or, of a run
/// that is resumed, as it was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOptions {
    /// The name of the rules; none: the default ones.
    pub name: Option<String>,
    /// What is drawn.
    pub seed: Option<u64>,
    /// The most atoms of a body, from 1 to 3.
    pub max_length: Option<usize>,
    /// Walks to draw for bodies of three atoms.
    pub paths: Option<u64>,
    /// How long to draw them, from when the shorter bodies are counted.
    pub time: Option<Duration>,
    /// Bytes of memory that mining may use, as in [`MineSettings`].
    pub memory: Option<usize>,
    /// Whether to go on with a run that was stopped.
    pub resume: bool,
    /// Whether to replace rules of the same name.
    pub restart: bool,
}

/// What came of mining or reading rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RulesMade {
    /// Their name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// How many there are.
    pub rules: usize,
    /// How many walks of one, two and three atoms there are, and how many rules with constants.
    pub kinds: [usize; 4],
    /// How many clusters they form.
    pub clusters: usize,
    /// Walks that were drawn for bodies of three atoms.
    pub paths: u64,
    /// Whether all was done that was asked for; else the run can be resumed.
    pub finished: bool,
    /// MRR of rules alone on the validation edges that were looked at, and their number.
    pub valid: Option<(f64, usize)>,
    /// Lines of a file that hold rules of forms that are not known here, and the first of them.
    pub passed_over: Option<(usize, usize, String)>,
}

/// Rules that are open.
#[derive(Debug)]
pub struct OpenRules {
    /// Their name.
    pub name: String,
    /// What they say of themselves.
    pub card: RuleCard,
    /// The rules, at work.
    pub index: Arc<RuleIndex>,
    pub(super) checksum: u64,
}

impl Engine {
    /// Mines rules and keeps them: to the end, until the time to draw is up, or until it is asked to stop. What was
    /// found is on disk afterwards, whichever it is; a run that was stopped can be resumed, and one that is finished with
    /// more paths or more time.
    ///
    /// Listeners hear [`MiningProgress`](crate::train::rules::MiningProgress).
    pub fn mine_rules(&self, options: &RuleOptions, control: &Control) -> Result<RulesMade, Error> {
        let project = self.project();
        let folder = self.rule_folder(options.name.as_deref())?;
        let _lock = folder.lock()?;
        let (settings, begun) = self.begun(&folder, options)?;
        project.verify_edges()?;
        let steps = self.steps();
        let card = |mined: &Mined| self.card(&settings, mined);
        let mut keep = |mined: &Mined| {
            let card = RuleCard { finished: false, ..card(mined) };
            folder.save(&mined.set(), &card)
        };
        let mined = mine(&steps, &settings, begun, control, &mut keep)?;
        if mined.rules.is_empty() && !mined.finished {
            return Err(WorkflowError::Stopped.into());
        }
        // What was found is put in order even if the time is up. Who asks to stop ends that too; then clusters are
        // those that do well on most graphs, and a resumed run learns them.
        let Fitted { set, overlaps, valid, finished } =
            fit(self.graph(), &steps, mined.set(), &control.without_limits());
        let finished = finished && mined.finished;
        let card = RuleCard { finished, overlaps, valid, ..card(&mined) };
        folder.save(&set, &card)?;
        self.forget_rules(folder.name());
        Ok(made(&folder, &set, &card, None))
    }

    /// Reads rules from lines of text, in the form that `AnyBURL` writes, and keeps them under a name.
    pub fn import_rules(
        &self,
        source: impl BufRead,
        path: &std::path::Path,
        name: Option<&str>,
        replace: bool,
        control: &Control,
    ) -> Result<RulesMade, Error> {
        let folder = self.rule_folder(name)?;
        let _lock = folder.lock()?;
        if folder.exists() && !replace {
            return Err(RuleError::Exists(folder.name().to_owned()).into());
        }
        let Parsed { rules, passed_over, first } = parse(source, self.graph())?;
        if rules.is_empty() {
            return Err(RuleError::Empty { path: path.to_owned(), passed_over }.into());
        }
        let steps = self.steps();
        let mined = Mined { rules, finished: true, ..Mined::default() };
        let Fitted { set, overlaps, valid, finished } = fit(self.graph(), &steps, mined.set(), control);
        if !finished {
            // The file of rules is still where it was; half of the work would pass for the whole.
            return Err(WorkflowError::Stopped.into());
        }
        let settings = MineSettings::default();
        let card = RuleCard { overlaps, valid, imported: true, ..self.card(&settings, &mined) };
        folder.save(&set, &card)?;
        self.forget_rules(folder.name());
        let passed_over = first.map(|(line, text)| (passed_over, line, text));
        Ok(made(&folder, &set, &card, passed_over))
    }

    /// Writes rules as lines of text, in the form that `AnyBURL` reads; gives their number.
    pub fn export_rules(&self, name: Option<&str>, out: &mut dyn Write) -> Result<usize, Error> {
        let open = self.rules(name)?;
        let reciprocals = open.index.steps().reciprocals();
        for rule in open.index.set().rules() {
            writeln!(out, "{}", rule_line(rule, self.graph(), reciprocals)).map_err(RuleError::from)?;
        }
        out.flush().map_err(RuleError::from)?;
        Ok(open.index.set().len())
    }

    /// Deletes rules, whatever state they are in, and what every model says of how much they count.
    pub fn delete_rules(&self, name: &str) -> Result<(), Error> {
        let folder = self.rule_folder(Some(name))?;
        folder.delete(self.project())?;
        self.forget_rules(folder.name());
        Ok(())
    }

    /// The names of the rules that the project has.
    pub fn rule_names(&self) -> Vec<String> {
        RuleFolder::list(self.project())
    }

    /// Rules by their name, or the default ones; opened once and shared.
    pub fn rules(&self, name: Option<&str>) -> Result<Arc<OpenRules>, Error> {
        let folder = self.rule_folder(name)?;
        let mut rules = self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = rules.get(folder.name()) {
            return Ok(Arc::clone(open));
        }
        let StoredRules { set, card, checksum } = folder.load(self.project())?;
        let index = Arc::new(RuleIndex::new(self.steps(), set));
        let open = Arc::new(OpenRules { name: folder.name().to_owned(), card, index, checksum });
        rules.insert(folder.name().to_owned(), Arc::clone(&open));
        Ok(open)
    }

    /// Learns how much rules count beside a model, on validation edges, and keeps it with the model. `None` where
    /// there are no validation edges, or it was asked to stop.
    pub fn weigh_rules(
        &self,
        model: Option<&str>,
        rules: Option<&str>,
        control: &Control,
    ) -> Result<Option<RuleWeights>, Error> {
        let (open, rules) = (self.model(model)?, self.rules(rules)?);
        let Some(weights) = weigh(self.graph(), &open.model, &rules.index, control) else { return Ok(None) };
        let folder = self.folder(Some(&open.name))?;
        let _lock = folder.lock()?;
        save_weights(&folder, &open.card, (&rules.name, rules.checksum), &weights)?;
        Ok(Some(weights))
    }

    /// How much rules count beside a model, where that was learned.
    pub fn rule_weights(&self, model: &OpenModel, rules: &OpenRules) -> Option<RuleWeights> {
        let folder = self.folder(Some(&model.name)).ok()?;
        load_weights(&folder, &model.card, (&rules.name, rules.checksum))
    }

    /// What speaks for an edge that is not stored: what was chosen, or both where the project has rules that can be
    /// used here.
    pub(super) fn chosen_evidence(&self, options: &Options) -> Evidence {
        let cannot = options.method == Method::Continuous
            || options.paper
            || options.calibration == Some(Calibration::Raw);
        let has_rules = || self.rule_folder(options.rules.as_deref()).is_ok_and(|folder| folder.exists());
        match options.evidence {
            Some(evidence) => evidence,
            // Rules that were asked for by name and are not there are an error, not left out.
            None if !cannot && (options.rules.is_some() || has_rules()) => Evidence::Both,
            None => Evidence::Model,
        }
    }

    /// The rules as evidence beside a model, or in its place; none where the model alone speaks.
    pub(super) fn evidence(
        &self,
        evidence: Evidence,
        model: &OpenModel,
        name: Option<&str>,
    ) -> Result<Option<SharedRules>, Error> {
        if evidence == Evidence::Model {
            // Rules that were asked for by name must be there, even where the model alone is to speak.
            return name.map_or(Ok(None), |_| self.rules(name).map(|_| None));
        }
        let rules = self.rules(name)?;
        let learned = self.rule_weights(model, &rules);
        let relations = rules.index.steps().relations();
        let weights = learned.unwrap_or_else(|| RuleWeights::uniform(relations)).weights.into();
        let alone = evidence == Evidence::Rules;
        Ok(Some(SharedRules { rules: Arc::clone(&rules.index), weights, alone }))
    }

    /// By what results with rules are recognised: which rules, and how much they count.
    pub(super) fn rules_print(&self, rules: &SharedRules) -> Result<String, Error> {
        let open = self.rules(None)?;
        let weights = xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(&rules.weights));
        Ok(format!("{:016x}", open.checksum ^ weights))
    }

    fn rule_folder(&self, name: Option<&str>) -> Result<RuleFolder, RuleError> {
        RuleFolder::of(self.project(), name.unwrap_or(RuleFolder::DEFAULT))
    }

    pub(super) fn steps(&self) -> Arc<Steps> {
        Arc::clone(self.shared.steps.get_or_init(|| Arc::new(Steps::of(self.graph()))))
    }

    fn forget_rules(&self, name: &str) {
        self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn card(&self, settings: &MineSettings, mined: &Mined) -> RuleCard {
        RuleCard {
            version: RuleCard::VERSION,
            fingerprint: self.project().manifest().fingerprint.clone(),
            seed: settings.seed,
            max_length: settings.max_length,
            // The exact part counts as begun only when it is done.
            paths: if mined.short { mined.paths } else { 0 },
            wanted: settings.paths,
            memory: Some(settings.memory).filter(|&memory| memory != MineSettings::DEFAULT_MEMORY),
            short: mined.short,
            finished: mined.finished,
            imported: false,
            overlaps: Vec::new(),
            valid: None,
        }
    }

    /// How to mine, and what an earlier run of the same name found, where it is to go on; refuses to discard anything
    /// by accident.
    fn begun(
        &self,
        folder: &RuleFolder,
        options: &RuleOptions,
    ) -> Result<(MineSettings, Option<Mined>), Error> {
        let name = || folder.name().to_owned();
        let &RuleOptions { seed, max_length, paths, time, memory, .. } = options;
        let plain = MineSettings::default();
        let anew = MineSettings {
            seed: seed.unwrap_or(plain.seed),
            max_length: max_length.unwrap_or(plain.max_length),
            paths,
            time,
            memory: memory.unwrap_or(plain.memory),
        };
        if options.restart || !folder.exists() && !options.resume {
            return Ok((anew, None));
        }
        if !folder.exists() {
            return Err(RuleError::NothingToResume(name()).into());
        }
        let StoredRules { set, card, .. } = folder.load(self.project())?;
        if !options.resume {
            return Err(if card.finished {
                RuleError::Exists(name())
            } else {
                RuleError::Unfinished { name: name(), paths: card.paths }
            }
            .into());
        }
        let as_begun = MineSettings {
            seed: card.seed,
            max_length: card.max_length,
            // Who gives a time draws until it is up, however many paths were wanted before.
            paths: paths.or(card.wanted.filter(|_| time.is_none())),
            time,
            memory: memory.or(card.memory).unwrap_or(plain.memory),
        };
        let wants_more = time.is_some() || paths.is_some_and(|paths| paths > card.paths);
        if card.imported || (card.finished && !wants_more) {
            return Err(RuleError::NothingToResume(name()).into());
        }
        let other = seed.is_some_and(|seed| seed != card.seed)
            || max_length.is_some_and(|length| length != card.max_length);
        if other {
            let said = |it: &MineSettings| {
                format!("the seed {} and bodies of up to {} atoms", it.seed, it.max_length)
            };
            let (begun, asked) = (said(&as_begun), said(&anew));
            return Err(RuleError::OtherSettings { name: name(), begun, asked }.into());
        }
        let rules = set.rules().to_vec();
        let mined = Mined { rules, paths: card.paths, short: card.short, finished: false };
        Ok((as_begun, Some(mined)))
    }
}

fn made(
    folder: &RuleFolder,
    set: &RuleSet,
    card: &RuleCard,
    passed_over: Option<(usize, usize, String)>,
) -> RulesMade {
    let own = |(place, leader): (usize, &u32)| place == *leader as usize;
    RulesMade {
        name: folder.name().to_owned(),
        file: folder.file(),
        rules: set.len(),
        kinds: set.kinds(),
        clusters: set.leaders().iter().enumerate().filter(|it| own(*it)).count(),
        paths: card.paths,
        finished: card.finished,
        valid: card.valid,
        passed_over,
    }
}

#[cfg(test)]
mod tests;
