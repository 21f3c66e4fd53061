//! Questions of a file, one a line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Context;
use relatum::query::syntax::MAX_BYTES;

use crate::exit::Misuse;

/// A line that holds a question.
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its text, or why it has none.
    pub(super) text: Result<String, String>,
}

/// All questions of a file, or of standard input where it is `-`; blank lines and comments are skipped.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    let name = path.display();
    if path == Path::new("-") {
        return Ok(lines(&mut std::io::stdin().lock())?);
    }
    if path.is_dir() {
        return Err(Misuse(format!("{name} is a folder: name a file with a question on every line")).into());
    }
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Misuse(format!("there is no file {name}")).into());
        }
        file => file.with_context(|| format!("cannot read {name}"))?,
    };
    lines(&mut BufReader::new(file)).with_context(|| format!("cannot read {name}"))
}

fn lines(input: &mut impl BufRead) -> std::io::Result<Vec<Line>> {
    let mut found = Vec::new();
    for number in 1.. {
        let mut bytes = Vec::new();
        if input.by_ref().take(MAX_BYTES as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let too_long = bytes.len() > MAX_BYTES;
        if too_long && bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        let text = if too_long {
            Err(format!("the line is longer than the {MAX_BYTES} bytes that a question may have"))
        } else {
            String::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())
        };
        let text = text.map(|text| text.trim_start_matches('\u{feff}').trim().to_owned());
        if !text.as_ref().is_ok_and(|text| text.is_empty() || text.starts_with('#')) {
            found.push(Line { number, text });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_skipped_and_wrong_lines_are_named() {
        let mut bytes = "\u{feff}# films\n\n?A : r(a, A)\r\n".as_bytes().to_vec();
        bytes.extend(vec![b'x'; 3 * MAX_BYTES]);
        bytes.extend_from_slice(b"\n\xff\n?B : s(B, b)");
        let found = lines(&mut bytes.as_slice()).unwrap();
        let numbers: Vec<usize> = found.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [3, 4, 5, 6]);
        assert_eq!(found[0].text.as_deref(), Ok("?A : r(a, A)"));
        assert!(found[1].text.as_ref().is_err_and(|why| why.contains("longer than")));
        assert!(found[2].text.as_ref().is_err_and(|why| why.contains("UTF-8")));
        assert_eq!(found[3].text.as_deref(), Ok("?B : s(B, b)"));
    }
}
