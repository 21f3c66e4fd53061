//! What the numbers of a benchmark query mean: the nested tuple with letters in their places.

use std::fmt::Write as _;
use std::str::FromStr;

/// The shapes of the literature, in the order of its tables, with their skeletons.
const SHAPES: [(&str, &str); 19] = [
    ("1p", "('e',('r',))"),
    ("2p", "('e',('r','r'))"),
    ("3p", "('e',('r','r','r'))"),
    ("4p", "('e',('r','r','r','r'))"),
    ("5p", "('e',('r','r','r','r','r'))"),
    ("2i", "(('e',('r',)),('e',('r',)))"),
    ("3i", "(('e',('r',)),('e',('r',)),('e',('r',)))"),
    ("4i", "(('e',('r',)),('e',('r',)),('e',('r',)),('e',('r',)))"),
    ("ip", "((('e',('r',)),('e',('r',))),('r',))"),
    ("pi", "(('e',('r','r')),('e',('r',)))"),
    ("2u", "(('e',('r',)),('e',('r',)),('u',))"),
    ("up", "((('e',('r',)),('e',('r',)),('u',)),('r',))"),
    ("2in", "(('e',('r',)),('e',('r','n')))"),
    ("3in", "(('e',('r',)),('e',('r',)),('e',('r','n')))"),
    ("inp", "((('e',('r',)),('e',('r','n'))),('r',))"),
    ("pin", "(('e',('r','r')),('e',('r','n')))"),
    ("pni", "(('e',('r','r','n')),('e',('r',)))"),
    ("2u-DM", "((('e',('r','n')),('e',('r','n'))),('n',))"),
    ("up-DM", "((('e',('r','n')),('e',('r','n'))),('n','r'))"),
];

/// The nested tuple of a query in the BetaE files, with a letter for each number: `e` for an
/// entity, `r` for a relation, `n` for a negation (−2 in the files), `u` for a union (−1).
///
/// A tuple of letters is a path: the relations to follow, one after another. Branches that stand
/// side by side are intersected, or united if `('u',)` stands last among them.
///
/// ```
/// use relatum::benchmark::{Role, Skeleton};
///
/// // r1(a, A) ∧ ¬r2(b, A)
/// let skeleton: Skeleton = "(('e', ('r',)), ('e', ('r', 'n')))".parse()?;
/// assert_eq!(skeleton.shape(), "2in");
/// assert_eq!(skeleton.roles(), [Role::Entity, Role::Relation, Role::Entity, Role::Relation]);
/// assert_eq!(skeleton.query(&[7, 0, 9, 4]), "((7,(0,)),(9,(4,-2)))");
/// # Ok::<(), relatum::benchmark::SkeletonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Skeleton {
    pieces: Vec<Piece>,
}

/// What a number of a query names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An entity: the query starts here.
    Entity,
    /// A relation to follow.
    Relation,
}

/// Why a text cannot be read as a skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// The text is not one nested tuple of the letters e, r, n, u. Write it as the BetaE files do:
    /// `(('e',('r',)),('e',('r','n')))`.
    #[error(
        "expected {expected} at character {at} of the skeleton {text:?}; write it as in (('e',('r',)),('e',('r','n')))"
    )]
    Syntax {
        /// What should have stood there.
        expected: &'static str,
        /// Where, counted from 1.
        at: usize,
        /// The whole text.
        text: String,
    },
    /// No query of the literature is nearly as long. Check what the file holds.
    #[error(
        "expected a skeleton of at most {limit} letters and brackets, found more in {text:?}; check what the file holds"
    )]
    TooLong {
        /// The limit.
        limit: usize,
        /// The beginning of the text.
        text: String,
    },
}

/// A bracket or a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    Open,
    Close,
    Entity,
    Relation,
    Negation,
    Union,
    /// Stands for any single value; used only in the patterns of file formats.
    Any,
}

impl Piece {
    fn of(character: char) -> Option<Self> {
        match character {
            '(' => Some(Self::Open),
            ')' => Some(Self::Close),
            'e' => Some(Self::Entity),
            'r' => Some(Self::Relation),
            'n' => Some(Self::Negation),
            'u' => Some(Self::Union),
            '_' => Some(Self::Any),
            _ => None,
        }
    }
}

impl Skeleton {
    /// No skeleton has more brackets and letters; the largest of the literature has 23.
    const LIMIT: usize = 256;

    /// The skeleton of a shape by its name, `2p`.
    pub fn of_shape(shape: &str) -> Option<Self> {
        SHAPES.iter().find(|(name, _)| *name == shape).map(|(_, text)| Self::pattern(text))
    }

    /// The names of all shapes that have one.
    pub fn names() -> Vec<&'static str> {
        SHAPES.iter().map(|(name, _)| *name).collect()
    }

    /// The name of the shape; the skeleton itself if the literature has no name for it.
    pub fn shape(&self) -> String {
        let text = self.to_string();
        let known = SHAPES.iter().find(|(_, skeleton)| *skeleton == text);
        known.map_or(text, |(name, _)| (*name).to_owned())
    }

    /// What each number of a query is, in order.
    pub fn roles(&self) -> Vec<Role> {
        let role = |piece: &Piece| match piece {
            Piece::Entity => Some(Role::Entity),
            Piece::Relation => Some(Role::Relation),
            _ => None,
        };
        self.pieces.iter().filter_map(role).collect()
    }

    /// How many numbers a query has.
    pub fn arity(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Entity | Piece::Relation)).count()
    }

    /// A query as the BetaE files write it, with the numbers in their places.
    pub fn query(&self, arguments: &[u32]) -> String {
        let mut arguments = arguments.iter();
        self.write(|out, piece| {
            let _ = match piece {
                Piece::Negation => write!(out, "-2"),
                Piece::Union => write!(out, "-1"),
                _ => match arguments.next() {
                    Some(number) => write!(out, "{number}"),
                    None => write!(out, "?"),
                },
            };
        })
    }

    /// The place of the shape in the literature's tables; unknown shapes come last.
    pub(crate) fn rank(&self) -> usize {
        let text = self.to_string();
        SHAPES.iter().position(|(_, skeleton)| *skeleton == text).unwrap_or(SHAPES.len())
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// A skeleton of this program's own tables, in which `'_'` stands for a value that does not matter.
    pub(crate) fn pattern(text: &'static str) -> Self {
        Self { pieces: text.chars().filter_map(Piece::of).collect() }
    }

    fn write(&self, mut letter: impl FnMut(&mut String, Piece)) -> String {
        let mut out = String::new();
        // How many items the open tuples have so far.
        let mut open: Vec<usize> = Vec::new();
        for &piece in &self.pieces {
            if piece == Piece::Close {
                if open.pop() == Some(1) {
                    out.push(',');
                }
                out.push(')');
                continue;
            }
            if let Some(items) = open.last_mut() {
                if *items > 0 {
                    out.push(',');
                }
                *items += 1;
            }
            if piece == Piece::Open {
                open.push(0);
                out.push('(');
            } else {
                letter(&mut out, piece);
            }
        }
        out
    }
}

impl std::fmt::Display for Skeleton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.write(|out, piece| {
            out.push_str(match piece {
                Piece::Entity => "'e'",
                Piece::Relation => "'r'",
                Piece::Negation => "'n'",
                Piece::Union => "'u'",
                Piece::Any | Piece::Open | Piece::Close => "'_'",
            });
        }))
    }
}

impl FromStr for Skeleton {
    type Err = SkeletonError;

    fn from_str(text: &str) -> Result<Self, SkeletonError> {
        parse(text)
    }
}

fn parse(text: &str) -> Result<Skeleton, SkeletonError> {
    let shown = || text.chars().take(100).collect::<String>();
    let wrong = |expected, at| SkeletonError::Syntax { expected, at, text: shown() };
    let characters: Vec<(usize, char)> =
        (1..).zip(text.chars()).filter(|(_, c)| !c.is_whitespace()).collect();
    let mut pieces = Vec::new();
    let mut depth = 0;
    // Whether an item may stand here; otherwise a comma or a bracket must come first.
    let mut item = true;
    let mut rest = characters.as_slice();
    loop {
        if pieces.len() > Skeleton::LIMIT {
            return Err(SkeletonError::TooLong { limit: Skeleton::LIMIT, text: shown() });
        }
        rest = match *rest {
            [(_, '('), ref rest @ ..] if item && (depth > 0 || pieces.is_empty()) => {
                pieces.push(Piece::Open);
                depth += 1;
                rest
            }
            [(_, ')'), ref rest @ ..] if depth > 0 && pieces.last() != Some(&Piece::Open) => {
                pieces.push(Piece::Close);
                depth -= 1;
                item = false;
                rest
            }
            [(_, ','), ref rest @ ..] if !item && depth > 0 => {
                item = true;
                rest
            }
            [(_, quote @ ('\'' | '"')), (at, letter), (_, close), ref rest @ ..]
                if item && depth > 0 && quote == close =>
            {
                let piece = Piece::of(letter).filter(|_| "ernu".contains(letter));
                pieces.push(piece.ok_or_else(|| wrong("one of the letters e, r, n, u", at))?);
                item = false;
                rest
            }
            [] if depth == 0 && !pieces.is_empty() => return Ok(Skeleton { pieces }),
            _ => {
                let at = rest.first().map_or(text.chars().count() + 1, |&(at, _)| at);
                return Err(wrong(
                    if depth == 0 {
                        "one tuple"
                    } else {
                        "a letter in quotes, a tuple, a comma or a bracket"
                    },
                    at,
                ));
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_the_literature_has_its_name_and_its_place() {
        for (rank, (name, text)) in SHAPES.into_iter().enumerate() {
            let skeleton: Skeleton = text.parse().unwrap();
            assert_eq!((skeleton.to_string().as_str(), skeleton.shape().as_str()), (text, name));
            assert_eq!((skeleton.rank(), Skeleton::of_shape(name)), (rank, Some(skeleton)));
        }
    }

    #[test]
    fn an_unknown_shape_is_named_by_its_skeleton() {
        let skeleton: Skeleton = "( 'e', (\"r\",'r','r','r','r','r') )".parse().unwrap();
        assert_eq!(skeleton.shape(), "('e',('r','r','r','r','r','r'))");
        assert_eq!((skeleton.arity(), skeleton.rank()), (7, SHAPES.len()));
    }

    #[test]
    fn roles_leave_the_markers_out() {
        use Role::{Entity, Relation};
        let skeleton = Skeleton::of_shape("pni").unwrap();
        assert_eq!(skeleton.roles(), [Entity, Relation, Relation, Entity, Relation]);
        assert_eq!(skeleton.query(&[1, 2, 3, 4, 5]), "((1,(2,3,-2)),(4,(5,)))");
        assert_eq!(
            Skeleton::of_shape("up").unwrap().query(&[1, 2, 3, 4, 5]),
            "(((1,(2,)),(3,(4,)),(-1,)),(5,))"
        );
    }

    #[test]
    fn a_wrong_skeleton_is_refused_with_its_place() {
        let message = |text: &str| text.parse::<Skeleton>().unwrap_err().to_string();
        insta::assert_snapshot!(message("('e',('x',))"), @r#"expected one of the letters e, r, n, u at character 8 of the skeleton "('e',('x',))"; write it as in (('e',('r',)),('e',('r','n')))"#);
        insta::assert_snapshot!(message("('e',('r',)"), @r#"expected a letter in quotes, a tuple, a comma or a bracket at character 12 of the skeleton "('e',('r',)"; write it as in (('e',('r',)),('e',('r','n')))"#);
        insta::assert_snapshot!(message("'e'"), @r#"expected one tuple at character 1 of the skeleton "'e'"; write it as in (('e',('r',)),('e',('r','n')))"#);
        insta::assert_snapshot!(message(""), @r#"expected one tuple at character 1 of the skeleton ""; write it as in (('e',('r',)),('e',('r','n')))"#);
        for text in
            ["()", "('e',())", "('e' 'r')", "('e'),('r')", "(,'e')", "('_',)", "('e',,'r')", ")", "('e'))"]
        {
            assert!(text.parse::<Skeleton>().is_err(), "{text}");
        }
        assert!(matches!("(".repeat(1000).parse::<Skeleton>(), Err(SkeletonError::TooLong { .. })));
    }
}
