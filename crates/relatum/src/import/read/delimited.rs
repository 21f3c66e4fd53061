//! TSV and CSV: one thread cuts lines into marked fields, the caller's turns them into ids.
//!
//! Looking a name up costs about as much as cutting it out of its line, so two threads halve
//! the time; ids are still given in the order of the file, whatever the threads do.

use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::columns::Layout;
use super::csv::CsvRows;
use super::error::{LineProblem, ReadError};
use super::format::Format;
use super::lines::{Block, Lines, MAX_LINE, Piece};
use super::separators::Separators;
use super::source::{Source, explain};
use crate::graph::interner::{Interner, Mark};

/// How many batches may be between the two threads.
const IN_FLIGHT: usize = 4;
/// Rows handed over at once: enough look-ups to wait for together, few enough to stay in cache.
const ROWS_AT_ONCE: usize = Interner::AHEAD / 2;

/// Rows cut from one block of the file.
#[derive(Default)]
pub(super) struct Batch<const N: usize> {
    pub(super) bytes: Vec<u8>,
    rows: Vec<[Field; N]>,
    bad: Vec<(u64, LineProblem)>,
}

/// A field of a row: where its text is, and its mark.
#[derive(Clone, Copy)]
struct Field {
    start: u32,
    len: u32,
    mark: Mark,
}

/// A field as the consumer sees it: UTF-8 text without surrounding white space, and its mark.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) mark: Mark,
}

impl Text<'_> {
    const EMPTY: Self = Text { bytes: &[], mark: Mark::NONE };

    pub(super) fn as_str(&self) -> &str {
        // Checked when the batch was cut.
        std::str::from_utf8(self.bytes).unwrap_or_default()
    }
}

/// Reads all rows of a table. `rows` gets the good ones in order, several at a time; `bad` every
/// other; both say whether to go on.
pub(super) fn read_rows<const N: usize>(
    source: Source<'_>,
    format: Format,
    layout: Layout<N>,
    mut rows: impl FnMut(&[[Text<'_>; N]]) -> Result<(), ReadError>,
    mut bad: impl FnMut(u64, LineProblem) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (name, codec) = (source.name.clone(), source.codec);
    let start = source.start.clone();
    let given_up = source.given_up();
    let (full, filled) = sync_channel(IN_FLIGHT);
    let (empty, emptied) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let outcome = match format {
                Format::Csv => cut_csv(&start, source.into_reader(), &layout, &full, &emptied),
                _ => cut_tsv(source.into_reader(), &layout, &full, &emptied),
            };
            if let Err(error) = outcome {
                // The receiver is gone only if it has an error of its own to report.
                let _ = full.send(Err(explain(&name, codec, error)));
            }
        });
        // The scope joins the thread, which may wait for room in the channel or for more input. So
        // both ends of the channels go to `consume`, which drops them when it returns, and an error
        // gives the source up.
        let outcome = consume(filled, empty, &mut rows, &mut bad);
        if outcome.is_err() {
            given_up.set();
        }
        outcome
    })
}

type Filled<const N: usize> = Result<Batch<N>, ReadError>;

#[expect(clippy::needless_pass_by_value, reason = "the other thread ends when these are dropped")]
fn consume<const N: usize>(
    filled: Receiver<Filled<N>>,
    empty: Sender<Batch<N>>,
    rows: &mut impl FnMut(&[[Text<'_>; N]]) -> Result<(), ReadError>,
    bad: &mut impl FnMut(u64, LineProblem) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    for batch in filled {
        let mut batch = batch?;
        for some in batch.rows.chunks(ROWS_AT_ONCE) {
            let mut texts = [[Text::EMPTY; N]; ROWS_AT_ONCE];
            for (texts, fields) in texts.iter_mut().zip(some) {
                *texts = fields.map(|field| Text {
                    bytes: &batch.bytes[field.start as usize..(field.start + field.len) as usize],
                    mark: field.mark,
                });
            }
            rows(&texts[..some.len()])?;
        }
        for (line, problem) in batch.bad.drain(..) {
            bad(line, problem)?;
        }
        // The reader may have finished already.
        let _ = empty.send(batch);
    }
    Ok(())
}

fn reused<const N: usize>(emptied: &Receiver<Batch<N>>) -> Batch<N> {
    let mut batch = emptied.try_recv().unwrap_or_default();
    batch.rows.clear();
    batch.bad.clear();
    batch
}

fn cut_tsv<const N: usize>(
    bytes: impl Read,
    layout: &Layout<N>,
    full: &SyncSender<Filled<N>>,
    emptied: &Receiver<Batch<N>>,
) -> std::io::Result<()> {
    let mut lines = Lines::new(bytes);
    let mut header = layout.has_header;
    let mut batch = reused(emptied);
    while let Some(piece) = lines.next(std::mem::take(&mut batch.bytes))? {
        match piece {
            Piece::Lines(block) => batch.cut_block(block, layout, &mut header),
            Piece::TooLong(line) => batch.bad.push((line, LineProblem::TooLong)),
        }
        if full.send(Ok(batch)).is_err() {
            return Ok(());
        }
        batch = reused(emptied);
    }
    Ok(())
}

fn cut_csv<const N: usize>(
    start: &[u8],
    bytes: impl Read,
    layout: &Layout<N>,
    full: &SyncSender<Filled<N>>,
    emptied: &Receiver<Batch<N>>,
) -> std::io::Result<()> {
    const ROWS: usize = 16 << 10;
    let mut csv = CsvRows::new(start, bytes);
    let mut header = layout.has_header;
    let mut more = true;
    while more {
        let mut batch = reused(emptied);
        batch.bytes.clear();
        while batch.rows.len() < ROWS && batch.bytes.len() < MAX_LINE {
            let Some((line, record)) = csv.next()? else {
                more = false;
                break;
            };
            if std::mem::take(&mut header) {
                continue;
            }
            match record {
                Ok(record) => batch.cut_record(line, &record, layout),
                Err(problem) => batch.bad.push((line, problem)),
            }
        }
        if full.send(Ok(batch)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

impl<const N: usize> Batch<N> {
    /// Cuts whole lines; the first that is not blank is skipped if it is a header.
    fn cut_block(&mut self, block: Block, layout: &Layout<N>, header: &mut bool) {
        let bytes = block.bytes;
        // Checking the whole block once saves checking every field.
        let trusted = simdutf8::basic::from_utf8(&bytes).is_ok() && !holds_control(&bytes);
        let quick = trusted && layout.is_plain();
        let mut number = block.first_line;
        let mut row = Row::at(0);
        let unfinished = (bytes.last() != Some(&b'\n')).then_some(bytes.len());
        for at in Separators::of(&bytes).chain(unfinished) {
            row.end_field(at);
            if bytes.get(at) == Some(&b'\t') {
                continue;
            }
            let line = &bytes[row.start..at];
            if *header && !line.trim_ascii().is_empty() {
                *header = false;
            } else if quick && let Some(fields) = row.plain_fields(&bytes) {
                self.rows.push(fields);
            } else {
                match cut_line(&bytes, row.start, at, layout, trusted) {
                    Ok(Some(fields)) => self.rows.push(fields),
                    Ok(None) => {}
                    Err(problem) => self.bad.push((number, problem)),
                }
            }
            number += 1;
            row = Row::at(at + 1);
        }
        self.bytes = bytes;
    }

    /// Copies the wanted fields of a record, which are unquoted already, behind those of others.
    fn cut_record(&mut self, line: u64, record: &[&[u8]], layout: &Layout<N>) {
        if let [only] = record
            && only.trim_ascii().is_empty()
        {
            return;
        }
        let fields = pick(record.len(), layout).and_then(|()| {
            let mut fields = [EMPTY; N];
            for (field, &position) in fields.iter_mut().zip(&layout.positions) {
                let text = checked(record[position].trim_ascii(), position, false)?;
                let start = self.bytes.len() as u32;
                self.bytes.extend_from_slice(text);
                *field = Field { start, len: text.len() as u32, mark: Mark::of(text) };
            }
            Ok(fields)
        });
        match fields {
            Ok(fields) => self.rows.push(fields),
            Err(problem) => self.bad.push((line, problem)),
        }
    }
}

const EMPTY: Field = Field { start: 0, len: 0, mark: Mark::NONE };

/// A line on its way through [`Separators`].
struct Row<const N: usize> {
    start: usize,
    /// Where the first fields end.
    ends: [usize; N],
    found: usize,
}

impl<const N: usize> Row<N> {
    fn at(start: usize) -> Self {
        Self { start, ends: [0; N], found: 0 }
    }

    fn end_field(&mut self, at: usize) {
        if let Some(end) = self.ends.get_mut(self.found) {
            *end = at;
        }
        self.found += 1;
    }

    /// The fields of a line that has exactly these and nothing to trim, as nearly every line of nearly every
    /// file. Other lines are left to [`cut_line`].
    fn plain_fields(&self, bytes: &[u8]) -> Option<[Field; N]> {
        if self.found != N || self.ends[N - 1] - self.start > MAX_LINE {
            return None;
        }
        let mut start = self.start;
        let mut fields = [EMPTY; N];
        for (field, &end) in fields.iter_mut().zip(&self.ends) {
            let text = &bytes[start..end];
            let (&first, &last) = (text.first()?, text.last()?);
            if first.is_ascii_whitespace() || last.is_ascii_whitespace() {
                return None;
            }
            *field = Field { start: start as u32, len: text.len() as u32, mark: Mark::of(text) };
            start = end + 1;
        }
        Some(fields)
    }
}

/// The wanted fields of the line `bytes[start..end]`; `None` if the line is blank.
fn cut_line<const N: usize>(
    bytes: &[u8],
    start: usize,
    end: usize,
    layout: &Layout<N>,
    trusted: bool,
) -> Result<Option<[Field; N]>, LineProblem> {
    let line = &bytes[start..end];
    if line.len() > MAX_LINE {
        return Err(LineProblem::TooLong);
    }
    let mut fields = [EMPTY; N];
    let mut found = 0;
    let mut from = 0;
    loop {
        let to = memchr::memchr(b'\t', &line[from..]).map_or(line.len(), |at| from + at);
        for (field, _) in fields.iter_mut().zip(&layout.positions).filter(|(_, at)| **at == found) {
            let text = &line[from..to];
            let skipped = text.len() - text.trim_ascii_start().len();
            *field = Field {
                start: (start + from + skipped) as u32,
                len: text.trim_ascii().len() as u32,
                mark: Mark::NONE,
            };
        }
        found += 1;
        if to == line.len() {
            break;
        }
        from = to + 1;
    }
    if found == 1 && line.trim_ascii().is_empty() {
        return Ok(None);
    }
    pick(found, layout)?;
    for (field, &position) in fields.iter_mut().zip(&layout.positions) {
        let text = &bytes[field.start as usize..(field.start + field.len) as usize];
        field.mark = Mark::of(checked(text, position, trusted)?);
    }
    Ok(Some(fields))
}

/// Whether a row with so many columns has the ones that are wanted.
fn pick<const N: usize>(found: usize, layout: &Layout<N>) -> Result<(), LineProblem> {
    let right = match layout.exactly {
        Some(exactly) => found == exactly,
        None => found >= layout.needed(),
    };
    if right {
        return Ok(());
    }
    Err(LineProblem::Columns { expected: layout.exactly.unwrap_or(layout.needed()), found })
}

fn checked(text: &[u8], position: usize, trusted: bool) -> Result<&[u8], LineProblem> {
    let column = position + 1;
    if text.is_empty() {
        return Err(LineProblem::EmptyField { column });
    }
    if !trusted {
        if memchr::memchr(0, text).is_some() {
            return Err(LineProblem::Nul { column });
        }
        if std::str::from_utf8(text).is_err() {
            return Err(LineProblem::NotUtf8 { column });
        }
        if text.iter().any(|&byte| is_control(byte) || matches!(byte, b'\n' | b'\r' | b'\t')) {
            return Err(LineProblem::Control { column });
        }
    }
    Ok(text)
}

/// Whether there is a control character that is neither a tab nor part of a line end.
fn holds_control(bytes: &[u8]) -> bool {
    // There is no early exit within a piece, so that the compiler can check many bytes at once.
    let mut pieces = bytes.chunks(1024);
    pieces.any(|piece| piece.iter().fold(false, |found, &byte| found | is_control(byte)))
        || memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
}

/// Control characters that are not part of a table's structure.
fn is_control(byte: u8) -> bool {
    (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Cut = (Vec<[(u32, u32, Mark); 3]>, Vec<(u64, LineProblem)>);

    fn in_one_go(bytes: &[u8], mut header: bool) -> Cut {
        let mut batch: Batch<3> = Batch::default();
        let layout = Layout { has_header: header, ..Layout::plain() };
        batch.cut_block(Block { bytes: bytes.to_vec(), first_line: 1 }, &layout, &mut header);
        let rows = batch.rows.iter().map(|row| row.map(|field| (field.start, field.len, field.mark)));
        (rows.collect(), batch.bad)
    }

    fn line_by_line(bytes: &[u8], mut header: bool) -> Cut {
        let (mut rows, mut bad) = Cut::default();
        let mut start = 0;
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let end = start + line.len();
            if header && !line.trim_ascii().is_empty() {
                header = false;
            } else {
                match cut_line(bytes, start, end, &Layout::<3>::plain(), false) {
                    Ok(fields) => rows.extend(fields.map(|row| row.map(|it| (it.start, it.len, it.mark)))),
                    Err(problem) => bad.push((number, problem)),
                }
            }
            start = end + 1;
        }
        (rows, bad)
    }

    /// Mostly rows as they should be, with something odd here and there.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let row =
            || prop::collection::vec("[a-cé]{1,30}", 3).prop_map(|row| (row.join("\t") + "\n").into_bytes());
        let odd = [
            b"\t".as_slice(),
            b"\n",
            b" ",
            b"\r",
            b"\r\n",
            b"a",
            b"\0",
            b"\x7f",
            b"\xff",
            b"\xc3\xa9",
            b"\x0b",
            b"\x0c",
            b"",
        ];
        let odd = prop::sample::select(odd.to_vec()).prop_map(<[u8]>::to_vec);
        let piece = prop_oneof![8 => row(), 1 => odd.clone()];
        prop_oneof![prop::collection::vec(piece, 0..40), prop::collection::vec(odd, 0..40)]
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_fast_path_cuts_like_the_general_one(text in text(), header: bool) {
            prop_assert_eq!(in_one_go(&text, header), line_by_line(&text, header));
        }
    }
}
