//! Replies for the tests of this module.

use super::{Answer, AskedFor, Certainty, Names, Reply, Settings, of_answers};
use crate::answer::{Ask, ask};
use crate::graph::{GraphBuilder, Split};
use crate::model::{Model, predictor};
use crate::plan::{Plan, PlanOptions};
use crate::query::{Limits, Syntax, read};

/// A question with a negated atom and a negated sub-query for [`asked`].
pub(super) const NEGATED: &str = r#"?F : stars(F, "Will\nSmith") and not genre(F, Hitch) and not (exists A. stars(F, A) and stars(Hitch, A))"#;

/// A reply with these answers.
pub(super) fn reply(answers: Vec<Answer>) -> Reply {
    Reply {
        version: Reply::VERSION,
        query: "?A : r(a, A)".to_owned(),
        question: "?A : r(a, A)".to_owned(),
        asked: AskedFor::Entities,
        target: Some("A".to_owned()),
        shape: "1p".to_owned(),
        method: "exact".to_owned(),
        settings: Settings {
            model: "default".to_owned(),
            t_norm: "product".to_owned(),
            calibration: "softmax-count".to_owned(),
            sharpness: 1.0,
            negation_scale: 1.0,
            unseen: 1.0,
            known: "all".to_owned(),
            k: None,
            paper: false,
            either_side: false,
            union: "at-the-end".to_owned(),
            evidence: None,
            tuned_for: None,
        },
        certainty: Certainty::Exact { within: 1.23e-5 },
        rows: 1234,
        unfinished_model: None,
        remarks: Vec::new(),
        offset: 0,
        answers,
        relations: Vec::new(),
        judged: None,
    }
}

/// The reply to a question about a few films with hostile names, explained by a random model.
pub(super) fn asked(text: &str) -> Reply {
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "Bad \"Boys\"", "stars", "Will\nSmith");
    builder.add(Split::Train, "Bad \"Boys\"", "genre", "A\\B");
    builder.add(Split::Train, "Hitch", "stars", "Eva\u{7}");
    let (graph, _) = builder.finish();
    let model = Model::random(predictor("complex", 2).unwrap(), &graph, 1e-3, 0);
    let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = Plan::new(&checked, &graph, PlanOptions::default());
    let how = Ask { top: 1, explain: true, ..Ask::default() };
    let answers = ask(&plan, &model, &graph, &how).unwrap().answers;
    let names = Names { graph: &graph, normal_form: &checked.normal_form };
    let target = checked.normal_form.variable_name(checked.normal_form.target).to_owned();
    Reply { target: Some(target), ..reply(of_answers(names, &answers)) }
}
