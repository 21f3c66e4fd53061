//! Which columns of a table hold head, relation and tail.

use std::str::FromStr;

use super::error::ReadError;

/// A column, by position or by the name that the header gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The position, counted from 1.
    Position(usize),
    /// The name in the header.
    Named(String),
}

/// The three columns of a triple: `1,2,3` or `subject,predicate,object`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub [Column; 3]);

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let columns: Vec<Column> =
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

fn column(text: &str) -> Result<Column, String> {
    match text.parse() {
        Ok(0) => Err("columns are counted from 1".to_owned()),
        Ok(position) => Ok(Column::Position(position)),
        Err(_) if text.is_empty() => Err("a column has no name".to_owned()),
        Err(_) => Ok(Column::Named(text.to_owned())),
    }
}

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if it holds a usual name for head, relation and tail.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It is a triple.
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

/// The layout of a file of triples whose first line has these fields.
pub(super) fn layout(
    file: &str,
    first: &[&str],
    columns: Option<&Columns>,
    header: Header,
) -> Result<Layout<3>, ReadError> {
    let usual = usual_positions(first);
    let Some(Columns(wanted)) = columns else {
        return Ok(match (header, usual) {
            (Header::Absent, _) | (Header::Auto, None) => Layout::plain(),
            (Header::Present, None) => Layout { has_header: true, ..Layout::plain() },
            (_, Some(positions)) => Layout { positions, exactly: Some(first.len()), has_header: true },
        });
    };
    let mut positions = [0; 3];
    for (position, column) in positions.iter_mut().zip(wanted) {
        *position = match column {
            Column::Position(position) => position - 1,
            Column::Named(name) => named(first, name).ok_or_else(|| ReadError::NoColumn {
                file: file.to_owned(),
                name: name.clone(),
                found: first.iter().map(|field| format!("'{field}'")).collect::<Vec<_>>().join(", "),
            })?,
        };
    }
    let by_name = wanted.iter().any(|column| matches!(column, Column::Named(_)));
    let has_header = match header {
        Header::Present => true,
        Header::Absent => false,
        Header::Auto => by_name || usual.is_some(),
    };
    Ok(Layout { positions, exactly: None, has_header })
}

fn named(first: &[&str], name: &str) -> Option<usize> {
    let exact = first.iter().position(|field| *field == name);
    exact.or_else(|| first.iter().position(|field| field.eq_ignore_ascii_case(name)))
}

/// Positions of head, relation and tail if a line holds a usual name for each.
fn usual_positions(first: &[&str]) -> Option<[usize; 3]> {
    const HEAD: [&str; 8] = ["head", "subject", "source", "subj", "s", "h", "from", "start"];
    const RELATION: [&str; 9] =
        ["relation", "predicate", "property", "rel", "pred", "p", "r", "edge", "relationship"];
    const TAIL: [&str; 8] = ["tail", "object", "target", "obj", "o", "t", "to", "end"];
    let find = |names: &[&str]| {
        first.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
    };
    Some([find(&HEAD)?, find(&RELATION)?, find(&TAIL)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(first: &[&str], columns: Option<&str>) -> ([usize; 3], bool) {
        let columns = columns.map(|text| text.parse().unwrap());
        let layout = layout("f", first, columns.as_ref(), Header::Auto).unwrap();
        (layout.positions, layout.has_header)
    }

    #[test]
    fn a_header_is_known_by_usual_names_in_any_order() {
        assert_eq!(positions(&["Subject", "Predicate", "Object"], None), ([0, 1, 2], true));
        assert_eq!(positions(&["id", "tail", "relation", "head"], None), ([3, 2, 1], true));
        assert_eq!(positions(&["Berlin", "capital_of", "Germany"], None), ([0, 1, 2], false));
        assert_eq!(positions(&["s", "likes", "t"], None), ([0, 1, 2], false));
    }

    #[test]
    fn columns_go_by_position_and_by_name() {
        assert_eq!(positions(&["a", "b", "c", "d"], Some("4, 1,2")), ([3, 0, 1], false));
        assert_eq!(positions(&["drug", "effect", "gene"], Some("drug,EFFECT,gene")), ([0, 1, 2], true));
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_those_that_are() {
        let columns = "x,effect,gene".parse().unwrap();
        let error = layout("f.csv", &["drug", "effect", "gene"], Some(&columns), Header::Auto).unwrap_err();
        insta::assert_snapshot!(error, @"f.csv has no column 'x': its first line names 'drug', 'effect', 'gene'");
    }

    #[test]
    fn impossible_columns_are_refused() {
        for text in ["1,2", "0,1,2", "a,,b", "1,2,3,4", "1,1,2"] {
            assert!(text.parse::<Columns>().is_err(), "{text}");
        }
    }
}
