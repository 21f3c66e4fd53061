//! Explained answers for Graphviz.

use std::fmt::Write;

use super::reply::{Answer, Atom, Entity, Explanation, Reply, SubQuery, Why};
use crate::answer::score_text;
use crate::plan::dot::quoted;

impl Reply {
    /// One picture of all answers, a cluster for each: anchors are boxes, variables stand with their
    /// values, the target is doubled. Edges that count as facts are solid, those that the model scored
    /// dashed; negated atoms are red and end in a bar; a negated sub-query is a note at the variables that
    /// it shares with the question, with the values that make it truest. If the question has alternatives, the
    /// title says which one is drawn and how each scores; a note at the target lists the next best assignments.
    /// An answer without an explanation is drawn as its target alone.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph answers {\n  rankdir=LR;\n  node [shape=ellipse];\n");
        // Graphviz stacks clusters from below, and the best answer belongs on top.
        for (index, answer) in self.answers.iter().enumerate().rev() {
            let cluster = Cluster {
                rank: index + 1 + self.offset,
                answer,
                target: self.target.as_deref().unwrap_or_default(),
            };
            cluster.draw(&mut dot);
        }
        dot.push_str("}\n");
        dot
    }
}

struct Cluster<'a> {
    rank: usize,
    answer: &'a Answer,
    target: &'a str,
}

impl Cluster<'_> {
    fn draw(&self, dot: &mut String) {
        let Self { rank, answer, .. } = self;
        let explanation = answer.explanation.as_ref();
        let branch = explanation.and_then(Explanation::branch_text);
        let branch = branch.map_or_else(String::new, |text| format!("\n{text}"));
        let (name, score, standing) = (answer.entity.shown(), score_text(answer.score), answer.standing());
        let title = quoted(&format!("{rank}. {name}  {score}  {standing}{branch}"));
        let _ = writeln!(dot, "  subgraph cluster_{rank} {{\n    label={title};");
        match explanation {
            Some(explanation) => self.explanation(dot, explanation),
            None => self.node(dot, &answer.entity, Some(self.target)),
        }
        dot.push_str("  }\n");
    }

    fn explanation(&self, dot: &mut String, explanation: &Explanation) {
        let mut drawn: Vec<String> = Vec::new();
        let mut node = |dot: &mut String, value: &Entity, variable: Option<&str>| {
            let id = self.id(value, variable);
            if !drawn.contains(&id) {
                self.node(dot, value, variable);
                drawn.push(id);
            }
        };
        for atom in &explanation.atoms {
            node(dot, &atom.subject, atom.subject_variable.as_deref());
            node(dot, &atom.object, atom.object_variable.as_deref());
        }
        let shared: Vec<&String> = explanation.sub_queries.iter().flat_map(|nested| &nested.shares).collect();
        for binding in explanation.assignment.iter().filter(|binding| shared.contains(&&binding.variable)) {
            node(dot, &binding.value, Some(&binding.variable));
        }
        for atom in &explanation.atoms {
            self.edge(dot, atom);
        }
        for (index, nested) in explanation.sub_queries.iter().enumerate() {
            let note = format!("a{}n{index}", self.rank);
            let _ = writeln!(dot, "    {note} [shape=note, color=red, label={}];", quoted(&label(nested)));
            for variable in &nested.shares {
                let node = self.variable(variable);
                let _ = writeln!(dot, "    {note} -> {node} [style=dotted, arrowhead=none];");
            }
        }
        let lines = explanation.alternative_texts();
        if !lines.is_empty() {
            let (note, target) = (format!("a{}o", self.rank), self.variable(self.target));
            let _ = writeln!(dot, "    {note} [shape=note, label={}];", quoted(&lines.join("\n")));
            let _ = writeln!(dot, "    {note} -> {target} [style=dotted, arrowhead=none];");
        }
    }

    fn node(&self, dot: &mut String, value: &Entity, variable: Option<&str>) {
        let shown = value.shown();
        let (label, look) = match variable {
            None => (shown, ", shape=box"),
            Some(name) => {
                (format!("{name}\n{shown}"), if name == self.target { ", peripheries=2" } else { "" })
            }
        };
        let _ = writeln!(dot, "    {} [label={}{look}];", self.id(value, variable), quoted(&label));
    }

    fn edge(&self, dot: &mut String, atom: &Atom) {
        let not = if atom.negated { "not " } else { "" };
        let mut text =
            format!("{not}{}\n{} {}", atom.relation.shown(), score_text(atom.value), atom.standing());
        for line in atom.why.iter().flat_map(Why::lines) {
            text += &format!("\n{line}");
        }
        let style = if atom.known.is_some() { "solid" } else { "dashed" };
        let negated = if atom.negated { ", color=red, arrowhead=tee" } else { "" };
        let from = self.id(&atom.subject, atom.subject_variable.as_deref());
        let to = self.id(&atom.object, atom.object_variable.as_deref());
        let _ = writeln!(dot, "    {from} -> {to} [label={}, style={style}{negated}];", quoted(&text));
    }

    fn id(&self, value: &Entity, variable: Option<&str>) -> String {
        match variable {
            Some(name) => self.variable(name),
            None => format!("a{}e{}", self.rank, value.id),
        }
    }

    fn variable(&self, name: &str) -> String {
        quoted(&format!("a{}v{name}", self.rank))
    }
}

/// A negated sub-query with the best witness against it.
fn label(nested: &SubQuery) -> String {
    let mut text = format!("not {}\n{} {}", nested.text, score_text(nested.value), nested.reason());
    let Some(witness) = &nested.witness else { return text };
    for atom in &witness.atoms {
        text += &format!("\n{}", atom.text());
    }
    for nested in &witness.sub_queries {
        text += &format!("\n{}", label(nested));
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::report::testing;

    /// The picture of the best answer, without its truth values, which a random model gives.
    fn drawn(text: &str) -> String {
        let dot = testing::asked(text).to_dot();
        let digits =
            |word: &str| word.strip_prefix("0.").is_some_and(|rest| rest.len() == 4) || word.contains("e-");
        let hidden = |line: &str| {
            line.split_inclusive([' ', '"', 'n'])
                .map(|word| {
                    let number = word.trim_matches([' ', '"', 'n', '\\', '(', ')', ',']);
                    if digits(number) { word.replace(number, "0.####") } else { word.to_owned() }
                })
                .collect::<String>()
        };
        dot.lines().map(|line| hidden(line) + "\n").collect()
    }

    #[test]
    fn known_edges_are_solid_predicted_ones_dashed_and_every_name_is_escaped() {
        insta::assert_snapshot!(drawn(r#"?G : exists F. stars(F, "Will\nSmith") and genre(F, G)"#), @r##"
        digraph answers {
          rankdir=LR;
          node [shape=ellipse];
          subgraph cluster_1 {
            label="1. A\\B  1.0000  known";
            "a1vF" [label="F\nBad \"Boys\""];
            a1e1 [label="Will\\nSmith", shape=box];
            "a1vG" [label="G\nA\\B", peripheries=2];
            "a1vF" -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            "a1vF" -> "a1vG" [label="genre\n1.0000 known, train", style=solid];
            a1o [shape=note, label="or by F = Will\\nSmith  0.####\nor by F = A\\B  0.####\nor by F = Hitch  0.####"];
            a1o -> "a1vG" [style=dotted, arrowhead=none];
          }
        }
        "##);
    }

    #[test]
    fn the_alternative_that_carries_the_answer_is_named_with_its_score() {
        insta::assert_snapshot!(drawn(r#"?G : genre(Hitch, G) or exists F. stars(F, "Will\nSmith") and genre(F, G)"#), @r##"
        digraph answers {
          rankdir=LR;
          node [shape=ellipse];
          subgraph cluster_1 {
            label="1. A\\B  1.0000  known\nalternative 2 of 2 (left open, 1.0000)";
            "a1vF" [label="F\nBad \"Boys\""];
            a1e1 [label="Will\\nSmith", shape=box];
            "a1vG" [label="G\nA\\B", peripheries=2];
            "a1vF" -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            "a1vF" -> "a1vG" [label="genre\n1.0000 known, train", style=solid];
            a1o [shape=note, label="or by F = Will\\nSmith  0.####\nor by F = A\\B  0.####\nor by F = Hitch  0.####"];
            a1o -> "a1vG" [style=dotted, arrowhead=none];
          }
        }
        "##);
    }

    #[test]
    fn negated_atoms_and_sub_queries_are_marked() {
        insta::assert_snapshot!(
            drawn(testing::NEGATED),
            @r##"
        digraph answers {
          rankdir=LR;
          node [shape=ellipse];
          subgraph cluster_1 {
            label="1. Bad \"Boys\"  0.####  known";
            "a1vF" [label="F\nBad \"Boys\"", peripheries=2];
            a1e1 [label="Will\\nSmith", shape=box];
            a1e3 [label="Hitch", shape=box];
            "a1vF" -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            "a1vF" -> a1e3 [label="not genre\n0.#### predicted\nby similarity, as with A\\B", style=dashed, color=red, arrowhead=tee];
            a1n0 [shape=note, color=red, label="not (exists A. stars(F, A) and stars(Hitch, A))\n0.#### at best 0.#### by A = Will\\nSmith\nstars(Bad \"Boys\", Will\\nSmith)  1.0000  known, train\nstars(Hitch, Will\\nSmith)  0.####  predicted"];
            a1n0 -> "a1vF" [style=dotted, arrowhead=none];
          }
        }
        "##
        );
    }
}
