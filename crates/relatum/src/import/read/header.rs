//! Whether the first line of a table names its columns.
//!
//! Usual names (`head`, `relation`, `tail`) say so by themselves. Where there are none, the first rows
//! are compared with the first line: the name of a column is a word that the column never holds again.

use super::csv::CsvRows;
use super::format::Format;

/// Why a first line was taken for a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSign {
    /// It holds a usual name for each of head, relation and tail.
    UsualNames,
    /// It is the first line of an earlier file, which had a header.
    AsBefore,
    /// It has a text above a column of numbers.
    AboveNumbers,
    /// None of its words occurs again in the columns below, while relations do.
    NeverAgain,
}

impl std::fmt::Display for HeaderSign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UsualNames => "it holds the usual names of columns",
            Self::AsBefore => "an earlier file has the same",
            Self::AboveNumbers => "it has a text above a column of numbers",
            Self::NeverAgain => "none of its words comes again",
        })
    }
}

/// The first rows of a table, blank lines left out.
pub(super) struct FirstRows {
    /// The line that the first row is on, from 1.
    pub(super) line: u64,
    pub(super) rows: Vec<Vec<String>>,
}

/// Enough rows to see which words occur again.
const ROWS: usize = 2000;
/// Fewer rows than this do not show what a column holds.
const NUMBERS_FROM: usize = 3;
const WORDS_FROM: usize = 4;
/// No column has a longer name.
const LONGEST_NAME: usize = 40;

impl FirstRows {
    /// `start` is how the table begins; `whole` says that it is all of it.
    pub(super) fn of(start: &[u8], whole: bool, format: Format) -> Self {
        let mut found = match format {
            Format::Csv => csv_rows(start),
            _ => tsv_rows(start),
        };
        // The last row may be cut off.
        if !whole && found.len() > 1 {
            found.pop();
        }
        let line = found.first().map_or(1, |(line, _)| *line);
        Self { line, rows: found.into_iter().map(|(_, row)| row).collect() }
    }

    /// The fields of the first row.
    pub(super) fn first(&self) -> Vec<&str> {
        self.rows.first().map(|row| row.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    /// Whether the rows below show that the first one is a header, in a table whose head, relation and
    /// tail are in these columns.
    pub(super) fn looks_like_header(&self, columns: [usize; 3]) -> Option<HeaderSign> {
        let (first, rest) = self.rows.split_first()?;
        let width = first.len();
        let rest: Vec<&[String]> = rest.iter().map(Vec::as_slice).filter(|row| row.len() == width).collect();
        if first.iter().any(String::is_empty) {
            return None;
        }
        let above_numbers =
            |column: usize| !is_number(&first[column]) && rest.iter().all(|row| is_number(&row[column]));
        if rest.len() >= NUMBERS_FROM && (0..width).any(above_numbers) {
            return Some(HeaderSign::AboveNumbers);
        }
        if rest.len() < WORDS_FROM || columns.iter().any(|&column| column >= width) {
            return None;
        }
        let names = columns.map(|column| first[column].as_str());
        let distinct = names[0] != names[1] && names[1] != names[2] && names[0] != names[2];
        let again =
            rest.iter().any(|row| columns.iter().any(|&column| names.contains(&row[column].as_str())));
        let mut relations: Vec<&str> = rest.iter().map(|row| row[columns[1]].as_str()).collect();
        relations.sort_unstable();
        relations.dedup();
        let repeats = relations.len() * 2 <= rest.len();
        let header = distinct && !again && repeats && names.iter().all(|name| is_column_name(name));
        header.then_some(HeaderSign::NeverAgain)
    }

    /// Three columns that could be head, relation and tail, in the form that [`Columns`](super::Columns) is
    /// parsed from: columns without numbers come first. They are named if the first row is a header.
    pub(super) fn suggestion(&self, header: bool) -> String {
        let first = self.first();
        let rest = self.rows.get(1..).unwrap_or_default();
        let rest = if rest.is_empty() { &self.rows[..] } else { rest };
        let numeric =
            |&column: &usize| rest.iter().all(|row| row.get(column).is_some_and(|it| is_number(it)));
        let (numbers, texts): (Vec<usize>, Vec<usize>) = (0..first.len()).partition(numeric);
        let mut columns: Vec<usize> = if texts.len() >= 3 { texts } else { [texts, numbers].concat() };
        columns.truncate(3);
        columns.sort_unstable();
        let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let by_name = header && columns.iter().all(|&column| plain(first[column]));
        let column =
            |&column: &usize| if by_name { first[column].to_owned() } else { (column + 1).to_string() };
        columns.iter().map(column).collect::<Vec<_>>().join(",")
    }
}

fn csv_rows(start: &[u8]) -> Vec<(u64, Vec<String>)> {
    let mut csv = CsvRows::new(start, start);
    let mut rows = Vec::new();
    while rows.len() < ROWS
        && let Ok(Some((line, record))) = csv.next()
    {
        let Ok(fields) = record else { continue };
        if fields.iter().any(|field| !field.trim_ascii().is_empty()) {
            rows.push((line, fields.into_iter().map(own).collect()));
        }
    }
    rows
}

fn tsv_rows(start: &[u8]) -> Vec<(u64, Vec<String>)> {
    let lines = (1..).zip(start.split(|&byte| byte == b'\n'));
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).take(ROWS);
    lines.map(|(number, line)| (number, line.split(|&byte| byte == b'\t').map(own).collect())).collect()
}

fn own(field: &[u8]) -> String {
    String::from_utf8_lossy(field.trim_ascii()).into_owned()
}

/// A number as tables write it; `nan` and `inf` may be names too, so they are not numbers here.
fn is_number(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

/// One or a few plain words. IRIs, paths and ids with digits are names of things.
fn is_column_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphabetic() || matches!(c, '_' | ' ' | '-');
    text.len() <= LONGEST_NAME && text.chars().all(plain) && text.split_whitespace().count() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(text: &str) -> Option<HeaderSign> {
        FirstRows::of(text.as_bytes(), true, Format::Csv).looks_like_header([0, 1, 2])
    }

    #[test]
    fn a_header_is_known_by_what_stands_below_it() {
        let packages = "package,field,value\na,depends,b\na,depends,c\nb,suggests,a\nb,suggests,c\n";
        assert_eq!(sign(packages), Some(HeaderSign::NeverAgain));
        let weights = "x,y,z,weight\na,r,b,0.5\na,s,c,1\nb,t,c,1e-3\n";
        assert_eq!(sign(weights), Some(HeaderSign::AboveNumbers));
    }

    #[test]
    fn a_first_triple_is_no_header() {
        for text in [
            // Its relation occurs again.
            "Ann,knows,Bob\nCyd,knows,Dan\nEve,likes,Fay\nEve,likes,Gus\nEve,likes,Hal\n",
            // Its head occurs again, as a tail.
            "Ann,met,Bob\nCyd,knows,Ann\nEve,knows,Fay\nEve,likes,Gus\nEve,likes,Hal\n",
            // Every relation is there once.
            "Ann,met,Bob\nCyd,knows,Dan\nEve,sees,Fay\nIda,likes,Gus\nJan,hears,Hal\n",
            // Ids and IRIs name things.
            "m1,met,m2\nm3,knows,m4\nm5,knows,m6\nm7,likes,m8\nm9,likes,m0\n",
            "/m/a,/r/x,/m/b\n/m/c,/r/y,/m/d\n/m/e,/r/y,/m/f\n/m/g,/r/z,/m/h\n/m/i,/r/z,/m/j\n",
            // Too few rows to tell.
            "package,field,value\na,depends,b\na,depends,c\n",
            // Numbers all the way.
            "1,2,3\n4,5,6\n7,8,9\n1,1,1\n",
        ] {
            assert_eq!(sign(text), None, "{text}");
        }
    }

    #[test]
    fn three_columns_are_suggested_that_hold_no_numbers() {
        let rows = |text: &str| FirstRows::of(text.as_bytes(), true, Format::Csv);
        assert_eq!(rows("a,r,b,0.5\na,r,c,1\n").suggestion(false), "1,2,3");
        assert_eq!(rows("7,a,r,b\n8,a,r,c\n").suggestion(false), "2,3,4");
        assert_eq!(rows("id,from_id,kind,to_id\n7,a,r,b\n8,a,r,c\n").suggestion(true), "from_id,kind,to_id");
        assert_eq!(rows("1,2,3,4\n1,2,3,4\n").suggestion(false), "1,2,3");
    }
}
