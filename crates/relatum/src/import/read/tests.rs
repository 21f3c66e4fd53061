//! The triples of each kind of file, and the messages for broken ones.

use std::io::Write;

use super::*;
use crate::graph::Graph;

/// Reads texts as files of these names, all into train.
fn read(files: &[(&str, &[u8])], options: &ReadOptions) -> Result<(Graph, Vec<FileReport>), ReadError> {
    let (dir, control) = (tempfile::tempdir().unwrap(), Control::default());
    let mut reader = Reader::new(GraphBuilder::default(), options.clone(), &control);
    let mut reports = Vec::new();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        reports.push(reader.read(&path, Split::Train)?);
    }
    Ok((reader.into_builder().finish().0, reports))
}

/// The triples of a text, as `head relation tail` lines in readable names.
fn triples(name: &str, bytes: &[u8]) -> Vec<String> {
    triples_with(name, bytes, &ReadOptions::default())
}

fn triples_with(name: &str, bytes: &[u8], options: &ReadOptions) -> Vec<String> {
    let (graph, _) = read(&[(name, bytes)], options).unwrap();
    let text = |t: Triple| {
        format!(
            "{} {} {}",
            graph.entities.name(t.head),
            graph.relations.name(t.relation),
            graph.entities.name(t.tail)
        )
    };
    graph.edges(Split::Train).triples().map(text).collect()
}

/// The message for a broken text, without the temporary folder.
fn message(name: &str, bytes: &[u8]) -> String {
    let error = read(&[(name, bytes)], &ReadOptions::default()).unwrap_err().to_string();
    let folder = std::env::temp_dir().display().to_string();
    match (error.find(&folder), error.find(name)) {
        (Some(from), Some(to)) => error[..from].to_owned() + &error[to..],
        _ => error,
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const PLAIN: &[u8] = b"a\tr\tb\nb\tr\tc\n";
const EXPECTED: [&str; 2] = ["a r b", "b r c"];

#[test]
fn the_same_triples_come_from_every_form() {
    assert_eq!(triples("x.tsv", PLAIN), EXPECTED);
    assert_eq!(triples("x.txt", PLAIN), EXPECTED);
    assert_eq!(triples("x.tsv.gz", &gzip(PLAIN)), EXPECTED);
    assert_eq!(triples("x", &gzip(PLAIN)), EXPECTED);
    assert_eq!(triples("x.tsv.zst", &zstd::encode_all(PLAIN, 1).unwrap()), EXPECTED);
    assert_eq!(triples("x.csv", b"a,r,b\n\"b\", r ,c\n"), EXPECTED);
    assert_eq!(triples("x.csv", b"a;r;b\nb;r;c"), EXPECTED);
    assert_eq!(triples("x.tsv", b"\xef\xbb\xbfhead\trelation\ttail\r\na\tr\tb\r\n\r\nb\tr\tc\r\n"), EXPECTED);
    assert_eq!(triples("x.csv", b"tail,weight,relation,head\nb,1,r,a\nc,2,r,b\n"), EXPECTED);
    assert_eq!(triples("x.tsv", b"a\tr\tb\na\tr\tb\n b \tr\tc"), EXPECTED);
}

#[test]
fn two_gzip_members_are_one_file() {
    let both = [gzip(b"a\tr\tb\n"), gzip(b"b\tr\tc\n")].concat();
    assert_eq!(triples("x.tsv.gz", &both), EXPECTED);
}

#[test]
fn columns_are_chosen() {
    let options = ReadOptions { columns: Some("2,3,1".parse().unwrap()), ..ReadOptions::default() };
    assert_eq!(triples_with("x.tsv", b"b\ta\tr\textra\nc\tb\tr\n", &options), EXPECTED);
    let options = ReadOptions { columns: Some("from,how,into".parse().unwrap()), ..ReadOptions::default() };
    assert_eq!(triples_with("x.csv", b"how,into,from\nr,b,a\nr,c,b\n", &options), EXPECTED);
}

const TURTLE: &[u8] = br#"
@prefix x: <http://x.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Berlin x:capitalOf x:Germany ; rdfs:label "Berlin"@de, "Berlin (city)"@en ; x:population 3600000 .
x:capitalOf rdfs:label "capital of" .
_:someone x:livesIn x:Berlin .
"#;

#[test]
fn rdf_gives_labels_prefixes_and_counts_of_literals() {
    let (graph, reports) = read(&[("x.ttl", TURTLE)], &ReadOptions::default()).unwrap();
    let berlin = graph.entity("x:Berlin").unwrap();
    assert_eq!(graph.entity("Berlin (city)"), Ok(berlin));
    assert_eq!(graph.relation("capital of"), graph.relation("<http://x.org/capitalOf>"));
    assert_eq!((reports[0].triples, reports[0].labels, reports[0].literals), (2, 3, 1));
    assert!(graph.entity("_:b1").is_ok());
}

#[test]
fn literals_are_kept_on_request() {
    let options = ReadOptions { literals: true, ..ReadOptions::default() };
    let (graph, reports) = read(&[("x.ttl", TURTLE)], &options).unwrap();
    assert_eq!((reports[0].triples, reports[0].literals), (3, 0));
    assert!(graph.entity("3600000").is_ok());
}

#[test]
fn blank_nodes_of_two_files_are_different() {
    let text: &[u8] = b"_:b <http://x/r> <http://x/a> .\n";
    let (graph, _) = read(&[("1.nt", text), ("2.nt", text)], &ReadOptions::default()).unwrap();
    assert_eq!(graph.entities.len(), 3);
}

#[test]
fn nameless_nodes_get_the_same_names_every_time() {
    let text: &[u8] = b"@prefix x: <http://x/> . x:a x:r [ x:r x:b ], [ x:r x:c ] . x:d x:list ( x:e x:f ) .";
    let names = || {
        let (graph, _) = read(&[("x.ttl", text)], &ReadOptions::default()).unwrap();
        graph.entities.ids().map(|id| graph.entities.name(id).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(), names());
    assert!(names().contains(&"_:b1".to_owned()), "{:?}", names());
}

#[test]
fn a_quote_that_is_never_closed_does_not_swallow_the_file() {
    let rows: String =
        (0..500).map(|i| if i == 10 { "a,r,\"b\n".to_owned() } else { format!("a,r,b{i}\n") }).collect();
    let message = message("x.csv", rows.as_bytes());
    assert!(message.starts_with("x.csv:11: column 3 holds a line break"), "{message}");
}

#[test]
fn a_guessed_header_is_reported_and_found_behind_blank_lines() {
    let (graph, reports) =
        read(&[("x.tsv", b"\n\nhead\trelation\ttail\na\tr\tb\n")], &ReadOptions::default()).unwrap();
    let expected = ("head, relation, tail".to_owned(), HeaderSign::UsualNames);
    assert_eq!(reports[0].guessed_header, Some(expected));
    assert_eq!(graph.edges(Split::Train).len(), 1);
}

const PACKAGES: &str = "package,field,value\na,depends,b\na,depends,c\nb,suggests,a\nb,suggests,c\n";

#[test]
fn a_header_without_usual_names_is_found_reported_and_can_be_denied() {
    let (graph, reports) = read(&[("x.csv", PACKAGES.as_bytes())], &ReadOptions::default()).unwrap();
    let expected = ("package, field, value".to_owned(), HeaderSign::NeverAgain);
    assert_eq!((reports[0].triples, reports[0].guessed_header.clone()), (4, Some(expected)));
    assert!(graph.entity("package").is_err());
    let absent = ReadOptions { header: Header::Absent, ..ReadOptions::default() };
    assert_eq!(triples_with("x.csv", PACKAGES.as_bytes(), &absent).len(), 5);
    // The same header above too few rows to show it is recognised from the file before.
    let files = [("1.csv", PACKAGES.as_bytes()), ("2.csv", b"package,field,value\nc,depends,a\n")];
    let (_, reports) = read(&files, &ReadOptions::default()).unwrap();
    let sign = reports[1].guessed_header.clone().unwrap().1;
    assert_eq!((reports[1].triples, sign), (1, HeaderSign::AsBefore));
}

#[test]
fn a_header_is_found_behind_columns_chosen_by_position() {
    let text: String = PACKAGES.lines().enumerate().map(|(at, line)| format!("n{at},{line}\n")).collect();
    let options = ReadOptions { columns: Some("2,3,4".parse().unwrap()), ..ReadOptions::default() };
    let (_, reports) = read(&[("x.csv", text.as_bytes())], &options).unwrap();
    assert_eq!((reports[0].triples, reports[0].guessed_header.is_some()), (4, true));
}

#[test]
fn a_fourth_column_is_skipped_where_the_header_names_three_and_else_three_are_suggested() {
    let (_, reports) =
        read(&[("x.csv", b"source,target,type,weight\na,b,r,1\n")], &ReadOptions::default()).unwrap();
    assert_eq!(reports[0].taken_columns.as_deref(), Some("source, type, target"));
    insta::assert_snapshot!(message("x.tsv", b"\na\tr\tb\t0.5\nb\tr\tc\t1\n"), @"x.tsv:2: expected 3 columns, found 4 ('a', 'r', 'b', '0.5'): take three of them as head, relation and tail, for example 1,2,3");
    let named = b"id,drug,effect,gene\n1,a,r,b\n2,a,r,c\n3,b,r,a\n";
    assert!(message("x.csv", named).ends_with("for example drug,effect,gene"), "{}", message("x.csv", named));
}

/// More than the two threads of a table keep between them.
fn large(bad: &str) -> String {
    (0..200_000).map(|row| format!("a{row}\tr\tb{row}{}\n", if row == 1 { bad } else { "" })).collect()
}

#[test]
fn an_error_early_in_a_large_table_ends_its_reading() {
    let table = large("\tc");
    let error = message("x.tsv", table.as_bytes());
    assert!(error.starts_with("x.tsv:2: expected 3 columns, found 4"), "{error}");
    assert!(message("x.tsv.gz", &gzip(table.as_bytes())).starts_with("x.tsv.gz:2: "));
    assert!(message("x.csv", table.replace('\t', ",").as_bytes()).starts_with("x.csv:2: "));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("labels.tsv");
    std::fs::write(&path, &table).unwrap();
    let control = Control::default();
    let mut reader = Reader::new(GraphBuilder::default(), ReadOptions::default(), &control);
    assert!(matches!(reader.read_labels(&path), Err(ReadError::BadLine { line: 1, .. })));
}

#[test]
fn a_long_line_of_n_triples_has_a_number_and_can_be_skipped() {
    let long = [b"<http://a> <http://r> <http://".as_slice(), &vec![b'x'; 3 << 20], b"> .\n"].concat();
    let bytes =
        [b"<http://a> <http://r> <http://b> .\n".as_slice(), &long, b"<http://b> <http://r> <http://c> .\n"]
            .concat();
    assert!(message("x.nt", &bytes).starts_with("x.nt:2: the line is longer"), "{}", message("x.nt", &bytes));
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    let (_, reports) = read(&[("x.nt", &bytes)], &options).unwrap();
    assert_eq!((reports[0].triples, reports[0].bad_lines), (2, 1));
}

#[test]
fn a_byte_order_mark_is_no_part_of_any_format() {
    for (name, text) in [
        ("x.ttl", "<http://a> a <http://b> ."),
        ("x.nt", "<http://a> <http://r> <http://b> ."),
        ("x.csv", "a,r,b"),
    ] {
        let bytes = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
        assert_eq!(triples(name, &bytes).len(), 1, "{name}");
    }
}

#[test]
fn only_the_default_graph_of_quads_is_read() {
    let text: &[u8] = b"<http://a> <http://r> <http://b> .\n<http://c> <http://r> <http://d> <http://g> .\n";
    let (graph, reports) = read(&[("x.nq", text)], &ReadOptions::default()).unwrap();
    assert_eq!((graph.edges(Split::Train).len(), reports[0].other_graphs), (1, 1));
    let text: &[u8] = b"@prefix x: <http://x/> . x:a x:r x:b . x:g { x:c x:r x:d . }";
    let (graph, reports) = read(&[("x.trig", text)], &ReadOptions::default()).unwrap();
    assert_eq!((graph.edges(Split::Train).len(), reports[0].other_graphs), (1, 1));
}

const RDF_XML: &[u8] = br#"<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY x "http://x.org/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/"
         xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <rdf:Description rdf:about="&x;Berlin">
    <x:capitalOf rdf:resource="&x;Germany"/>
    <rdfs:label xml:lang="en">Berlin (city)</rdfs:label>
    <x:population>3600000</x:population>
  </rdf:Description>
</rdf:RDF>
"#;

const JSON_LD: &[u8] = br#"{
  "@context": { "x": "http://x.org/", "capitalOf": { "@id": "x:capitalOf", "@type": "@id" } },
  "@id": "x:Berlin", "capitalOf": "x:Germany", "x:population": 3600000,
  "http://www.w3.org/2000/01/rdf-schema#label": { "@value": "Berlin (city)", "@language": "en" }
}"#;

#[test]
fn rdf_in_xml_and_in_json_is_the_same_rdf() {
    for (name, bytes) in
        [("x.rdf", RDF_XML), ("x.owl", RDF_XML), ("x", RDF_XML), ("x.jsonld", JSON_LD), ("x", JSON_LD)]
    {
        let (graph, reports) = read(&[(name, bytes)], &ReadOptions::default()).unwrap();
        let report = &reports[0];
        assert_eq!((report.triples, report.labels, report.literals), (1, 1, 1), "{name}");
        assert_eq!(graph.entity("Berlin (city)"), graph.entity("http://x.org/Berlin"));
        assert!(graph.relation("http://x.org/capitalOf").is_ok());
        let (_, reports) = read(&[("x.gz", &gzip(bytes))], &ReadOptions::default()).unwrap();
        assert_eq!(reports[0].triples, 1);
    }
}

#[test]
fn xml_that_is_cut_off_between_two_tags_is_refused() {
    let whole = String::from_utf8_lossy(RDF_XML);
    for end in ["</rdf:RDF>", "</rdf:Description>", "<x:population>", "<rdfs:label"] {
        let cut = &whole[..whole.find(end).unwrap()];
        let error = message("cut.rdf", cut.as_bytes());
        assert!(error.contains("cut.rdf") && error.contains("elements are open"), "{end}: {error}");
    }
}

#[test]
fn documents_that_ask_for_too_much_are_refused_with_their_reason() {
    let mut laughter = r#"<?xml version="1.0"?><!DOCTYPE rdf:RDF [ <!ENTITY a0 "http://x/">"#.to_owned();
    for level in 1..12 {
        laughter += &format!(r#"<!ENTITY a{level} "{}">"#, format!("&a{};", level - 1).repeat(10));
    }
    laughter += "]><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='&a11;'/></rdf:RDF>";
    let hidden = RDF_XML.to_vec();
    let place = memchr::memmem::find(&hidden, b"<!DOCTYPE").unwrap();
    let comment = format!("<!-- {} -->", "x".repeat(70_000));
    let hidden = [&hidden[..place], comment.as_bytes(), &hidden[place..]].concat();
    let contexts = format!("[{}{{}}]", r#"{"@context":{}},"#.repeat(11_000));
    let remote = br#"{"@context": "https://schema.org/", "@id": "http://a", "name": "b"}"#;
    let cases: [(&str, &[u8]); 6] = [
        ("laughter.rdf", laughter.as_bytes()),
        ("hidden.rdf", &hidden),
        ("contexts.jsonld", contexts.as_bytes()),
        ("remote.jsonld", remote),
        ("broken.rdf", b"<?xml version='1.0'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<a></b>"),
        ("broken.jsonld", b"{\n \"@id\": }"),
    ];
    let messages: Vec<String> = cases.iter().map(|(name, bytes)| message(name, bytes)).collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    laughter.rdf has an XML entity that stands for more than 1,000 characters, or is not defined in the first 64 KiB: no RDF tool writes this, and it could fill the memory
    hidden.rdf has an XML entity that stands for more than 1,000 characters, or is not defined in the first 64 KiB: no RDF tool writes this, and it could fill the memory
    contexts.jsonld has more than 10,000 contexts of JSON-LD: no RDF tool writes this, and it could fill the memory
    remote.jsonld refers to a context on the web, and nothing is fetched from there: write the context into the file, or expand it first, for example with `jsonld expand FILE > expanded.jsonld`
    broken.rdf: XML namespaces are required in RDF/XML; correct the document: RDF/XML cannot be read past a mistake
    broken.jsonld:2: column 9: Unexpected closing curly bracket, no array to close; correct the document: JSON-LD cannot be read past a mistake
    ");
}

#[test]
fn deep_documents_end_without_a_crash() {
    let json = |open: &str, depth: usize, close: &str| {
        format!("{{\"http://r\": {}1{}}}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in
        [("[", "]"), ("{\"http://r\": ", "}"), ("{\"@list\": [", "]}"), ("{\"@graph\": ", "}")]
    {
        // The parser calls itself at every level, so the deepest that is allowed must fit the stack.
        let _ = read(&[("x.jsonld", json(open, 49, close).as_bytes())], &ReadOptions::default());
        let _ = read(&[("x.jsonld", json(open, 98, close).as_bytes())], &ReadOptions::default());
        let error = message("x.jsonld", json(open, 100_000, close).as_bytes());
        assert!(error.contains("more than 100 deep"), "{error}");
    }
    let xml =
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x/'>".to_owned();
    let _ = read(&[("x.rdf", (xml + &"<x:a><x:r>".repeat(50_000)).as_bytes())], &ReadOptions::default());
    let turtle = format!("<http://a> <http://r> {}", "[ <http://r> ".repeat(50_000));
    let _ = read(&[("x.ttl", turtle.as_bytes())], &ReadOptions::default());
}

#[test]
fn a_named_graph_is_read_on_request() {
    let quads: &[u8] = b"<http://a> <http://r> <http://b> .\n<http://c> <http://r> <http://d> <http://g> .\n";
    let trig: &[u8] = b"@prefix x: <http://> . x:a x:r x:b . x:g { x:c x:r x:d . }";
    let json: &[u8] =
        br#"{"@id": "http://g", "@graph": [{"@id": "http://c", "http://r": {"@id": "http://d"}}]}"#;
    let options = ReadOptions { graph: Some("http://g".to_owned()), ..ReadOptions::default() };
    for (name, bytes) in [("x.nq", quads), ("x.trig", trig), ("x.jsonld", json)] {
        let (graph, _) = read(&[(name, bytes)], &options).unwrap();
        assert!(graph.entity("http://c").is_ok() && graph.entity("http://a").is_err(), "{name}");
    }
    let (_, reports) = read(&[("x.nq", quads)], &ReadOptions::default()).unwrap();
    assert_eq!(reports[0].other_graph_names, ["<http://g>"]);
    let other = ReadOptions { graph: Some("http://h".to_owned()), ..ReadOptions::default() };
    let error = read(&[("x.nq", quads)], &other).unwrap_err().to_string();
    assert!(error.contains("other graphs (DEFAULT, <http://g>)"), "{error}");
    assert!(matches!(read(&[("x.tsv", PLAIN)], &other), Err(ReadError::NoGraphs { .. })));
}

#[test]
fn zeros_behind_gzip_data_are_padding_and_other_bytes_are_named() {
    let padded = [gzip(PLAIN), vec![0; 200_000]].concat();
    assert_eq!(triples("x.tsv.gz", &padded), EXPECTED);
    let error = message("x.tsv.gz", &[gzip(PLAIN), b"-- end of mail --".to_vec()].concat());
    assert!(error.contains("17 or more bytes after the end of its gzip data"), "{error}");
    assert!(error.contains("-- end of mail --") && !error.contains("damaged"), "{error}");
}

#[test]
fn a_table_whose_first_name_looks_like_json_is_a_table() {
    assert_eq!(triples("x.tsv", b"[1]\tcites\t[2]\n{a}\tcites\t[1]\n").len(), 2);
}

#[test]
fn bad_lines_are_named_with_their_remedy() {
    let truncated = &gzip(&PLAIN.repeat(100))[..40];
    let cut_zstd = &zstd::encode_all(&*PLAIN.repeat(100), 1).unwrap()[..20];
    let cases: [(&str, &[u8]); 14] = [
        ("few.tsv", b"a\tr\tb\na\tr\n"),
        ("many.tsv", b"a\tr\tb\na\tr\tb\tc\n"),
        ("spaces.tsv", b"a r b\n"),
        ("field.tsv", b"a\tr\tb\na\t \tb\n"),
        ("latin1.tsv", b"a\tr\tb\na\tr\tcaf\xe9\n"),
        ("nul.tsv", b"a\tr\tb\na\tr\0\tb\n"),
        ("quoted.csv", b"a,r,b\n\"a,r,b\n"),
        ("empty.tsv", b""),
        ("blank.tsv", b"\n\n"),
        ("broken.ttl", b"@prefix x: <http://x/> .\nx:a x:r x:b .\nx:a x:r ;; x: .. x:b\n"),
        ("labels.ttl", b"<http://a> <http://www.w3.org/2000/01/rdf-schema#comment> 'x' ."),
        ("picture", b"\x89PNG\r\n"),
        ("cut.tsv.gz", truncated),
        ("cut.tsv.zst", cut_zstd),
    ];
    let messages: Vec<String> = cases.iter().map(|(name, bytes)| message(name, bytes)).collect();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    few.tsv:2: expected 3 columns, found 2; correct the line, or skip such lines
    many.tsv:2: expected 3 columns, found 4 (say which columns to take, such as 1,2,3); correct the line, or skip such lines
    spaces.tsv:1: expected 3 columns, found 1 (are the columns separated by tabs, or by commas in a .csv file, and all quotes closed?); correct the line, or skip such lines
    field.tsv:2: column 2 is empty; correct the line, or skip such lines
    latin1.tsv:2: column 3 is not UTF-8 text (save the file as UTF-8); correct the line, or skip such lines
    nul.tsv:2: column 2 holds a NUL byte (is the file binary, or UTF-16?); correct the line, or skip such lines
    quoted.csv:2: expected 3 columns, found 1 (are the columns separated by tabs, or by commas in a .csv file, and all quotes closed?); correct the line, or skip such lines
    empty.tsv holds no triples: it is empty
    blank.tsv holds no triples: it is empty
    broken.ttl:3: column 9: ; is not a valid RDF object; correct the line, or skip such lines
    labels.ttl holds no triples: all its objects are literals, which are left out unless they are kept as entities
    cannot tell what picture is (it begins with "�PNG\r\n"): expected triples as TSV, CSV, N-Triples, Turtle, N-Quads, TriG, RDF/XML or JSON-LD; say which of them it is
    cut.tsv.gz is a damaged gzip file (it ends too early): fetch it again, or compress it again
    cut.tsv.zst is a damaged zstd file (it ends too early): fetch it again, or compress it again
    "#);
}

#[test]
fn bad_lines_are_counted_and_skipped_on_request() {
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    let long = [b"a\t".as_slice(), &vec![b'x'; 3 << 20], b"\tb\n"].concat();
    let bytes = [b"a\tr\tb\nonly one\n".as_slice(), &long, b"a\tr\t\xff\nb\tr\tc\n"].concat();
    let (graph, reports) = read(&[("x.tsv", &bytes)], &options).unwrap();
    assert_eq!((graph.edges(Split::Train).len(), reports[0].bad_lines), (2, 3));
    let lines: Vec<u64> = reports[0].bad_examples.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4]);
    let (_, reports) = read(
        &[("x.nt", b"<http://a> <http://r> <http://b> .\nnonsense\n<http://b> <http://r> <http://c> .\n")],
        &options,
    )
    .unwrap();
    assert_eq!((reports[0].triples, reports[0].bad_lines), (2, 1));
}

#[test]
fn labels_name_entities_and_relations() {
    let dir = tempfile::tempdir().unwrap();
    let (graph, labels) = (dir.path().join("g.tsv"), dir.path().join("labels.txt"));
    std::fs::write(&graph, PLAIN).unwrap();
    std::fs::write(&labels, "a\tAlpha\nr\trelates to\nnobody\tNobody\n").unwrap();
    let control = Control::default();
    let mut reader = Reader::new(GraphBuilder::default(), ReadOptions::default(), &control);
    reader.read(&graph, Split::Train).unwrap();
    assert_eq!(reader.read_labels(&labels).unwrap(), LabelReport { used: 2, unused: 1, bad_lines: 0 });
    let (graph, _) = reader.into_builder().finish();
    assert!(graph.entity("Alpha").is_ok() && graph.relation("relates to").is_ok());
}

#[test]
fn a_request_to_stop_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("g.tsv");
    std::fs::write(&path, PLAIN).unwrap();
    let bytes = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let heard = std::sync::Arc::clone(&bytes);
    let control = Control::default().on(move |read: &BytesRead| {
        heard.fetch_add(read.0, std::sync::atomic::Ordering::Relaxed);
    });
    let mut reader = Reader::new(GraphBuilder::default(), ReadOptions::default(), &control);
    reader.read(&path, Split::Train).unwrap();
    assert_eq!(bytes.load(std::sync::atomic::Ordering::Relaxed), PLAIN.len() as u64);
    control.cancel_token().cancel();
    assert!(matches!(reader.read(&path, Split::Train), Err(ReadError::Stopped)));
}
