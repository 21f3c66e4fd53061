//! CSV records of bounded length, from a stream.

use std::io::{self, Read};

use csv_core::ReadRecordResult;

use super::error::LineProblem;
use super::lines::MAX_LINE;

/// One record and the line it begins on.
pub(super) type Record<'a> = (u64, Result<Vec<&'a [u8]>, LineProblem>);

/// Cuts a stream into records, quotes undone.
pub(super) struct CsvRows<R> {
    bytes: R,
    parser: csv_core::Reader,
    input: Vec<u8>,
    /// The part of the input that has not been parsed.
    pending: std::ops::Range<usize>,
    fields: Vec<u8>,
    ends: Vec<usize>,
    finished: bool,
}

impl<R: Read> CsvRows<R> {
    /// `start` is how the stream begins; it tells commas from semicolons.
    pub(super) fn new(start: &[u8], bytes: R) -> Self {
        Self {
            bytes,
            parser: csv_core::ReaderBuilder::new().delimiter(delimiter(start)).build(),
            input: vec![0; 1 << 18],
            pending: 0..0,
            fields: vec![0; MAX_LINE],
            ends: vec![0; 256],
            finished: false,
        }
    }

    /// The next record, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        let (mut written, mut ended) = (0, 0);
        // Line breaks within fields that were dropped.
        let mut dropped_breaks = 0;
        let mut problem = None;
        let ended_on;
        loop {
            if self.pending.is_empty() && !self.finished {
                let read = read_some(&mut self.bytes, &mut self.input)?;
                self.pending = 0..read;
                self.finished = read == 0;
            }
            let input = &self.input[self.pending.clone()];
            let (result, taken, wrote, cut) =
                self.parser.read_record(input, &mut self.fields[written..], &mut self.ends[ended..]);
            self.pending.start += taken;
            written += wrote;
            ended += cut;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    // The record is too long to be a row of names; the rest of it is dropped.
                    problem = Some(LineProblem::TooLong);
                    dropped_breaks += breaks(&self.fields[..written]);
                    (written, ended) = (0, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    let found = ended;
                    self.ends.resize(found * 2, 0);
                }
                ReadRecordResult::Record => {
                    // After "\n" the parser is on the next line already; of "\r\n" it has met one byte.
                    ended_on = self.parser.line() - u64::from(input[..taken].ends_with(b"\n"));
                    break;
                }
                ReadRecordResult::End => return Ok(None),
            }
        }
        // Blank lines before the record count, line breaks within its fields are its own.
        let line = ended_on - dropped_breaks - breaks(&self.fields[..written]);
        if let Some(problem) = problem {
            return Ok(Some((line, Err(problem))));
        }
        let mut from = 0;
        let cut = self.ends[..ended].iter().map(|&to| &self.fields[std::mem::replace(&mut from, to)..to]);
        Ok(Some((line, Ok(cut.collect()))))
    }
}

fn breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn read_some(bytes: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match bytes.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// Semicolons, where the first line has more of them than commas.
fn delimiter(start: &[u8]) -> u8 {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |wanted| memchr::memchr_iter(wanted, line).count();
    if count(b';') > count(b',') { b';' } else { b',' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> Vec<(u64, Result<Vec<String>, LineProblem>)> {
        let mut csv = CsvRows::new(text, text);
        let mut rows = Vec::new();
        while let Some((line, record)) = csv.next().unwrap() {
            let own = |fields: Vec<&[u8]>| {
                fields.iter().map(|field| String::from_utf8_lossy(field).into()).collect()
            };
            rows.push((line, record.map(own)));
        }
        rows
    }

    #[test]
    fn quotes_commas_and_line_ends_within_quotes_are_undone() {
        let text = b"a,\"b, \"\"c\"\"\",d\r\n\"two\nlines\",x,y\nlast,1,2";
        let expected = [(1, ["a", "b, \"c\"", "d"]), (2, ["two\nlines", "x", "y"]), (4, ["last", "1", "2"])];
        let expected = expected.map(|(line, fields)| (line, Ok(fields.map(str::to_owned).to_vec())));
        assert_eq!(rows(text), expected);
    }

    #[test]
    fn blank_lines_are_counted() {
        let lines: Vec<u64> = rows(b"a,b,c\n\n\r\n\nd,e,f\n").iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 5]);
    }

    #[test]
    fn semicolons_are_seen() {
        assert_eq!(rows(b"a;b,c;d\n")[0].1.as_ref().unwrap(), &["a", "b,c", "d"]);
    }

    #[test]
    fn a_record_without_end_is_one_problem_not_all_memory() {
        let mut text = b"a,b,c\n\"".to_vec();
        text.resize(5 << 20, b'x');
        text.extend(b"\",y,z\nd,e,f\n");
        let rows = rows(&text);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1], (2, Err(LineProblem::TooLong)));
        assert_eq!(rows[2].0, 3);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_found_where_it_was_opened() {
        let mut text = b"a,b,c\nd,\"e,f\n".to_vec();
        for row in 0..200_000 {
            text.extend(format!("a{row},b,c\n").bytes());
        }
        assert_eq!(rows(&text)[1], (2, Err(LineProblem::TooLong)));
    }
}
