//! RDF in all its line and Turtle forms, through `oxrdfio`.

use oxrdf::{GraphName, NamedOrBlankNode, Term};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfParseError, RdfParser, RdfSyntaxError};
use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;

use super::error::{LineProblem, ReadError};
use super::format::Format;
use super::lines::{BoundedLines, LongLine};
use super::source::{Source, explain};
use super::watch::{CutOff, Excess, Watched, check_entities};
use super::{FileReport, Problems};
use crate::graph::{GraphBuilder, Split};

/// Display labels that were read so far: a label may come before its subject is known to be in the graph.
#[derive(Default)]
pub(super) struct RdfLabels {
    by_iri: HashMap<String, (u8, String)>,
}

impl RdfLabels {
    /// Keeps the best label of a subject; of equally good ones, the first.
    fn offer(&mut self, subject: String, rank: u8, label: &str) {
        let better = self.by_iri.get(&subject).is_none_or(|(known, _)| rank < *known);
        if better {
            self.by_iri.insert(subject, (rank, label.to_owned()));
        }
    }

    /// Gives the labels to the names that are in the graph.
    pub(super) fn apply(self, builder: &mut GraphBuilder) {
        for (iri, (_, label)) in self.by_iri {
            if let Some(entity) = builder.find_entity(&iri) {
                builder.label_entity(entity, &label);
            }
            if let Some(relation) = builder.find_relation(&iri) {
                builder.label_relation(relation, &label);
            }
        }
    }
}

/// How good a label is, lower is better: first by language, then by predicate.
fn label_rank(predicate: &str, language: Option<&str>) -> Option<u8> {
    let by_predicate = match predicate {
        "http://www.w3.org/2000/01/rdf-schema#label" => 0,
        "http://www.w3.org/2004/02/skos/core#prefLabel" => 1,
        "http://schema.org/name" | "https://schema.org/name" => 2,
        _ => return None,
    };
    let by_language = match language {
        Some(tag) if tag == "en" || tag.starts_with("en-") => 0,
        None => 3,
        Some(_) => 6,
    };
    Some(by_language + by_predicate)
}

/// Where the triples of one RDF file go.
pub(super) struct RdfReader<'a> {
    pub(super) builder: &'a mut GraphBuilder,
    pub(super) labels: &'a mut RdfLabels,
    pub(super) split: Split,
    pub(super) keep_literals: bool,
    /// The named graph to read, instead of the default one.
    pub(super) graph: Option<&'a str>,
    /// The blank nodes so far. Blank nodes of different files are different, and a parser gives nameless
    /// ones random names, so they are numbered as they come.
    pub(super) blank_nodes: &'a mut BlankNodes,
}

/// Numbers for blank nodes.
#[derive(Default)]
pub(super) struct BlankNodes {
    of_file: HashMap<String, usize>,
    count: usize,
}

impl BlankNodes {
    /// Begins a new file, in which the same labels mean other nodes.
    pub(super) fn next_file(&mut self) {
        self.of_file.clear();
    }

    fn name(&mut self, label: &str) -> String {
        let count = &mut self.count;
        let number = *self.of_file.entry(label.to_owned()).or_insert_with(|| {
            *count += 1;
            *count
        });
        format!("_:b{number}")
    }
}

impl RdfReader<'_> {
    pub(super) fn read(
        &mut self,
        source: Source<'_>,
        format: Format,
        problems: &mut Problems,
        report: &mut FileReport,
    ) -> Result<(), ReadError> {
        let (file, codec) = (source.name.clone(), source.codec);
        if format == Format::RdfXml {
            check_entities(&source.start).map_err(|excess| excessive(&file, excess))?;
        }
        let start = source.start.clone();
        let lines = matches!(format, Format::NTriples | Format::NQuads);
        let long_lines = Rc::default();
        let bytes: Box<dyn Read> = if lines {
            Box::new(BoundedLines::new(source.into_reader(), problems.skip.then(|| Rc::clone(&long_lines))))
        } else {
            match format {
                Format::RdfXml => Box::new(Watched::xml(&start, source.into_reader())),
                Format::JsonLd => Box::new(Watched::json_ld(source.into_reader())),
                _ => Box::new(source.into_reader()),
            }
        };
        let mut parser = RdfParser::from_format(rdf_format(format)).for_reader(bytes);
        for quad in parser.by_ref() {
            let quad = match quad {
                Ok(quad) => quad,
                Err(RdfParseError::Io(error)) => {
                    let inner = error.get_ref();
                    if let Some(LongLine(line)) = inner.and_then(|inner| inner.downcast_ref()) {
                        return problems.meet(*line, LineProblem::TooLong);
                    }
                    if let Some(&excess) = inner.and_then(|inner| inner.downcast_ref::<Excess>()) {
                        return Err(excessive(&file, excess));
                    }
                    if let Some(cut) = inner.and_then(|inner| inner.downcast_ref::<CutOff>()) {
                        return Err(mistaken(file, format, None, cut.to_string()));
                    }
                    return Err(explain(&file, codec, error));
                }
                Err(RdfParseError::Syntax(error)) => {
                    let (line, message) = located(&error);
                    if !format.is_of_lines() {
                        let line = error.location().map(|_| line);
                        return Err(mistaken(file, format, line, message));
                    }
                    problems.meet(line, LineProblem::Syntax { message })?;
                    continue;
                }
            };
            if !self.wants(&quad.graph_name) {
                report.other_graphs += 1;
                let name = quad.graph_name.to_string();
                if report.other_graph_names.len() < GRAPHS_SHOWN && !report.other_graph_names.contains(&name)
                {
                    report.other_graph_names.push(name);
                }
                continue;
            }
            if !self.builder.has_room(1) {
                return Err(ReadError::TooManyNames { file });
            }
            self.take(quad.subject, quad.predicate.as_str(), quad.object, report);
        }
        for line in long_lines.take() {
            problems.meet(line, LineProblem::TooLong)?;
        }
        for (prefix, iri) in parser.prefixes() {
            if !self.builder.prefixes.insert(prefix, iri) {
                report.other_prefixes.push(prefix.to_owned());
            }
        }
        Ok(())
    }

    fn wants(&self, graph: &GraphName) -> bool {
        match (graph, self.graph) {
            (GraphName::DefaultGraph, None) => true,
            (GraphName::NamedNode(node), Some(wanted)) => node.as_str() == wanted,
            _ => false,
        }
    }

    fn take(&mut self, subject: NamedOrBlankNode, predicate: &str, object: Term, report: &mut FileReport) {
        let subject = match subject {
            NamedOrBlankNode::NamedNode(node) => node.into_string(),
            NamedOrBlankNode::BlankNode(node) => self.blank_nodes.name(node.as_str()),
        };
        let object = match object {
            Term::NamedNode(node) => node.into_string(),
            Term::BlankNode(node) => self.blank_nodes.name(node.as_str()),
            Term::Literal(literal) => {
                if let Some(rank) = label_rank(predicate, literal.language()) {
                    report.labels += 1;
                    self.labels.offer(subject, rank, literal.value());
                    return;
                }
                if !self.keep_literals {
                    report.literals += 1;
                    return;
                }
                let name = literal.to_string();
                self.labels.offer(name.clone(), u8::MAX, literal.value());
                name
            }
        };
        self.builder.add(self.split, &subject, predicate, &object);
        report.triples += 1;
    }
}

/// The line of a syntax error, and the message without that line.
fn located(error: &RdfSyntaxError) -> (u64, String) {
    let message = error.to_string();
    let Some(place) = error.location() else {
        return (1, message);
    };
    let what = message.split_once(": ").map_or(message.as_str(), |(_, what)| what);
    (place.start.line + 1, format!("column {}: {what}", place.start.column + 1))
}

/// How many other graphs are named.
const GRAPHS_SHOWN: usize = 5;

fn excessive(file: &str, excess: Excess) -> ReadError {
    ReadError::Excess { file: file.to_owned(), what: excess.to_string() }
}

fn mistaken(file: String, format: Format, line: Option<u64>, message: String) -> ReadError {
    // This word is in the parser's message: it has no callback to fetch documents, so it fetches none.
    if format == Format::JsonLd && message.to_lowercase().contains("callback") {
        return ReadError::RemoteContext { file };
    }
    ReadError::BadDocument { file, line, message, format: format.to_string() }
}

fn rdf_format(format: Format) -> RdfFormat {
    match format {
        Format::NTriples => RdfFormat::NTriples,
        Format::NQuads => RdfFormat::NQuads,
        Format::TriG => RdfFormat::TriG,
        Format::RdfXml => RdfFormat::RdfXml,
        Format::JsonLd => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
        Format::Turtle | Format::Tsv | Format::Csv => RdfFormat::Turtle,
    }
}
