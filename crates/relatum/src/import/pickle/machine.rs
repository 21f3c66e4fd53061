//! The stack machine. Every turn of its loop takes at least one byte and makes at most one
//! value, so time and memory are bounded by the length of the input.

use super::Policy;
use super::arena::{Addition, Arena, Node, Value};
use super::error::PickleError;
use super::input::Input;
use super::opcode as op;
use super::repr;

pub(super) type Outcome<T> = Result<T, PickleError>;

pub(super) struct Machine<'a> {
    pub(super) input: Input<'a>,
    pub(super) policy: Policy,
    pub(super) arena: Arena,
    pub(super) stack: Vec<Value>,
    /// Heights of the stack at each open mark.
    marks: Vec<usize>,
    pub(super) memo: Vec<Option<Value>>,
    /// How many places of the memo are taken; `MEMOIZE` takes the place of that number.
    pub(super) memoised: usize,
    /// The instruction at work and its place, for messages.
    opcode: u8,
    pub(super) at: usize,
    /// How many more values and bytes calls may copy. Each byte of the input allows one, which is
    /// enough for what picklers write, since they never use a call's argument twice.
    copies_left: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8], policy: Policy) -> Self {
        let input = Input::new(bytes);
        Self {
            copies_left: input.len(),
            input,
            policy,
            arena: Arena::default(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            memoised: 0,
            opcode: 0,
            at: 0,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.input.position()
    }

    pub(super) fn into_arena(self) -> Arena {
        self.arena
    }

    /// Runs up to `STOP` and returns the value on top.
    #[expect(clippy::too_many_lines, reason = "one line an instruction, in the order of the opcode table")]
    pub(super) fn run(&mut self) -> Outcome<Value> {
        loop {
            self.at = self.input.position();
            self.opcode = self.input.byte("an instruction or the end of the pickle (STOP)")?;
            match self.opcode {
                op::MARK => self.marks.push(self.stack.len()),
                op::STOP => return self.pop(),
                op::POP => self.discard()?,
                op::POP_MARK => {
                    let start = self.close_mark()?;
                    self.stack.truncate(start);
                }
                op::DUP => self.stack.push(self.top()?),

                op::NONE => self.stack.push(Value::None),
                op::NEWTRUE => self.stack.push(Value::Bool(true)),
                op::NEWFALSE => self.stack.push(Value::Bool(false)),
                op::INT => self.text_int()?,
                op::LONG => self.text_long()?,
                op::BININT1 => {
                    let byte = self.input.byte("an integer of 1 byte")?;
                    self.stack.push(Value::Int(byte.into()));
                }
                op::BININT2 => {
                    let bytes = self.input.array("an integer of 2 bytes")?;
                    self.stack.push(Value::Int(u16::from_le_bytes(bytes).into()));
                }
                op::BININT => {
                    let bytes = self.input.array("an integer of 4 bytes")?;
                    self.stack.push(Value::Int(i32::from_le_bytes(bytes).into()));
                }
                op::LONG1 => {
                    let len = self.input.byte("a length of 1 byte")?;
                    self.long(len.into())?;
                }
                op::LONG4 => {
                    let len = self.signed_len()?;
                    self.long(len)?;
                }
                op::FLOAT => self.text_float()?,
                op::BINFLOAT => {
                    let bytes = self.input.array("a float of 8 bytes")?;
                    self.stack.push(Value::Float(f64::from_be_bytes(bytes)));
                }

                op::STRING => self.quoted_string()?,
                op::BINSTRING => {
                    let len = self.signed_len()?;
                    self.python2_string(len)?;
                }
                op::SHORT_BINSTRING => {
                    let len = self.input.byte("a length of 1 byte")?;
                    self.python2_string(len.into())?;
                }
                op::UNICODE => self.escaped_text()?,
                op::SHORT_BINUNICODE => self.utf8(1)?,
                op::BINUNICODE => self.utf8(4)?,
                op::BINUNICODE8 => self.utf8(8)?,
                op::SHORT_BINBYTES => self.bytes(1)?,
                op::BINBYTES => self.bytes(4)?,
                op::BINBYTES8 | op::BYTEARRAY8 => self.bytes(8)?,

                op::EMPTY_LIST => self.push_node(Node::List(Vec::new()))?,
                op::EMPTY_SET => self.push_node(Node::Set(Vec::new()))?,
                op::EMPTY_DICT => self.push_node(Node::Dict(Vec::new()))?,
                op::LIST => self.container_since_mark(Node::List)?,
                op::DICT => {
                    self.check_pairs_since_mark()?;
                    self.container_since_mark(Node::Dict)?;
                }
                op::APPEND => self.add_top(1, Addition::Append)?,
                op::SETITEM => self.add_top(2, Addition::SetItem)?,
                op::APPENDS => self.add_since_mark(Addition::Append)?,
                op::ADDITEMS => self.add_since_mark(Addition::Add)?,
                op::SETITEMS => {
                    self.check_pairs_since_mark()?;
                    self.add_since_mark(Addition::SetItem)?;
                }
                op::EMPTY_TUPLE => self.tuple(0)?,
                op::TUPLE1 => self.tuple(1)?,
                op::TUPLE2 => self.tuple(2)?,
                op::TUPLE3 => self.tuple(3)?,
                op::TUPLE => {
                    let start = self.close_mark()?;
                    self.tuple(self.stack.len() - start)?;
                }
                op::FROZENSET => {
                    let start = self.close_mark()?;
                    let items = self.arena.store_values(&self.stack[start..]);
                    self.stack.truncate(start);
                    self.push_node(Node::FrozenSet(items))?;
                }

                op::PUT => {
                    let index = self.text_index()?;
                    self.put(index)?;
                }
                op::BINPUT => {
                    let index = self.input.byte("a memo number of 1 byte")?;
                    self.put(index.into())?;
                }
                op::LONG_BINPUT => {
                    let index = u32::from_le_bytes(self.input.array("a memo number of 4 bytes")?);
                    self.put(index.into())?;
                }
                op::MEMOIZE => self.put(self.memoised as u64)?,
                op::GET => {
                    let index = self.text_index()?;
                    self.get(index)?;
                }
                op::BINGET => {
                    let index = self.input.byte("a memo number of 1 byte")?;
                    self.get(index.into())?;
                }
                op::LONG_BINGET => {
                    let index = u32::from_le_bytes(self.input.array("a memo number of 4 bytes")?);
                    self.get(index.into())?;
                }

                op::GLOBAL => {
                    let global = self.text_global()?;
                    self.stack.push(global);
                }
                op::STACK_GLOBAL => self.stack_global()?,
                op::INST => {
                    let class = self.text_global()?;
                    let start = self.close_mark()?;
                    self.tuple(self.stack.len() - start)?;
                    let arguments = self.pop()?;
                    let made = self.call(class, arguments)?;
                    self.stack.push(made);
                }
                op::OBJ => {
                    let start = self.close_mark()?;
                    let Some(len) = (self.stack.len() - start).checked_sub(1) else {
                        return Err(self.missing("a class after the mark"));
                    };
                    self.tuple(len)?;
                    self.reduce()?;
                }
                op::REDUCE | op::NEWOBJ => self.reduce()?,
                op::NEWOBJ_EX => self.reduce_with_keywords()?,
                op::BUILD => self.build()?,
                op::PERSID => {
                    let line = self.input.line("a persistent id that ends in a newline")?;
                    let text = self.checked_utf8(line)?;
                    let id = self.new_str(text)?;
                    self.push_node(Node::Persistent(id))?;
                }
                op::BINPERSID => {
                    let id = self.pop()?;
                    self.push_node(Node::Persistent(id))?;
                }
                op::EXT1 | op::EXT2 | op::EXT4 => {
                    return Err(self.unsupported("a code of an extension registry (EXT)"));
                }
                op::NEXT_BUFFER | op::READONLY_BUFFER => {
                    return Err(self.unsupported("an out-of-band buffer"));
                }

                op::PROTO => {
                    let protocol = self.input.byte("the number of the protocol")?;
                    if protocol > 5 {
                        return Err(self.unsupported(&format!("protocol {protocol}")));
                    }
                }
                op::FRAME => {
                    let len = u64::from_le_bytes(self.input.array("the length of a frame")?);
                    self.input.check(len, "a frame")?;
                }
                found => return Err(PickleError::UnknownOpcode { offset: self.at, found }),
            }
        }
    }
}

/// The stack.
impl Machine<'_> {
    pub(super) fn pop(&mut self) -> Outcome<Value> {
        self.top()?;
        self.stack.pop().ok_or_else(|| self.missing("a value on the stack"))
    }

    /// The value on top, which must lie above the last mark.
    pub(super) fn top(&self) -> Outcome<Value> {
        self.above_mark().last().copied().ok_or_else(|| self.missing("a value on the stack"))
    }

    pub(super) fn above_mark(&self) -> &[Value] {
        // No instruction lowers the stack below the last mark.
        &self.stack[self.marks.last().copied().unwrap_or(0)..]
    }

    /// `POP` takes away a mark as well.
    fn discard(&mut self) -> Outcome<()> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.pop().map(drop)
    }

    /// The height of the stack at the last mark, which is taken away. Values are popped only
    /// above the last mark, so the stack is never lower than that.
    pub(super) fn close_mark(&mut self) -> Outcome<usize> {
        self.marks.pop().ok_or_else(|| self.missing("a mark"))
    }

    pub(super) fn new_node(&mut self, node: Node) -> Outcome<Value> {
        self.arena.insert(node).map(Value::Node).ok_or(PickleError::TooLarge { offset: self.at })
    }

    pub(super) fn push_node(&mut self, node: Node) -> Outcome<()> {
        let value = self.new_node(node)?;
        self.stack.push(value);
        Ok(())
    }

    /// Counts the copying of `count` values or bytes of an argument that may be used again.
    pub(super) fn pay(&mut self, count: usize) -> Outcome<()> {
        let left = self.copies_left.checked_sub(count);
        self.copies_left = left.ok_or(PickleError::TooManyCopies { offset: self.at })?;
        Ok(())
    }
}

/// Messages.
impl Machine<'_> {
    pub(super) fn missing(&self, expected: &'static str) -> PickleError {
        PickleError::MissingOperand { offset: self.at, opcode: self.opcode, expected }
    }

    pub(super) fn wrong(&self, expected: &'static str, found: Value) -> PickleError {
        let found = self.repr(found);
        PickleError::WrongOperand { offset: self.at, opcode: self.opcode, expected, found }
    }

    pub(super) fn repr(&self, value: Value) -> String {
        repr::repr(&self.arena, value, repr::IN_MESSAGES)
    }

    pub(super) fn malformed(&self, expected: &'static str, found: &[u8]) -> PickleError {
        let found = String::from_utf8_lossy(&found[..found.len().min(repr::IN_MESSAGES)]).into_owned();
        PickleError::Malformed { offset: self.at, expected, found }
    }

    fn unsupported(&self, feature: &str) -> PickleError {
        PickleError::Unsupported { offset: self.at, feature: feature.to_owned() }
    }
}
