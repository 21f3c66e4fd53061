//! Folders in the form of BetaE: three files of edges, and for each split one file of queries and
//! two of answers.
//!
//! `train.txt`, `valid.txt` and `test.txt` hold an edge a line: the ids of head, relation and tail,
//! with tabs between them. `valid-queries.pkl` is a dict from a [skeleton](Skeleton) to the set of
//! queries that have it; `valid-easy-answers.pkl` and `valid-hard-answers.pkl` are dicts from a query
//! to the set of its answers. A query may be missing from one of the two, not from both.
//!
//! Splits or the graph may be missing. A file of queries needs its two files of answers.
//! Sets have no order of their own, so the queries of a shape are sorted by their numbers.

use std::path::Path;

use super::folder::{BenchmarkFolder, Draft, Folder, FolderError, Keys, collect};
use crate::benchmark::{QuerySet, Role, Skeleton};
use crate::graph::{Split, Triple};
use crate::import::pickle::Item;

/// Skeletons are short; a longer key is not a skeleton.
const LONGEST_SKELETON: usize = 1000;
/// A limit, because every key of the answers is compared with every form; the literature has 18 of them.
const MOST_FORMS: usize = 256;
/// How much of a bad line a message shows.
const SHOWN: usize = 80;

/// Whether a folder has this form.
pub fn recognise(dir: &Path) -> bool {
    let has = |file: &str| dir.join(file).is_file();
    let queries = Split::ALL.iter().any(|split| has(&format!("{split}-queries.pkl")));
    // Many folders have a train.txt; only here does it hold ids that another file names.
    queries || (has("id2ent.pkl") && has("train.txt"))
}

/// Reads a folder; `progress` is told what is being read. Files are read one at a time.
pub fn read(dir: &Path, progress: &dyn Fn(&str)) -> Result<BenchmarkFolder, FolderError> {
    let mut folder = Folder::open(dir, progress, ["id2ent.pkl", "id2rel.pkl"])?;
    for split in Split::ALL {
        read_edges(&mut folder, split)?;
    }
    let valid = read_queries(&mut folder, Split::Valid)?;
    let test = read_queries(&mut folder, Split::Test)?;
    Ok(folder.finish(valid, test))
}

fn read_edges(folder: &mut Folder<'_>, split: Split) -> Result<(), FolderError> {
    let file = format!("{split}.txt");
    if !folder.has(&file) {
        return Ok(());
    }
    let bytes = folder.bytes(&file)?;
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let [head, relation, tail] = ids(text).ok_or_else(|| FolderError::Line {
            path: folder.path(&file),
            line,
            expected: "three ids with tabs between them: head, relation, tail",
            found: String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned(),
        })?;
        let place = || format!("line {line}");
        folder.check(Role::Entity, head, &file, place)?;
        folder.check(Role::Relation, relation, &file, place)?;
        folder.check(Role::Entity, tail, &file, place)?;
        folder.builder.add_ids(split, Triple::new(head, relation, tail));
    }
    Ok(())
}

fn ids(line: &[u8]) -> Option<[u32; 3]> {
    let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace().map(|field| field.parse().ok());
    let ids = [fields.next()??, fields.next()??, fields.next()??];
    fields.next().is_none().then_some(ids)
}

fn read_queries(folder: &mut Folder<'_>, split: Split) -> Result<Option<QuerySet>, FolderError> {
    let file = format!("{split}-queries.pkl");
    let [easy, hard] = ["easy", "hard"].map(|kind| format!("{split}-{kind}-answers.pkl"));
    if !folder.has(&file) {
        return Ok(None);
    }
    folder.require(&easy, &file)?;
    folder.require(&hard, &file)?;
    let drafts = read_drafts(folder, &file)?;
    let set = collect(folder, drafts, &hard, &easy, Keys::Partial)?;
    Ok(if set.is_empty() { None } else { Some(set) })
}

fn read_drafts(folder: &mut Folder<'_>, file: &str) -> Result<Vec<Draft>, FolderError> {
    let pickle = folder.pickle(file)?;
    let root = pickle.root();
    let entries = root
        .as_dict()
        .ok_or_else(|| folder.malformed(file, "a dict from skeletons to sets of queries", root))?;
    let mut drafts = Vec::with_capacity(entries.len());
    for (key, queries) in entries {
        let skeleton = skeleton(folder, key, file)?;
        let queries = queries.as_set().or_else(|| queries.as_list()).ok_or_else(|| {
            folder.malformed(file, format!("a set of queries of the form {skeleton}"), queries)
        })?;
        folder.pay(queries.len(), file)?;
        if drafts.len() == MOST_FORMS {
            return Err(folder.malformed(file, format!("at most {MOST_FORMS} forms of queries"), key));
        }
        let mut draft = Draft::new(skeleton.clone(), skeleton.clone());
        draft.extend(folder, queries, &skeleton, file)?;
        draft.sort();
        if draft.len() > 0 {
            drafts.push((skeleton.rank(), skeleton.to_string(), draft));
        }
    }
    drafts.sort_by(|(a_rank, a_text, _), (b_rank, b_text, _)| (a_rank, a_text).cmp(&(b_rank, b_text)));
    Ok(drafts.into_iter().map(|(_, _, draft)| draft).collect())
}

fn skeleton(folder: &Folder<'_>, key: Item<'_>, file: &str) -> Result<Skeleton, FolderError> {
    let skeleton: Skeleton = key
        .repr(LONGEST_SKELETON)
        .parse()
        .map_err(|_| folder.malformed(file, "keys that are nested tuples of 'e', 'r', 'n' and 'u'", key))?;
    if skeleton.arity() == 0 {
        return Err(folder.malformed(file, "keys with at least one 'e' or 'r'", key));
    }
    Ok(skeleton)
}
