//! Which columns of a table hold head, relation and tail.

use std::str::FromStr;

use super::error::ReadError;
use super::header::{FirstRows, HeaderSign};

/// A column, by position or by the name that the header gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableColumn {
    /// The position, counted from 1.
    Position(usize),
    /// The name in the header.
    Named(String),
}

/// The three columns of a triple: `1,2,3` or `subject,predicate,object`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub [TableColumn; 3]);

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let columns: Vec<TableColumn> =
            text.split(',').map(|part| column(part.trim())).collect::<Result<_, _>>()?;
        if (1..columns.len()).any(|at| columns[..at].contains(&columns[at])) {
            return Err("a column is named twice".to_owned());
        }
        let given = columns.len();
        let columns = columns.try_into();
        columns.map(Self).map_err(|_| {
            format!("expected three columns (head, relation, tail), separated by commas; found {given}")
        })
    }
}

fn column(text: &str) -> Result<TableColumn, String> {
    match text.parse() {
        Ok(0) => Err("columns are counted from 1".to_owned()),
        Ok(position) => Ok(TableColumn::Position(position)),
        Err(_) if text.is_empty() => Err("a column has no name".to_owned()),
        Err(_) => Ok(TableColumn::Named(text.to_owned())),
    }
}

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Yes, if it holds usual names for head, relation and tail, or if the rows below it show it.
    #[default]
    Auto,
    /// Yes.
    Present,
    /// No, it is a triple.
    Absent,
}

/// Where the fields of a row are, found once from the first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout<const N: usize> {
    /// The position of each wanted field, from 0.
    pub(super) positions: [usize; N],
    /// How many columns a row has, if that is fixed.
    pub(super) exactly: Option<usize>,
    pub(super) has_header: bool,
}

impl<const N: usize> Layout<N> {
    /// The first N columns and no others, without a header.
    pub(super) fn plain() -> Self {
        Self { positions: std::array::from_fn(|at| at), exactly: Some(N), has_header: false }
    }

    /// Whether a row is the wanted fields in their order and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        let Self { positions, exactly, .. } = Self::plain();
        self.positions == positions && self.exactly == exactly
    }

    /// How many columns a row must have at least.
    pub(super) fn needed(&self) -> usize {
        self.positions.iter().max().map_or(0, |last| last + 1)
    }
}

/// The layout of a file of triples that begins with these rows and, if a header was guessed, the sign by which
/// it was found. `known` are the headers of earlier files.
pub(super) fn layout(
    file: &str,
    rows: &FirstRows,
    columns: Option<&Columns>,
    header: Header,
    known: &[String],
) -> Result<(Layout<3>, Option<HeaderSign>), ReadError> {
    let first = &rows.first()[..];
    let usual = usual_positions(first);
    let wanted = match columns {
        Some(Columns(wanted)) => Some(positions(file, first, wanted)?),
        None => usual.filter(|_| header != Header::Absent),
    };
    let by_name =
        columns.is_some_and(|columns| columns.0.iter().any(|it| matches!(it, TableColumn::Named(_))));
    let sign = match header {
        Header::Present | Header::Absent => None,
        Header::Auto if by_name => None,
        Header::Auto if usual.is_some() => Some(HeaderSign::UsualNames),
        Header::Auto if known.contains(&first.join("\t")) => Some(HeaderSign::AsBefore),
        Header::Auto => rows.looks_like_header(wanted.unwrap_or([0, 1, 2])),
    };
    let has_header = header == Header::Present || sign.is_some() || (by_name && header == Header::Auto);
    let layout = match wanted {
        Some(positions) => {
            let exactly = columns.is_none().then_some(first.len());
            Layout { positions, exactly, has_header }
        }
        None => Layout { has_header, ..Layout::plain() },
    };
    Ok((layout, sign))
}

fn positions(file: &str, first: &[&str], wanted: &[TableColumn; 3]) -> Result<[usize; 3], ReadError> {
    let mut positions = [0; 3];
    for (position, column) in positions.iter_mut().zip(wanted) {
        *position = match column {
            TableColumn::Position(position) => position - 1,
            TableColumn::Named(name) => named(first, name).ok_or_else(|| ReadError::NoColumn {
                file: file.to_owned(),
                name: name.clone(),
                found: quoted(first),
            })?,
        };
    }
    Ok(positions)
}

/// Fields as a message shows them.
pub(super) fn quoted(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("'{field}'")).collect::<Vec<_>>().join(", ")
}

fn named(first: &[&str], name: &str) -> Option<usize> {
    let exact = first.iter().position(|field| *field == name);
    exact.or_else(|| first.iter().position(|field| field.eq_ignore_ascii_case(name)))
}

/// Positions of head, relation and tail if a line holds a usual name for each.
fn usual_positions(first: &[&str]) -> Option<[usize; 3]> {
    const HEAD: [&str; 10] =
        ["head", "subject", "source", "subj", "s", "h", "from", "start", "src", "head entity"];
    const RELATION: [&str; 14] = [
        "relation",
        "predicate",
        "property",
        "rel",
        "pred",
        "p",
        "r",
        "edge",
        "relationship",
        "relation type",
        "edge type",
        "type",
        "kind",
        "label",
    ];
    const TAIL: [&str; 10] = ["tail", "object", "target", "obj", "o", "t", "to", "end", "dst", "tail entity"];
    // `Head_ID` and `:START_ID` are heads, too; but where there is a `head`, that is the one.
    let plain: Vec<String> = first.iter().map(|field| plain_name(field)).collect();
    let find = |names: &[&str]| {
        let exact = |name: &&str| first.iter().position(|field| field.eq_ignore_ascii_case(name));
        let alike = |name: &&str| plain.iter().position(|field| field == name);
        names.iter().find_map(exact).or_else(|| names.iter().find_map(alike))
    };
    Some([find(&HEAD)?, find(&RELATION)?, find(&TAIL)?])
}

/// A name of a column without the signs and endings that tables often add.
fn plain_name(name: &str) -> String {
    let name = name.trim_start_matches(':').to_ascii_lowercase().replace(['_', '-'], " ");
    let bare = [" id", " name", " label"].iter().find_map(|suffix| name.strip_suffix(suffix));
    bare.unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(first: &[&str]) -> FirstRows {
        FirstRows { line: 1, rows: vec![first.iter().map(|&field| field.to_owned()).collect()] }
    }

    fn positions(first: &[&str], columns: Option<&str>) -> ([usize; 3], bool) {
        let columns = columns.map(|text| text.parse().unwrap());
        let (layout, _) = layout("f", &rows(first), columns.as_ref(), Header::Auto, &[]).unwrap();
        (layout.positions, layout.has_header)
    }

    #[test]
    fn a_header_is_known_by_usual_names_in_any_order() {
        assert_eq!(positions(&["Subject", "Predicate", "Object"], None), ([0, 1, 2], true));
        assert_eq!(positions(&["id", "tail", "relation", "head"], None), ([3, 2, 1], true));
        assert_eq!(positions(&["Berlin", "capital_of", "Germany"], None), ([0, 1, 2], false));
        assert_eq!(positions(&["s", "likes", "t"], None), ([0, 1, 2], false));
        assert_eq!(positions(&["source", "target", "type", "weight"], None), ([0, 2, 1], true));
        assert_eq!(positions(&[":START_ID", ":TYPE", ":END_ID"], None), ([0, 1, 2], true));
        assert_eq!(positions(&["label", "relation", "head_id", "tail_id"], None), ([2, 1, 3], true));
    }

    #[test]
    fn columns_are_chosen_by_position_and_by_name() {
        assert_eq!(positions(&["a", "b", "c", "d"], Some("4, 1,2")), ([3, 0, 1], false));
        assert_eq!(positions(&["drug", "effect", "gene"], Some("drug,EFFECT,gene")), ([0, 1, 2], true));
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_those_that_are() {
        let columns = "x,effect,gene".parse().unwrap();
        let rows = rows(&["drug", "effect", "gene"]);
        let error = layout("f.csv", &rows, Some(&columns), Header::Auto, &[]).unwrap_err();
        insta::assert_snapshot!(error, @"f.csv has no column 'x': its first line names 'drug', 'effect', 'gene'");
    }

    #[test]
    fn impossible_columns_are_refused() {
        for text in ["1,2", "0,1,2", "a,,b", "1,2,3,4", "1,1,2"] {
            assert!(text.parse::<Columns>().is_err(), "{text}");
        }
    }
}
