//! A normal form → SPARQL.

use super::names::{ENTITY_PREFIX, RELATION_PREFIX, encoded};
use crate::graph::{Graph, Prefixes};
use crate::query::formula::{Atom, Term, VariableId};
use crate::query::normal_form::{Branch, NormalForm};

impl NormalForm {
    /// The question in SPARQL, one alternative of a UNION for each branch. Of a general formula
    /// only the normal form can be written so: a group of SPARQL does not see the variables of
    /// the groups around it.
    pub fn to_sparql(&self, graph: &Graph) -> String {
        let printer = Printer { normal_form: self, graph };
        let mut groups = self.branches.iter().map(|branch| printer.group(branch));
        let pattern = match self.branches.len() {
            1 => groups.next().unwrap_or_default(),
            _ => groups.map(|group| format!("{{ {group} }}")).collect::<Vec<_>>().join(" UNION "),
        };
        format!("SELECT {} WHERE {{ {pattern} }}", printer.variable(self.target))
    }
}

struct Printer<'a> {
    normal_form: &'a NormalForm,
    graph: &'a Graph,
}

impl Printer<'_> {
    fn group(&self, branch: &Branch) -> String {
        let mut text: Vec<String> = branch.positive.iter().map(|atom| self.triple(atom)).collect();
        let not = |inner: String| format!("FILTER NOT EXISTS {{ {inner} }}");
        text.extend(branch.negative.iter().map(|atom| not(self.triple(atom))));
        text.extend(branch.negated.iter().map(|negated| not(self.group(&negated.branch))));
        text.join(" ")
    }

    fn triple(&self, atom: &Atom) -> String {
        let relation = self.name(self.graph.relations.name(atom.relation), "r", RELATION_PREFIX);
        format!("{} {relation} {} .", self.term(atom.subject), self.term(atom.object))
    }

    fn term(&self, term: Term) -> String {
        match term {
            Term::Entity(id) => self.name(self.graph.entities.name(id), "e", ENTITY_PREFIX),
            Term::Variable(id) => self.variable(id),
        }
    }

    /// `?name`, with the number of the variable where another one has the same name.
    fn variable(&self, id: VariableId) -> String {
        let name = self.normal_form.variable_name(id);
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let twins = self.normal_form.variables.iter().filter(|other| other.name == name).count();
        if plain && twins == 1 {
            return format!("?{name}");
        }
        let mut unique = format!("{}_{}", if plain { name } else { "v" }, id.0);
        while self.normal_form.variables.iter().any(|other| other.name == unique) {
            unique.push('_');
        }
        format!("?{unique}")
    }

    fn name(&self, name: &str, prefix: &str, iri: &str) -> String {
        if name.contains(':') && oxrdf::NamedNode::new(name).is_ok() {
            return format!("<{name}>");
        }
        if declares(&self.graph.prefixes, prefix) {
            return format!("<{iri}{}>", encoded(name));
        }
        format!("{prefix}:{}", encoded(name))
    }
}

fn declares(prefixes: &Prefixes, prefix: &str) -> bool {
    prefixes.iter().any(|(other, _)| other == prefix)
}
