//! Makes texts that other people wrote safe to show.
//!
//! A label may hold anything: an escape sequence that colours a terminal or renames its window, a line
//! break that forges a line of our output, a mark that turns the direction of writing. In everything that a
//! person reads, such characters are written as escapes, the same as in a quoted name of a question. JSON
//! and other output for programs keep them as they are.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that acts instead of being seen written as an escape: `\n`, `\u001B`.
///
/// ```
/// assert_eq!(relatum::graph::visible("\u{1b}[31mred\n"), r"\u001B[31mred\n");
/// assert_eq!(relatum::graph::visible("Amélie – 天気の子"), "Amélie – 天気の子");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_invisible(c) {
            push_escape(&mut shown, c);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters (C0, DEL, C1), the marks that turn the direction of writing, and the two separators
/// that end a line though they are not control characters.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Adds the escape of a character.
pub(crate) fn push_escape(text: &mut String, c: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        // All of them are below U+10000. Writing to a string cannot fail.
        c => drop(write!(text, "\\u{:04X}", u32::from(c))),
    }
}

/// The text of which this is the visible form; `None` if it has no escape.
pub(super) fn restored(shown: &str) -> Option<String> {
    let mut text = String::with_capacity(shown.len());
    let mut rest = shown;
    let mut any = false;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let escaped = match after.bytes().next() {
            Some(b'n') => Some(('\n', 1)),
            Some(b't') => Some(('\t', 1)),
            Some(b'r') => Some(('\r', 1)),
            Some(b'u') => after.get(1..5).and_then(code).map(|c| (c, 5)),
            _ => None,
        };
        let (c, len) = escaped.unwrap_or(('\\', 0));
        any |= escaped.is_some();
        text.push(c);
        rest = &after[len..];
    }
    text.push_str(rest);
    any.then_some(text)
}

fn code(digits: &str) -> Option<char> {
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(|&c| is_invisible(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_that_act_are_escaped_and_all_others_stay() {
        assert_eq!(visible("\u{1b}]0;title\u{7}"), r"\u001B]0;title\u0007");
        assert_eq!(visible("a\r\n\tb\u{7f}\u{9b}2J"), r"a\r\n\tb\u007F\u009B2J");
        assert_eq!(visible("user\u{202e}gpj.exe\u{2066}\u{2028}"), r"user\u202Egpj.exe\u2066\u2028");
        let plain = "O'Neil \\ \"Zoë\" 日本 👩\u{200d}🚀 שלום";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    proptest! {
        #[test]
        fn nothing_invisible_is_left_and_the_text_can_be_had_back(text in "[a\\\\u0-9\u{1b}\n\u{202e}\u{9b}é]{0,12}") {
            let shown = visible(&text);
            prop_assert!(!shown.contains(is_invisible));
            // A name with a backslash of its own is found as it is, before its escapes are tried.
            if text.contains(is_invisible) && !text.contains('\\') {
                prop_assert_eq!(restored(&shown), Some(text));
            }
        }
    }
}
