//! The allow-list: the classes and functions that plain data needs.

use super::Policy;

/// A class or function whose call this reader can replace by its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    List,
    Dict,
    Set,
    FrozenSet,
    Bytes,
    ByteArray,
    DefaultDict,
    OrderedDict,
    /// `_codecs.encode`: how protocols 0 to 2 write bytes.
    Encode,
    /// `copyreg._reconstructor`: how protocols 0 and 1 write an object of any class.
    Reconstructor,
    NumpyDtype,
    NumpyScalar,
    /// Data may name it, as the `int` in `defaultdict(int)`, but calling it gives no value.
    NameOnly,
}

/// What a global stands for: `Some(known)` if it is on the list; `None` if a call of it stays an object
/// without content; an error if the policy forbids it.
pub(super) fn look_up(module: &str, name: &str, policy: Policy) -> Result<Option<Known>, Forbidden> {
    let known = match (module, name) {
        ("builtins" | "__builtin__", "list") => Known::List,
        ("builtins" | "__builtin__", "dict") => Known::Dict,
        ("builtins" | "__builtin__", "set") => Known::Set,
        ("builtins" | "__builtin__", "frozenset") => Known::FrozenSet,
        ("builtins" | "__builtin__", "bytes") => Known::Bytes,
        ("builtins" | "__builtin__", "bytearray") => Known::ByteArray,
        (
            "builtins" | "__builtin__",
            "int" | "long" | "float" | "bool" | "str" | "unicode" | "tuple" | "object",
        ) => Known::NameOnly,
        ("collections", "defaultdict") => Known::DefaultDict,
        ("collections", "OrderedDict") => Known::OrderedDict,
        ("_codecs", "encode") => Known::Encode,
        ("copyreg" | "copy_reg", "_reconstructor") => Known::Reconstructor,
        ("numpy", "dtype") => Known::NumpyDtype,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Known::NumpyScalar,
        _ if policy == Policy::Checkpoint => return Ok(None),
        _ => return Err(Forbidden),
    };
    Ok(Some(known))
}

/// The policy does not allow this global.
pub(super) struct Forbidden;
