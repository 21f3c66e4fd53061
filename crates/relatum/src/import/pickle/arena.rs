//! Where the values of a pickle live: small values by themselves, all others in one table of
//! nodes, so that a list that was stored in the memo can still grow, and a list that holds
//! itself can be read.

use std::ops::Range;

use super::globals::Known;

/// A value: small ones stand here, others in the node it names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Node(NodeId),
}

/// The place of a node in its [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(u32);

impl NodeId {
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// A value with a place of its own in the table. Data that cannot change lies in a shared block.
#[derive(Debug)]
pub(super) enum Node {
    Str(Range<usize>),
    Bytes(Range<usize>),
    /// An integer beyond 64 bits: little-endian two's complement bytes.
    Long(Range<usize>),
    Tuple(Range<usize>),
    FrozenSet(Range<usize>),
    List(Vec<Value>),
    Set(Vec<Value>),
    /// Key, value, key, value, …
    Dict(Vec<Value>),
    Global(Box<Global>),
    Object(Box<Object>),
    Persistent(Value),
}

/// A class or function that the pickle names.
#[derive(Debug)]
pub(super) struct Global {
    pub(super) module: Range<usize>,
    pub(super) name: Range<usize>,
    /// What this reader knows to do when it is called.
    pub(super) known: Option<Known>,
}

/// Stands for the result of a call that was not made: what would have been called, and with which arguments.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) class: Value,
    pub(super) arguments: Value,
    /// A dict, or `None`.
    pub(super) keywords: Value,
    pub(super) state: Value,
    /// What a list or set of this class would hold.
    pub(super) items: Vec<Value>,
    /// What a dict of this class would hold: key, value, key, value, …
    pub(super) entries: Vec<Value>,
}

/// What is added to a container at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addition {
    Append,
    Add,
    SetItem,
}

#[derive(Debug, Default)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    values: Vec<Value>,
    text: String,
    bytes: Vec<u8>,
}

impl Arena {
    /// A place for a node, or `None` if four billion are taken.
    pub(super) fn insert(&mut self, node: Node) -> Option<NodeId> {
        let id = u32::try_from(self.nodes.len()).ok()?;
        self.nodes.push(node);
        Some(NodeId(id))
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        // An id is made by `insert` only, and nodes are never removed.
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn store_values(&mut self, values: &[Value]) -> Range<usize> {
        let start = self.values.len();
        self.values.extend_from_slice(values);
        start..self.values.len()
    }

    pub(super) fn store_text(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    pub(super) fn store_bytes(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    pub(super) fn values(&self, range: &Range<usize>) -> &[Value] {
        &self.values[range.clone()]
    }

    pub(super) fn text(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// Adds items to a container that can take them; `false` if the value cannot.
    pub(super) fn add(&mut self, target: Value, items: &[Value], addition: Addition) -> bool {
        let Value::Node(id) = target else {
            return false;
        };
        let place = match (self.node_mut(id), addition) {
            (Node::List(list), Addition::Append) => list,
            (Node::Set(set), Addition::Add) => set,
            (Node::Dict(dict), Addition::SetItem) => dict,
            (Node::Object(object), Addition::Append | Addition::Add) => &mut object.items,
            (Node::Object(object), Addition::SetItem) => &mut object.entries,
            _ => return false,
        };
        place.extend_from_slice(items);
        true
    }

    pub(super) fn as_node(&self, value: Value) -> Option<&Node> {
        match value {
            Value::Node(id) => Some(self.node(id)),
            _ => None,
        }
    }

    pub(super) fn as_str(&self, value: Value) -> Option<&str> {
        match self.as_node(value)? {
            Node::Str(range) => Some(self.text(range)),
            _ => None,
        }
    }

    pub(super) fn as_tuple(&self, value: Value) -> Option<&[Value]> {
        match self.as_node(value)? {
            Node::Tuple(range) => Some(self.values(range)),
            _ => None,
        }
    }

    /// The items of a list, tuple, set or frozen set.
    pub(super) fn as_items(&self, value: Value) -> Option<&[Value]> {
        match self.as_node(value)? {
            Node::Tuple(range) | Node::FrozenSet(range) => Some(self.values(range)),
            Node::List(items) | Node::Set(items) => Some(items),
            _ => None,
        }
    }
}
