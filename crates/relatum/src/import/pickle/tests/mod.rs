//! Pickles of every protocol are read; hostile ones are refused without harm.

mod fixtures;
mod hostile;

use super::*;
use fixtures::{
    CHECKPOINT, DICT_SUBCLASS, EVERYTHING, KEYWORDS, LIST_SUBCLASS, NUMPY, SELF_CONTAINED, SHARED, STREAM,
};

fn data(bytes: &[u8]) -> Pickle {
    read(bytes, Policy::Data).unwrap()
}

fn checkpoint(bytes: &[u8]) -> Pickle {
    read(bytes, Policy::Checkpoint).unwrap()
}

#[test]
fn every_type_is_read_from_every_protocol() {
    for (protocol, bytes) in EVERYTHING.iter().enumerate() {
        let pickle = data(bytes);
        let shown: Vec<String> =
            pickle.root().as_dict().unwrap().map(|(key, value)| format!("{key}: {value}")).collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown.join("\n"), @r#"
            'none': None
            'bools': [True,False]
            'ints': [0,255,256,65535,65536,-1,2147483647,-2147483648,2147483648,9223372036854775807,-9223372036854775808…
            'wide': [9223372036854775808,-9223372036854775809,1267650600228229401496703205376]
            'floats': [0.5,-1e300,inf]
            'texts': ['','r','é€😀','x\n\\y']
            'bytes': [b'',b'\x00\xffabc']
            'bytearrays': [b'',b'\x80ab']
            'tuples': [(),(1,),(1,2),(1,2,3),(1,2,3,4)]
            'lists': [[],[1],[1,2]]
            'dicts': [{},{1:2},{1:2,3:4}]
            'sets': [set(),{7},{1,2}]
            'frozen': [frozenset(),frozenset({8})]
            'defaults': [{1:{2}},{},{3:{}},{}]
            'ordered': {'b':1,'a':2}
            "#);
        }
        let ints = pickle.root().get("ints").unwrap().as_list().unwrap();
        assert_eq!(ints.last().unwrap().as_int(), Some(i64::MIN), "protocol {protocol}");
        let wide = pickle.root().get("wide").unwrap().as_list().unwrap().last().unwrap();
        assert_eq!((wide.as_wide_int(), wide.as_int()), (Some(1 << 100), None), "protocol {protocol}");
        let texts = pickle.root().get("texts").unwrap().as_list().unwrap();
        assert_eq!(texts.map(|text| text.as_str().unwrap()).collect::<Vec<_>>(), ["", "r", "é€😀", "x\n\\y"]);
        let bytes = pickle.root().get("bytes").unwrap().as_list().unwrap();
        assert_eq!(
            bytes.map(|bytes| bytes.as_bytes().unwrap()).collect::<Vec<_>>(),
            [&b""[..], b"\0\xffabc"]
        );
    }
}

#[test]
fn numpy_scalars_are_plain_numbers() {
    for bytes in NUMPY {
        let pickle = data(bytes);
        insta::allow_duplicates! {
            insta::assert_snapshot!(pickle.root(), @"[-5,18446744073709551615,200,0.25,-1.5,0.0999755859375,True,258]");
        }
    }
}

#[test]
fn a_list_stored_once_and_used_thrice_is_one_list() {
    for bytes in SHARED {
        let pickle = data(bytes);
        let [first, second, dict] = pickle.root().as_list().unwrap().array().unwrap();
        assert_eq!(first.to_string(), "[1]");
        assert!(first.is_same(second) && first.is_same(dict.get("k").unwrap()));
        assert!(!first.is_same(dict));
    }
}

#[test]
fn a_list_that_grows_after_it_was_stored_is_seen_whole() {
    // a = []; b = [a]; a.append(5), with the memo holding `a` before it grows.
    let pickle = data(b"]q\x00]q\x01h\x00ah\x00K\x05a0.");
    assert_eq!(pickle.root().to_string(), "[[5]]");
}

#[test]
fn a_list_that_holds_itself_can_be_walked_and_shown() {
    let pickle = data(SELF_CONTAINED);
    let inner = pickle.root().as_list().unwrap().next().unwrap();
    assert!(inner.is_same(pickle.root()));
    assert_eq!(pickle.root().repr(5), "[[[[[…");
}

#[test]
fn strings_of_python_2_are_texts_where_they_can_be() {
    assert_eq!(data(b"S'caf\\xc3\\xa9'\n.").root().as_str(), Some("café"));
    assert_eq!(data(b"U\x03abc.").root().as_str(), Some("abc"));
    assert_eq!(data(b"T\x03\0\0\0abc.").root().as_str(), Some("abc"));
    assert_eq!(data(b"U\x02\xff\xfe.").root().as_bytes(), Some(&b"\xff\xfe"[..]));
}

#[test]
fn long_forms_are_read_as_well() {
    let mut text = b"\x8d\x04\0\0\0\0\0\0\0".to_vec();
    text.extend(b"text.");
    assert_eq!(data(&text).root().as_str(), Some("text"));
    assert_eq!(data(b"B\x02\0\0\0ab.").root().as_bytes(), Some(&b"ab"[..]));
    assert_eq!(data(b"\x8e\x02\0\0\0\0\0\0\0ab.").root().as_bytes(), Some(&b"ab"[..]));
    assert_eq!(data(b"\x8b\x01\0\0\0\xfe.").root().as_int(), Some(-2));
    assert_eq!(data(b"]r\x00\0\0\0j\x00\0\0\0a.").root().as_list().unwrap().len(), 1);
    // 1 << 2100 is too large for our integers, but that is no reason to refuse the file.
    let mut long = b"\x8b\x07\x01\0\0".to_vec();
    long.extend([0; 262]);
    long.extend(b"\x10.");
    assert!(matches!(data(&long).root().kind(), Kind::Long(bytes) if bytes.len() == 263));
    assert_eq!(data(&long).root().as_wide_int(), None);
}

#[test]
fn pop_and_dup_work_as_in_python() {
    assert_eq!(data(b"K\x01(K\x02K\x031.").root().as_int(), Some(1));
    assert_eq!(data(b"(K\x01K\x0220t.").root().to_string(), "(1,2)");
    // POP takes away a bare mark.
    assert_eq!(data(b"K\x01(0.").root().as_int(), Some(1));
}

#[test]
fn the_last_of_two_values_for_a_key_holds() {
    let pickle = data(b"}(U\x01aK\x01U\x01aK\x02u.");
    assert_eq!(pickle.root().get("a").unwrap().as_int(), Some(2));
}

#[test]
fn pickles_one_after_another_are_read_one_by_one() {
    let (magic, first) = read_one(STREAM, Policy::Checkpoint).unwrap();
    assert_eq!(magic.root().as_wide_int(), Some(0x1950_a86a_20f9_469c_fc6c));
    let (version, second) = read_one(&STREAM[first..], Policy::Checkpoint).unwrap();
    assert_eq!(version.root().as_int(), Some(1001));
    let (system, third) = read_one(&STREAM[first + second..], Policy::Checkpoint).unwrap();
    assert_eq!(system.root().get("little_endian").unwrap().as_bool(), Some(true));
    assert_eq!(first + second + third, STREAM.len());
}

#[test]
fn a_persistent_id_is_a_value_the_caller_interprets() {
    assert_eq!(data(b"Pdisk 7\n.").root().as_persistent().unwrap().as_str(), Some("disk 7"));
    assert_eq!(data(b"K\x07Q.").root().as_persistent().unwrap().as_int(), Some(7));
}

#[test]
fn a_checkpoint_gives_its_tensors_and_describes_the_rest() {
    let pickle = checkpoint(CHECKPOINT);
    let regularizer = pickle.root().get("regularizer").unwrap().as_object().unwrap();
    assert!(regularizer.class().is_global("kbc.regularizers", "N3"));
    assert_eq!(regularizer.state().get("weight").unwrap().as_float(), Some(0.05));

    let state = pickle.root().get("state").unwrap();
    let weights = state.get("w").unwrap().as_tensor().unwrap();
    let storage = Storage { class: "FloatStorage", key: "0", location: "cpu", len: 6 };
    assert_eq!(weights, Tensor { storage, offset: 0, shape: vec![3, 2], strides: vec![2, 1] });

    let parameter = pickle.root().get("p").unwrap().as_tensor().unwrap();
    assert_eq!((parameter.storage.key, parameter.shape), ("1", vec![2]));
    assert_eq!(state.as_tensor(), None);
}

#[test]
fn an_object_of_an_unknown_class_keeps_what_it_was_to_hold() {
    let [protocol_0, protocol_2, protocol_4] = DICT_SUBCLASS.map(checkpoint);
    for pickle in [&protocol_0, &protocol_2, &protocol_4] {
        let object = pickle.root().as_object().unwrap();
        assert!(object.class().is_global("my.module", "D"));
        assert_eq!(object.state().to_string(), "{'x':2}");
    }
    for pickle in [&protocol_2, &protocol_4] {
        let mut entries = pickle.root().as_object().unwrap().entries();
        assert_eq!(entries.next().map(|(key, value)| format!("{key}: {value}")).as_deref(), Some("'a': 1"));
    }
    // Protocol 0 gives the content as an argument of the call.
    let arguments = protocol_0.root().as_object().unwrap().arguments();
    assert_eq!(arguments.get(2).unwrap().to_string(), "{'a':1}");

    let list = checkpoint(LIST_SUBCLASS);
    let items = list.root().as_object().unwrap().list_items();
    assert_eq!(items.filter_map(Item::as_int).collect::<Vec<_>>(), [4, 5]);

    let keywords = checkpoint(KEYWORDS);
    let object = keywords.root().as_object().unwrap();
    assert_eq!((object.arguments().len(), object.keywords().to_string().as_str()), (1, "{'k':2}"));
}

#[test]
fn what_the_writer_writes_the_reader_reads() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let ints = [0, 255, 256, 65535, 65536, -1, i64::MAX, i64::MIN];
    writer
        .defaultdict_of_sets(|entries| {
            entries.tuple(|key| {
                key.str("e")?;
                key.tuple(|relations| relations.str(&"r".repeat(300)))
            })?;
            entries.set(|set| ints.into_iter().try_for_each(|int| set.int(int)))?;
            entries.none()?;
            entries.list(|list| {
                list.bool(true)?;
                list.float(0.5)?;
                list.dict(|_| Ok(()))
            })
        })
        .unwrap();
    let pickle = data(&writer.finish().unwrap());
    let (key, set) = pickle.root().as_dict().unwrap().next().unwrap();
    assert_eq!(key.repr(1000), format!("('e',('{}',))", "r".repeat(300)));
    assert_eq!(set.as_set().unwrap().map(|int| int.as_int().unwrap()).collect::<Vec<_>>(), ints);
    let (none, list) = pickle.root().as_dict().unwrap().next_back().unwrap();
    assert!(none.is_none());
    assert_eq!(list.to_string(), "[True,0.5,{}]");
}

#[test]
fn the_writer_writes_what_cpython_reads() {
    // CPython 3.11 loads these bytes as defaultdict(<class 'set'>, {('e', ('r',)): {1, 300}}).
    let expected = b"\x80\x04\x8c\x0bcollections\x8c\x0bdefaultdict\x93\x8c\x08builtins\x8c\x03set\x93\x85R(\
                     (\x8c\x01e(\x8c\x01rtt\x8f(K\x01M,\x01\x90u.";
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer
        .defaultdict_of_sets(|entries| {
            entries.tuple(|key| {
                key.str("e")?;
                key.tuple(|relations| relations.str("r"))
            })?;
            entries.set(|set| {
                set.int(1)?;
                set.int(300)
            })
        })
        .unwrap();
    assert_eq!(writer.finish().unwrap().escape_ascii().to_string(), expected.escape_ascii().to_string());
}
