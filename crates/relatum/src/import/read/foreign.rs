//! Recognises formats of tables and graphs that cannot be read here, and names a command that converts each.

use super::error::ReadError;

/// How a form begins, what it is called, and a command that converts `FILE`.
const FORMS: [(&[u8], &str, &str); 15] = [
    (b"PAR1", "a Parquet file", "duckdb -c \"COPY (FROM 'FILE') TO 'triples.csv'\""),
    (b"ARROW1", "an Arrow file", "duckdb -c \"COPY (FROM 'FILE') TO 'triples.csv'\""),
    (
        b"FEA1",
        "a Feather file",
        "python -c \"import pandas; pandas.read_feather('FILE').to_csv('triples.csv', index=False)\"",
    ),
    (
        b"ORC",
        "an ORC file",
        "python -c \"import pandas; pandas.read_orc('FILE').to_csv('triples.csv', index=False)\"",
    ),
    (b"Obj\x01", "an Avro file", "duckdb -c \"COPY (FROM read_avro('FILE')) TO 'triples.csv'\""),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "sqlite3 -csv -header FILE 'SELECT head, relation, tail FROM triples' > triples.csv",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "libreoffice --headless --convert-to csv FILE"),
    (b"$HDT", "an HDT file", "hdt2rdf FILE triples.nt"),
    (b"BZh", "a bzip2 file", "bzip2 -dk FILE"),
    (b"\xfd7zXZ\0", "an xz file", "xz -dk FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z e FILE"),
    (
        b"\x80\x02",
        "a pickle",
        "python -c \"import pandas; pandas.read_pickle('FILE').to_csv('triples.csv', index=False)\"",
    ),
    (
        b"\x80\x04",
        "a pickle",
        "python -c \"import pandas; pandas.read_pickle('FILE').to_csv('triples.csv', index=False)\"",
    ),
    (
        b"\x80\x05",
        "a pickle",
        "python -c \"import pandas; pandas.read_pickle('FILE').to_csv('triples.csv', index=False)\"",
    ),
    (
        b"\x89HDF",
        "an HDF5 file",
        "python -c \"import pandas; pandas.read_hdf('FILE').to_csv('triples.csv', index=False)\"",
    ),
];

/// Refuses a file whose content is plainly of another format than those that are read, even if its name says
/// otherwise.
pub(super) fn refuse_binary(file: &str, start: &[u8]) -> Result<(), ReadError> {
    // A table may begin with a thing called `ORC` or `PAR1`, but it is text.
    let known = FORMS.iter().filter(|_| is_binary(start)).find(|(magic, ..)| start.starts_with(magic));
    refuse(file, known.map(|&(_, what, how)| (what, how)).or_else(|| zip(start)).or_else(|| web_page(start)))
}

/// Refuses text of a form that is known but not read; for files whose name does not say what they are.
pub(super) fn refuse_text(file: &str, start: &[u8]) -> Result<(), ReadError> {
    refuse(file, text(start))
}

fn refuse(file: &str, found: Option<(&'static str, &'static str)>) -> Result<(), ReadError> {
    let Some((what, command)) = found else { return Ok(()) };
    let command = command.replace("FILE", &quoted(file));
    Err(ReadError::Foreign { file: file.to_owned(), what, command })
}

/// Whether the first bytes are not those of a text.
fn is_binary(start: &[u8]) -> bool {
    let start = &start[..start.len().min(1024)];
    let control = |byte: &u8| *byte < 0x09 || (0x0e..0x20).contains(byte);
    // A text may be cut off within a character, which is no sign of a binary file.
    start.iter().any(control) || std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some())
}

/// Office documents are zip archives with a known first entry.
fn zip(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let holds = |part: &[u8]| memchr::memmem::find(start, part).is_some();
    if !start.starts_with(b"PK\x03\x04") {
        return None;
    }
    Some(if holds(b"[Content_Types].xml") || holds(b"xl/") {
        ("an Excel file", "libreoffice --headless --convert-to csv FILE")
    } else if holds(b"opendocument.spreadsheet") {
        ("an OpenDocument table", "libreoffice --headless --convert-to csv FILE")
    } else {
        ("a zip archive", "unzip FILE")
    })
}

/// A web page, which a server may send in place of a file.
fn web_page(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = start.trim_ascii_start();
    let begins =
        |word: &str| text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()));
    let page = begins("<!doctype html") || begins("<html");
    page.then_some(("a web page", "curl -L -o FILE URL-OF-THE-DATA"))
}

/// JSON that is not JSON-LD, and graphs in XML that is not RDF.
fn text(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start();
    if text.contains("<graphml") {
        return Some((
            "a GraphML file",
            "python -c \"import networkx as n; [print(a, d.get('label', 'edge'), b, sep='\\t') for a, b, d in n.read_graphml('FILE').edges(data=True)]\" > triples.tsv",
        ));
    }
    if !text.starts_with(['{', '[']) || super::format::is_json_ld(text) || text.starts_with("[]") {
        return None;
    }
    Some(if text.starts_with('{') {
        ("JSON, or lines of it", "jq -r '[.head, .relation, .tail] | @tsv' FILE > triples.tsv")
    } else {
        ("JSON", "jq -r '.[] | [.head, .relation, .tail] | @tsv' FILE > triples.tsv")
    })
}

/// A name as it is typed within the commands.
fn quoted(file: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if file.chars().all(plain) { file.to_owned() } else { "FILE".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(start: &[u8]) -> String {
        refuse_binary("x", start).and_then(|()| refuse_text("x", start)).unwrap_err().to_string()
    }

    #[test]
    fn a_form_that_is_not_read_is_named_with_a_command() {
        let messages = [
            &b"PAR1\x15\x04"[..],
            b"PK\x03\x04\x14\0\x06\0[Content_Types].xml",
            b"PK\x03\x04triples.tsv",
            b"{\"head\": \"a\", \"relation\": \"r\"}\n{\"head\": \"b\"}\n",
            b"[{\"head\": \"a\"}]",
            b"BZh91AY&SY\x01\x02",
            b"<!DOCTYPE HTML><html>",
        ]
        .map(message);
        insta::assert_snapshot!(messages.join("\n"), @r#"
        x is a Parquet file, which is not read: convert it, for example with `duckdb -c "COPY (FROM 'x') TO 'triples.csv'"`
        x is an Excel file, which is not read: convert it, for example with `libreoffice --headless --convert-to csv x`
        x is a zip archive, which is not read: convert it, for example with `unzip x`
        x is JSON, or lines of it, which is not read: convert it, for example with `jq -r '[.head, .relation, .tail] | @tsv' x > triples.tsv`
        x is JSON, which is not read: convert it, for example with `jq -r '.[] | [.head, .relation, .tail] | @tsv' x > triples.tsv`
        x is a bzip2 file, which is not read: convert it, for example with `bzip2 -dk x`
        x is a web page, which is not read: convert it, for example with `curl -L -o x URL-OF-THE-DATA`
        "#);
        for read in [
            &b"a\tr\tb"[..],
            b"<http://a> <http://b> <http://c> .",
            b"{\"@id\": \"http://a\"}",
            b"[] a <http://c> .",
        ] {
            assert!(refuse_binary("x", read).is_ok() && refuse_text("x", read).is_ok());
        }
        // Names of things.
        for table in ["ORC\tpart_of\tcomplex\n", "PAR1\tgene\tb\n", "BZh\tr\té\n"] {
            assert!(refuse_binary("x", table.as_bytes()).is_ok(), "{table}");
        }
    }
}
