//! Small folders of both kinds, written by the tests.

use std::path::Path;

use tempfile::TempDir;

use super::super::{BenchmarkFolder, FolderError};
use crate::import::pickle::Writer;
use crate::import::read::{betae, query2box};

/// A value to pickle.
#[derive(Clone)]
pub(super) enum Py {
    Int(i64),
    Str(&'static str),
    Tuple(Vec<Py>),
    List(Vec<Py>),
    Set(Vec<Py>),
    Dict(Vec<(Py, Py)>),
}

impl Py {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> std::io::Result<()> {
        let all =
            |items: &[Py], writer: &mut Writer<Vec<u8>>| items.iter().try_for_each(|item| item.write(writer));
        match self {
            Self::Int(int) => writer.int(*int),
            Self::Str(text) => writer.str(text),
            Self::Tuple(items) => writer.tuple(|writer| all(items, writer)),
            Self::List(items) => writer.list(|writer| all(items, writer)),
            Self::Set(items) => writer.set(|writer| all(items, writer)),
            Self::Dict(entries) => writer.defaultdict_of_sets(|writer| {
                entries.iter().try_for_each(|(key, value)| {
                    key.write(writer)?;
                    value.write(writer)
                })
            }),
        }
    }
}

impl From<i64> for Py {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<&'static str> for Py {
    fn from(text: &'static str) -> Self {
        Self::Str(text)
    }
}

/// A tuple: `t!(7, t!(0))` is `(7, (0,))`.
macro_rules! t {
    ($($item:expr),* $(,)?) => { Py::Tuple(vec![$(Py::from($item)),*]) };
}

/// A set of integers.
macro_rules! s {
    ($($item:expr),* $(,)?) => { Py::Set(vec![$(Py::from($item)),*]) };
}

pub(super) use {s, t};

pub(super) struct Sample {
    dir: TempDir,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn text(&self, file: &str, text: &str) -> &Self {
        std::fs::write(self.path().join(file), text).unwrap();
        self
    }

    pub(super) fn bytes(&self, file: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.path().join(file), bytes).unwrap();
        self
    }

    pub(super) fn pickle(&self, file: &str, value: &Py) -> &Self {
        let mut writer = Writer::new(Vec::new()).unwrap();
        value.write(&mut writer).unwrap();
        self.bytes(file, &writer.finish().unwrap())
    }

    pub(super) fn remove(&self, file: &str) -> &Self {
        std::fs::remove_file(self.path().join(file)).unwrap();
        self
    }

    pub(super) fn names(&self, file: &str, names: &[&'static str]) -> &Self {
        let entries = (0..).zip(names).map(|(id, &name)| (Py::Int(id), Py::Str(name)));
        self.pickle(file, &Py::Dict(entries.collect()))
    }

    pub(super) fn read(&self) -> Result<BenchmarkFolder, FolderError> {
        if query2box::recognise(self.path()) {
            query2box::read(self.path(), &|_| ())
        } else {
            assert!(betae::recognise(self.path()));
            betae::read(self.path(), &|_| ())
        }
    }

    /// The message of the failure, with the folder called `DIR`.
    pub(super) fn failure(&self) -> String {
        let message = self.read().err().unwrap().to_string();
        message.replace(&self.path().display().to_string(), "DIR")
    }
}

/// Four people, `likes` and its inverse; one edge in each of the splits; valid has 1p and ip queries.
pub(super) fn query2box_sample() -> Sample {
    let sample = Sample::new();
    let key = |head: i64, relation: i64| t!(t!(head, t!(relation)));
    let edges = |head: i64, tail: i64| Py::Dict(vec![(key(head, 0), s!(tail)), (key(tail, 1), s!(head))]);
    let ip = |a: i64, b: i64| t!(t!(a, t!(0)), t!(b, t!(0)), 1);
    sample
        .text("stats.txt", "numentity: 4\nnumrelations: 2")
        .names("ind2ent.pkl", &["Ann", "Bob", "Cid", "Dan"])
        .names("ind2rel.pkl", &["likes", "likes_reverse"])
        .pickle("train_ans_1c.pkl", &edges(0, 1))
        .pickle("valid_ans_1c_hard.pkl", &edges(0, 2))
        .pickle("test_ans_1c_hard.pkl", &edges(3, 2))
        .pickle("valid_ans_1c.pkl", &Py::Dict(vec![(key(2, 1), s!(0)), (key(0, 0), s!(2, 1))]))
        .pickle(
            "valid_triples_1c.pkl",
            &Py::List(vec![t!(t!(2, t!(1), 0), "1-chain"), t!(t!(0, t!(0), 0), "1-chain")]),
        )
        .pickle(
            "valid_triples_ic.pkl",
            &Py::List(vec![
                t!(t!(3, t!(0)), t!(0, t!(0)), 1, 0, "inter-chain"),
                t!(t!(0, t!(0)), t!(1, t!(0)), 1, 0, "inter-chain"),
            ]),
        )
        .pickle("valid_ans_ic.pkl", &Py::Dict(vec![(ip(0, 1), s!(3, 0, 1, 2)), (ip(3, 0), s!(2))]))
        .pickle("valid_ans_ic_hard.pkl", &Py::Dict(vec![(ip(3, 0), s!(2)), (ip(0, 1), s!(3, 0))]));
    sample
}

/// The same people; test has 2in queries, a 1p one, and one of a shape without a name.
pub(super) fn betae_sample() -> Sample {
    let sample = Sample::new();
    let two = |a: i64, b: i64| t!(t!(a, t!(0)), t!(b, t!(1, -2)));
    let long = t!(1, t!(0, 1, 0, 1, 0, 1));
    sample
        .text("stats.txt", "numentity: 4\nnumrelations: 2\n")
        .names("id2ent.pkl", &["Ann", "Bob", "Cid", "Dan"])
        .names("id2rel.pkl", &["+likes", "-likes"])
        .text("train.txt", "0\t0\t1\n1\t1\t0\n")
        .text("valid.txt", "0\t0\t2\r\n2\t1\t0")
        .text("test.txt", "3\t0\t2\n2\t1\t3\n\n")
        .pickle(
            "test-queries.pkl",
            &Py::Dict(vec![
                (t!("e", t!("r", "r", "r", "r", "r", "r")), Py::Set(vec![long.clone()])),
                (t!(t!("e", t!("r")), t!("e", t!("r", "n"))), Py::Set(vec![two(3, 0), two(0, 1), two(0, 0)])),
                (t!("e", t!("r")), Py::Set(vec![t!(3, t!(0))])),
            ]),
        )
        .pickle(
            "test-easy-answers.pkl",
            &Py::Dict(vec![(two(0, 0), s!(1)), (two(0, 1), s!(2, 3)), (long.clone(), s!(0))]),
        )
        .pickle(
            "test-hard-answers.pkl",
            &Py::Dict(vec![(two(3, 0), s!(3, 1)), (two(0, 1), s!(3)), (t!(3, t!(0)), s!(2)), (long, s!(3))]),
        );
    sample
}
