//! How figures and tables look.

use std::io::Write;
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use relatum::graph::visible;
pub(crate) use relatum::report::{counted, grouped};

/// A table without lines: the columns named in `right` are aligned to the right.
pub(crate) fn table(header: &[&str], right: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The table as text, indented by two, without blanks at the ends of lines.
pub(crate) fn render(table: &Table) -> String {
    let mut text = String::new();
    for line in table.to_string().lines() {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Standard output. What a person reads goes through [`shown`]; what a program reads (JSON, comma-separated
/// values) is written as it is.
pub(crate) fn out(for_a_program: bool) -> Out {
    Out { out: std::io::stdout().lock(), for_a_program }
}

pub(crate) struct Out {
    out: std::io::StdoutLock<'static>,
    for_a_program: bool,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.for_a_program {
            return self.out.write(bytes);
        }
        self.out.write_all(shown(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// A text of several lines with all control characters escaped except the ends of lines.
///
/// Names of a graph come from the engine escaped, their line ends too; this is for all other text that somebody
/// may have forged: paths, lines of a file in a message.
pub(crate) fn shown(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Prints a message on standard error, beside the results. It does not matter if that fails.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", shown(text));
}

/// Prints a text with colours of our own, whose parts are [`shown`] already.
pub(crate) fn say_coloured(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A path as it is typed in a shell.
pub(crate) fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_ends_act_on_a_terminal() {
        assert_eq!(shown("one\u{1b}[2J\r\ntwo\u{202e}\n"), "one\\u001B[2J\\r\ntwo\\u202E\n");
    }

    #[test]
    fn paths_are_quoted_where_a_shell_would_cut_them() {
        assert_eq!(typed(Path::new("a/b-1")), "a/b-1");
        assert_eq!(typed(Path::new("my films")), "'my films'");
        assert_eq!(typed(Path::new("it's")), r"'it'\''s'");
    }
}
