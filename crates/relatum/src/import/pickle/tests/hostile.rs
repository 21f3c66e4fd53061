//! Input that nobody should trust: refused with a message, never a panic, never much memory.

use super::fixtures::{CHECKPOINT, EVERYTHING, NUMPY, SHARED};
use super::*;
use proptest::prelude::*;

fn refusal(bytes: &[u8]) -> String {
    read(bytes, Policy::Data).unwrap_err().to_string()
}

/// Reads, and if that works also walks the values, so that a broken handle would show.
fn read_and_walk(bytes: &[u8]) {
    for policy in [Policy::Data, Policy::Checkpoint] {
        if let Ok((pickle, consumed)) = read_one(bytes, policy) {
            assert!(consumed <= bytes.len());
            let _ = (pickle.root().repr(2000), pickle.root().as_tensor());
        }
    }
}

#[test]
fn os_system_is_refused_however_it_is_named() {
    insta::assert_snapshot!(refusal(b"cos\nsystem\n(S'true'\ntR."), @"forbidden global os.system at byte 0: expected plain data (numbers, texts, lists, tuples, sets, dicts); nothing was run. Do not open this file with Python unless you trust it; if you do, save its content again as plain data");
    for (bytes, offset) in [
        (&b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R."[..], 14),
        (b"(S'true'\nios\nsystem\n.", 9),
        (b"(cos\nsystem\nS'true'\no.", 1),
        (b"\x80\x02cos\nsystem\nU\x04true\x85\x81.", 2),
        // Named, but neither called nor kept.
        (b"cos\nsystem\n0N.", 0),
    ] {
        let error = read(bytes, Policy::Data).unwrap_err();
        assert_eq!(error, PickleError::ForbiddenGlobal { offset, name: "os.system".to_owned() });
    }
}

#[test]
fn a_checkpoint_that_names_os_system_only_describes_the_call() {
    for bytes in
        [&b"cos\nsystem\n(S'true'\ntR."[..], b"(S'true'\nios\nsystem\n.", b"(cos\nsystem\nS'true'\no."]
    {
        let pickle = checkpoint(bytes);
        let call = pickle.root().as_object().unwrap();
        assert!(call.class().is_global("os", "system"));
        assert_eq!(call.arguments().get(0).unwrap().as_str(), Some("true"));
    }
}

#[test]
fn builtins_beyond_the_list_are_refused() {
    for name in ["eval", "exec", "getattr", "__import__", "open"] {
        let message = refusal(format!("c__builtin__\n{name}\n.").as_bytes());
        assert!(message.starts_with(&format!("forbidden global __builtin__.{name} at byte 0")), "{message}");
    }
}

#[test]
fn a_name_cannot_act_on_the_terminal() {
    assert!(!refusal(b"cos\x1b[2J\nsystem\n.").contains('\x1b'));
}

#[test]
fn messages_say_what_was_expected_and_what_came() {
    insta::assert_snapshot!(refusal(b"\x80\x04X\xff\xff\xff\xffabc."), @"byte 7: expected a text, found the end of the file (bytes needed: 4294967295, left: 4); the file is cut off or damaged: fetch it again");
    insta::assert_snapshot!(refusal(b"<html>"), @"byte 0: expected a pickle instruction, found the byte 0x3c; the file is not a pickle, or is damaged");
    insta::assert_snapshot!(refusal(b"K\x05K\x06a."), @"byte 4: the instruction APPEND expected a list, found 5; the file is damaged, or not plain data");
    insta::assert_snapshot!(refusal(b"h\x07."), @"byte 0: expected the number of a value stored before, found 7; the file is damaged: fetch it again");
    insta::assert_snapshot!(refusal(b"Iseven\n."), @r#"byte 0: expected a decimal integer of at most 128 bits, found "seven"; the file is damaged: fetch it again"#);
    insta::assert_snapshot!(refusal(b"\x80\x04\x82\x01."), @"byte 2: expected a pickle of protocol 0 to 5 that is complete in itself, found a code of an extension registry (EXT); save the data again with pickle.dump(data, file, protocol=4)");
    insta::assert_snapshot!(refusal(b"\x80\x09N."), @"byte 0: expected a pickle of protocol 0 to 5 that is complete in itself, found protocol 9; save the data again with pickle.dump(data, file, protocol=4)");
    insta::assert_snapshot!(refusal(b"t."), @"byte 0: the instruction TUPLE expected a mark, found none; the file is damaged: fetch it again");
    insta::assert_snapshot!(refusal(b"c__builtin__\nset\nK\x05\x85R."), @"byte 20: the instruction REDUCE expected a call that makes plain data, found __builtin__.set(5,); the file is damaged, or not plain data");
    insta::assert_snapshot!(refusal(b""), @"byte 0: expected an instruction or the end of the pickle (STOP), found the end of the file (bytes needed: 1, left: 0); the file is cut off or damaged: fetch it again");
}

#[test]
fn a_pickle_cut_off_anywhere_is_an_error() {
    for whole in EVERYTHING.iter().chain(&NUMPY).chain(&SHARED).chain(&[CHECKPOINT]) {
        for len in 0..whole.len() {
            assert!(read(&whole[..len], Policy::Checkpoint).is_err(), "{len} of {} bytes", whole.len());
        }
    }
}

#[test]
fn lengths_beyond_the_file_are_errors_and_take_no_memory() {
    for claim in [
        &b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f."[..],
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"\x96\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"\x95\xff\xff\xff\xff\xff\xff\xff\xffN.",
        b"B\xff\xff\xff\xff.",
        b"\x8b\xff\xff\xff\x7f.",
    ] {
        assert!(matches!(read(claim, Policy::Data), Err(PickleError::Truncated { .. })));
    }
    assert!(matches!(read(b"T\xff\xff\xff\xff.", Policy::Data), Err(PickleError::Malformed { .. })));
    // A memo number of four billion must not make a table of that size.
    assert!(matches!(read(b"Nr\xff\xff\xff\xff.", Policy::Data), Err(PickleError::Malformed { .. })));
}

#[test]
fn copying_the_same_list_over_and_over_is_refused() {
    // A list of 1,000 items, then 1,000 times set(list), each kept.
    let mut bomb = b"c__builtin__\nset\nq\x00]q\x01(".to_vec();
    bomb.extend(b"N".repeat(1000));
    bomb.push(b'e');
    bomb.extend(b"\x85q\x02".iter());
    for _ in 0..1000 {
        bomb.extend(b"h\x00h\x02R");
    }
    bomb.push(b'.');
    assert!(matches!(read(&bomb, Policy::Data), Err(PickleError::TooManyCopies { .. })));
}

#[test]
fn nesting_a_million_deep_is_read_and_shown_without_recursion() {
    let mut deep = b"]".repeat(1_000_000);
    deep.extend(b"a".repeat(999_999));
    deep.push(b'.');
    let pickle = read(&deep, Policy::Data).unwrap();
    assert_eq!(pickle.root().repr(3), "[[[…");
    let tuples = [b"N".to_vec(), b"\x85".repeat(1_000_000), b".".to_vec()].concat();
    assert_eq!(read(&tuples, Policy::Data).unwrap().root().repr(2), "((…");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_and_walk(&bytes);
    }

    #[test]
    fn no_change_of_a_pickle_makes_it_panic(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = EVERYTHING[which].to_vec();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        read_and_walk(&bytes);
        let start = cut.index(bytes.len());
        read_and_walk(&bytes[start..]);
    }

    #[test]
    fn no_program_of_valid_instructions_makes_it_panic(
        steps in prop::collection::vec(prop::sample::select(&INSTRUCTIONS[..]), 0..60)
    ) {
        let program = [steps.concat(), b".".to_vec()].concat();
        read_and_walk(&program);
    }
}

/// Whole instructions with small operands, so that random programs get past the first one.
const INSTRUCTIONS: [&[u8]; 38] = [
    b"(",
    b"0",
    b"1",
    b"2",
    b"N",
    b"\x88",
    b"K\x05",
    b"J\xff\xff\xff\xff",
    b"G?\xe0\0\0\0\0\0\0",
    b"\x8c\x01a",
    b"C\x01a",
    b"]",
    b"l",
    b"a",
    b"e",
    b")",
    b"t",
    b"\x85",
    b"\x86",
    b"\x87",
    b"}",
    b"d",
    b"s",
    b"u",
    b"\x8f",
    b"\x90",
    b"\x91",
    b"q\x00",
    b"h\x00",
    b"\x94",
    b"c__builtin__\nset\n",
    b"ccollections\nOrderedDict\n",
    b"cnumpy\ndtype\n",
    b"R",
    b"\x81",
    b"\x92",
    b"b",
    b"Q",
];
