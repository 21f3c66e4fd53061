//! Why a pickle could not be read.

use super::opcode;

/// A pickle that cannot be read. Every variant knows the byte where reading stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickleError {
    /// The file ends, or a length in it points, beyond its last byte: it was cut off while it
    /// was written or copied. Fetch or write it again.
    #[error(
        "byte {offset}: expected {expected}, found the end of the file (bytes needed: {needed}, left: {left}); the file is cut off or damaged: fetch it again"
    )]
    Truncated {
        /// Where the missing part should have begun.
        offset: usize,
        /// What should have stood there.
        expected: &'static str,
        /// How many bytes it needs.
        needed: u64,
        /// How many bytes there are.
        left: usize,
    },
    /// A byte that no pickle holds at this place: the file is something else, or damaged.
    #[error(
        "byte {offset}: expected a pickle instruction, found the byte {found:#04x}; the file is not a pickle, or is damaged"
    )]
    UnknownOpcode {
        /// Where the byte stands.
        offset: usize,
        /// The byte.
        found: u8,
    },
    /// The pickle names a class or function outside the allow-list of plain data. Nothing of it
    /// was run. If you trust the file, save its content again as plain numbers, texts, lists,
    /// tuples, sets and dicts.
    #[error(
        "forbidden global {name} at byte {offset}: expected plain data (numbers, texts, lists, tuples, sets, dicts); nothing was run. Do not open this file with Python unless you trust it; if you do, save its content again as plain data"
    )]
    ForbiddenGlobal {
        /// Where it is named.
        offset: usize,
        /// Its module and name, joined by a dot.
        name: String,
    },
    /// A newer protocol, or a value that lies outside the file. Save the data again with
    /// `pickle.dump(data, file, protocol=4)`.
    #[error(
        "byte {offset}: expected a pickle of protocol 0 to 5 that is complete in itself, found {feature}; save the data again with pickle.dump(data, file, protocol=4)"
    )]
    Unsupported {
        /// Where it begins.
        offset: usize,
        /// What was met.
        feature: String,
    },
    /// An instruction found nothing to work on: the file is damaged.
    #[error("byte {offset}: the instruction {} expected {expected}, found none; the file is damaged: fetch it again", opcode::name(*opcode))]
    MissingOperand {
        /// Where the instruction stands.
        offset: usize,
        /// The instruction.
        opcode: u8,
        /// What it needs.
        expected: &'static str,
    },
    /// An instruction found something else than it works on: the file is damaged, or holds a
    /// value of a kind that this reader does not know.
    #[error("byte {offset}: the instruction {} expected {expected}, found {found}; the file is damaged, or not plain data", opcode::name(*opcode))]
    WrongOperand {
        /// Where the instruction stands.
        offset: usize,
        /// The instruction.
        opcode: u8,
        /// What it works on.
        expected: &'static str,
        /// What it found.
        found: String,
    },
    /// A reference to a value that was not stored before: the file is damaged.
    #[error(
        "byte {offset}: expected the number of a value stored before, found {index}; the file is damaged: fetch it again"
    )]
    UnknownMemo {
        /// Where the reference stands.
        offset: usize,
        /// The number.
        index: u64,
    },
    /// A number or text that is not written as Python writes it: the file is damaged.
    #[error("byte {offset}: expected {expected}, found {found:?}; the file is damaged: fetch it again")]
    Malformed {
        /// Where it begins.
        offset: usize,
        /// What should have stood there.
        expected: &'static str,
        /// The beginning of what stood there.
        found: String,
    },
    /// The file asks to copy the same values over and over, so that a small file would fill the
    /// memory. No pickler writes this: do not trust the file.
    #[error(
        "byte {offset}: the file asks for more copies of its values than its size allows; no pickler writes this: do not trust the file"
    )]
    TooManyCopies {
        /// Where the limit was passed.
        offset: usize,
    },
    /// More than four billion values in one pickle. Split the data into several files.
    #[error(
        "byte {offset}: expected at most {} values in one pickle, found more; split the data into several files",
        u32::MAX
    )]
    TooLarge {
        /// Where the limit was passed.
        offset: usize,
    },
}
