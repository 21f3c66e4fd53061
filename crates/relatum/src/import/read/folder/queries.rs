//! Queries and answers of a split, brought together.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{Folder, FolderError};
use crate::benchmark::{Lists, Piece, QueryGroup, QuerySet, Role, Skeleton};
use crate::graph::EntityId;
use crate::import::pickle::{Item, Items};

/// The queries of one shape before they have answers.
pub(in crate::import::read) struct Draft {
    skeleton: Skeleton,
    /// The form of the query in the files of answers.
    key: Skeleton,
    roles: Vec<Role>,
    arguments: Vec<u32>,
    /// Query numbers by their arguments.
    index: HashTable<u32>,
}

impl Draft {
    pub(in crate::import::read) fn new(skeleton: Skeleton, key: Skeleton) -> Self {
        let roles = skeleton.roles();
        Self { skeleton, key, roles, arguments: Vec::new(), index: HashTable::new() }
    }

    pub(in crate::import::read) fn len(&self) -> usize {
        self.index.len()
    }

    /// Adds queries of a file in which they have the given form; repeats are counted and left out.
    pub(in crate::import::read) fn extend<'p>(
        &mut self,
        folder: &mut Folder<'_>,
        queries: impl Iterator<Item = Item<'p>>,
        form: &Skeleton,
        file: &str,
    ) -> Result<(), FolderError> {
        let mut arguments = Vec::new();
        for query in queries {
            folder.query(query, form, &self.roles, &mut arguments, file)?;
            folder.report.repeated_queries += usize::from(!self.push(&arguments));
        }
        Ok(())
    }

    /// Adds a query; `false` if it was there already.
    fn push(&mut self, arguments: &[u32]) -> bool {
        let Self { roles, arguments: all, index, .. } = self;
        let arity = roles.len();
        let entry = index.entry(
            hash(arguments),
            |&query| row(all, arity, query) == arguments,
            |&query| hash(row(all, arity, query)),
        );
        match entry {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert((all.len() / arity) as u32);
                all.extend_from_slice(arguments);
                true
            }
        }
    }

    /// Puts the queries into the order of their arguments.
    pub(in crate::import::read) fn sort(&mut self) {
        let given = std::mem::take(&mut self.arguments);
        self.index.clear();
        let mut rows: Vec<&[u32]> = given.chunks_exact(self.roles.len()).collect();
        rows.sort_unstable();
        for row in rows {
            self.push(row);
        }
    }

    fn find(&self, arguments: &[u32]) -> Option<usize> {
        let same = |&query: &u32| row(&self.arguments, self.roles.len(), query) == arguments;
        self.index.find(hash(arguments), same).map(|&query| query as usize)
    }

    fn text(&self, query: usize) -> String {
        self.key.query(row(&self.arguments, self.roles.len(), query as u32))
    }
}

fn row(arguments: &[u32], arity: usize, query: u32) -> &[u32] {
    &arguments[query as usize * arity..(query as usize + 1) * arity]
}

fn hash(arguments: &[u32]) -> u64 {
    FixedState::with_seed(0).hash_one(arguments)
}

/// Which keys a file of answers must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::import::read) enum Keys {
    /// Every query must be a key, and no key may have another form.
    Complete,
    /// Only queries with answers need be keys: a `defaultdict` need not hold the others.
    Partial,
}

/// Whether a value has the form of a skeleton; if so, `arguments` are its numbers.
pub(super) fn matches(skeleton: &Skeleton, value: Item<'_>, arguments: &mut Vec<u32>) -> bool {
    arguments.clear();
    let mut open: Vec<Items<'_>> = Vec::new();
    let mut whole = Some(value);
    for &piece in skeleton.pieces() {
        if piece == Piece::Close {
            match open.pop() {
                Some(rest) if rest.len() == 0 => continue,
                _ => return false,
            }
        }
        let item = match open.last_mut() {
            Some(items) => items.next(),
            None => whole.take(),
        };
        let Some(item) = item else {
            return false;
        };
        let fits = match piece {
            Piece::Open => item.as_tuple().map(|items| open.push(items)).is_some(),
            Piece::Entity | Piece::Relation => {
                let id = item.as_int().and_then(|int| u32::try_from(int).ok());
                id.map(|id| arguments.push(id)).is_some()
            }
            Piece::Union => item.as_int() == Some(-1),
            Piece::Negation => item.as_int() == Some(-2),
            Piece::Any | Piece::Close => true,
        };
        if !fits {
            return false;
        }
    }
    true
}

/// Reads the answers to the queries of `drafts`: first the hard ones, then those that are easy, or
/// all of them, in which case the hard ones are left out.
pub(in crate::import::read) fn collect(
    folder: &mut Folder<'_>,
    drafts: Vec<Draft>,
    hard_file: &str,
    easy_file: &str,
    keys: Keys,
) -> Result<QuerySet, FolderError> {
    let none: Vec<Lists> = drafts.iter().map(|_| Lists::default()).collect();
    let hard = answers(folder, &drafts, hard_file, keys, &none)?;
    let easy = answers(folder, &drafts, easy_file, keys, &hard)?;
    let mut groups = Vec::with_capacity(drafts.len());
    for ((draft, hard), easy) in drafts.into_iter().zip(hard).zip(easy) {
        let unanswered =
            (0..draft.len()).find(|&query| hard.row(query).is_empty() && easy.row(query).is_empty());
        if let Some(query) = unanswered {
            return Err(FolderError::NoAnswers { path: folder.path(hard_file), query: draft.text(query) });
        }
        groups.push(QueryGroup {
            shape: draft.skeleton.shape(),
            skeleton: draft.skeleton.to_string(),
            arity: draft.roles.len(),
            arguments: draft.arguments.into(),
            easy,
            hard,
        });
    }
    Ok(QuerySet { groups })
}

/// The answers of one file to each query of each draft, without those in `without`.
fn answers(
    folder: &mut Folder<'_>,
    drafts: &[Draft],
    file: &str,
    keys: Keys,
    without: &[Lists],
) -> Result<Vec<Lists>, FolderError> {
    let pickle = folder.pickle(file)?;
    let root = pickle.root();
    let entries = root
        .as_dict()
        .ok_or_else(|| folder.malformed(file, "a dict from queries to sets of answers", root))?;
    let mut rows: Vec<Rows> = drafts.iter().map(|draft| Rows::new(draft.len())).collect();
    let mut arguments = Vec::new();
    for (key, value) in entries {
        let mut asked = false;
        for ((draft, rows), without) in drafts.iter().zip(&mut rows).zip(without) {
            if !matches(&draft.key, key, &mut arguments) {
                if keys == Keys::Complete {
                    return Err(folder.malformed(file, format!("keys of the form {}", draft.key), key));
                }
                continue;
            }
            if let Some(query) = draft.find(&arguments) {
                asked = true;
                let without = without.row(query);
                let start = rows.block.len();
                for item in folder.answers(value, file, key)? {
                    let answer = folder.answer(item, file, key)?;
                    if without.binary_search(&answer).is_err() {
                        rows.block.push(answer);
                    }
                }
                rows.ranges[query] = Some(start..rows.block.len());
            }
        }
        folder.report.unasked_answers += usize::from(!asked);
    }
    if keys == Keys::Complete {
        for (draft, rows) in drafts.iter().zip(&rows) {
            if let Some(query) = rows.ranges.iter().position(Option::is_none) {
                return Err(FolderError::NoAnswers { path: folder.path(file), query: draft.text(query) });
            }
        }
    }
    Ok(rows.into_iter().map(Rows::into_lists).collect())
}

/// Rows in the order of the file, and where the row of each query is.
struct Rows {
    block: Vec<EntityId>,
    ranges: Vec<Option<Range<usize>>>,
}

impl Rows {
    fn new(queries: usize) -> Self {
        Self { block: Vec::new(), ranges: vec![None; queries] }
    }

    fn into_lists(self) -> Lists {
        let ranges: Vec<Range<usize>> = self.ranges.into_iter().map(Option::unwrap_or_default).collect();
        Lists::gather(&self.block, &ranges)
    }
}
