//! Questions: read, planned, answered, explained.

use super::{Engine, Error, OpenModel, Options, Resolved};
use crate::answer::{self, Answers, Ask, Method, RankedRelation, SharedSource, judge, relations_between};
use crate::control::Control;
use crate::graph::EntityId;
use crate::plan::Plan;
use crate::query::{Asked, Between, Checked, CheckedStatement, Direction, Hop, Question, Shape, read_any};
use crate::report::{self, AskedFor, Certainty, Names, Reply};
use crate::search::{self, AtomTruth};
use crate::train::rules::RuleWeights;

impl Engine {
    /// Reads a question and checks it against the graph; nothing is searched.
    pub fn read(&self, text: &str, options: &Options) -> Result<Asked, Error> {
        Ok(read_any(text, options.syntax_of(text), self.graph(), options.limits())?)
    }

    /// Answers a question.
    ///
    /// ```no_run
    /// use relatum::{Engine, Options};
    ///
    /// let engine = Engine::open("movies")?;
    /// let reply = engine.ask(
    ///     r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#,
    ///     &Options { explain: true, ..Options::default() },
    /// )?;
    /// println!("{reply}");
    /// # Ok::<(), relatum::Error>(())
    /// ```
    pub fn ask(&self, text: &str, options: &Options) -> Result<Reply, Error> {
        self.ask_within(text, options, &Control::default())
    }

    /// The same within the limits of a control, which can also cancel it and hears of its progress.
    pub fn ask_within(&self, text: &str, options: &Options, control: &Control) -> Result<Reply, Error> {
        let asked = self.read(text, options)?;
        self.answer(text, &asked, options, control)
    }

    /// Answers a question that was read before.
    pub fn answer(
        &self,
        text: &str,
        asked: &Asked,
        options: &Options,
        control: &Control,
    ) -> Result<Reply, Error> {
        self.answer_of(text, asked, options, control, None)
    }

    /// Answers a question from a source of sorted lists that is not the table of the model, such as a table that
    /// is spread over machines; the method is that of lists, whatever the options say. Relations between two things
    /// and edges whose ends are both named are scored by the model itself: they need no list.
    pub fn ask_from(
        &self,
        source: &SharedSource,
        text: &str,
        options: &Options,
        control: &Control,
    ) -> Result<Reply, Error> {
        let asked = self.read(text, options)?;
        let options = Options { method: Method::Lists, ..options.clone() };
        self.answer_of(text, &asked, &options, control, Some(source))
    }

    fn answer_of(
        &self,
        text: &str,
        asked: &Asked,
        options: &Options,
        control: &Control,
        source: Option<&SharedSource>,
    ) -> Result<Reply, Error> {
        let model = self.model(options.model.as_deref())?;
        let asking = Asking { engine: self, model: &model, text, options, control, source };
        match asked {
            Asked::Entities(question) => asking.entities(question, None),
            Asked::Truth(statement) => asking.truth(statement),
            Asked::Relations { between, limit, offset } => asking.relations(between, *limit, *offset),
        }
    }

    /// Explains one entity as an answer to a question for entities: how true it is that it is one, and why.
    /// The reply has that answer alone, or none where the entity is not an answer.
    pub fn explain(
        &self,
        text: &str,
        entity: &str,
        options: &Options,
        control: &Control,
    ) -> Result<Reply, Error> {
        let entity = self.graph().entity(entity)?;
        let question = self.question(text, options)?;
        let model = self.model(options.model.as_deref())?;
        let options = &Options { explain: true, new_only: false, ..options.clone() };
        Asking { engine: self, model: &model, text, options, control, source: None }
            .entities(&question, Some(entity))
    }

    /// Reads a question for entities; a statement or a question for relations is a mistake here.
    pub fn question(&self, text: &str, options: &Options) -> Result<Question, Error> {
        Ok(crate::query::read(text, options.syntax_of(text), self.graph(), options.limits())?)
    }

    /// Plans a question as [`ask`](Self::ask) would.
    pub fn plan(&self, checked: &Checked, options: &Options) -> Result<Plan, Error> {
        // Without a model there are no tuned settings, but a plan can be made.
        let model = self.model(options.model.as_deref()).ok();
        let resolved = self.resolve(checked, options, model.as_deref())?;
        Ok(Plan::new(checked, self.graph(), resolved.plan))
    }

    /// The settings of a question, from what was chosen and what was tuned for such questions.
    fn resolve(
        &self,
        checked: &Checked,
        options: &Options,
        model: Option<&OpenModel>,
    ) -> Result<Resolved, Error> {
        let shape = checked.shape.map(Shape::name);
        let evidence = self.chosen_evidence(options);
        let tuned = shape.and_then(|shape| model?.tuned_for(shape, evidence));
        let resolved = options.resolve(shape, tuned)?;
        Ok(Resolved { evidence, ..resolved })
    }
}

struct Asking<'a> {
    engine: &'a Engine,
    model: &'a OpenModel,
    text: &'a str,
    options: &'a Options,
    control: &'a Control,
    source: Option<&'a SharedSource>,
}

impl Asking<'_> {
    fn entities(&self, question: &Question, only: Option<EntityId>) -> Result<Reply, Error> {
        let graph = self.engine.graph();
        let checked = &question.checked;
        let resolved = self.engine.resolve(checked, self.options, Some(self.model))?;
        let plan = Plan::new(checked, graph, resolved.plan);
        let (wanted, offset) = match only {
            Some(_) => (1, 0),
            None => (self.options.wanted(question.limit), question.offset),
        };
        let how = Ask { skip: offset, ..self.how(&resolved, wanted.saturating_add(offset), only)? };
        let Answers { mut answers, method, certainty, rows } =
            answer::ask(&plan, &self.model.model, graph, &how)?;
        answers.drain(..offset.min(answers.len()));
        let unexplained = answers.iter().filter(|answer| answer.explanation.is_none()).count();
        let late = self.options.explain && unexplained > 0 && self.control.is_late();
        let names = Names { graph, normal_form: &checked.normal_form };
        let mut reply = self.reply(&resolved, method, certainty, rows);
        if late {
            reply
                .remarks
                .push(format!("the time was over before {unexplained} of the answers were explained"));
        }
        Ok(Reply {
            question: checked.query.named(graph).to_string(),
            asked: AskedFor::Entities,
            target: Some(checked.normal_form.variable_name(checked.normal_form.target).to_owned()),
            shape: checked.shape.map_or("general", |shape| shape.name()).to_owned(),
            offset,
            answers: report::of_answers(names, &answers),
            ..reply
        })
    }

    fn truth(&self, statement: &CheckedStatement) -> Result<Reply, Error> {
        let graph = self.engine.graph();
        // A statement is always explained: it has nothing else to show.
        let resolved = self.resolve(&Options { explain: true, ..self.options.clone() })?;
        let how = self.how(&resolved, 1, None)?;
        let judgement = judge(statement, resolved.plan, &self.model.model, graph, &how)?;
        let method = match judgement.certainty {
            search::Certainty::Continuous { .. } => Method::Continuous,
            search::Certainty::Beam { .. } => Method::Beam,
            _ if how.method == Method::Lists => Method::Lists,
            _ => Method::Exact,
        };
        Ok(Reply {
            question: statement.statement.named(graph).to_string(),
            asked: AskedFor::Truth,
            shape: "statement".to_owned(),
            judged: Some(report::of_judgement(graph, &judgement)),
            ..self.reply(&resolved, method, judgement.certainty, judgement.rows)
        })
    }

    fn relations(&self, between: &Between, limit: Option<usize>, offset: usize) -> Result<Reply, Error> {
        let graph = self.engine.graph();
        let resolved = self.resolve(self.options)?;
        let how = self.how(&resolved, 1, None)?;
        let scorer = how.scorer(&self.model.model, graph)?;
        let pair = (between.subject, between.object);
        let (mut ranked, stopped) = relations_between(&scorer, graph, pair, self.control)?;
        let rows = ranked.len();
        if self.options.new_only {
            ranked.retain(|relation| relation.stored.is_none());
        }
        ranked.drain(..offset.min(ranked.len()));
        ranked.truncate(self.options.wanted(limit));
        let certainty = match stopped {
            Some(by) => search::Certainty::Stopped { by },
            None => search::Certainty::Exact { within: 0.0 },
        };
        let explained = self.options.explain || scorer.rules().is_some();
        let why = |it: &RankedRelation| {
            let hop = Hop { relation: it.relation, direction: Direction::Forward };
            let asked = explained && it.known.is_none();
            asked.then(|| scorer.why(pair.0, hop, pair.1, it.truth)).flatten()
        };
        Ok(Reply {
            question: between.named(graph).to_string(),
            asked: AskedFor::Relations,
            target: Some(between.target.name.clone()),
            shape: "relations".to_owned(),
            offset,
            relations: report::of_relations(graph, &ranked, why),
            ..self.reply(&resolved, Method::Exact, certainty, rows)
        })
    }

    /// The settings of a question that nothing was tuned for.
    fn resolve(&self, options: &Options) -> Result<Resolved, Error> {
        let evidence = self.engine.chosen_evidence(options);
        Ok(Resolved { evidence, ..options.resolve(None, None)? })
    }

    /// How to answer, with the rules that speak beside the model.
    fn how(&self, resolved: &Resolved, top: usize, only: Option<EntityId>) -> Result<Ask, Error> {
        let rules = self.engine.evidence(resolved.evidence, self.model, self.options.rules.as_deref())?;
        let source = self.source.cloned();
        Ok(Ask { rules, source, ..resolved.asking_for(top, only, self.control) })
    }

    /// The part that all replies have in common; the rest is empty.
    fn reply(&self, resolved: &Resolved, method: Method, certainty: search::Certainty, rows: usize) -> Reply {
        Reply {
            version: Reply::VERSION,
            query: self.text.to_owned(),
            question: String::new(),
            asked: AskedFor::Entities,
            target: None,
            shape: String::new(),
            method: method.name().to_owned(),
            settings: resolved.report(&self.model.name, method),
            certainty: Certainty::from(certainty),
            rows,
            unfinished_model: self.model.unfinished.clone(),
            remarks: self.remarks(resolved),
            offset: 0,
            answers: Vec::new(),
            relations: Vec::new(),
            judged: None,
        }
    }

    /// What people should know about how the answers came about.
    fn remarks(&self, resolved: &Resolved) -> Vec<String> {
        let Ask { logic, calibration, sharpness, unseen, .. } = &resolved.ask;
        let mut remarks = Vec::new();
        if let Some(position) = &self.model.unfinished {
            remarks.push(format!(
                "the model `{}` is unfinished ({position}), so its answers may still change",
                self.model.name
            ));
        }
        if let Some(why) = &self.model.tuning_lost {
            remarks.push(format!("the tuned settings are not used: {why}"));
        }
        if resolved.evidence == search::Evidence::Both
            && let Ok(rules) = self.engine.rules(self.options.rules.as_deref())
            && self.engine.rule_weights(self.model, &rules).is_none()
        {
            remarks.push(format!(
                "how much the rules `{}` count beside `{}` was not learned: every relation has the weight {}",
                rules.name,
                self.model.name,
                RuleWeights::DEFAULT
            ));
        }
        if let Some(shape) = &resolved.tuned_for {
            let mut parts = vec![logic.t_norm.name().to_owned(), calibration.name().to_owned()];
            let mut differs = |name: &str, value: f32| {
                if value.to_bits() != 1f32.to_bits() {
                    parts.push(format!("{name} {value}"));
                }
            };
            differs("sharpness", *sharpness);
            differs("unseen", *unseen);
            differs("negation scale", logic.negation.scale);
            remarks.push(format!("tuned for {shape} questions: {}", parts.join(", ")));
        }
        if !calibration.is_truth() {
            let fold = match logic.t_norm {
                crate::logic::TNorm::Godel => "smallest",
                _ => "product",
            };
            remarks.push(format!(
                "raw scores are not truth values: the {fold} of them ranks answers as the published code does, but \
                 its size means nothing"
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests;
