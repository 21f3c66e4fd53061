//! Benchmark queries on disk: a JSON list of the groups, then five columns for each.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::benchmark::{Lists, QueryGroup, QuerySet};
use crate::column::Column;
use crate::store::{MappedFile, StoreError};

pub(super) const KIND: &str = "queries";
const COLUMNS: usize = 5;

#[derive(Serialize, Deserialize)]
struct Head {
    shape: String,
    skeleton: String,
    arity: usize,
}

pub(super) fn sections(set: &QuerySet) -> Vec<Cow<'_, [u8]>> {
    let heads: Vec<Head> = set.groups.iter().map(head).collect();
    // Strings and numbers only: there is nothing that could fail.
    let heads = serde_json::to_vec(&heads).unwrap_or_default();
    let columns = set.groups.iter().flat_map(|group| {
        [
            bytemuck::cast_slice(&group.arguments),
            bytemuck::cast_slice(&group.easy.offsets),
            bytemuck::cast_slice(&group.easy.items),
            bytemuck::cast_slice(&group.hard.offsets),
            bytemuck::cast_slice(&group.hard.items),
        ]
    });
    std::iter::once(heads.into()).chain(columns.map(Cow::Borrowed)).collect()
}

fn head(group: &QueryGroup) -> Head {
    Head { shape: group.shape.clone(), skeleton: group.skeleton.clone(), arity: group.arity }
}

pub(super) fn open(file: &MappedFile, path: &Path) -> Result<QuerySet, StoreError> {
    let heads: Column<u8> = file.column(0)?;
    let heads: Vec<Head> = serde_json::from_slice(&heads)
        .map_err(|error| StoreError::damaged(path, format!("its list of shapes cannot be read ({error})")))?;
    if file.sections() != 1 + COLUMNS * heads.len() {
        let what = format!("it lists {} shapes and has {} columns", heads.len(), file.sections() - 1);
        return Err(StoreError::damaged(path, what));
    }
    let groups = heads.into_iter().enumerate().map(|(index, head)| {
        let first = 1 + COLUMNS * index;
        Ok(QueryGroup {
            shape: head.shape,
            skeleton: head.skeleton,
            arity: head.arity,
            arguments: file.column(first)?,
            easy: Lists { offsets: file.column(first + 1)?, items: file.column(first + 2)? },
            hard: Lists { offsets: file.column(first + 3)?, items: file.column(first + 4)? },
        })
    });
    Ok(QuerySet { groups: groups.collect::<Result<_, StoreError>>()? })
}
