//! Folders in the form of Query2Box: one file for each split and shape, with the answers beside it.
//!
//! `train_ans_1c.pkl` is the training graph, a dict from `((h, (r,)),)` to the set of tails;
//! `valid_ans_1c_hard.pkl` and `test_ans_1c_hard.pkl` hold the edges of the other splits in the same
//! way. Of the queries of a shape, `valid_triples_2c.pkl` is the list, `valid_ans_2c.pkl` has all
//! their answers, `valid_ans_2c_hard.pkl` the hard ones; all without hard are the easy ones. A chain
//! is called `c` there where the later literature has a projection, `p`.
//!
//! Splits, shapes or the graph may be missing. A list of queries needs its two files of answers;
//! answers without a list are read in the order of the file of hard answers.

use std::path::Path;

use super::folder::{BenchmarkFolder, Draft, Folder, FolderError, Keys, collect};
use crate::benchmark::{QuerySet, Role, Skeleton};
use crate::graph::{Split, Triple};

/// A shape: its name in these files, its skeleton, and the form of a query as a key of the answers
/// and as an item of the list. The numbers stand in the same order in all three.
struct Form {
    name: &'static str,
    skeleton: &'static str,
    key: &'static str,
    listed: &'static str,
}

const FORMS: [Form; 9] = [
    Form { name: "1c", skeleton: "('e',('r',))", key: "(('e',('r',)),)", listed: "(('e',('r',),'_'),'_')" },
    Form {
        name: "2c",
        skeleton: "('e',('r','r'))",
        key: "(('e',('r','r')),)",
        listed: "(('e',('r','r'),'_'),'_')",
    },
    Form {
        name: "3c",
        skeleton: "('e',('r','r','r'))",
        key: "(('e',('r','r','r')),)",
        listed: "(('e',('r','r','r'),'_'),'_')",
    },
    Form {
        name: "2i",
        skeleton: "(('e',('r',)),('e',('r',)))",
        key: "(('e',('r',)),('e',('r',)))",
        listed: "(('e',('r',)),('e',('r',)),'_','_')",
    },
    Form {
        name: "3i",
        skeleton: "(('e',('r',)),('e',('r',)),('e',('r',)))",
        key: "(('e',('r',)),('e',('r',)),('e',('r',)))",
        listed: "(('e',('r',)),('e',('r',)),('e',('r',)),'_','_')",
    },
    Form {
        name: "ic",
        skeleton: "((('e',('r',)),('e',('r',))),('r',))",
        key: "(('e',('r',)),('e',('r',)),'r')",
        listed: "(('e',('r',)),('e',('r',)),'r','_','_')",
    },
    Form {
        name: "ci",
        skeleton: "(('e',('r','r')),('e',('r',)))",
        key: "(('e',('r','r')),('e',('r',)))",
        listed: "(('e',('r','r')),('e',('r',)),'_','_')",
    },
    Form {
        name: "2u",
        skeleton: "(('e',('r',)),('e',('r',)),('u',))",
        key: "(('e',('r',)),('e',('r',)))",
        listed: "(('e',('r',)),('e',('r',)),'_','_')",
    },
    Form {
        name: "uc",
        skeleton: "((('e',('r',)),('e',('r',)),('u',)),('r',))",
        key: "(('e',('r',)),('e',('r',)),'r')",
        listed: "(('e',('r',)),('e',('r',)),'r','_','_')",
    },
];

/// Whether a folder has this form.
pub fn recognise(dir: &Path) -> bool {
    let of_split = |split| [format!("{split}_triples_1c.pkl"), format!("{split}_ans_1c_hard.pkl")];
    let queries = [Split::Valid, Split::Test].into_iter().flat_map(of_split);
    queries.chain([TRAIN.to_owned()]).any(|file| dir.join(file).is_file())
}

/// Reads a folder; `progress` is told what is being read. Files are read one at a time.
pub fn read(dir: &Path, progress: &dyn Fn(&str)) -> Result<BenchmarkFolder, FolderError> {
    let mut folder = Folder::open(dir, progress, ["ind2ent.pkl", "ind2rel.pkl"])?;
    read_edges(&mut folder, Split::Train, TRAIN)?;
    read_edges(&mut folder, Split::Valid, "valid_ans_1c_hard.pkl")?;
    read_edges(&mut folder, Split::Test, "test_ans_1c_hard.pkl")?;
    let valid = read_queries(&mut folder, Split::Valid)?;
    let test = read_queries(&mut folder, Split::Test)?;
    Ok(folder.finish(valid, test))
}

const TRAIN: &str = "train_ans_1c.pkl";

/// Edges from a file of answers to 1p queries, if it is there.
fn read_edges(folder: &mut Folder<'_>, split: Split, file: &str) -> Result<(), FolderError> {
    if !folder.has(file) {
        return Ok(());
    }
    let pickle = folder.pickle(file)?;
    let root = pickle.root();
    let expected = "a dict from ((head, (relation,)),) to the set of tails";
    let entries = root.as_dict().ok_or_else(|| folder.malformed(file, expected, root))?;
    let (form, roles) = (Skeleton::pattern(FORMS[0].key), [Role::Entity, Role::Relation]);
    let mut arguments = Vec::new();
    for (key, value) in entries {
        folder.query(key, &form, &roles, &mut arguments, file)?;
        for tail in folder.answers(value, file, key)? {
            let tail = folder.answer(tail, file, key)?;
            folder.builder.add_ids(split, Triple::new(arguments[0], arguments[1], tail.0));
        }
    }
    Ok(())
}

fn read_queries(folder: &mut Folder<'_>, split: Split) -> Result<Option<QuerySet>, FolderError> {
    let mut set = QuerySet::default();
    for form in &FORMS {
        let list = format!("{split}_triples_{}.pkl", form.name);
        let all = format!("{split}_ans_{}.pkl", form.name);
        let hard = format!("{split}_ans_{}_hard.pkl", form.name);
        let mut draft = Draft::new(Skeleton::pattern(form.skeleton), Skeleton::pattern(form.key));
        if folder.has(&list) {
            folder.require(&all, &list)?;
            folder.require(&hard, &list)?;
            let pickle = folder.pickle(&list)?;
            let items = pickle.root().as_list();
            let items = items.ok_or_else(|| folder.malformed(&list, "a list of queries", pickle.root()))?;
            draft.extend(folder, items, &Skeleton::pattern(form.listed), &list)?;
        } else if folder.has(&all) && folder.has(&hard) {
            let pickle = folder.pickle(&hard)?;
            let entries = pickle.root().as_dict();
            let entries =
                entries.ok_or_else(|| folder.malformed(&hard, "a dict of answers", pickle.root()))?;
            draft.extend(folder, entries.map(|(key, _)| key), &Skeleton::pattern(form.key), &hard)?;
        }
        if draft.len() > 0 {
            set.groups.extend(collect(folder, vec![draft], &hard, &all, Keys::Complete)?.groups);
        }
    }
    Ok(if set.is_empty() { None } else { Some(set) })
}
