//! The projects that are served, made once on disk, and questions about them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use relatum::graph::{EntityId, Graph, Id, Split};
use relatum::query::{Limits, Shape};
use relatum::random::Rng;

use super::super::child::relatum;
use super::super::world::shared;
use crate::shell::{self, root};

/// A project to serve.
pub(super) struct World {
    pub(super) name: &'static str,
    pub(super) dir: PathBuf,
}

impl World {
    /// The films, and FB15k-237 with a model of rank 100 where it is there.
    pub(super) fn all() -> anyhow::Result<Vec<Self>> {
        let folder = root().join("target/bench-serve");
        std::fs::create_dir_all(&folder)?;
        let films = folder.join("films");
        shell::run(relatum().arg("demo").arg(&films).stdout(Stdio::null()))?;
        let mut worlds = vec![Self { name: "films", dir: films }];
        match shared("fb15k-237") {
            Some(data) => worlds.push(Self { name: "FB15k-237, rank 100", dir: fb15k_237(&folder, &data)? }),
            None => println!("FB15k-237 is not beside the workspace: the films alone are measured"),
        }
        Ok(worlds)
    }
}

/// A project of the dataset, with the published checkpoint or one that is trained for an epoch.
fn fb15k_237(folder: &Path, data: &Path) -> anyhow::Result<PathBuf> {
    let dir = folder.join("fb15k-237");
    if !dir.exists() {
        shell::run(relatum().arg("init").arg(&dir).arg(data))?;
    }
    if relatum::Engine::open(&dir)?.models().models.is_empty() {
        let published = shared("reference").and_then(|folder| {
            let files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
            files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "pt"))
        });
        match published {
            Some(file) => shell::run(relatum().arg("import").arg(&dir).arg(file))?,
            None => shell::run(
                relatum().arg("train").arg(&dir).args(["--rank", "100", "--epochs", "1", "--search", "off"]),
            )?,
        }
    }
    Ok(dir)
}

/// Questions of a shape, in the text syntax, each with an answer: walks from random entities along edges.
pub(super) fn questions(graph: &Graph, shape: Shape, count: usize) -> Vec<String> {
    let mut rng = Rng::new(7);
    let mut found = Vec::new();
    // A graph without such paths has no such questions, so the tries are limited.
    for _ in 0..count * 1000 {
        if found.len() == count {
            break;
        }
        found.extend(random(graph, shape, &mut rng));
    }
    found
}

fn random(graph: &Graph, shape: Shape, rng: &mut Rng) -> Option<String> {
    let (anchors, relations) = shape.arity();
    let outgoing = &graph.edges(Split::Train).outgoing;
    let mut at = EntityId::from_index(rng.below(graph.entities.len()));
    let (mut path, mut places) = (Vec::new(), vec![at]);
    for step in 0..relations {
        let mut arcs = outgoing.of(at);
        if arcs.is_empty() && step > 0 {
            // Some edges of the films lead no further; then the next chain begins elsewhere.
            at = EntityId::from_index(rng.below(graph.entities.len()));
            arcs = outgoing.of(at);
        }
        let arc = arcs.get(rng.below(arcs.len().max(1)))?;
        path.push(arc.relation);
        at = arc.neighbour;
        places.push(at);
    }
    let anchors: Vec<EntityId> = places[..anchors].to_vec();
    let query = shape.structure(&anchors, &path)?.query()?;
    query.clone().check(Limits::default()).ok()?;
    Some(query.named(graph).to_string())
}
