//! Nested lists as text, JSON or Python tuples, with the place of every part.

use crate::query::error::QueryError;
use crate::query::place::Place;
use crate::query::syntax::MAX_DEPTH;

/// A part of nested lists.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(i64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// Reads one value that fills the whole text.
pub(super) fn read(text: &str) -> Result<Value, QueryError> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.unexpected("the end of the query"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Value, QueryError> {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek() {
            Some('[') => Kind::List(self.list(']', Self::value)?),
            Some('(') => Kind::List(self.list(')', Self::value)?),
            Some('{') => Kind::Object(self.list('}', Self::entry)?),
            Some(quote @ ('"' | '\'')) => Kind::Text(self.string(quote)?),
            Some(c) if c == '-' || c.is_ascii_digit() => Kind::Number(self.number()?),
            _ => return Err(self.unexpected("`[`, a number or a quoted name")),
        };
        Ok(Value { kind, place: Place::new(start..self.at) })
    }

    fn entry(&mut self) -> Result<(String, Value), QueryError> {
        self.skip_blanks();
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(self.unexpected("a quoted key"));
        };
        let key = self.string(quote)?;
        self.skip_blanks();
        if self.peek() != Some(':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok((key, self.value()?))
    }

    /// The items up to `close`; a comma may stand after the last one, as in a tuple of one.
    fn list<T>(
        &mut self,
        close: char,
        item: fn(&mut Self) -> Result<T, QueryError>,
    ) -> Result<Vec<T>, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let place = Place::new(self.at..self.at + 1);
            return Err(QueryError::TooDeep { limit: MAX_DEPTH, place });
        }
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek() == Some(close) {
                break;
            }
            items.push(item(self)?);
            self.skip_blanks();
            match self.peek() {
                Some(',') => self.at += 1,
                c if c == Some(close) => break,
                _ => return Err(self.unexpected(&format!("`,` or `{close}`"))),
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(items)
    }

    fn number(&mut self) -> Result<i64, QueryError> {
        let rest = &self.text[self.at..];
        let len = 1 + rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
        let number = rest[..len].parse().ok();
        let number = number.ok_or_else(|| self.unexpected("a number that is an id, -1 or -2"))?;
        self.at += len;
        Ok(number)
    }

    fn string(&mut self, quote: char) -> Result<String, QueryError> {
        let start = self.at;
        let body = &self.text[start + 1..];
        let mut escaped = false;
        let end = body.char_indices().find(|&(_, c)| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some((len, _)) = end else {
            let place = Place::new(start..start + 1);
            return Err(syntax(&format!("a closing {quote}"), "the end of the query", place));
        };
        self.at += len + 2;
        let place = Place::new(start..self.at);
        let raw = &body[..len];
        // A single-quoted text is Python's; with its quotes exchanged it is JSON.
        let json = if quote == '"' {
            format!("\"{raw}\"")
        } else {
            format!("\"{}\"", raw.replace("\\'", "'").replace('"', "\\\""))
        };
        serde_json::from_str(&json)
            .map_err(|_| syntax("a JSON string", &format!("`{quote}{raw}{quote}`"), place))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at = self.text.len() - rest.trim_start().len();
    }

    fn unexpected(&self, expected: &str) -> QueryError {
        let found = self.peek();
        let place = Place::new(self.at..self.at + found.map_or(0, char::len_utf8));
        let found = found.map_or_else(|| "the end of the query".to_owned(), |c| format!("`{c}`"));
        syntax(expected, &found, place)
    }
}

pub(super) fn syntax(expected: &str, found: &str, place: Place) -> QueryError {
    QueryError::Syntax { expected: expected.to_owned(), found: found.to_owned(), help: None, place }
}
