//! The benchmarks of the literature, where they lie beside the project: their known sizes.

use std::path::PathBuf;

use super::super::{BenchmarkFolder, FolderReport};
use crate::benchmark::QuerySet;
use crate::graph::{EntityId, Graph, RelationId, Split};
use crate::import::read::{betae, query2box};

const NINE: [&str; 9] = ["1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"];
const FOURTEEN: [&str; 14] =
    ["1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up", "2in", "3in", "inp", "pin", "pni"];

fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: there is no {}", path.display());
    None
}

/// All shapes, with as many 1p queries and as many of each other shape.
fn check_sizes(set: Option<&QuerySet>, shapes: &[&str], first: usize, others: usize) {
    let set = set.unwrap();
    let found: Vec<(&str, usize)> =
        set.groups.iter().map(|group| (group.shape.as_str(), group.len())).collect();
    let size = |shape| if shape == "1p" { first } else { others };
    let expected: Vec<(&str, usize)> = shapes.iter().map(|&shape| (shape, size(shape))).collect();
    assert_eq!(found, expected);
    for group in &set.groups {
        assert_eq!((group.easy.len(), group.hard.len()), (group.len(), group.len()));
        for query in 0..group.len() {
            let (easy, hard) = (group.easy(query), group.hard(query));
            assert!(!hard.is_empty() && easy.is_sorted() && hard.is_sorted());
            assert!(easy.iter().all(|answer| hard.binary_search(answer).is_err()));
        }
    }
}

/// The graph, with as many entities and relations and edges in each split, none lost on the way.
fn check_graph(folder: BenchmarkFolder, entities: usize, relations: usize, edges: [usize; 3]) -> Graph {
    assert_eq!(folder.report, FolderReport::default());
    let (graph, report) = folder.builder.finish();
    assert_eq!((report.repeated, report.leaked), (0, 0));
    assert_eq!((graph.entities.len(), graph.relations.len()), (entities, relations));
    assert_eq!(Split::ALL.map(|split| graph.edges(split).len()), edges);
    assert_eq!(graph.inverses.pairs().count(), relations / 2);
    graph
}

/// The hard answers of 1p queries are the edges of their split; the easy ones are the edges of the
/// splits before it, except for `incomplete` queries, where the published file lacks some of them.
fn check_1p(set: &QuerySet, graph: &Graph, known: &[Split], asked: Split, incomplete: usize) {
    let group = set.group("1p").unwrap();
    let mut lacking = 0;
    for query in 0..group.len() {
        let &[head, relation] = group.query(query) else { panic!("1p has two arguments") };
        let tails = |split: Split| graph.edges(split).tails(EntityId(head), RelationId(relation));
        let mut easy: Vec<EntityId> = known.iter().flat_map(|&split| tails(split)).collect();
        easy.sort_unstable();
        assert!(tails(asked).eq(group.hard(query).iter().copied()));
        assert!(group.easy(query).iter().all(|answer| easy.binary_search(answer).is_ok()));
        lacking += usize::from(group.easy(query).len() < easy.len());
    }
    assert_eq!(lacking, incomplete);
}

#[test]
fn fb15k_237_has_its_known_sizes() {
    let Some(path) = folder("fb15k-237") else { return };
    assert!(query2box::recognise(&path) && !betae::recognise(&path));
    let mut read = query2box::read(&path, &|_| ()).unwrap();
    let (valid, test) = (read.valid.take(), read.test.take());
    check_sizes(valid.as_ref(), &NINE, 20_101, 5_000);
    check_sizes(test.as_ref(), &NINE, 22_812, 5_000);
    let graph = check_graph(read, 14_505, 474, [544_230, 35_052, 40_876]);
    assert_eq!(graph.edges(Split::Train).outgoing.groups().count(), 149_689);
    check_1p(&valid.unwrap(), &graph, &[Split::Train], Split::Valid, 0);
    check_1p(&test.unwrap(), &graph, &[Split::Train, Split::Valid], Split::Test, 210);
}

#[test]
fn nell995_has_its_known_sizes() {
    let Some(path) = folder("nell995") else { return };
    let mut read = query2box::read(&path, &|_| ()).unwrap();
    let (valid, test) = (read.valid.take(), read.test.take());
    check_sizes(valid.as_ref(), &NINE, 16_927, 4_000);
    check_sizes(test.as_ref(), &NINE, 17_034, 4_000);
    let graph = check_graph(read, 63_361, 400, [228_426, 28_648, 28_534]);
    assert_eq!(graph.edges(Split::Train).outgoing.groups().count(), 107_982);
    check_1p(&valid.unwrap(), &graph, &[Split::Train], Split::Valid, 0);
    check_1p(&test.unwrap(), &graph, &[Split::Train, Split::Valid], Split::Test, 0);
}

#[test]
fn fb15k_has_its_known_sizes() {
    let Some(path) = folder("fb15k") else { return };
    let mut read = query2box::read(&path, &|_| ()).unwrap();
    let (valid, test) = (read.valid.take(), read.test.take());
    check_sizes(valid.as_ref(), &NINE, 59_097, 8_000);
    check_sizes(test.as_ref(), &NINE, 67_016, 8_000);
    let graph = check_graph(read, 14_951, 2_690, [966_284, 100_000, 118_142]);
    assert_eq!(graph.edges(Split::Train).outgoing.groups().count(), 273_710);
    check_1p(&valid.unwrap(), &graph, &[Split::Train], Split::Valid, 0);
    check_1p(&test.unwrap(), &graph, &[Split::Train, Split::Valid], Split::Test, 817);
}

#[test]
fn wn18rr_qa_has_its_known_sizes() {
    let Some(path) = folder("wn18rr-qa") else { return };
    assert!(betae::recognise(&path) && !query2box::recognise(&path));
    let mut read = betae::read(&path, &|_| ()).unwrap();
    let (valid, test) = (read.valid.take(), read.test.take());
    check_sizes(valid.as_ref(), &FOURTEEN, 5_202, 1_000);
    check_sizes(test.as_ref(), &FOURTEEN, 5_356, 1_000);
    let graph = check_graph(read, 40_559, 22, [173_670, 5_648, 5_848]);
    check_1p(&valid.unwrap(), &graph, &[Split::Train], Split::Valid, 0);
    check_1p(&test.unwrap(), &graph, &[Split::Train, Split::Valid], Split::Test, 0);
}
