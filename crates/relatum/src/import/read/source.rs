//! Where bytes come from: a file or standard input, decompressed on the way.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use flate2::bufread::GzDecoder;

use super::error::ReadError;
use crate::control::Control;

/// An event: so many more bytes of a source have been read, before they are decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesRead(pub u64);

/// An opened source of bytes, with its first bytes already at hand.
pub(super) struct Source<'a> {
    pub(super) name: String,
    pub(super) codec: Option<&'static str>,
    /// The first bytes after decompression, for guessing the format. They are still to be read.
    pub(super) start: Vec<u8>,
    rest: Box<dyn Read + Send + 'a>,
    given_up: GivenUp,
}

/// Tells a source that the rest is not needed, so that a read that is waiting for more ends at once.
#[derive(Clone, Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

const START: usize = 64 << 10;
/// The byte order mark that some programs put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

impl<'a> Source<'a> {
    /// Opens a path, or standard input for `-`.
    pub(super) fn open(path: &Path, control: &'a Control) -> Result<Self, ReadError> {
        let given_up = GivenUp::default();
        if path == Path::new("-") {
            let pump = Pump::start(|| Ok(io::stdin()), control, given_up.clone());
            return Self::new("standard input".to_owned(), pump, control, given_up);
        }
        let name = path.display().to_string();
        if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            // Opening a named pipe already waits.
            let path = path.to_owned();
            let pump = Pump::start(move || File::open(path), control, given_up.clone());
            return Self::new(name, pump, control, given_up);
        }
        match File::open(path) {
            Ok(file) => Self::new(name, file, control, given_up),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ReadError::NotFound { file: name }),
            Err(source) => Err(ReadError::Io { file: name, source }),
        }
    }

    fn new(
        name: String,
        bytes: impl Read + Send + 'a,
        control: &'a Control,
        given_up: GivenUp,
    ) -> Result<Self, ReadError> {
        let mut raw: Box<dyn Read + Send + 'a> = Box::new(Observed { bytes, control });
        let mut magic = Vec::new();
        let failed = |error| explain(&name, None, error);
        raw.by_ref().take(4).read_to_end(&mut magic).map_err(failed)?;
        let codec = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Some("gzip"),
            [0x28, 0xb5, 0x2f, 0xfd] => Some("zstd"),
            _ => None,
        };
        // A read of more bytes than this at once bypasses the buffer and saves a copy.
        let raw = BufReader::with_capacity(128 << 10, Cursor::new(magic).chain(raw));
        let mut rest: Box<dyn Read + Send + 'a> = match codec {
            Some("gzip") => Box::new(Gzip { member: Some(GzDecoder::new(raw)) }),
            Some("zstd") => Box::new(zstd::Decoder::with_buffer(raw).map_err(failed)?),
            _ => Box::new(raw),
        };
        let mut start = Vec::new();
        let first = rest.by_ref().take(START as u64).read_to_end(&mut start);
        let mut source = Self { name, codec, start, rest, given_up };
        first.map_err(|error| source.failed(error))?;
        if source.start.starts_with(BOM) {
            source.start.drain(..BOM.len());
        }
        Ok(source)
    }

    /// Whether `start` is all there is.
    pub(super) fn is_whole(&self) -> bool {
        self.start.len() + BOM.len() < START
    }

    /// Ends a reader of this source in which another thread is waiting.
    pub(super) fn given_up(&self) -> GivenUp {
        self.given_up.clone()
    }

    /// Everything, from the first byte on.
    pub(super) fn into_reader(self) -> impl Read + Send + 'a {
        Cursor::new(self.start).chain(self.rest)
    }

    /// Explains an error of the reader: a cancellation, a damaged archive, or the disk.
    pub(super) fn failed(&self, error: io::Error) -> ReadError {
        explain(&self.name, self.codec, error)
    }
}

/// See [`Source::failed`].
pub(super) fn explain(name: &str, codec: Option<&'static str>, error: io::Error) -> ReadError {
    let file = name.to_owned();
    if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<StopRequested>) {
        return ReadError::Stopped;
    }
    if let Some(Trailing { count, start }) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return ReadError::TrailingBytes { file, count: *count, start: format!("{start:?}") };
    }
    if error.to_string().contains("buffer maximal size") {
        // These words are in the RDF parser's message; its error has no kind of its own.
        return ReadError::TooLong { file };
    }
    match (codec, error.kind()) {
        (Some(codec), io::ErrorKind::UnexpectedEof) => {
            ReadError::Compression { file, codec, what: "it ends too early".to_owned() }
        }
        // Errors of the system have a code; those of a decoder do not.
        (Some(codec), _) if error.raw_os_error().is_none() => {
            ReadError::Compression { file, codec, what: error.to_string() }
        }
        _ => ReadError::Io { file, source: error },
    }
}

/// Gzip data of several members, one after the other. Zeros may follow, as padding of a tape or disk block.
/// Any other bytes after the end are an error of their own: the data is complete, but the file holds something
/// else too.
struct Gzip<R> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { break };
            loop {
                let bytes = rest.fill_buf()?;
                let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                if bytes.is_empty() {
                    return Ok(0);
                }
                if zeros < bytes.len() {
                    rest.consume(zeros);
                    break;
                }
                rest.consume(zeros);
            }
            let bytes = rest.fill_buf()?;
            if bytes[0] != 0x1f || bytes.get(1).is_some_and(|second| *second != 0x8b) {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
                return Err(io::Error::other(Trailing { count: bytes.len(), start }));
            }
            self.member = Some(GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Bytes after the end of gzip data that are not gzip.
#[derive(Clone, Debug, thiserror::Error)]
#[error("bytes after the end of the gzip data")]
struct Trailing {
    count: usize,
    start: String,
}

struct Observed<'a, R> {
    bytes: R,
    control: &'a Control,
}

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.control.is_late() {
            return Err(io::Error::other(StopRequested));
        }
        let read = self.bytes.read(buffer)?;
        self.control.tell(&BytesRead(read as u64));
        Ok(read)
    }
}

/// A source that may wait, read on a thread of its own: a read that waits for a person or a slow
/// pipe cannot be interrupted, but waiting for the thread can.
struct Pump<'a> {
    blocks: Receiver<io::Result<Vec<u8>>>,
    current: Cursor<Vec<u8>>,
    control: &'a Control,
    given_up: GivenUp,
}

impl<'a> Pump<'a> {
    fn start<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        control: &'a Control,
        given_up: GivenUp,
    ) -> Self {
        let (send, blocks) = sync_channel(4);
        thread::spawn(move || {
            let mut source = match open() {
                Ok(source) => source,
                Err(error) => {
                    let _ = send.send(Err(error));
                    return;
                }
            };
            loop {
                let mut block = vec![0; 1 << 20];
                let read = source.read(&mut block);
                let last = !matches!(read, Ok(1..));
                let block = read.map(|length| {
                    block.truncate(length);
                    block
                });
                if send.send(block).is_err() || last {
                    return;
                }
            }
        });
        Self { blocks, current: Cursor::default(), control, given_up }
    }
}

impl Read for Pump<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.blocks.recv_timeout(Duration::from_millis(50)) {
                Ok(block) => self.current = Cursor::new(block?),
                Err(RecvTimeoutError::Timeout) if self.control.is_late() || self.given_up.is_set() => {
                    return Err(io::Error::other(StopRequested));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("stop requested")]
struct StopRequested;
