//! Explained answers for Graphviz.

use std::fmt::Write;

use super::explanation::value_of;
use super::{Answers, ExplainedAtom, Explanation, SubQuery, score_text};
use crate::graph::{EntityId, Graph};
use crate::plan::dot::quoted;
use crate::query::{Negated, NormalForm, Term};

impl Answers {
    /// One picture of all answers, a cluster for each: anchors are boxes, variables stand with their
    /// values, the target is doubled. Edges that count as facts are solid, those that the model scored
    /// dashed; what is negated is red and ends in a bar; a negated sub-query is a note at the variables
    /// that it speaks of, with the values that make it truest. Of a question with alternatives the title
    /// says which one is drawn and how each scores; a note at the target lists the next best assignments.
    /// Answers without an explanation are a lone target.
    ///
    /// `normal_form` is that of the question; `first` is the rank of the first answer.
    pub fn to_dot(&self, normal_form: &NormalForm, graph: &Graph, first: usize) -> String {
        let mut dot = String::from("digraph answers {\n  rankdir=LR;\n  node [shape=ellipse];\n");
        // Graphviz stacks clusters from below, and the best answer belongs on top.
        for (index, answer) in self.answers.iter().enumerate().rev() {
            let known = answer.standing();
            let rank = index + first;
            let name = graph.entity_shown(answer.entity);
            let branch = answer.explanation.as_ref().and_then(Explanation::branch_text);
            let branch = branch.map_or_else(String::new, |text| format!("\n{text}"));
            let title = quoted(&format!("{rank}. {name}  {}  {known}{branch}", score_text(answer.score)));
            let _ = writeln!(dot, "  subgraph cluster_{rank} {{\n    label={title};");
            let cluster = Cluster { rank, normal_form, graph };
            match &answer.explanation {
                Some(explanation) => cluster.explanation(&mut dot, explanation),
                None => cluster.variable(&mut dot, Term::Variable(normal_form.target), answer.entity),
            }
            dot.push_str("  }\n");
        }
        dot.push_str("}\n");
        dot
    }
}

struct Cluster<'a> {
    rank: usize,
    normal_form: &'a NormalForm,
    graph: &'a Graph,
}

impl Cluster<'_> {
    fn explanation(&self, dot: &mut String, explanation: &Explanation) {
        let Some(branch) = self.normal_form.branches.get(explanation.branch) else { return };
        let value = |term: Term| match term {
            Term::Entity(id) => Some(id),
            Term::Variable(id) => value_of(&explanation.assignment, id),
        };
        let atoms = branch.positive.iter().chain(&branch.negative);
        let pairs: Vec<(Term, Term)> = atoms
            .map(|atom| (atom.subject, atom.object))
            .filter(|&(subject, object)| value(subject).is_some() && value(object).is_some())
            .collect();
        let mut drawn: Vec<Term> = Vec::new();
        let shared = branch.negated.iter().flat_map(|nested| nested.free().into_iter().map(Term::Variable));
        for term in pairs.iter().flat_map(|&(subject, object)| [subject, object]).chain(shared) {
            if let Some(value) = value(term).filter(|_| !drawn.contains(&term)) {
                self.variable(dot, term, value);
                drawn.push(term);
            }
        }
        for (&(subject, object), atom) in pairs.iter().zip(&explanation.atoms) {
            self.edge(dot, subject, object, atom);
        }
        for (index, (nested, found)) in branch.negated.iter().zip(&explanation.sub_queries).enumerate() {
            let note = format!("a{}n{index}", self.rank);
            let label = quoted(&self.sub_query(nested, found));
            let _ = writeln!(dot, "    {note} [shape=note, color=red, label={label}];");
            for id in nested.free() {
                let _ = writeln!(
                    dot,
                    "    {note} -> {} [style=dotted, arrowhead=none];",
                    self.node(Term::Variable(id))
                );
            }
        }
        self.alternatives(dot, explanation);
    }

    /// The next best assignments, as a note at the target.
    fn alternatives(&self, dot: &mut String, explanation: &Explanation) {
        let lines = explanation.alternative_texts(self.normal_form, self.graph);
        if lines.is_empty() {
            return;
        }
        let note = format!("a{}o", self.rank);
        let target = self.node(Term::Variable(self.normal_form.target));
        let _ = writeln!(dot, "    {note} [shape=note, label={}];", quoted(&lines.join("\n")));
        let _ = writeln!(dot, "    {note} -> {target} [style=dotted, arrowhead=none];");
    }

    fn sub_query(&self, nested: &Negated, found: &SubQuery) -> String {
        let text = self.normal_form.sub_query_text(nested, self.graph);
        let why = found.text(nested, self.normal_form, self.graph);
        let mut label = format!("not {text}\n{} {why}", score_text(found.value));
        let Some(witness) = &found.witness else { return label };
        for atom in &witness.atoms {
            label += &format!("\n{}", atom.text(self.graph));
        }
        for (nested, found) in nested.branch.negated.iter().zip(&witness.sub_queries) {
            label += &format!("\n{}", self.sub_query(nested, found));
        }
        label
    }

    fn variable(&self, dot: &mut String, term: Term, value: EntityId) {
        let shown = self.graph.entity_shown(value);
        let (label, look) = match term {
            Term::Entity(_) => (shown, ", shape=box"),
            Term::Variable(id) => {
                let name = self.normal_form.variable_name(id);
                let look = if id == self.normal_form.target { ", peripheries=2" } else { "" };
                (format!("{name}\n{shown}"), look)
            }
        };
        let _ = writeln!(dot, "    {} [label={}{look}];", self.node(term), quoted(&label));
    }

    fn edge(&self, dot: &mut String, subject: Term, object: Term, atom: &ExplainedAtom) {
        let not = if atom.negated { "not " } else { "" };
        let relation = self.graph.relation_text(atom.edge.relation);
        let label = quoted(&format!("{not}{relation}\n{} {}", score_text(atom.value), atom.standing()));
        let style = if atom.known.is_some() { "solid" } else { "dashed" };
        let negated = if atom.negated { ", color=red, arrowhead=tee" } else { "" };
        let (from, to) = (self.node(subject), self.node(object));
        let _ = writeln!(dot, "    {from} -> {to} [label={label}, style={style}{negated}];");
    }

    fn node(&self, term: Term) -> String {
        match term {
            Term::Entity(id) => format!("a{}e{}", self.rank, id.0),
            Term::Variable(id) => format!("a{}v{}", self.rank, id.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::answer::{Ask, ask};
    use crate::graph::{GraphBuilder, Split};
    use crate::model::{Model, predictor};
    use crate::plan::{Plan, PlanOptions};
    use crate::query::{Limits, Syntax, read};

    /// The picture of the best answer, without its truth values, which a random model gives.
    fn drawn(text: &str) -> String {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "Bad \"Boys\"", "stars", "Will\nSmith");
        builder.add(Split::Train, "Bad \"Boys\"", "genre", "A\\B");
        builder.add(Split::Train, "Hitch", "stars", "Eva\u{7}");
        let (graph, _) = builder.finish();
        let model = Model::random(predictor("complex", 2).unwrap(), &graph, 1e-3, 0);
        let question = read(text, Syntax::Text, &graph, Limits::default()).unwrap();
        let plan = Plan::new(&question.checked, &graph, PlanOptions::default());
        let how = Ask { top: 1, explain: true, ..Ask::default() };
        let answers = ask(&plan, &model, &graph, &how).unwrap();
        let dot = answers.to_dot(&question.checked.normal_form, &graph, 1);
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
            a1v1 [label="F\nBad \"Boys\""];
            a1e1 [label="Will\\nSmith", shape=box];
            a1v0 [label="G\nA\\B", peripheries=2];
            a1v1 -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            a1v1 -> a1v0 [label="genre\n1.0000 known, train", style=solid];
            a1o [shape=note, label="or by F = Will\\nSmith  0.####\nor by F = A\\B  0.####\nor by F = Hitch  0.####"];
            a1o -> a1v0 [style=dotted, arrowhead=none];
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
            a1v1 [label="F\nBad \"Boys\""];
            a1e1 [label="Will\\nSmith", shape=box];
            a1v0 [label="G\nA\\B", peripheries=2];
            a1v1 -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            a1v1 -> a1v0 [label="genre\n1.0000 known, train", style=solid];
            a1o [shape=note, label="or by F = Will\\nSmith  0.####\nor by F = A\\B  0.####\nor by F = Hitch  0.####"];
            a1o -> a1v0 [style=dotted, arrowhead=none];
          }
        }
        "##);
    }

    #[test]
    fn negated_atoms_and_sub_queries_are_marked() {
        insta::assert_snapshot!(
            drawn(r#"?F : stars(F, "Will\nSmith") and not genre(F, Hitch) and not (exists A. stars(F, A) and stars(Hitch, A))"#),
            @r##"
        digraph answers {
          rankdir=LR;
          node [shape=ellipse];
          subgraph cluster_1 {
            label="1. Bad \"Boys\"  0.####  known";
            a1v0 [label="F\nBad \"Boys\"", peripheries=2];
            a1e1 [label="Will\\nSmith", shape=box];
            a1e3 [label="Hitch", shape=box];
            a1v0 -> a1e1 [label="stars\n1.0000 known, train", style=solid];
            a1v0 -> a1e3 [label="not genre\n0.#### predicted", style=dashed, color=red, arrowhead=tee];
            a1n0 [shape=note, color=red, label="not (exists A. stars(F, A) and stars(Hitch, A))\n0.#### at best 0.#### by A = Will\\nSmith\nstars(Bad \"Boys\", Will\\nSmith)  1.0000  known, train\nstars(Hitch, Will\\nSmith)  0.####  predicted"];
            a1n0 -> a1v0 [style=dotted, arrowhead=none];
          }
        }
        "##
        );
    }
}
