//! A query as the operators that embed it.

use crate::query::shapes::{Step, Structure};

/// The most alternatives of a disjunction.
const MOST_BRANCHES: usize = 64;

/// A query whose anchors and relations are numbers of arguments: one [`Branch`] for each alternative of its
/// disjunctive normal form. An entity scores as in the branch where it scores best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The alternatives.
    pub branches: Vec<Branch>,
}

/// One alternative: operators in the order in which they run; the last one makes the region of the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub(super) nodes: Vec<Node>,
}

/// An operator. Its operands are nodes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// The entity that stands at this place of the arguments.
    Anchor(usize),
    /// What a relation leads to from an earlier node.
    Project {
        of: usize,
        /// The place of the relation among the arguments.
        relation: usize,
    },
    /// What lies in all of these.
    Meet(Vec<usize>),
}

/// A branch as a tree.
#[derive(Clone)]
enum Tree {
    Anchor(usize),
    Project(Box<Self>, usize),
    Meet(Vec<Self>),
}

impl Program {
    /// The program of a structure; `None` if it negates, which neither baseline can, or has too many alternatives.
    pub fn of(structure: &Structure<usize, usize>) -> Option<Self> {
        let branches = alternatives(structure)?.iter().map(Branch::of).collect();
        Some(Self { branches })
    }

    /// How many arguments a query needs, and which of them are relations.
    pub(super) fn roles(&self) -> (usize, Vec<usize>) {
        let nodes = || self.branches.iter().flat_map(|branch| &branch.nodes);
        let relations: Vec<usize> = nodes()
            .filter_map(|node| match node {
                Node::Project { relation, .. } => Some(*relation),
                _ => None,
            })
            .collect();
        let anchors = nodes().filter_map(|node| match node {
            Node::Anchor(place) => Some(*place),
            _ => None,
        });
        (anchors.chain(relations.iter().copied()).max().map_or(0, |last| last + 1), relations)
    }
}

impl Branch {
    fn of(tree: &Tree) -> Self {
        let mut branch = Self { nodes: Vec::new() };
        branch.put(tree);
        branch
    }

    /// Adds the nodes of a tree, and says which of them is its root.
    fn put(&mut self, tree: &Tree) -> usize {
        let node = match tree {
            Tree::Anchor(place) => Node::Anchor(*place),
            Tree::Project(from, relation) => Node::Project { of: self.put(from), relation: *relation },
            Tree::Meet(parts) => Node::Meet(parts.iter().map(|part| self.put(part)).collect()),
        };
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// The disjunctive normal form of a structure.
fn alternatives(structure: &Structure<usize, usize>) -> Option<Vec<Tree>> {
    let trees = match structure {
        Structure::Anchor(place) => vec![Tree::Anchor(*place)],
        Structure::Path(from, steps) => {
            let mut trees = alternatives(from)?;
            for step in steps {
                let Step::Relation(relation) = step else { return None };
                trees = trees.into_iter().map(|tree| Tree::Project(Box::new(tree), *relation)).collect();
            }
            trees
        }
        Structure::Any(parts) => parts.iter().map(alternatives).collect::<Option<Vec<_>>>()?.concat(),
        Structure::All(parts) => {
            let mut met: Vec<Vec<Tree>> = vec![Vec::new()];
            for part in parts {
                let part = alternatives(part)?;
                if met.len() * part.len() > MOST_BRANCHES {
                    return None;
                }
                let with = |met: &Vec<Tree>| {
                    let one = |tree: &Tree| [met.as_slice(), std::slice::from_ref(tree)].concat();
                    part.iter().map(one).collect::<Vec<_>>()
                };
                met = met.iter().flat_map(with).collect();
            }
            met.into_iter().map(Tree::Meet).collect()
        }
    };
    (!trees.is_empty() && trees.len() <= MOST_BRANCHES).then_some(trees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{QueryGroup, Skeleton};

    fn program(shape: &str) -> Option<Program> {
        let skeleton = Skeleton::of_shape(shape).unwrap();
        let group = QueryGroup { skeleton: skeleton.to_string(), ..QueryGroup::default() };
        Program::of(&group.structure()?)
    }

    #[test]
    fn a_union_below_a_projection_becomes_two_branches() {
        let up = program("up").unwrap();
        assert_eq!(up.branches.len(), 2);
        assert_eq!(
            up.branches[1].nodes,
            [Node::Anchor(2), Node::Project { of: 0, relation: 3 }, Node::Project { of: 1, relation: 4 }]
        );
        assert_eq!(up.roles().0, 5);
    }

    #[test]
    fn an_intersection_meets_its_branches() {
        let pi = program("pi").unwrap();
        let [branch] = &pi.branches[..] else { panic!("{pi:?}") };
        assert_eq!(branch.nodes.last(), Some(&Node::Meet(vec![2, 4])));
    }

    #[test]
    fn all_shapes_without_negation_have_a_program_and_no_others() {
        for shape in Skeleton::names() {
            let skeleton = Skeleton::of_shape(shape).unwrap().to_string();
            assert_eq!(program(shape).is_some(), !skeleton.contains('n'), "{shape}");
        }
    }
}
