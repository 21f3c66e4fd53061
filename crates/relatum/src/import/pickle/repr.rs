//! Values as Python would show them, up to a limit.

use std::fmt::Write as _;
use std::ops::Range;

use super::arena::{Arena, Node, Value};
use super::text;

/// How much of a value a message shows.
pub(super) const IN_MESSAGES: usize = 100;

/// The name of a class or function with its module.
pub(super) fn dotted(arena: &Arena, module: &Range<usize>, name: &Range<usize>, limit: usize) -> String {
    let mut out = String::new();
    escape(arena.text(module), limit, &mut out);
    out.push('.');
    escape(arena.text(name), limit, &mut out);
    out
}

enum Work {
    Show(Value),
    Text(&'static str),
}

/// The value as Python writes it, without spaces, cut off after about `limit` characters.
///
/// The limit also ends values that contain themselves: every step writes a character.
pub(super) fn repr(arena: &Arena, value: Value, limit: usize) -> String {
    let mut out = String::new();
    let mut work = vec![Work::Show(value)];
    while let Some(next) = work.pop() {
        if out.len() >= limit {
            let mut end = limit;
            while !out.is_char_boundary(end) {
                end -= 1;
            }
            out.truncate(end);
            out.push('…');
            break;
        }
        match next {
            Work::Text(text) => out.push_str(text),
            Work::Show(value) => show(arena, value, limit, &mut out, &mut work),
        }
    }
    out
}

fn show(arena: &Arena, value: Value, limit: usize, out: &mut String, work: &mut Vec<Work>) {
    let Some(node) = arena.as_node(value) else {
        match value {
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(int) => out.push_str(&int.to_string()),
            Value::Float(float) => append(out, format_args!("{float:?}")),
            Value::None | Value::Node(_) => out.push_str("None"),
        }
        return;
    };
    match node {
        Node::Str(range) => {
            out.push('\'');
            escape(arena.text(range), limit, out);
            out.push('\'');
        }
        Node::Bytes(range) => {
            let bytes = arena.bytes(range);
            append(out, format_args!("b'{}'", bytes[..bytes.len().min(limit)].escape_ascii()));
        }
        Node::Long(range) => match text::little_endian(arena.bytes(range)) {
            Some(wide) => out.push_str(&wide.to_string()),
            None => append(out, format_args!("<an integer of {} bytes>", range.len())),
        },
        Node::Tuple(range) => {
            let close = if range.len() == 1 { ",)" } else { ")" };
            sequence("(", arena.values(range), close, limit, out, work);
        }
        Node::FrozenSet(range) if range.is_empty() => out.push_str("frozenset()"),
        Node::FrozenSet(range) => sequence("frozenset({", arena.values(range), "})", limit, out, work),
        Node::List(items) => sequence("[", items, "]", limit, out, work),
        Node::Set(items) if items.is_empty() => out.push_str("set()"),
        Node::Set(items) => sequence("{", items, "}", limit, out, work),
        Node::Dict(entries) => {
            out.push('{');
            work.push(Work::Text("}"));
            // Every entry writes a character or more, so no more than `limit` are ever shown.
            let shown = &entries[..entries.len().min(2 * limit)];
            for (index, &value) in shown.iter().enumerate().rev() {
                work.push(Work::Show(value));
                match index {
                    0 => {}
                    _ if index.is_multiple_of(2) => work.push(Work::Text(",")),
                    _ => work.push(Work::Text(":")),
                }
            }
        }
        Node::Global(global) => out.push_str(&dotted(arena, &global.module, &global.name, limit)),
        Node::Object(object) => {
            work.push(Work::Show(object.arguments));
            work.push(Work::Show(object.class));
        }
        Node::Persistent(id) => {
            out.push_str("<persistent id ");
            work.push(Work::Text(">"));
            work.push(Work::Show(*id));
        }
    }
}

fn sequence(
    open: &str,
    items: &[Value],
    close: &'static str,
    limit: usize,
    out: &mut String,
    work: &mut Vec<Work>,
) {
    out.push_str(open);
    work.push(Work::Text(close));
    for (index, &value) in items[..items.len().min(limit)].iter().enumerate().rev() {
        work.push(Work::Show(value));
        if index > 0 {
            work.push(Work::Text(","));
        }
    }
}

/// Control characters are escaped, so that no file can act on the terminal that shows the message.
fn escape(text: &str, limit: usize, out: &mut String) {
    for c in text.chars().take(limit) {
        match c {
            '"' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
}

fn append(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a `String` cannot fail.
    let _ = out.write_fmt(text);
}
