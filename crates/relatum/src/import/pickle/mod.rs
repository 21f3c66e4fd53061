//! A reader of Python's pickles that executes nothing.
//!
//! A pickle is a program for a small stack machine, and Python's own reader runs it: a file from
//! the internet may call `os.system`. This reader is the same machine without the calls. It
//! knows the few classes that plain data needs and what their calls would give; anything else is
//! refused ([`Policy::Data`]) or kept as a description of the call ([`Policy::Checkpoint`]).
//!
//! All of protocols 0 to 5 is read. Memory stays in proportion to the file, whatever lengths it
//! claims, and no input makes it panic, loop or recurse.
//!
//! ```
//! use relatum::import::pickle::{Policy, read};
//!
//! // pickle.dumps({'answers': [3, 5]}, protocol=2)
//! let bytes = b"\x80\x02}q\x00X\x07\x00\x00\x00answersq\x01]q\x02(K\x03K\x05es.";
//! let pickle = read(bytes, Policy::Data)?;
//! let answers = pickle.root().get("answers").and_then(|list| list.as_list()).unwrap();
//! assert_eq!(answers.filter_map(|item| item.as_int()).collect::<Vec<_>>(), [3, 5]);
//! # Ok::<(), relatum::import::pickle::PickleError>(())
//! ```

mod arena;
mod calls;
mod error;
mod globals;
mod input;
mod item;
mod machine;
mod numpy;
mod opcode;
mod repr;
mod steps;
mod text;
mod torch;
mod write;

pub use error::PickleError;
pub use item::{Entries, Item, Items, Kind, Object};
pub use torch::{Storage, Tensor};
pub use write::Writer;

use arena::{Arena, Value};

/// What to do with a class or function that plain data does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Refuse the file. For queries, answers and names: numbers, texts, containers, numpy scalars.
    Data,
    /// Keep what would have been called, and with what, as an [`Object`]. For PyTorch
    /// checkpoints, which name optimisers and regularisers beside the tensors that are wanted.
    Checkpoint,
}

/// A pickle that was read: its values, reached from [`root`](Self::root).
#[derive(Debug)]
pub struct Pickle {
    arena: Arena,
    root: Value,
}

impl Pickle {
    /// The value that was pickled.
    pub fn root(&self) -> Item<'_> {
        Item::new(self, self.root)
    }
}

/// Reads a pickle; like Python, it ignores what follows the pickle's end.
pub fn read(bytes: &[u8], policy: Policy) -> Result<Pickle, PickleError> {
    read_one(bytes, policy).map(|(pickle, _)| pickle)
}

/// Reads the pickle at the beginning of the bytes and returns how many bytes it takes: files of
/// PyTorch before 1.6 are several pickles one after another.
pub fn read_one(bytes: &[u8], policy: Policy) -> Result<(Pickle, usize), PickleError> {
    let mut machine = machine::Machine::new(bytes, policy);
    let root = machine.run()?;
    let consumed = machine.position();
    Ok((Pickle { arena: machine.into_arena(), root }, consumed))
}

#[cfg(test)]
mod tests;
