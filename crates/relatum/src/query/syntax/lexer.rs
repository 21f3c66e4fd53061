//! Characters → tokens, each with its place.

use crate::graph::visible::is_invisible;
use crate::query::error::QueryError;
use crate::query::name::{Name, NameKind};
use crate::query::place::Place;

/// A word of the language.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    Comma,
    Dot,
    Colon,
    And,
    Or,
    Not,
    Exists,
    /// `?X`
    Variable(String),
    /// A name; `bare` if without quotes or brackets, so that it could also be a variable.
    Name {
        name: Name,
        bare: bool,
    },
    End,
}

/// Reads tokens from a text.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token and its place.
    pub(super) fn token(&mut self) -> Result<(Token, Place), QueryError> {
        self.skip_blanks();
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok((Token::End, Place::new(start..start)));
        };
        let token = match first {
            '(' => self.single(Token::Open),
            ')' => self.single(Token::Close),
            ',' | '∧' => self.single(if first == ',' { Token::Comma } else { Token::And }),
            '.' => self.single(Token::Dot),
            ':' => self.single(Token::Colon),
            '∨' => self.single(Token::Or),
            '¬' | '!' => self.single(Token::Not),
            '∃' => self.single(Token::Exists),
            '&' | '|' => {
                self.at += 1;
                if self.peek() == Some(first) {
                    self.at += 1;
                }
                if first == '&' { Token::And } else { Token::Or }
            }
            '?' => {
                self.at += 1;
                Token::Variable(self.identifier()?)
            }
            '"' | '\'' => self.quoted(first)?,
            '<' => self.iri()?,
            '#' => self.number()?,
            _ => self.word()?,
        };
        Ok((token, Place::new(start..self.at)))
    }

    /// The next variable of a list, with or without `?`; `None` if something else follows.
    pub(super) fn variable(&mut self) -> Result<Option<(String, Place)>, QueryError> {
        self.skip_blanks();
        let start = self.at;
        if self.peek() == Some('?') {
            self.at += 1;
        } else if !self.peek().is_some_and(is_identifier) {
            return Ok(None);
        }
        let name = self.identifier()?;
        Ok(Some((name, Place::new(start..self.at))))
    }

    /// Whether a parenthesis opens next.
    pub(super) fn is_open(&self) -> bool {
        self.text[self.at..].trim_start_matches(is_blank).starts_with('(')
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn single(&mut self, token: Token) -> Token {
        self.at += self.peek().map_or(0, char::len_utf8);
        token
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at = self.text.len() - rest.trim_start_matches(is_blank).len();
            let rest = &self.text[self.at..];
            // `#7` is the thing with id 7, every other `#` begins a comment.
            if !rest.starts_with('#') || rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn identifier(&mut self) -> Result<String, QueryError> {
        let rest = &self.text[self.at..];
        let len = rest.find(|c| !is_identifier(c)).unwrap_or(rest.len());
        if len == 0 {
            let place = Place::new(self.at.saturating_sub(1)..self.at);
            return Err(syntax(
                "the name of a variable",
                "a lone `?`",
                place,
                Some("write a name after it: `?X`"),
            ));
        }
        self.at += len;
        Ok(rest[..len].to_owned())
    }

    fn word(&mut self) -> Result<Token, QueryError> {
        let rest = &self.text[self.at..];
        let len = word_len(rest);
        if len == 0 {
            let found = rest.chars().next().map_or(String::new(), |c| format!("`{c}`"));
            let place = Place::new(self.at..self.at + rest.chars().next().map_or(0, char::len_utf8));
            let help = "put a name with such characters into double quotes";
            return Err(syntax("a name or a word of the language", &found, place, Some(help)));
        }
        let word = &rest[..len];
        self.at += len;
        Ok(keyword(word).unwrap_or_else(|| Token::Name {
            name: Name { kind: NameKind::Text, text: word.to_owned(), place: Place::default() },
            bare: true,
        }))
    }

    fn number(&mut self) -> Result<Token, QueryError> {
        let rest = &self.text[self.at + 1..];
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let digits = &rest[..len];
        let place = Place::new(self.at..self.at + 1 + len);
        if digits.parse::<u32>().is_err() {
            let help = "an id is written #7; a comment begins with # and a blank";
            return Err(syntax("an id", &format!("`#{digits}`"), place, Some(help)));
        }
        self.at += 1 + len;
        // `#007` is the id 7: one way to write it keeps equal queries equal.
        let canonical = digits.trim_start_matches('0');
        let text = if canonical.is_empty() { "0" } else { canonical }.to_owned();
        Ok(Token::Name { name: Name { kind: NameKind::Number, text, place: Place::default() }, bare: false })
    }

    fn iri(&mut self) -> Result<Token, QueryError> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find(|c: char| c == '>' || c == '<' || c == '"' || is_blank(c));
        let Some(len) = end.filter(|&len| rest[len..].starts_with('>')) else {
            let place = Place::new(self.at..self.at + 1);
            let help = "an IRI stands between < and >, without blanks";
            return Err(syntax("an IRI that ends with `>`", "no `>`", place, Some(help)));
        };
        self.at += len + 2;
        Ok(Token::Name { name: Name::iri(&rest[..len]), bare: false })
    }

    fn quoted(&mut self, quote: char) -> Result<Token, QueryError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek() {
            let at = self.at;
            self.at += c.len_utf8();
            match c {
                c if c == quote => return Ok(Token::Name { name: Name::text(text), bare: false }),
                '\\' => text.push(self.escape(at)?),
                c => text.push(c),
            }
        }
        let place = Place::new(start..start + 1);
        let help = "a quote inside of a quoted name is written \\\" or \\'";
        let expected = format!("a closing {quote}");
        Err(syntax(&expected, "the end of the query", place, Some(help)))
    }

    /// The character that an escape stands for; `at` is where its backslash is.
    fn escape(&mut self, at: usize) -> Result<char, QueryError> {
        let letter = self.peek();
        self.at += letter.map_or(0, char::len_utf8);
        let code = |len: usize, lexer: &mut Self| {
            let digits = lexer.text.get(lexer.at..lexer.at + len)?;
            lexer.at += len;
            u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
        };
        let escaped = match letter {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('u') => code(4, self),
            Some('U') => code(8, self),
            Some(c @ ('"' | '\'' | '\\')) => Some(c),
            _ => None,
        };
        escaped.ok_or_else(|| {
            let place = Place::new(at..self.at);
            let found = format!("`{}`", self.text.get(at..self.at).unwrap_or("\\"));
            syntax(
                r#"one of \" \' \\ \n \t \r \uXXXX \UXXXXXXXX"#,
                &found,
                place,
                Some("a backslash is written \\\\"),
            )
        })
    }
}

/// Whether a text can stand for a name without quotes.
pub(super) fn is_bare_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['\'', '#', '?', ':', '.'])
        && word_len(text) == text.len()
        && keyword(text).is_none()
        // Such a character is read without quotes, but we write it quoted and escaped: as it is, it could
        // change how the line around it is shown.
        && !text.contains(is_invisible)
}

/// Whether a text can be the name of a variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_identifier) && keyword(text).is_none()
}

/// The word of the language that a text is, in any case of letters.
pub(super) fn keyword(word: &str) -> Option<Token> {
    let keywords = [("and", Token::And), ("or", Token::Or), ("not", Token::Not), ("exists", Token::Exists)];
    keywords.into_iter().find(|(text, _)| word.eq_ignore_ascii_case(text)).map(|(_, token)| token)
}

pub(super) fn syntax(expected: &str, found: &str, place: Place, help: Option<&str>) -> QueryError {
    QueryError::Syntax {
        expected: expected.to_owned(),
        found: found.to_owned(),
        help: help.map(str::to_owned),
        place,
    }
}

/// The length of the word at the beginning of a text. Dots and colons belong to it where
/// more of the word follows, so that `exists P. x` and `?D: x` end their words.
fn word_len(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if is_word(c) {
            end = at + c.len_utf8();
        } else if c != '.' && c != ':' {
            break;
        }
    }
    end
}

fn is_word(c: char) -> bool {
    !is_blank(c) && !c.is_control() && !"(),.:\"<>&|!?∧∨¬∃".contains(c)
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// White space, and the marks that editors put at the beginning of a file.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
