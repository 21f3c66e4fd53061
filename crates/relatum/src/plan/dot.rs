//! The dependency graph of a plan for Graphviz.

use std::fmt::Write;

use crate::graph::visible::{is_invisible, push_escape, visible};

use super::describe::{BranchReport, PlanReport, TermReport};

impl PlanReport {
    /// The query graph, one cluster for each branch: anchors are boxes, variables circles, the
    /// target is doubled, negated atoms are dashed; numbers say the order of the variables.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph query {\n  rankdir=LR;\n  node [shape=circle];\n");
        for (index, branch) in self.branches.iter().enumerate() {
            let title = format!("branch {}", index + 1);
            cluster(&mut dot, branch, &format!("b{}", index + 1), &title, &self.target, 1);
        }
        dot.push_str("}\n");
        dot
    }
}

fn cluster(dot: &mut String, branch: &BranchReport, id: &str, title: &str, target: &str, depth: usize) {
    let indent = "  ".repeat(depth);
    let rows = branch.rows.round() as u64;
    let noun = if rows == 1 { "row" } else { "rows" };
    let _ = writeln!(dot, "{indent}subgraph {} {{", quoted(&format!("cluster_{id}")));
    let _ = writeln!(dot, "{indent}  label={};", quoted(&format!("{title}, about {rows} {noun}")));
    let mut anchors: Vec<&str> = Vec::new();
    let mut variables: Vec<&str> = Vec::new();
    for term in branch.atoms.iter().flat_map(|atom| [&atom.subject, &atom.object]) {
        let (seen, name) = match term {
            TermReport::Entity(name) => (&mut anchors, name),
            TermReport::Variable(name) => (&mut variables, name),
        };
        if !seen.contains(&name.as_str()) {
            seen.push(name);
        }
    }
    for name in anchors {
        let _ =
            writeln!(dot, "{indent}  {} [shape=box, label={}];", node(id, "e", name), quoted(&visible(name)));
    }
    for name in variables {
        let shape = if name == target { "doublecircle" } else { "circle" };
        let step = branch.steps.iter().position(|step| step.variable == name);
        let label = step.map_or_else(|| name.to_owned(), |step| format!("{name}\n{}", step + 1));
        let _ = writeln!(dot, "{indent}  {} [shape={shape}, label={}];", node(id, "v", name), quoted(&label));
    }
    for atom in &branch.atoms {
        let end = |term: &TermReport| match term {
            TermReport::Entity(name) => node(id, "e", name),
            TermReport::Variable(name) => node(id, "v", name),
        };
        let style = if atom.negated { ", style=dashed" } else { "" };
        let relation = visible(&atom.relation);
        let label = if atom.negated { format!("not {relation}") } else { relation.into_owned() };
        let (from, to) = (end(&atom.subject), end(&atom.object));
        let _ = writeln!(dot, "{indent}  {from} -> {to} [label={}{style}];", quoted(&label));
    }
    for (index, nested) in branch.negated.iter().enumerate() {
        let nested_id = format!("{id}_n{}", index + 1);
        cluster(dot, nested, &nested_id, "not", target, depth + 1);
    }
    let _ = writeln!(dot, "{indent}}}");
}

fn node(cluster: &str, kind: &str, name: &str) -> String {
    quoted(&format!("{cluster}:{kind}:{name}"))
}

/// A text of our own as Graphviz quotes it. It may have line ends; names in it were made [`visible`] before,
/// so that theirs are escapes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if is_invisible(c) => {
                // Written as a visible escape: an SVG that Graphviz makes of it is XML, which allows no control
                // characters.
                quoted.push('\\');
                push_escape(&mut quoted, c);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
