//! What single instructions do: numbers, texts, containers, the memo, names.

use std::ops::Range;

use super::arena::{Addition, Global, Node, Value};
use super::error::PickleError;
use super::globals;
use super::machine::{Machine, Outcome};
use super::{repr, text};

/// Numbers.
impl Machine<'_> {
    /// Protocol 0 writes the booleans as two integers with a leading zero.
    pub(super) fn text_int(&mut self) -> Outcome<()> {
        let line = self.input.line("an integer that ends in a newline")?;
        match line {
            b"00" => self.stack.push(Value::Bool(false)),
            b"01" => self.stack.push(Value::Bool(true)),
            _ => self.push_decimal(line)?,
        }
        Ok(())
    }

    pub(super) fn text_long(&mut self) -> Outcome<()> {
        let line = self.input.line("an integer that ends in a newline")?;
        self.push_decimal(line)
    }

    pub(super) fn text_float(&mut self) -> Outcome<()> {
        let line = self.input.line("a float that ends in a newline")?;
        let float = text::float(line).ok_or_else(|| self.malformed("a decimal number", line))?;
        self.stack.push(Value::Float(float));
        Ok(())
    }

    pub(super) fn long(&mut self, len: u64) -> Outcome<()> {
        let bytes = self.input.take(len, "an integer")?;
        let value = self.new_integer(bytes)?;
        self.stack.push(value);
        Ok(())
    }

    pub(super) fn new_integer(&mut self, little_endian: &[u8]) -> Outcome<Value> {
        let small = text::little_endian(little_endian).and_then(|wide| i64::try_from(wide).ok());
        if let Some(small) = small {
            return Ok(Value::Int(small));
        }
        let range = self.arena.store_bytes(little_endian);
        self.new_node(Node::Long(range))
    }

    /// The oldest instructions give their length as a signed number.
    pub(super) fn signed_len(&mut self) -> Outcome<u64> {
        let len = i32::from_le_bytes(self.input.array("a length of 4 bytes")?);
        u64::try_from(len)
            .map_err(|_| self.malformed("a length that is not negative", len.to_string().as_bytes()))
    }

    fn push_decimal(&mut self, line: &[u8]) -> Outcome<()> {
        let wide = text::decimal(line)
            .ok_or_else(|| self.malformed("a decimal integer of at most 128 bits", line))?;
        let value = self.new_integer(&wide.to_le_bytes())?;
        self.stack.push(value);
        Ok(())
    }
}

/// Texts and bytes.
impl<'a> Machine<'a> {
    pub(super) fn utf8(&mut self, width: u8) -> Outcome<()> {
        let bytes = self.counted(width, "a text")?;
        let text = self.checked_utf8(bytes)?;
        self.push_str(text)
    }

    pub(super) fn bytes(&mut self, width: u8) -> Outcome<()> {
        let bytes = self.counted(width, "a string of bytes")?;
        self.push_bytes(bytes)
    }

    pub(super) fn escaped_text(&mut self) -> Outcome<()> {
        let line = self.input.line("a text that ends in a newline")?;
        let text = text::raw_unicode_escape(line)
            .ok_or_else(|| self.malformed("a text with whole \\u escapes", line))?;
        self.push_str(&text)
    }

    pub(super) fn quoted_string(&mut self) -> Outcome<()> {
        let line = self.input.line("a quoted string that ends in a newline")?;
        let bytes = text::unquote(line).ok_or_else(|| self.malformed("a string in quotes", line))?;
        self.push_python2_string(&bytes)
    }

    pub(super) fn python2_string(&mut self, len: u64) -> Outcome<()> {
        let bytes = self.input.take(len, "a string")?;
        self.push_python2_string(bytes)
    }

    /// Python 2 did not distinguish texts from bytes: valid UTF-8 is taken for a text.
    fn push_python2_string(&mut self, bytes: &[u8]) -> Outcome<()> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.push_str(text),
            Err(_) => self.push_bytes(bytes),
        }
    }

    pub(super) fn checked_utf8(&self, bytes: &'a [u8]) -> Outcome<&'a str> {
        std::str::from_utf8(bytes).map_err(|_| self.malformed("a text in UTF-8", bytes))
    }

    pub(super) fn new_str(&mut self, text: &str) -> Outcome<Value> {
        let range = self.arena.store_text(text);
        self.new_node(Node::Str(range))
    }

    fn push_str(&mut self, text: &str) -> Outcome<()> {
        let value = self.new_str(text)?;
        self.stack.push(value);
        Ok(())
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        let range = self.arena.store_bytes(bytes);
        self.push_node(Node::Bytes(range))
    }

    /// A length of 1, 4 or 8 bytes and as many bytes as it says.
    fn counted(&mut self, width: u8, expected: &'static str) -> Outcome<&'a [u8]> {
        let len = match width {
            1 => self.input.byte("a length of 1 byte")?.into(),
            4 => u32::from_le_bytes(self.input.array("a length of 4 bytes")?).into(),
            _ => u64::from_le_bytes(self.input.array("a length of 8 bytes")?),
        };
        self.input.take(len, expected)
    }
}

/// Containers.
impl Machine<'_> {
    /// A tuple of the topmost values.
    pub(super) fn tuple(&mut self, len: usize) -> Outcome<()> {
        let above = self.above_mark();
        let Some(start) = above.len().checked_sub(len) else {
            return Err(self.missing("as many values as the tuple has"));
        };
        let start = self.stack.len() - above.len() + start;
        let items = self.arena.store_values(&self.stack[start..]);
        self.stack.truncate(start);
        self.push_node(Node::Tuple(items))
    }

    pub(super) fn container_since_mark(&mut self, container: fn(Vec<Value>) -> Node) -> Outcome<()> {
        let start = self.close_mark()?;
        let items = self.stack.split_off(start);
        self.push_node(container(items))
    }

    pub(super) fn check_pairs_since_mark(&self) -> Outcome<()> {
        if self.above_mark().len().is_multiple_of(2) {
            Ok(())
        } else {
            Err(self.missing("a value for every key"))
        }
    }

    pub(super) fn add_since_mark(&mut self, addition: Addition) -> Outcome<()> {
        let start = self.close_mark()?;
        self.add_from(start, addition)
    }

    /// Adds the topmost `len` values to the container below them.
    pub(super) fn add_top(&mut self, len: usize, addition: Addition) -> Outcome<()> {
        if self.above_mark().len() < len {
            return Err(self.missing("values to add"));
        }
        self.add_from(self.stack.len() - len, addition)
    }

    fn add_from(&mut self, start: usize, addition: Addition) -> Outcome<()> {
        let below = self.stack.len() - self.above_mark().len();
        if start <= below {
            return Err(self.missing("a container below the values"));
        }
        let target = self.stack[start - 1];
        if !self.arena.add(target, &self.stack[start..], addition) {
            let expected = match addition {
                Addition::Append => "a list",
                Addition::Add => "a set",
                Addition::SetItem => "a dict",
            };
            return Err(self.wrong(expected, target));
        }
        self.stack.truncate(start);
        Ok(())
    }
}

/// The memo.
impl Machine<'_> {
    pub(super) fn put(&mut self, index: u64) -> Outcome<()> {
        let value = self.top()?;
        // Picklers number from 0 (or 1), and every value took a byte or more. Without this
        // limit five bytes could ask for a table of 64 GiB.
        if index > self.at as u64 {
            return Err(self.malformed(
                "a memo number below the number of bytes before it",
                index.to_string().as_bytes(),
            ));
        }
        let index = index as usize;
        if self.memo.len() <= index {
            self.memo.resize(index + 1, None);
        }
        if self.memo[index].replace(value).is_none() {
            self.memoised += 1;
        }
        Ok(())
    }

    pub(super) fn get(&mut self, index: u64) -> Outcome<()> {
        let stored = usize::try_from(index).ok().and_then(|index| self.memo.get(index).copied().flatten());
        let value = stored.ok_or(PickleError::UnknownMemo { offset: self.at, index })?;
        self.stack.push(value);
        Ok(())
    }

    pub(super) fn text_index(&mut self) -> Outcome<u64> {
        let line = self.input.line("a memo number that ends in a newline")?;
        text::decimal(line)
            .and_then(|wide| u64::try_from(wide).ok())
            .ok_or_else(|| self.malformed("a memo number", line))
    }
}

/// Names of classes and functions.
impl Machine<'_> {
    pub(super) fn text_global(&mut self) -> Outcome<Value> {
        let module = self.input.line("the name of a module that ends in a newline")?;
        let module = self.checked_utf8(module)?;
        let name = self.input.line("the name of a class that ends in a newline")?;
        let name = self.checked_utf8(name)?;
        let (module, name) = (self.arena.store_text(module), self.arena.store_text(name));
        self.global(module, name)
    }

    pub(super) fn stack_global(&mut self) -> Outcome<()> {
        let name = self.pop()?;
        let module = self.pop()?;
        let module = self.text_range(module)?;
        let name = self.text_range(name)?;
        let global = self.global(module, name)?;
        self.stack.push(global);
        Ok(())
    }

    fn text_range(&self, value: Value) -> Outcome<Range<usize>> {
        match self.arena.as_node(value) {
            Some(Node::Str(range)) => Ok(range.clone()),
            _ => Err(self.wrong("the name of a module or class", value)),
        }
    }

    fn global(&mut self, module: Range<usize>, name: Range<usize>) -> Outcome<Value> {
        let known = globals::look_up(self.arena.text(&module), self.arena.text(&name), self.policy);
        let known = known.map_err(|globals::Forbidden| {
            let name = repr::dotted(&self.arena, &module, &name, repr::IN_MESSAGES);
            PickleError::ForbiddenGlobal { offset: self.at, name }
        })?;
        self.new_node(Node::Global(Box::new(Global { module, name, known })))
    }
}
