//! Checks a question without searching.

use super::{Engine, Error, Options, formula};
use crate::query::shapes::Arguments;
use crate::query::{Asked, Question, read_any};
use crate::report::{AskedFor, Check, Diagnostic};

impl Engine {
    /// Reads a question and reports what is wrong with it, how it was understood and how it would be answered;
    /// nothing is searched. Mistakes in the question are part of the result, not an error.
    pub fn check(&self, text: &str, options: &Options) -> Result<Check, Error> {
        let graph = self.graph();
        let syntax = options.syntax_of(text);
        let check = Check { formula: formula::tree(text, syntax, graph), ..Check::of(text) };
        Ok(match read_any(text, syntax, graph, options.limits()) {
            Err(mistakes) => Check { answerable: false, diagnostics: Vec::from(&mistakes), ..check },
            Ok(Asked::Entities(question)) => self.check_question(text, &question, options)?,
            Ok(Asked::Truth(statement)) => {
                options.resolve(None, None)?;
                Check {
                    asked: Some(AskedFor::Truth),
                    question: Some(statement.statement.named(graph).to_string()),
                    shape: Some("statement".to_owned()),
                    ..check
                }
            }
            Ok(Asked::Relations { between, limit, offset }) => {
                options.resolve(None, None)?;
                Check {
                    asked: Some(AskedFor::Relations),
                    question: Some(between.named(graph).to_string()),
                    target: Some(between.target.name.clone()),
                    shape: Some("relations".to_owned()),
                    limit,
                    offset,
                    ..check
                }
            }
        })
    }

    /// The same for a question for entities that was read before.
    pub fn check_question(&self, text: &str, question: &Question, options: &Options) -> Result<Check, Error> {
        let (graph, checked) = (self.graph(), &question.checked);
        let plan = self.plan(checked, options)?;
        let structure = Arguments::of(&checked.normal_form).and_then(|it| it.structure(&graph.inverses));
        let notes = checked.validity.notes.iter();
        Ok(Check {
            diagnostics: notes.map(|note| Diagnostic::new(&note.diagnostic(), text)).collect(),
            asked: Some(AskedFor::Entities),
            question: Some(checked.query.named(graph).to_string()),
            target: Some(checked.normal_form.variable_name(checked.normal_form.target).to_owned()),
            shape: Some(checked.shape.map_or("general", |shape| shape.name()).to_owned()),
            normal_form: Some(checked.normal_form.to_query().named(graph).to_string()),
            sparql: Some(checked.normal_form.to_sparql(graph)),
            tuple: structure.map(|it| it.to_betae()),
            valid: Some(checked.validity.is_valid()),
            limit: question.limit,
            offset: question.offset,
            plan: Some(plan.describe(graph)),
            formula: formula::tree(text, options.syntax_of(text), graph),
            ..Check::of(text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::OptionsError;
    use crate::engine::testing::films;
    use crate::report::Severity;

    #[test]
    fn a_good_question_is_understood_and_planned() {
        let (_dir, engine) = films();
        let text = r#"?G : exists F. stars(F, "Will Smith") and "has genre"(F, G)"#;
        let check = engine.check(text, &Options::default()).unwrap();
        assert!(check.answerable && check.diagnostics.is_empty(), "{:?}", check.diagnostics);
        assert_eq!((check.shape.as_deref(), check.valid), (Some("2p"), Some(true)));
        assert_eq!(check.plan.as_ref().unwrap().branches.len(), 1);
        let json = serde_json::to_string(&check).unwrap();
        assert_eq!(serde_json::from_str::<Check>(&json).unwrap(), check, "a reader gets what was written");
    }

    #[test]
    fn mistakes_are_data_with_their_places() {
        let (_dir, engine) = films();
        let check = engine.check("?F :\n  stars(F, \"Will Smit\")", &Options::default()).unwrap();
        assert!(!check.answerable && check.plan.is_none());
        let [mistake] = &check.diagnostics[..] else { panic!("{:?}", check.diagnostics) };
        assert_eq!(
            (mistake.severity, mistake.message.as_str()),
            (Severity::Error, "there is no entity 'Will Smit'")
        );
        let span = mistake.labels[0].span;
        assert_eq!((span.start.byte, span.start.line, span.start.column), (16, 2, 12));
        assert_eq!((span.end.byte, span.end.line, span.end.column), (27, 2, 23));
        assert_eq!(mistake.help, ["the nearest name is \"Will Smith\""]);
        assert_eq!(mistake.suggestions[0].span, span);
        assert_eq!(mistake.suggestions[0].replacement, "\"Will Smith\"");
        let sparql = |text: &str| {
            let check = engine.check(text, &Options::default()).unwrap();
            check.diagnostics[0].suggestions[0].replacement.clone()
        };
        assert_eq!(sparql("SELECT ?f { ?f r:strs \"Will Smith\" }"), "r:stars");
        assert_eq!(sparql("SELECT ?f { ?f r:stars \"Will Smit\" }"), "\"Will Smith\"");
        assert_eq!(sparql("SELECT ?f { ?f r:stars e:Will%20Smit }"), "e:Will%20Smith");
    }

    #[test]
    fn statements_relations_and_notes_are_checked_too() {
        let (_dir, engine) = films();
        let check = |text: &str| engine.check(text, &Options::default()).unwrap();
        assert_eq!(check(r#"stars(Hitch, "Will Smith")"#).asked, Some(AskedFor::Truth));
        assert_eq!(check(r#"?R : R(Hitch, "Will Smith")"#).shape.as_deref(), Some("relations"));
        let beyond = check(r#"?F : stars(F, "Will Smith") and not "has genre"(F, Comedy)"#);
        assert_eq!((beyond.answerable, beyond.valid), (true, Some(false)));
        assert_eq!(beyond.diagnostics[0].severity, Severity::Note);
    }

    #[test]
    fn options_that_contradict_each_other_are_refused_as_in_asking() {
        let (_dir, engine) = films();
        let options = Options { paper: true, either_side: true, ..Options::default() };
        for text in [r#"stars(Hitch, "Will Smith")"#, r#"?F : stars(F, "Will Smith")"#] {
            let refused = engine.check(text, &options);
            assert!(matches!(refused, Err(Error::Options(OptionsError::PaperEitherSide))), "{text}");
        }
    }
}
