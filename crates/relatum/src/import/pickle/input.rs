//! The bytes of a pickle, read with every length checked against what is left.

use super::error::PickleError;

/// A position in the bytes.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn byte(&mut self, expected: &'static str) -> Result<u8, PickleError> {
        let Some(&byte) = self.bytes.get(self.position) else {
            return Err(self.truncated(expected, 1));
        };
        self.position += 1;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], PickleError> {
        match self.rest().first_chunk() {
            Some(&array) => {
                self.position += N;
                Ok(array)
            }
            None => Err(self.truncated(expected, N as u64)),
        }
    }

    pub(super) fn take(&mut self, len: u64, expected: &'static str) -> Result<&'a [u8], PickleError> {
        self.check(len, expected)?;
        let taken = &self.rest()[..len as usize];
        self.position += taken.len();
        Ok(taken)
    }

    /// Fails unless `len` more bytes are there.
    pub(super) fn check(&self, len: u64, expected: &'static str) -> Result<(), PickleError> {
        if len > self.rest().len() as u64 { Err(self.truncated(expected, len)) } else { Ok(()) }
    }

    /// The bytes up to the next newline, which is skipped.
    pub(super) fn line(&mut self, expected: &'static str) -> Result<&'a [u8], PickleError> {
        let rest = self.rest();
        let Some(len) = memchr::memchr(b'\n', rest) else {
            return Err(self.truncated(expected, rest.len() as u64 + 1));
        };
        self.position += len + 1;
        Ok(&rest[..len])
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    fn truncated(&self, expected: &'static str, needed: u64) -> PickleError {
        PickleError::Truncated { offset: self.position, expected, needed, left: self.rest().len() }
    }
}
