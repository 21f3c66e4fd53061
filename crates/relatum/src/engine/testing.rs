//! A small project for the tests of this module.

use tempfile::TempDir;

use super::Engine;
use crate::graph::{Graph, GraphBuilder, Split};
use crate::project::{Project, Queries};
use crate::store::Staging;

/// Two films; keep the folder as long as the engine.
pub(crate) fn films() -> (TempDir, Engine) {
    let mut builder = GraphBuilder::default();
    for (film, actors) in
        [("Bad Boys", ["Will Smith", "Martin Lawrence"]), ("Hitch", ["Will Smith", "Eva Mendes"])]
    {
        for actor in actors {
            builder.add(Split::Train, film, "stars", actor);
        }
        builder.add(Split::Train, film, "has genre", "Comedy");
    }
    builder.add(Split::Test, "Bad Boys", "has genre", "Action");
    engine_of(&builder.finish().0)
}

/// A graph as a project; keep the folder as long as the engine.
pub(crate) fn engine_of(graph: &Graph) -> (TempDir, Engine) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("films");
    let staging = Staging::begin(&path).unwrap();
    Project::create(staging, graph, &Queries::default(), Vec::new()).unwrap();
    (dir, Engine::open(&path).unwrap())
}
