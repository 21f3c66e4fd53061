//! Both kinds of folders: what is in them, what may be missing, what is refused and how.

mod real;
mod sample;

use sample::{Py, Sample, betae_sample, query2box_sample, s, t};

use super::*;
use crate::benchmark::QueryGroup;
use crate::graph::{Graph, Id, Triple};

fn graph(folder: BenchmarkFolder) -> Graph {
    folder.builder.finish().0
}

/// Each query of a group with its easy and hard answers.
fn shown(group: &QueryGroup) -> Vec<String> {
    let ids = |ids: &[EntityId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    let query = |index| {
        format!("{:?}: {:?} | {:?}", group.query(index), ids(group.easy(index)), ids(group.hard(index)))
    };
    (0..group.len()).map(query).collect()
}

#[test]
fn a_query2box_folder_gives_its_graph_and_its_queries() {
    let folder = query2box_sample().read().unwrap();
    assert_eq!((folder.report, folder.test.as_ref()), (FolderReport::default(), None));
    let valid = folder.valid.as_ref().unwrap();
    assert_eq!(valid.groups.iter().map(|group| group.shape.as_str()).collect::<Vec<_>>(), ["1p", "ip"]);
    // In the order of the list; easy answers are all without the hard ones.
    assert_eq!(shown(&valid.groups[0]), ["[2, 1]: [] | [0]", "[0, 0]: [1] | [2]"]);
    assert_eq!(shown(&valid.groups[1]), ["[3, 0, 0, 0, 1]: [] | [2]", "[0, 0, 1, 0, 1]: [1, 2] | [0, 3]"]);
    assert_eq!(valid.groups[1].skeleton, "((('e',('r',)),('e',('r',))),('r',))");

    let graph = graph(folder);
    assert_eq!((graph.entity("Cid"), graph.relation("likes_reverse")), (Ok(EntityId(2)), Ok(RelationId(1))));
    assert_eq!(graph.inverses.of(RelationId(0)), Some(RelationId(1)));
    assert_eq!(Split::ALL.map(|split| graph.edges(split).len()), [2, 2, 2]);
    assert!(graph.edges(Split::Test).contains(Triple::new(2, 1, 3)));
}

#[test]
fn a_betae_folder_gives_its_graph_and_its_queries() {
    let folder = betae_sample().read().unwrap();
    assert_eq!((folder.report, folder.valid.as_ref()), (FolderReport::default(), None));
    let test = folder.test.as_ref().unwrap();
    let shapes: Vec<&str> = test.groups.iter().map(|group| group.shape.as_str()).collect();
    assert_eq!(shapes, ["1p", "2in", "('e',('r','r','r','r','r','r'))"]);
    assert_eq!(shown(&test.groups[0]), ["[3, 0]: [] | [2]"]);
    // Sorted by the numbers; an answer that both files have is a hard one.
    assert_eq!(
        shown(&test.groups[1]),
        ["[0, 0, 0, 1]: [1] | []", "[0, 0, 1, 1]: [2] | [3]", "[3, 0, 0, 1]: [] | [1, 3]"]
    );
    assert_eq!(shown(&test.groups[2]), ["[1, 0, 1, 0, 1, 0, 1]: [0] | [3]"]);

    let graph = graph(folder);
    assert_eq!(graph.entities.name(EntityId(3)), "Dan");
    assert_eq!(graph.inverses.pairs().collect::<Vec<_>>(), [(RelationId(0), RelationId(1))]);
    assert_eq!(Split::ALL.map(|split| graph.edges(split).len()), [2, 2, 2]);
}

#[test]
fn the_two_kinds_are_told_apart_from_each_other_and_from_other_folders() {
    use crate::import::read::{betae, query2box};
    let (first, second, other) = (query2box_sample(), betae_sample(), Sample::new());
    other.text("train.txt", "Ann\tlikes\tBob\n").text("stats.txt", "");
    let kinds = |sample: &Sample| (query2box::recognise(sample.path()), betae::recognise(sample.path()));
    assert_eq!([&first, &second, &other].map(kinds), [(true, false), (false, true), (false, false)]);
}

#[test]
fn progress_names_the_files_in_turn() {
    let sample = betae_sample();
    let told = std::cell::RefCell::new(Vec::new());
    crate::import::read::betae::read(sample.path(), &|what| told.borrow_mut().push(what.to_owned())).unwrap();
    assert_eq!(told.borrow()[..3], ["reading stats.txt", "reading id2ent.pkl", "reading id2rel.pkl"]);
    assert_eq!(told.borrow().last().unwrap(), "reading test-easy-answers.pkl");
}

#[test]
fn what_is_missing_is_left_out() {
    let sample = query2box_sample();
    for file in ["train_ans_1c.pkl", "test_ans_1c_hard.pkl", "stats.txt", "valid_triples_ic.pkl"] {
        sample.remove(file);
    }
    let folder = sample.read().unwrap();
    // Without the list, queries come in the order of the hard answers.
    assert_eq!(shown(&folder.valid.as_ref().unwrap().groups[1])[0], "[3, 0, 0, 0, 1]: [] | [2]");
    let graph = graph(folder);
    assert_eq!(Split::ALL.map(|split| graph.edges(split).len()), [0, 2, 0]);

    let sample = betae_sample();
    for file in ["train.txt", "test-queries.pkl", "test-easy-answers.pkl", "id2rel.pkl", "valid.txt"] {
        sample.remove(file);
    }
    sample.text("train.txt", "");
    let folder = sample.read().unwrap();
    assert_eq!((&folder.valid, &folder.test), (&None, &None));
}

#[test]
fn without_names_the_ids_are_the_names() {
    let sample = query2box_sample();
    sample.remove("ind2ent.pkl").remove("ind2rel.pkl");
    let graph = graph(sample.read().unwrap());
    assert_eq!((graph.entities.len(), graph.relations.len()), (4, 2));
    assert_eq!((graph.entity("3"), graph.relation("1")), (Ok(EntityId(3)), Ok(RelationId(1))));
}

#[test]
fn repeated_names_are_told_apart_and_ids_stay_what_they_are() {
    let sample = query2box_sample();
    sample.names("ind2ent.pkl", &["Ann", "Bob", "Ann", "Dan"]);
    let folder = sample.read().unwrap();
    assert_eq!(folder.report.renamed_entities, 1);
    let graph = graph(folder);
    let names: Vec<&str> = graph.entities.ids().map(|id| graph.entities.name(id)).collect();
    assert_eq!(names, ["Ann", "Bob", "Ann (2)", "Dan"]);
    assert_eq!(graph.entity("Dan").unwrap().index(), 3);
}

#[test]
fn oddities_are_counted_and_do_not_stop_the_reading() {
    let sample = query2box_sample();
    let key = |head: i64, relation: i64| t!(t!(head, t!(relation)));
    let lone = Py::Dict(vec![(key(0, 0), s!(1)), (key(1, 1), s!(0)), (key(2, 0), s!(3))]);
    sample.pickle("train_ans_1c.pkl", &lone);
    let once = t!(t!(0, t!(0), 0), "1-chain");
    sample.pickle("valid_triples_1c.pkl", &Py::List(vec![once.clone(), once]));
    let folder = sample.read().unwrap();
    let expected =
        FolderReport { without_mate: 1, repeated_queries: 1, unasked_answers: 2, ..FolderReport::default() };
    assert_eq!(folder.report, expected);
    assert_eq!(shown(&folder.valid.unwrap().groups[0]), ["[0, 0]: [1] | [2]"]);
}

#[test]
fn sets_and_names_that_are_used_over_and_over_are_refused() {
    // One set of 5,000 tails, and 5,000 keys that all have it.
    let sample = query2box_sample();
    let mut bomb = b"\x80\x02}\x8fq\x00(".to_vec();
    bomb.extend(b"K\x01".repeat(5000));
    bomb.extend(b"\x90q\x010");
    for _ in 0..5000 {
        bomb.extend(b"K\x00K\x00\x85\x86\x85h\x00s");
    }
    bomb.push(b'.');
    sample.bytes("train_ans_1c.pkl", &bomb);
    let error = sample.read().err().unwrap().to_string();
    assert!(error.contains("train_ans_1c.pkl asks for more copies"), "{error}");
    // One name of 10,000 characters for 1,000 entities.
    let sample = query2box_sample();
    let mut bomb = b"\x80\x02}X\x10\x27\x00\x00".to_vec();
    bomb.extend(b"x".repeat(10_000));
    bomb.extend(b"q\x000");
    for id in 0..1000u16 {
        bomb.push(b'M');
        bomb.extend(id.to_le_bytes());
        bomb.extend(b"h\x00s");
    }
    bomb.push(b'.');
    sample.bytes("ind2ent.pkl", &bomb).remove("stats.txt");
    let error = sample.read().err().unwrap().to_string();
    assert!(error.contains("ind2ent.pkl asks for more copies"), "{error}");
}

#[test]
fn queries_need_their_answers() {
    let sample = query2box_sample();
    sample.remove("valid_ans_ic_hard.pkl");
    insta::assert_snapshot!(sample.failure(), @"DIR/valid_ans_ic_hard.pkl is missing: expected it beside valid_triples_ic.pkl; add it, or take valid_triples_ic.pkl away");
    let sample = betae_sample();
    sample.remove("test-easy-answers.pkl");
    insta::assert_snapshot!(sample.failure(), @"DIR/test-easy-answers.pkl is missing: expected it beside test-queries.pkl; add it, or take test-queries.pkl away");
}

#[test]
fn a_query_without_answers_is_named() {
    let sample = query2box_sample();
    let ip = t!(t!(0, t!(0)), t!(1, t!(0)), 1);
    sample.pickle("valid_ans_ic_hard.pkl", &Py::Dict(vec![(ip, s!(3))]));
    insta::assert_snapshot!(sample.failure(), @"DIR/valid_ans_ic_hard.pkl: expected answers to the query ((3,(0,)),(0,(0,)),1), found none; add them, or take the query out of the list");
    let sample = betae_sample();
    sample.pickle("test-hard-answers.pkl", &Py::Dict(vec![(t!(3, t!(0)), s!())]));
    insta::assert_snapshot!(sample.failure(), @"DIR/test-hard-answers.pkl: expected answers to the query (3,(0,)), found none; add them, or take the query out of the list");
}

#[test]
fn ids_beyond_the_counts_are_refused_where_they_stand() {
    let broken = |file: &str, value: Py| {
        let sample = query2box_sample();
        sample.pickle(file, &value);
        sample.failure()
    };
    insta::assert_snapshot!(broken("train_ans_1c.pkl", Py::Dict(vec![(t!(t!(0, t!(2))), s!(1))])), @"DIR/train_ans_1c.pkl: the query ((0,(2,)),) names the relation 2: expected an id below 2, the number of them; correct the file, or stats.txt and the names");
    insta::assert_snapshot!(broken("train_ans_1c.pkl", Py::Dict(vec![(t!(t!(0, t!(1))), s!(4))])), @"DIR/train_ans_1c.pkl: an answer to the query ((0,(1,)),) names the entity 4: expected an id below 4, the number of them; correct the file, or stats.txt and the names");
    insta::assert_snapshot!(broken("valid_triples_1c.pkl", Py::List(vec![t!(t!(9, t!(1), 0), "1-chain")])), @"DIR/valid_triples_1c.pkl: the query ((9,(1,),0),'1-chain') names the entity 9: expected an id below 4, the number of them; correct the file, or stats.txt and the names");
    let sample = betae_sample();
    sample.text("valid.txt", "0\t0\t1\n0\t5\t1\n");
    insta::assert_snapshot!(sample.failure(), @"DIR/valid.txt: line 2 names the relation 5: expected an id below 2, the number of them; correct the file, or stats.txt and the names");
    let sample = betae_sample();
    sample.pickle("test-hard-answers.pkl", &Py::Dict(vec![(t!(3, t!(0)), s!(4))]));
    insta::assert_snapshot!(sample.failure(), @"DIR/test-hard-answers.pkl: an answer to the query (3,(0,)) names the entity 4: expected an id below 4, the number of them; correct the file, or stats.txt and the names");
}

#[test]
fn counts_and_names_must_agree() {
    let sample = query2box_sample();
    insta::assert_snapshot!(sample.text("stats.txt", "numentity: 5\nnumrelations: 2").failure(), @"stats.txt counts 5 entities, but DIR/ind2ent.pkl names 4; correct the one that is wrong");
    insta::assert_snapshot!(sample.text("stats.txt", "numentity: four").failure(), @r#"DIR/stats.txt:1: expected a number after the colon, found "numentity: four"; correct the line"#);
    insta::assert_snapshot!(sample.text("stats.txt", "entities = 4").failure(), @r#"DIR/stats.txt:1: expected 'numentity: N' or 'numrelations: M', found "entities = 4"; correct the line"#);
    sample.text("stats.txt", "").names("ind2rel.pkl", &["likes", "likes_reverse", "knows"]);
    insta::assert_snapshot!(sample.failure(), @"DIR has 3 relations: expected an even number, because relation 2i + 1 is the inverse of 2i; add the missing inverse, or bring the edges as a TSV file");
    sample.pickle("ind2rel.pkl", &Py::Dict(vec![(0.into(), "likes".into()), (2.into(), "knows".into())]));
    insta::assert_snapshot!(sample.failure(), @"DIR/ind2rel.pkl: expected names for the ids 0 to 1, one each, found the id 2; number them without gaps");
    insta::assert_snapshot!(sample.pickle("ind2rel.pkl", &Py::Dict(vec![(0.into(), t!(0))])).failure(), @"DIR/ind2rel.pkl: expected a text as the name of 0, found (0,); write the file again in that form");
    insta::assert_snapshot!(sample.remove("ind2rel.pkl").failure(), @"DIR has neither stats.txt nor ind2rel.pkl: expected one of them to say how many relations there are; add stats.txt with the lines 'numentity: N' and 'numrelations: M'");
    let claim = sample.text("stats.txt", "numrelations: 4000000000").failure();
    assert!(claim.starts_with("DIR/stats.txt counts 4000000000 relations: expected no more than"), "{claim}");
}

#[test]
fn values_of_another_form_are_refused_with_what_was_expected() {
    let broken = |file: &str, value: Py| {
        let sample = query2box_sample();
        sample.pickle(file, &value);
        sample.failure()
    };
    insta::assert_snapshot!(broken("train_ans_1c.pkl", Py::List(vec![])), @"DIR/train_ans_1c.pkl: expected a dict from ((head, (relation,)),) to the set of tails, found []; write the file again in that form");
    insta::assert_snapshot!(broken("train_ans_1c.pkl", Py::Dict(vec![(t!(0, 1), s!(2))])), @"DIR/train_ans_1c.pkl: expected queries of the form (('e',('r',)),), found (0,1); write the file again in that form");
    insta::assert_snapshot!(broken("train_ans_1c.pkl", Py::Dict(vec![(t!(t!(0, t!(1))), 2.into())])), @"DIR/train_ans_1c.pkl: expected a set of answers to the query ((0,(1,)),), found 2; write the file again in that form");
    insta::assert_snapshot!(broken("valid_ans_ic.pkl", Py::Dict(vec![(t!(t!(0, t!(1))), s!(2))])), @"DIR/valid_ans_ic.pkl: expected keys of the form (('e',('r',)),('e',('r',)),'r'), found ((0,(1,)),); write the file again in that form");
    insta::assert_snapshot!(broken("valid_triples_ic.pkl", Py::List(vec![t!(t!(0, t!(-1)), 0)])), @"DIR/valid_triples_ic.pkl: expected queries of the form (('e',('r',)),('e',('r',)),'r','_','_'), found ((0,(-1,)),0); write the file again in that form");

    let broken = |file: &str, value: Py| {
        let sample = betae_sample();
        sample.pickle(file, &value);
        sample.failure()
    };
    insta::assert_snapshot!(broken("test-queries.pkl", Py::Dict(vec![(t!("e", t!("x")), Py::Set(vec![]))])), @"DIR/test-queries.pkl: expected keys that are nested tuples of 'e', 'r', 'n' and 'u', found ('e',('x',)); write the file again in that form");
    insta::assert_snapshot!(broken("test-queries.pkl", Py::Dict(vec![(t!("n"), Py::Set(vec![t!(-2)]))])), @"DIR/test-queries.pkl: expected keys with at least one 'e' or 'r', found ('n',); write the file again in that form");
    let mixed = Py::Dict(vec![(t!("e", t!("r")), Py::Set(vec![t!(0, t!(1, 1))]))]);
    insta::assert_snapshot!(broken("test-queries.pkl", mixed), @"DIR/test-queries.pkl: expected queries of the form ('e',('r',)), found (0,(1,1)); write the file again in that form");
    let sample = betae_sample();
    insta::assert_snapshot!(sample.text("train.txt", "0\t0\t1\nAnn\tlikes\tBob\n").failure(), @r#"DIR/train.txt:2: expected three ids with tabs between them: head, relation, tail, found "Ann\tlikes\tBob"; correct the line"#);
}

#[test]
fn a_file_that_would_run_something_is_refused_by_name() {
    let sample = betae_sample();
    sample.bytes("test-queries.pkl", b"cos\nsystem\n(S'true'\ntR.");
    let message = sample.failure();
    assert!(
        message.starts_with("cannot read DIR/test-queries.pkl: forbidden global os.system at byte 0"),
        "{message}"
    );
}
