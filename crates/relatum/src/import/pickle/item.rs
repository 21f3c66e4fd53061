//! The values of a pickle, as a caller reads them.

use super::arena::{self, Node, Value};
use super::{Pickle, repr, text};

/// A value of a [`Pickle`]: a small handle that is copied freely.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    pickle: &'a Pickle,
    value: Value,
}

/// What an [`Item`] is, for a `match`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of at most 64 bits, a numpy one included.
    Int(i64),
    /// A longer integer: little-endian two's complement bytes.
    Long(&'a [u8]),
    /// A float, a numpy one included.
    Float(f64),
    /// A text.
    Str(&'a str),
    /// `bytes` or `bytearray`.
    Bytes(&'a [u8]),
    /// A list.
    List(Items<'a>),
    /// A tuple.
    Tuple(Items<'a>),
    /// A set.
    Set(Items<'a>),
    /// A frozen set.
    FrozenSet(Items<'a>),
    /// A dict, a `defaultdict` and an `OrderedDict` included.
    Dict(Entries<'a>),
    /// A class or function by itself.
    Global {
        /// The module as the file names it.
        module: &'a str,
        /// The name in the module.
        name: &'a str,
    },
    /// What a call would have made.
    Object(Object<'a>),
    /// A reference to something outside the pickle, such as a tensor's storage.
    Persistent(Item<'a>),
}

impl<'a> Item<'a> {
    pub(super) fn new(pickle: &'a Pickle, value: Value) -> Self {
        Self { pickle, value }
    }

    /// What this is.
    pub fn kind(self) -> Kind<'a> {
        let arena = &self.pickle.arena;
        let id = match self.value {
            Value::None => return Kind::None,
            Value::Bool(bool) => return Kind::Bool(bool),
            Value::Int(int) => return Kind::Int(int),
            Value::Float(float) => return Kind::Float(float),
            Value::Node(id) => id,
        };
        match arena.node(id) {
            Node::Str(range) => Kind::Str(arena.text(range)),
            Node::Bytes(range) => Kind::Bytes(arena.bytes(range)),
            Node::Long(range) => Kind::Long(arena.bytes(range)),
            Node::Tuple(range) => Kind::Tuple(self.items(arena.values(range))),
            Node::FrozenSet(range) => Kind::FrozenSet(self.items(arena.values(range))),
            Node::List(items) => Kind::List(self.items(items)),
            Node::Set(items) => Kind::Set(self.items(items)),
            Node::Dict(entries) => Kind::Dict(Entries { pickle: self.pickle, values: entries }),
            Node::Global(global) => {
                Kind::Global { module: arena.text(&global.module), name: arena.text(&global.name) }
            }
            Node::Object(object) => Kind::Object(Object { pickle: self.pickle, object }),
            Node::Persistent(id) => Kind::Persistent(Self::new(self.pickle, *id)),
        }
    }

    /// Whether this is `None`.
    pub fn is_none(self) -> bool {
        self.value == Value::None
    }

    /// A boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    /// An integer of at most 64 bits; booleans are not integers here.
    pub fn as_int(self) -> Option<i64> {
        match self.value {
            Value::Int(int) => Some(int),
            _ => None,
        }
    }

    /// An integer of at most 128 bits.
    pub fn as_wide_int(self) -> Option<i128> {
        match self.kind() {
            Kind::Int(int) => Some(int.into()),
            Kind::Long(bytes) => text::little_endian(bytes),
            _ => None,
        }
    }

    /// A number as a float.
    pub fn as_float(self) -> Option<f64> {
        match self.value {
            Value::Float(float) => Some(float),
            Value::Int(int) => Some(int as f64),
            _ => None,
        }
    }

    /// A text.
    pub fn as_str(self) -> Option<&'a str> {
        match self.kind() {
            Kind::Str(text) => Some(text),
            _ => None,
        }
    }

    /// `bytes` or `bytearray`.
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self.kind() {
            Kind::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(self) -> Option<Items<'a>> {
        match self.kind() {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The items of a tuple.
    pub fn as_tuple(self) -> Option<Items<'a>> {
        match self.kind() {
            Kind::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The items of a set or frozen set, in the order of the file.
    pub fn as_set(self) -> Option<Items<'a>> {
        match self.kind() {
            Kind::Set(items) | Kind::FrozenSet(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a dict.
    pub fn as_dict(self) -> Option<Entries<'a>> {
        match self.kind() {
            Kind::Dict(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a text key in a dict. Looks at every key: read a large dict by its entries.
    pub fn get(self, key: &str) -> Option<Item<'a>> {
        // Where a file sets a key twice, the last value holds.
        self.as_dict()?.rev().find(|(found, _)| found.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// What a call would have made.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self.kind() {
            Kind::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The id of something outside the pickle.
    pub fn as_persistent(self) -> Option<Item<'a>> {
        match self.kind() {
            Kind::Persistent(id) => Some(id),
            _ => None,
        }
    }

    /// Whether this is the global of that module and name.
    pub fn is_global(self, wanted_module: &str, wanted_name: &str) -> bool {
        matches!(self.kind(), Kind::Global { module, name } if module == wanted_module && name == wanted_name)
    }

    /// Whether both are one and the same value, as Python's `is`: a list that two lists share.
    pub fn is_same(self, other: Item<'_>) -> bool {
        std::ptr::eq(self.pickle, other.pickle) && self.value == other.value
    }

    /// A number that only this value has, for a walk that must not visit one twice; numbers, booleans
    /// and `None` have none, because they contain no other values.
    pub(crate) fn identity(self) -> Option<u32> {
        match self.value {
            Value::Node(id) => Some(id.number()),
            _ => None,
        }
    }

    /// The value as Python writes it, without spaces, cut off after about `limit` characters.
    pub fn repr(self, limit: usize) -> String {
        repr::repr(&self.pickle.arena, self.value, limit)
    }

    fn items(self, values: &'a [Value]) -> Items<'a> {
        Items { pickle: self.pickle, values }
    }
}

/// For messages: as Python writes it, cut off where it is long.
impl std::fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.repr(repr::IN_MESSAGES))
    }
}

impl std::fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The items of a list, tuple or set.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    pickle: &'a Pickle,
    values: &'a [Value],
}

impl<'a> Items<'a> {
    /// The item at a position.
    pub fn get(&self, index: usize) -> Option<Item<'a>> {
        self.values.get(index).map(|&value| Item::new(self.pickle, value))
    }

    /// All items, if there are just `N`.
    pub fn array<const N: usize>(&self) -> Option<[Item<'a>; N]> {
        let values: &[Value; N] = self.values.try_into().ok()?;
        Some(values.map(|value| Item::new(self.pickle, value)))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (&first, rest) = self.values.split_first()?;
        self.values = rest;
        Some(Item::new(self.pickle, first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.values.len(), Some(self.values.len()))
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The keys and values of a dict, in the order of the file. A key that the file sets twice
/// stands here twice; the last one holds.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    pickle: &'a Pickle,
    values: &'a [Value],
}

impl<'a> Entries<'a> {
    fn pair(&self, &[key, value]: &[Value; 2]) -> (Item<'a>, Item<'a>) {
        (Item::new(self.pickle, key), Item::new(self.pickle, value))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Item<'a>, Item<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (first, rest) = self.values.split_first_chunk()?;
        self.values = rest;
        Some(self.pair(first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.values.len() / 2, Some(self.values.len() / 2))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (rest, last) = self.values.split_last_chunk()?;
        self.values = rest;
        Some(self.pair(last))
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// What a call would have made, had anything been called: the class or function, its arguments,
/// and what was to be put into the result.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    pickle: &'a Pickle,
    object: &'a arena::Object,
}

impl<'a> Object<'a> {
    /// The class or function: a [`Kind::Global`], or an [`Object`] that another call would have made.
    pub fn class(&self) -> Item<'a> {
        Item::new(self.pickle, self.object.class)
    }

    /// The positional arguments.
    pub fn arguments(&self) -> Items<'a> {
        Item::new(self.pickle, self.object.arguments).as_tuple().unwrap_or(self.items(&[]))
    }

    /// The keyword arguments: a dict, or `None`.
    pub fn keywords(&self) -> Item<'a> {
        Item::new(self.pickle, self.object.keywords)
    }

    /// The state: most often a dict of the attributes, or `None`.
    pub fn state(&self) -> Item<'a> {
        Item::new(self.pickle, self.object.state)
    }

    /// What a list or set of this class would hold.
    pub fn list_items(&self) -> Items<'a> {
        self.items(&self.object.items)
    }

    /// What a dict of this class would hold.
    pub fn entries(&self) -> Entries<'a> {
        Entries { pickle: self.pickle, values: &self.object.entries }
    }

    fn items(&self, values: &'a [Value]) -> Items<'a> {
        Items { pickle: self.pickle, values }
    }
}
