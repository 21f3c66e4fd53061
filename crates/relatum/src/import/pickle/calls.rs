//! What a call of a class or function gives, found without calling it.

use super::Policy;
use super::arena::{Node, Object, Value};
use super::error::PickleError;
use super::globals::Known;
use super::machine::{Machine, Outcome};
use super::text;

impl Machine<'_> {
    /// `REDUCE` and `NEWOBJ`: the arguments lie on the stack above what is called.
    pub(super) fn reduce(&mut self) -> Outcome<()> {
        let arguments = self.pop()?;
        let callable = self.pop()?;
        let made = self.call(callable, arguments)?;
        self.stack.push(made);
        Ok(())
    }

    /// `NEWOBJ_EX`: as `NEWOBJ`, with a dict of keyword arguments on top.
    pub(super) fn reduce_with_keywords(&mut self) -> Outcome<()> {
        let keywords = self.pop()?;
        match self.arena.as_node(keywords) {
            Some(Node::Dict(entries)) if entries.is_empty() => self.reduce(),
            Some(Node::Dict(_)) if self.policy == Policy::Checkpoint => {
                let arguments = self.pop()?;
                let class = self.pop()?;
                let object = self.new_object(class, arguments, keywords)?;
                self.stack.push(object);
                Ok(())
            }
            _ => Err(self.wrong("an empty dict of keyword arguments", keywords)),
        }
    }

    /// `BUILD`: gives the object below its state. Attributes of plain containers are left out,
    /// because data has none that matter (PyTorch hangs version numbers on an `OrderedDict`).
    pub(super) fn build(&mut self) -> Outcome<()> {
        let state = self.pop()?;
        let target = self.top()?;
        let Value::Node(id) = target else {
            return Err(self.wrong("an object", target));
        };
        match self.arena.node_mut(id) {
            Node::Object(object) => object.state = state,
            Node::List(_) | Node::Set(_) | Node::Dict(_) => {}
            _ => return Err(self.wrong("an object", target)),
        }
        Ok(())
    }

    pub(super) fn call(&mut self, callable: Value, arguments: Value) -> Outcome<Value> {
        let known = match self.arena.as_node(callable) {
            Some(Node::Global(global)) => global.known,
            // Something that another call would have made.
            Some(Node::Object(_)) if self.policy == Policy::Checkpoint => None,
            _ => return Err(self.wrong("a class or function", callable)),
        };
        if self.arena.as_tuple(arguments).is_none() {
            return Err(self.wrong("a tuple of arguments", arguments));
        }
        let made = match known {
            Some(known) => self.make(known, callable, arguments)?,
            None => None,
        };
        match (made, self.policy) {
            (Some(made), _) => Ok(made),
            (None, Policy::Checkpoint) => self.new_object(callable, arguments, Value::None),
            (None, Policy::Data) => Err(self.wrong_call(callable, arguments)),
        }
    }

    /// What a known class makes of its arguments; `None` if picklers never write such arguments.
    fn make(&mut self, known: Known, callable: Value, arguments: Value) -> Outcome<Option<Value>> {
        let given = self.arena.as_tuple(arguments).unwrap_or_default();
        let node = match (known, given) {
            (Known::List, &[]) => Node::List(Vec::new()),
            (Known::Set, &[]) => Node::Set(Vec::new()),
            (Known::FrozenSet, &[]) => Node::FrozenSet(0..0),
            (Known::Bytes | Known::ByteArray, &[]) => Node::Bytes(0..0),
            // The argument of a defaultdict is the class of missing values, which a reader never makes.
            (Known::Dict | Known::OrderedDict | Known::DefaultDict, &[]) | (Known::DefaultDict, &[_]) => {
                Node::Dict(Vec::new())
            }
            (Known::List | Known::Set | Known::FrozenSet, &[from]) => {
                let Some(items) = self.copied_items(from)? else {
                    return Ok(None);
                };
                match known {
                    Known::List => Node::List(items),
                    Known::Set => Node::Set(items),
                    _ => Node::FrozenSet(self.arena.store_values(&items)),
                }
            }
            (Known::Dict | Known::OrderedDict, &[from]) => match self.copied_entries(from)? {
                Some(entries) => Node::Dict(entries),
                None => return Ok(None),
            },
            (Known::Bytes | Known::ByteArray, &[from]) => {
                let bytes = matches!(self.arena.as_node(from), Some(Node::Bytes(_)));
                return Ok(bytes.then_some(from));
            }
            (Known::Encode | Known::ByteArray, &[from, encoding]) => match self.encoded(from, encoding)? {
                Some(bytes) => Node::Bytes(self.arena.store_bytes(&bytes)),
                None => return Ok(None),
            },
            // The object is of the class that is the first argument, not of the function.
            (Known::Reconstructor, &[class, _, _]) if self.policy == Policy::Checkpoint => {
                return self.new_object(class, arguments, Value::None).map(Some);
            }
            (Known::NumpyDtype, _) => return self.new_object(callable, arguments, Value::None).map(Some),
            (Known::NumpyScalar, &[dtype, data]) => return self.numpy_scalar(dtype, data),
            _ => return Ok(None),
        };
        self.new_node(node).map(Some)
    }

    fn copied_items(&mut self, from: Value) -> Outcome<Option<Vec<Value>>> {
        let Some(len) = self.arena.as_items(from).map(<[Value]>::len) else {
            return Ok(None);
        };
        self.pay(len)?;
        Ok(self.arena.as_items(from).map(<[Value]>::to_vec))
    }

    /// The entries of a dict, or of a list of pairs.
    fn copied_entries(&mut self, from: Value) -> Outcome<Option<Vec<Value>>> {
        let len = match self.arena.as_node(from) {
            Some(Node::Dict(entries)) => entries.len(),
            _ => self.arena.as_items(from).map_or(0, <[Value]>::len),
        };
        self.pay(len)?;
        if let Some(Node::Dict(entries)) = self.arena.as_node(from) {
            return Ok(Some(entries.clone()));
        }
        let Some(pairs) = self.arena.as_items(from) else {
            return Ok(None);
        };
        let mut entries = Vec::with_capacity(2 * len);
        for &pair in pairs {
            match self.arena.as_items(pair) {
                Some(&[key, value]) => entries.extend([key, value]),
                _ => return Ok(None),
            }
        }
        Ok(Some(entries))
    }

    fn encoded(&mut self, from: Value, encoding: Value) -> Outcome<Option<Vec<u8>>> {
        let latin1 = matches!(self.arena.as_str(encoding), Some("latin1" | "latin-1"));
        let bytes = self.arena.as_str(from).filter(|_| latin1).and_then(text::latin1);
        self.pay(bytes.as_ref().map_or(0, Vec::len))?;
        Ok(bytes)
    }

    fn new_object(&mut self, class: Value, arguments: Value, keywords: Value) -> Outcome<Value> {
        let (items, entries) = (Vec::new(), Vec::new());
        let object = Object { class, arguments, keywords, state: Value::None, items, entries };
        self.new_node(Node::Object(Box::new(object)))
    }

    fn wrong_call(&self, callable: Value, arguments: Value) -> PickleError {
        let mut error = self.wrong("a call that makes plain data", callable);
        if let PickleError::WrongOperand { found, .. } = &mut error {
            found.push_str(&self.repr(arguments));
        }
        error
    }
}
