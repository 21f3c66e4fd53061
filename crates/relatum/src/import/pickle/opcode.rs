//! The instructions of the pickle machine, by the names that `pickletools` gives them.

macro_rules! opcodes {
    ($($name:ident = $byte:literal,)*) => {
        $(pub(super) const $name: u8 = $byte;)*

        /// The name of an instruction, for messages.
        pub(super) fn name(opcode: u8) -> &'static str {
            match opcode {
                $($byte => stringify!($name),)*
                _ => "(unknown)",
            }
        }
    };
}

opcodes! {
    MARK = b'(',
    STOP = b'.',
    POP = b'0',
    POP_MARK = b'1',
    DUP = b'2',
    // Numbers and constants.
    NONE = b'N',
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    INT = b'I',
    BININT = b'J',
    BININT1 = b'K',
    BININT2 = b'M',
    LONG = b'L',
    LONG1 = 0x8a,
    LONG4 = 0x8b,
    FLOAT = b'F',
    BINFLOAT = b'G',
    // Texts and bytes.
    STRING = b'S',
    BINSTRING = b'T',
    SHORT_BINSTRING = b'U',
    UNICODE = b'V',
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE = b'X',
    BINUNICODE8 = 0x8d,
    SHORT_BINBYTES = b'C',
    BINBYTES = b'B',
    BINBYTES8 = 0x8e,
    BYTEARRAY8 = 0x96,
    // Containers.
    EMPTY_LIST = b']',
    LIST = b'l',
    APPEND = b'a',
    APPENDS = b'e',
    EMPTY_TUPLE = b')',
    TUPLE = b't',
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    EMPTY_DICT = b'}',
    DICT = b'd',
    SETITEM = b's',
    SETITEMS = b'u',
    EMPTY_SET = 0x8f,
    ADDITEMS = 0x90,
    FROZENSET = 0x91,
    // The memo.
    PUT = b'p',
    BINPUT = b'q',
    LONG_BINPUT = b'r',
    MEMOIZE = 0x94,
    GET = b'g',
    BINGET = b'h',
    LONG_BINGET = b'j',
    // Classes and calls.
    GLOBAL = b'c',
    STACK_GLOBAL = 0x93,
    INST = b'i',
    OBJ = b'o',
    REDUCE = b'R',
    NEWOBJ = 0x81,
    NEWOBJ_EX = 0x92,
    BUILD = b'b',
    EXT1 = 0x82,
    EXT2 = 0x83,
    EXT4 = 0x84,
    PERSID = b'P',
    BINPERSID = b'Q',
    NEXT_BUFFER = 0x97,
    READONLY_BUFFER = 0x98,
    // The file.
    PROTO = 0x80,
    FRAME = 0x95,
}
