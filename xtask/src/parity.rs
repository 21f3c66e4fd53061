//! `cargo xtask parity`: the answers of an independent program to the same questions with the same
//! model, case by case.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use relatum::control::Control;
use relatum::graph::{EntityId, Graph, RelationId};
use relatum::import::read::query2box;
use relatum::import::read_tables;
use relatum::logic::TNorm;
use relatum::model::{Calibration, Model, predictor};
use relatum::plan::{Plan, PlanOptions};
use relatum::query::{Limits, Shape};
use relatum::search::beam::{Beam, Width};
use relatum::search::exact::{Exact, Goal};
use relatum::search::{Found, Known, Logic, Scorer, best};
use serde_json::Value;

use crate::shell::root;

/// How far a score may be from the reference: truth values, so this is absolute.
const TOLERANCE: f64 = 1e-5;

pub(crate) fn run() -> anyhow::Result<()> {
    let data = root().join("../shared/data");
    let folder = data.join("reference");
    let answers = folder.join("answers.json");
    if !answers.is_file() {
        println!("skipped: {} is not there", answers.display());
        return Ok(());
    }
    let text = std::fs::read_to_string(&answers)?;
    let answers: Value = serde_json::from_str(&text)?;
    let graph = query2box::read(&data.join("fb15k-237"), &|_| {})?.builder.finish().0;
    let model = model(&folder)?;
    let cases = answers["cases"].as_array().context("answers.json has no list of cases")?;
    let mut worst: BTreeMap<(String, String), Compared> = BTreeMap::new();
    for case in cases {
        let (setting, shape, found) = answer(case, &model, &graph)?;
        let compared = worst.entry((setting, shape)).or_default();
        compared.cases += 1;
        let top = best(&found.scores, 20, |_| true);
        for (place, expected) in case["top"].as_array().context("a case without answers")?.iter().enumerate()
        {
            let entity = number(&expected[0])? as usize;
            let score = expected[1].as_f64().context("an answer without a score")?;
            // The scores of the entity itself and of the entity at its rank, which are equal except for ties.
            let own = found.scores.get(entity).copied().context("an entity outside the graph")?;
            let placed = top.get(place).map_or(0.0, |(_, score)| *score);
            let off = [own, placed].map(|ours| (f64::from(ours) - score).abs());
            compared.furthest = compared.furthest.max(off[0]).max(off[1]);
        }
    }
    println!("{:<40} {:>5} {:>6} {:>20}", "setting", "shape", "cases", "largest difference");
    for ((setting, shape), compared) in &worst {
        println!("{setting:<40} {shape:>5} {:>6} {:>20.1e}", compared.cases, compared.furthest);
    }
    let furthest = worst.values().map(|compared| compared.furthest).fold(0.0, f64::max);
    ensure!(
        furthest <= TOLERANCE,
        "a score is {furthest:.1e} from the reference, and only {TOLERANCE:.0e} is allowed"
    );
    println!("{} cases agree to {TOLERANCE:.0e}", cases.len());
    Ok(())
}

#[derive(Default)]
struct Compared {
    cases: usize,
    furthest: f64,
}

/// The name of the setting, the shape, and what this program finds.
fn answer(case: &Value, model: &Model, graph: &Graph) -> anyhow::Result<(String, String, Found)> {
    let text = |key: &str| case[key].as_str().with_context(|| format!("a case without {key}"));
    let shape = Shape::from_name(text("type")?).context("an unknown shape")?;
    let (anchors, relations) = arguments(&case["query"])?;
    let structure = shape.structure(&anchors, &relations).context("a query of another shape")?;
    let query = structure.query().context("a shape without a query")?;
    let Ok(checked) = query.check(Limits::default()) else { bail!("a query that is refused: {case}") };
    let plan = Plan::new(&checked, graph, PlanOptions::default());
    let t_norm = TNorm::from_name(text("t_norm")?).context("an unknown t-norm")?;
    let logic = Logic { t_norm, ..Logic::default() };
    let (calibration, known) = match text("calibration")? {
        "sigmoid" => (Calibration::Sigmoid, Known::Ignore),
        _ => (Calibration::SoftmaxCount, Known::TRAIN),
    };
    let truth = Scorer::new(model, graph, calibration, known);
    let (search, found) = if let Some(k) = case["beam"].as_u64() {
        let width = Width { k: usize::try_from(k)?, paper: true };
        (format!("beam of {k}"), Beam::new(&plan, &truth, logic, width, &Control::default(), false)?.run()?)
    } else {
        let goal = Goal::Top { count: 20, keep: &|_| true, within: 1e-6, most: None };
        ("exact".to_owned(), Exact::new(&plan, &truth, logic, &Control::default())?.run(goal)?)
    };
    Ok((format!("{calibration}, {t_norm}, {search}"), shape.name().to_owned(), found))
}

/// Entities and relations of a query in nested lists, in the order in which they stand.
fn arguments(query: &Value) -> anyhow::Result<(Vec<EntityId>, Vec<RelationId>)> {
    let (mut anchors, mut relations) = (Vec::new(), Vec::new());
    for part in query.as_array().context("a query that is not a list")? {
        if let Value::Array(pair) = part {
            let [anchor, along] = &pair[..] else { bail!("a query with {part}") };
            anchors.push(EntityId(number(anchor)?));
            for relation in along.as_array().context("an anchor without relations")? {
                relations.push(RelationId(number(relation)?));
            }
        } else {
            relations.push(RelationId(number(part)?));
        }
    }
    Ok((anchors, relations))
}

fn number(value: &Value) -> anyhow::Result<u32> {
    let number = value.as_u64().with_context(|| format!("{value} is not an id"))?;
    Ok(u32::try_from(number)?)
}

fn model(folder: &Path) -> anyhow::Result<Model> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "pt") {
            let tables = read_tables(&[path])?;
            let complex = predictor("complex", tables.entities.columns / 2).context("no ComplEx")?;
            let made = Model::new(complex, tables.entities.values, tables.relations.values);
            return made.context("the tables of the checkpoint are not whole rows");
        }
    }
    bail!("{} holds no checkpoint", folder.display())
}
