//! The answers of published benchmark files, found again by stored edges alone.

use std::path::{Path, PathBuf};

use relatum::benchmark::{QueryGroup, missing_links_of};
use relatum::graph::{EntityId, Graph, Split};
use relatum::import::read::folders;
use relatum::model::Reciprocals;
use relatum::query::Limits;
use relatum::symbolic::{World, answers};

fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: the benchmark data {name} is not on this machine");
        return None;
    }
    Some(path)
}

fn found(group: &QueryGroup, index: usize, graph: &Graph, splits: &[Split]) -> Vec<EntityId> {
    let query = group.template().unwrap().fill(group.query(index), &Reciprocals::of(graph)).unwrap();
    answers(&query.normal_form(Limits::default()).unwrap(), &World::of(graph, splits))
}

#[test]
fn easy_and_hard_answers_of_a_betae_folder_are_those_of_its_edges() {
    let Some(dir) = shared("wn18rr-qa") else { return };
    let folder = folders::read(folders::recognise(&dir).unwrap(), &dir, &|_| ()).unwrap();
    let (graph, _) = folder.builder.finish();
    let test = folder.test.unwrap();
    assert!(test.groups.len() >= 14);
    let mut refuted = 0;
    for group in &test.groups {
        let links = missing_links_of(group, &graph, Split::Test, &[Split::Train, Split::Valid]).unwrap();
        for (index, links) in links.iter().enumerate() {
            let small = found(group, index, &graph, &[Split::Train, Split::Valid]);
            let large = found(group, index, &graph, &Split::ALL);
            let hard: Vec<EntityId> =
                large.iter().filter(|id| small.binary_search(id).is_err()).copied().collect();
            assert_eq!(group.hard(index), hard, "{} {index}", group.shape);
            assert_eq!(group.easy(index), small, "{} {index}", group.shape);
            refuted += small.iter().filter(|id| large.binary_search(id).is_err()).count();
            // An edge that is missing from the smaller graph makes a positive query's answer hard.
            if !group.skeleton.contains("'n'") {
                assert!(links.iter().all(|links| links.is_some_and(|links| links >= 1)), "{}", group.shape);
            }
        }
    }
    assert!(refuted > 0, "answers that the larger graph refutes are easy ones");
}
