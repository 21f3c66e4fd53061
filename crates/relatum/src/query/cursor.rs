//! A question that is being written: where the cursor stands in it, and whether it is complete.

use super::place::Place;

/// The words of the text syntax.
pub const KEYWORDS: [&str; 4] = ["and", "exists", "not", "or"];

/// Where the cursor stands in a question of the text syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Where the name that is being written begins, in bytes.
    pub start: usize,
    /// Whether it is an argument of an atom, not a relation.
    pub in_atom: bool,
    /// Where the relation of that atom stands, and how many arguments come before this one.
    pub atom: Option<(Place, usize)>,
}

impl Cursor {
    /// The cursor after a text.
    pub fn after(text: &str) -> Self {
        let mut word = 0;
        let mut argument = 0;
        // What stands before each open parenthesis, if that is a relation, and how many commas follow it.
        let mut open: Vec<Option<(Place, usize)>> = Vec::new();
        let mut named = false;
        let scan = Scan::new(text);
        let quoted = scan.unclosed;
        for (at, c) in scan {
            let next = at + c.len_utf8();
            match c {
                '(' => {
                    open.push(named.then(|| (Place::new(word..at), 0)));
                    (word, argument, named) = (next, next, false);
                }
                ')' => {
                    open.pop();
                    (word, named) = (next, false);
                }
                ',' => {
                    if let Some(Some((_, commas))) = open.last_mut() {
                        *commas += 1;
                    }
                    (word, argument, named) = (next, next, false);
                }
                c if c.is_whitespace() => word = next,
                '&' | '|' | '!' | '∧' | '∨' | '¬' | '∃' => (word, named) = (next, false),
                // The end of `exists F.` and of the target, unless more of a name follows.
                '.' | ':' => named = false,
                _ => named = !KEYWORDS.contains(&&text[word..next]),
            }
        }
        let atom = open.last().copied().flatten();
        let in_atom = atom.is_some();
        let blanks = text[argument..].len() - text[argument..].trim_start().len();
        let start = quoted.unwrap_or(if in_atom { argument + blanks } else { word });
        Self { start, in_atom, atom }
    }
}

/// The characters of a text, without the content of quoted names: of those it has the first quote.
struct Scan {
    characters: std::vec::IntoIter<(usize, char)>,
    /// Where the quote begins that is never closed.
    unclosed: Option<usize>,
}

impl Scan {
    fn new(text: &str) -> Self {
        let mut outside = Vec::new();
        let mut quote: Option<(usize, char)> = None;
        let mut escaped = false;
        let mut before = ' ';
        for (at, c) in text.char_indices() {
            match quote {
                Some(_) if escaped => escaped = false,
                Some(_) if c == '\\' => escaped = true,
                Some((_, open)) if c == open => quote = None,
                Some(_) => {}
                None => {
                    // An apostrophe within a word, as in Crohn's, opens no quote.
                    if c == '"' || (c == '\'' && !before.is_alphanumeric()) {
                        quote = Some((at, c));
                    }
                    outside.push((at, c));
                }
            }
            before = c;
        }
        Self { characters: outside.into_iter(), unclosed: quote.map(|(at, _)| at) }
    }
}

impl Iterator for Scan {
    type Item = (usize, char);

    fn next(&mut self) -> Option<Self::Item> {
        self.characters.next()
    }
}

/// Whether a question cannot end here: a bracket is open, or it ends with a word or sign that something must follow.
///
/// ```
/// use relatum::query::is_unfinished;
///
/// assert!(is_unfinished("?A : stars(F,"));
/// assert!(!is_unfinished("?A : stars(F, A)"));
/// ```
pub fn is_unfinished(text: &str) -> bool {
    let scan = Scan::new(text);
    let depth = scan.fold(0i64, |depth, (_, c)| match c {
        '(' | '{' | '[' => depth + 1,
        ')' | '}' | ']' => depth - 1,
        _ => depth,
    });
    let last = text.split_whitespace().next_back().unwrap_or_default();
    depth > 0 || KEYWORDS.contains(&last) || last.ends_with([':', '.', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_unfinished_while_a_bracket_is_open_or_its_last_word_needs_another() {
        assert!(is_unfinished("?A : stars(F,"));
        assert!(is_unfinished("SELECT ?a WHERE {"));
        assert!(is_unfinished("?A : exists F.") && is_unfinished("?A : stars(F, A) and"));
        assert!(!is_unfinished("?A : stars(\"(\", A)"));
        assert!(!is_unfinished("?A : has(Crohn's, A)"));
        assert!(!is_unfinished("?A : stars(F, A))"));
    }

    #[test]
    fn the_cursor_knows_whether_it_is_within_an_atom() {
        let of = |text: &str| (Cursor::after(text).start, Cursor::after(text).in_atom);
        assert_eq!(of("?A : st"), (5, false));
        assert_eq!(of("?A : stars(Bad Bo"), (11, true));
        assert_eq!(of("?A : stars(F, \"Bad Bo"), (14, true));
        assert_eq!(of("?A : not (sta"), (10, false));
    }
}
