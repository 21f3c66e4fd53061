//! Blocks of whole lines from a stream of bytes.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use memchr::memrchr;

/// The longest line; a longer one cannot be a triple.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Bytes in a block: large enough to make handing it over cheap, small enough to stay in cache.
const BLOCK: usize = 256 << 10;

/// Whole lines, and the number of the first of them.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    pub(super) first_line: u64,
}

/// What comes next from a [`Lines`].
pub(super) enum Piece {
    Lines(Block),
    /// A line longer than [`MAX_LINE`]; it has been skipped.
    TooLong(u64),
}

/// Cuts a stream into blocks that end where a line ends.
pub(super) struct Lines<R> {
    bytes: R,
    /// The beginning of a line whose end has not been read yet.
    carried: Vec<u8>,
    next_line: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes, carried: Vec::new(), next_line: 1, ended: false }
    }

    /// The next piece, or `None` at the end. A buffer handed back is used again.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Piece>> {
        buffer.clear();
        buffer.append(&mut self.carried);
        while !self.ended {
            self.read_block(&mut buffer)?;
            if let Some(end) = memrchr(b'\n', &buffer) {
                self.carried.extend_from_slice(&buffer[end + 1..]);
                buffer.truncate(end + 1);
                break;
            }
            if buffer.len() > MAX_LINE {
                return self.pass_over(buffer).map(Some);
            }
        }
        if buffer.is_empty() {
            return Ok(None);
        }
        let first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &buffer).count() as u64;
        Ok(Some(Piece::Lines(Block { bytes: buffer, first_line })))
    }

    /// Appends a block of bytes, or what is left of the stream.
    fn read_block(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        let mut filled = buffer.len();
        buffer.resize(filled + BLOCK, 0);
        while filled < buffer.len() && !self.ended {
            match self.bytes.read(&mut buffer[filled..]) {
                Ok(read) => {
                    filled += read;
                    self.ended = read == 0;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        buffer.truncate(filled);
        Ok(())
    }

    fn pass_over(&mut self, mut buffer: Vec<u8>) -> io::Result<Piece> {
        let line = self.next_line;
        self.next_line += 1;
        while !self.ended {
            buffer.clear();
            self.read_block(&mut buffer)?;
            if let Some(end) = memchr::memchr(b'\n', &buffer) {
                self.carried.extend_from_slice(&buffer[end + 1..]);
                break;
            }
        }
        Ok(Piece::TooLong(line))
    }
}

/// A stream of lines none of which is longer than [`MAX_LINE`], for parsers with no such limit.
/// A longer one is an error, or is skipped and its number kept.
pub(super) struct BoundedLines<R> {
    lines: Lines<R>,
    current: io::Cursor<Vec<u8>>,
    passed_over: Option<Rc<RefCell<Vec<u64>>>>,
}

/// The error of a [`BoundedLines`]: the number of the line.
#[derive(Debug, thiserror::Error)]
#[error("line {0} is too long")]
pub(super) struct LongLine(pub(super) u64);

impl<R: Read> BoundedLines<R> {
    pub(super) fn new(bytes: R, passed_over: Option<Rc<RefCell<Vec<u64>>>>) -> Self {
        Self { lines: Lines::new(bytes), current: io::Cursor::default(), passed_over }
    }
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.lines.next(std::mem::take(&mut self.current).into_inner())? {
                None => return Ok(0),
                Some(Piece::Lines(block)) => self.current = io::Cursor::new(block.bytes),
                Some(Piece::TooLong(line)) => {
                    let Some(passed_over) = &self.passed_over else {
                        return Err(io::Error::other(LongLine(line)));
                    };
                    passed_over.borrow_mut().push(line);
                    // An empty line keeps the numbers of those that follow.
                    self.current = io::Cursor::new(b"\n".to_vec());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(bytes: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let mut lines = Lines::new(bytes);
        let (mut all, mut too_long) = (Vec::new(), Vec::new());
        let mut newlines = 0;
        while let Some(piece) = lines.next(Vec::new()).unwrap() {
            match piece {
                Piece::Lines(block) => {
                    assert_eq!(block.first_line, newlines + 1);
                    newlines += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
                    all.extend(block.bytes);
                }
                Piece::TooLong(line) => {
                    assert_eq!(line, newlines + 1);
                    newlines += 1;
                    too_long.push(line);
                }
            }
        }
        (all, too_long)
    }

    proptest! {
        #[test]
        fn blocks_are_the_stream_cut_at_lines(lengths in prop::collection::vec(0usize..300_000, 0..20), end in any::<bool>()) {
            let mut bytes = Vec::new();
            for length in &lengths {
                bytes.extend(std::iter::repeat_n(b'x', *length));
                bytes.push(b'\n');
            }
            if end { bytes.extend(b"the end"); }
            prop_assert_eq!(collect(&bytes), (bytes.clone(), vec![]));
        }
    }

    #[test]
    fn a_line_without_end_is_passed_over_wherever_it_stands() {
        let long = vec![b'x'; 5 << 20];
        let bytes = [b"a\n".as_slice(), &long, b"\nb\n", &long].concat();
        assert_eq!(collect(&bytes), (b"a\nb\n".to_vec(), vec![2, 4]));
    }
}
