//! The two questions that the paper explains, asked of a trained model.

use relatum::answer::Method;
use relatum::graph::{EntityId, Graph};
use relatum::logic::TNorm;
use relatum::model::Calibration;
use relatum::report::Reply;
use relatum::search::Known;
use relatum::{Engine, Options};
use serde::{Deserialize, Serialize};

/// A question of the paper.
struct Question {
    words: &'static str,
    anchor: &'static str,
    relations: [&'static str; 2],
    /// The variables as the paper calls them: the one between, and the target.
    variables: [&'static str; 2],
    published: &'static str,
}

const QUESTIONS: [Question; 2] = [
    Question {
        words: "In what genres of movies did Martin Lawrence appear?",
        anchor: "/m/02633g",
        relations: ["/film/actor/film./film/performance/film", "/film/film/genre"],
        variables: ["M", "G"],
        published: "Do the Right Thing: Drama (rank 1), Comedy (4), Crime Fiction (7); National Security: Action (2), \
                    Thriller (3), Crime Fiction (5); The Nutty Professor: Comedy (6), Romantic Comedy (8, wrong), \
                    Romance Film (9, wrong)",
    },
    Question {
        words: "What international organisations contain the country of nationality of Thomas Aquinas?",
        anchor: "/m/07kb5",
        relations: [
            "/people/person/nationality",
            "/user/ktrueman/default_domain/international_organization/member_states_reverse",
        ],
        variables: ["C", "O"],
        published: "United States: NATO (1), OECD (2), EU (9); United Kingdom: NATO (3), OECD (4), EU (5); Germany: \
                    OECD (6), EU (7), WTO (8)",
    },
];

/// How many assignments the beam keeps, and how many answers are shown.
const K: usize = 64;
const TOP: usize = 9;

/// The questions with their answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Examples {
    pub(super) model: String,
    pub(super) rank: usize,
    pub(super) setting: String,
    pub(super) questions: Vec<Asked>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) words: String,
    pub(super) query: String,
    /// The variables: the one between, and the target.
    pub(super) variables: [String; 2],
    pub(super) answers: Vec<Answered>,
    /// What the paper shows.
    pub(super) published: String,
    /// The best answer with its whole explanation.
    pub(super) explained: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) answer: String,
    /// The value of the variable between.
    pub(super) through: String,
    pub(super) score: f64,
    /// Whether the dataset has it among the answers; unknown if it does not have the question.
    pub(super) correct: Option<bool>,
}

/// Asks both questions as CQD-Beam does: nothing but the model speaks.
pub(super) fn ask(engine: &Engine, model: &str) -> anyhow::Result<Examples> {
    let open = engine.model(Some(model))?;
    let mut questions = Vec::new();
    for question in &QUESTIONS {
        questions.push(asked(engine, model, question)?);
    }
    Ok(Examples {
        model: model.to_owned(),
        rank: open.card.rank,
        setting: format!("CQD-Beam, k = {K}, product t-norm, sigmoid, no stored edge trusted"),
        questions,
    })
}

fn asked(engine: &Engine, model: &str, question: &Question) -> anyhow::Result<Asked> {
    let Question { anchor, relations: [first, second], variables: [between, target], .. } = *question;
    let query = format!(
        "?{target} : exists {between}. \"{first}\"(\"{anchor}\", {between}) and \"{second}\"({between}, {target})"
    );
    let options = Options {
        model: Some(model.to_owned()),
        method: Method::Beam,
        k: Some(K),
        paper: true,
        t_norm: Some(TNorm::Product),
        calibration: Some(Calibration::Sigmoid),
        known: Some(Known::Ignore),
        unseen: Some(1.0),
        top: Some(TOP),
        explain: true,
        ..Options::default()
    };
    let reply = engine.ask(&query, &options)?;
    let truth = truth(engine, question);
    let mut answers = Vec::new();
    for answer in &reply.answers {
        let mut assigned = answer.explanation.iter().flat_map(|why| &why.assignment);
        let through = assigned.find(|binding| binding.variable == between);
        answers.push(Answered {
            answer: shown(&answer.entity),
            through: through.map_or_else(String::new, |binding| shown(&binding.value)),
            score: f64::from(answer.score),
            correct: truth.as_ref().map(|truth| truth.contains(&EntityId(answer.entity.id))),
        });
    }
    let best = Reply { answers: reply.answers.iter().take(1).cloned().collect(), ..reply.clone() };
    Ok(Asked {
        words: question.words.to_owned(),
        query,
        variables: [between.to_owned(), target.to_owned()],
        answers,
        published: question.published.to_owned(),
        explained: best.to_string().trim_end().to_owned(),
    })
}

/// The answers that the dataset gives, if the question is among its test queries.
fn truth(engine: &Engine, question: &Question) -> Option<Vec<EntityId>> {
    let graph: &Graph = engine.graph();
    let [first, second] = question.relations.map(|name| graph.relation(name).ok());
    let key = [graph.entity(question.anchor).ok()?.0, first?.0, second?.0];
    let queries = engine.queries();
    let group = queries.test.as_ref()?.group("2p")?;
    let index = (0..group.len()).find(|&index| group.query(index) == key)?;
    Some([group.easy(index), group.hard(index)].concat())
}

/// An entity as people call it.
fn shown(entity: &relatum::report::Entity) -> String {
    entity.label.clone().unwrap_or_else(|| entity.name.clone())
}
