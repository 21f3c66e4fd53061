//! A writer of pickles, protocol 4, for the plain data that benchmark files are made of.

use std::io::{self, Write};

use super::opcode as op;

/// Writes a pickle value by value, without holding it in memory.
///
/// ```
/// use relatum::import::pickle::Writer;
///
/// // {(7, (1,)): {4, 5}}
/// let mut writer = Writer::new(Vec::new())?;
/// writer.dict(|entries| {
///     entries.tuple(|key| {
///         key.int(7)?;
///         key.tuple(|relations| relations.int(1))
///     })?;
///     entries.set(|answers| [4, 5].into_iter().try_for_each(|answer| answers.int(answer)))
/// })?;
/// let bytes = writer.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a pickle.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[op::PROTO, 4])?;
        Ok(Self { out })
    }

    /// Ends the pickle, which must hold just one value by now, and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[op::STOP])?;
        Ok(self.out)
    }

    /// `None`.
    pub fn none(&mut self) -> io::Result<()> {
        self.out.write_all(&[op::NONE])
    }

    /// `True` or `False`.
    pub fn bool(&mut self, value: bool) -> io::Result<()> {
        self.out.write_all(&[if value { op::NEWTRUE } else { op::NEWFALSE }])
    }

    /// An integer, in as few bytes as the protocol has for it.
    pub fn int(&mut self, value: i64) -> io::Result<()> {
        if let Ok(byte) = u8::try_from(value) {
            self.out.write_all(&[op::BININT1, byte])
        } else if let Ok(short) = u16::try_from(value) {
            self.out.write_all(&[op::BININT2])?;
            self.out.write_all(&short.to_le_bytes())
        } else if let Ok(int) = i32::try_from(value) {
            self.out.write_all(&[op::BININT])?;
            self.out.write_all(&int.to_le_bytes())
        } else {
            self.out.write_all(&[op::LONG1, 8])?;
            self.out.write_all(&value.to_le_bytes())
        }
    }

    /// A float.
    pub fn float(&mut self, value: f64) -> io::Result<()> {
        self.out.write_all(&[op::BINFLOAT])?;
        self.out.write_all(&value.to_be_bytes())
    }

    /// A text.
    pub fn str(&mut self, text: &str) -> io::Result<()> {
        if let Ok(len) = u8::try_from(text.len()) {
            self.out.write_all(&[op::SHORT_BINUNICODE, len])?;
        } else {
            self.out.write_all(&[op::BINUNICODE8])?;
            self.out.write_all(&(text.len() as u64).to_le_bytes())?;
        }
        self.out.write_all(text.as_bytes())
    }

    /// A tuple of what `items` writes.
    pub fn tuple(&mut self, items: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.out.write_all(&[op::MARK])?;
        items(self)?;
        self.out.write_all(&[op::TUPLE])
    }

    /// A list of what `items` writes.
    pub fn list(&mut self, items: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.filled(&[op::EMPTY_LIST], items, op::APPENDS)
    }

    /// A set of what `items` writes: numbers, texts or tuples, each once.
    pub fn set(&mut self, items: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.filled(&[op::EMPTY_SET], items, op::ADDITEMS)
    }

    /// A dict; `entries` writes key, value, key, value, ….
    pub fn dict(&mut self, entries: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.filled(&[op::EMPTY_DICT], entries, op::SETITEMS)
    }

    /// A `collections.defaultdict(set)`, as the BetaE files are; `entries` writes key, value, ….
    pub fn defaultdict_of_sets(
        &mut self,
        entries: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.global("collections", "defaultdict")?;
        self.global("builtins", "set")?;
        self.filled(&[op::TUPLE1, op::REDUCE], entries, op::SETITEMS)
    }

    fn global(&mut self, module: &str, name: &str) -> io::Result<()> {
        self.str(module)?;
        self.str(name)?;
        self.out.write_all(&[op::STACK_GLOBAL])
    }

    fn filled(
        &mut self,
        empty: &[u8],
        items: impl FnOnce(&mut Self) -> io::Result<()>,
        fill: u8,
    ) -> io::Result<()> {
        self.out.write_all(empty)?;
        self.out.write_all(&[op::MARK])?;
        items(self)?;
        self.out.write_all(&[fill])
    }
}
