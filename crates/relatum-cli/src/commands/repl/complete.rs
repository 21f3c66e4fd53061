//! Tab and Enter at the prompt: names are completed, open parentheses wait for more.

use relatum::graph::{Dictionary, Graph, Id};
use relatum::query::Syntax;
use relatum::query::syntax::name_text;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};

use super::commands::COMMANDS;
use super::settings;

/// How many names are offered.
const OFFERED: usize = 50;
const KEYWORDS: [&str; 4] = ["and", "exists", "not", "or"];

pub(super) struct Helper<'a> {
    graph: &'a Graph,
}

impl<'a> Helper<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        Self { graph }
    }

    /// Where the word before the cursor begins, and what could stand there.
    fn candidates(&self, text: &str) -> (usize, Vec<Pair>) {
        let Some(command) = text.strip_prefix(':') else { return self.in_question(text) };
        let Some((word, rest)) = command.split_once(' ') else {
            let names = COMMANDS.iter().map(|(name, ..)| format!("{name} "));
            return (1, beginning_with(command, names));
        };
        let start = text.len() - rest.len();
        let shifted = |(at, found): (usize, Vec<Pair>)| (start + at, found);
        match word {
            "plan" => shifted(self.in_question(rest)),
            "describe" | "find" => {
                let mut found = self.names(&self.graph.entities, rest, |text| text);
                found.extend(self.names(&self.graph.relations, rest, |text| text));
                (start, found)
            }
            "set" => shifted(setting(rest)),
            _ => (start, Vec::new()),
        }
    }

    fn in_question(&self, text: &str) -> (usize, Vec<Pair>) {
        if Syntax::detect(text) != Syntax::Text {
            return (text.len(), Vec::new());
        }
        let place = Place::of(text);
        let word = &text[place.start..];
        let quoted = word.starts_with(['"', '\'']);
        let beginning = word.trim_start_matches(['"', '\'']);
        let written = |name: String| {
            let text = name_text(&name);
            if quoted && !text.starts_with('"') { format!("\"{text}\"") } else { text }
        };
        if place.in_atom {
            if beginning.is_empty() || word.starts_with('?') {
                return (place.start, Vec::new());
            }
            return (place.start, self.names(&self.graph.entities, beginning, written));
        }
        let mut found = self.names(&self.graph.relations, beginning, |name| written(name) + "(");
        if !quoted && !beginning.is_empty() {
            found.extend(beginning_with(beginning, KEYWORDS.iter().map(|word| format!("{word} "))));
        }
        (place.start, found)
    }

    /// The names that begin so; failing that, those that begin so with capital letters.
    fn names<I: Id>(
        &self,
        dictionary: &Dictionary<I>,
        beginning: &str,
        written: impl Fn(String) -> String,
    ) -> Vec<Pair> {
        let prefixes = &self.graph.prefixes;
        let spellings = [beginning.to_owned(), capitalised(beginning, 1), capitalised(beginning, usize::MAX)];
        let found = spellings.iter().map(|text| dictionary.starting_with(text, prefixes, OFFERED));
        let ids = found.into_iter().find(|ids| !ids.is_empty()).unwrap_or_default();
        let pair = |&id: &I| Pair {
            display: dictionary.shown(id, prefixes),
            replacement: written(dictionary.readable(id, prefixes)),
        };
        ids.iter().map(pair).collect()
    }
}

/// `martin la` → `Martin la`, or with all words `Martin La`.
fn capitalised(text: &str, words: usize) -> String {
    let mut begins = true;
    let mut left = words;
    text.chars()
        .flat_map(|c| {
            let upper = begins && left > 0;
            left -= usize::from(upper);
            begins = c.is_whitespace();
            if upper { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] }
        })
        .collect()
}

fn beginning_with(beginning: &str, words: impl Iterator<Item = String>) -> Vec<Pair> {
    words
        .filter(|word| word.starts_with(beginning))
        .map(|word| Pair { display: word.trim_end().to_owned(), replacement: word })
        .collect()
}

/// `:set NAME VALUE`, after `:set `.
fn setting(text: &str) -> (usize, Vec<Pair>) {
    let settings = settings::all();
    let Some((name, value)) = text.split_once(' ') else {
        return (0, beginning_with(text, settings.iter().map(|setting| format!("{} ", setting.name))));
    };
    let choices = settings.into_iter().find(|setting| setting.name == name).map(|setting| setting.choices);
    (text.len() - value.len(), beginning_with(value, choices.unwrap_or_default().into_iter()))
}

/// Where the cursor stands in a question.
struct Place {
    /// Where the name that is being written begins.
    start: usize,
    /// Whether it is an argument of an atom, not a relation.
    in_atom: bool,
}

impl Place {
    fn of(text: &str) -> Self {
        let mut word = 0;
        let mut argument = 0;
        let mut open: Vec<bool> = Vec::new();
        let mut named = false;
        let scan = Scan::new(text);
        let quoted = scan.unclosed;
        for (at, c) in scan {
            let next = at + c.len_utf8();
            match c {
                '(' => {
                    open.push(named);
                    (word, argument, named) = (next, next, false);
                }
                ')' => {
                    open.pop();
                    (word, named) = (next, false);
                }
                ',' => (word, argument, named) = (next, next, false),
                c if c.is_whitespace() => word = next,
                '&' | '|' | '!' | '∧' | '∨' | '¬' | '∃' => (word, named) = (next, false),
                // The end of `exists F.` and of the target, unless more of a name follows.
                '.' | ':' => named = false,
                _ => named = !KEYWORDS.contains(&&text[word..next]),
            }
        }
        let in_atom = open.last() == Some(&true);
        let blanks = text[argument..].len() - text[argument..].trim_start().len();
        let start = quoted.unwrap_or(if in_atom { argument + blanks } else { word });
        Self { start, in_atom }
    }
}

/// The characters of a text, a quoted name as its first quote alone.
struct Scan {
    characters: std::vec::IntoIter<(usize, char)>,
    /// The quote that is never closed.
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
                    // Within a word, as in Crohn's, it is no quote.
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

/// Whether a question goes on in the next line: a bracket is open, or it ends with a word or sign
/// that wants another.
pub(super) fn is_open(text: &str) -> bool {
    if text.trim_start().starts_with(':') {
        return false;
    }
    let scan = Scan::new(text);
    let depth = scan.fold(0i64, |depth, (_, c)| match c {
        '(' | '{' | '[' => depth + 1,
        ')' | '}' | ']' => depth - 1,
        _ => depth,
    });
    let last = text.split_whitespace().next_back().unwrap_or_default();
    depth > 0 || KEYWORDS.contains(&last) || last.ends_with([':', '.', ','])
}

impl Completer for Helper<'_> {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        Ok(self.candidates(&line[..pos]))
    }
}

impl Validator for Helper<'_> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let input = context.input();
        let blank_line = input.ends_with('\n');
        let open = is_open(input) && !blank_line;
        Ok(if open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Helper<'_> {
    type Hint = String;
}

impl Highlighter for Helper<'_> {}

impl rustyline::Helper for Helper<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use relatum::graph::{GraphBuilder, Split};

    fn completed(text: &str) -> Vec<String> {
        let mut builder = GraphBuilder::default();
        for (film, actor) in
            [("Bad Boys", "Martin Lawrence"), ("Hitch", "Will Smith"), ("Mean Streets", "Martin Scorsese")]
        {
            builder.add(Split::Train, film, "stars", actor);
            builder.add(Split::Train, film, "has genre", "Crime");
        }
        let (graph, _) = builder.finish();
        let (start, found) = Helper::new(&graph).candidates(text);
        found.iter().map(|pair| format!("{}{}", &text[..start], pair.replacement)).collect()
    }

    #[test]
    fn relations_are_completed_where_an_atom_begins_and_entities_within() {
        assert_eq!(completed("?A : st"), ["?A : stars("]);
        assert_eq!(completed("?A : exists F. (ha"), ["?A : exists F. (\"has genre\"("]);
        assert_eq!(completed("?A : stars(Hi"), ["?A : stars(Hitch"]);
        assert_eq!(
            completed("?A : stars(F, A) and stars(F, Wi"),
            ["?A : stars(F, A) and stars(F, \"Will Smith\""]
        );
        assert_eq!(completed("?A : exi"), ["?A : exists "]);
        assert_eq!(completed("?A : not (sta"), ["?A : not (stars("]);
    }

    #[test]
    fn names_with_blanks_get_their_quotes_and_capitals() {
        let both = ["?A : stars(F, \"Martin Lawrence\"", "?A : stars(F, \"Martin Scorsese\""];
        for typed in ["Martin", "\"Martin", "'Martin ", "Martin ", "martin", "martin "] {
            assert_eq!(completed(&format!("?A : stars(F, {typed}")), both, "{typed}");
        }
        assert_eq!(completed("?A : stars(F, martin s"), both[1..]);
        assert_eq!(completed("?A : \"has genre\"(F, \"Cr"), ["?A : \"has genre\"(F, \"Crime\""]);
        assert!(completed("?A : stars(F, ").is_empty(), "there could be a million");
    }

    #[test]
    fn commands_settings_and_their_values_are_completed() {
        assert_eq!(completed(":pl"), [":plan "]);
        assert_eq!(completed(":set t-"), [":set t-norm "]);
        assert_eq!(completed(":set t-norm l"), [":set t-norm lukasiewicz"]);
        assert_eq!(completed(":set explain "), [":set explain on", ":set explain off"]);
        assert_eq!(completed(":describe Bad"), [":describe Bad Boys"]);
        assert_eq!(completed(":plan ?A : stars(Hi"), [":plan ?A : stars(Hitch"]);
    }

    #[test]
    fn a_question_is_open_while_a_parenthesis_is() {
        assert!(is_open("?A : stars(F,"));
        assert!(is_open("SELECT ?a WHERE {"));
        assert!(is_open("?A : exists F.") && is_open("?A : stars(F, A) and"));
        assert!(!is_open("?A : stars(\"(\", A)"));
        assert!(!is_open("?A : has(Crohn's, A)"));
        assert!(!is_open(":set k ("));
        assert!(!is_open("?A : stars(F, A))"));
    }
}
