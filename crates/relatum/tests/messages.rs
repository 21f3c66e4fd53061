//! The engine speaks of concepts: flags and commands are the command line's, and every other door has its own.

mod source;

use std::fs;
use std::path::Path;

use source::{files, shipped};

/// Flags of other programs, in commands that convert their files.
const OTHERS: [&str; 2] = ["libreoffice --headless", "--convert-to csv"];

#[test]
fn messages_name_neither_flags_nor_commands() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let code = shipped(&fs::read_to_string(&file).unwrap());
        let lines = code.lines().filter(|line| names_a_flag_or_command(line));
        found.extend(lines.map(|line| format!("src/{inside}: {}", line.trim())));
    }
    assert!(found.is_empty(), "messages that name a flag or a command:\n{}", found.join("\n"));
}

#[test]
fn a_flag_or_a_command_in_a_message_is_found() {
    assert!(names_a_flag_or_command(r#"#[error("train without --resume")]"#));
    assert!(names_a_flag_or_command(r#"let help = "make one with `relatum init`";"#));
    assert!(!names_a_flag_or_command(r#""libreoffice --headless --convert-to csv FILE""#));
    assert!(!names_a_flag_or_command("let left = a - -b;"));
}

fn names_a_flag_or_command(line: &str) -> bool {
    let line = OTHERS.iter().fold(line.to_owned(), |line, other| line.replace(other, ""));
    let flag = line.split("--").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    flag || line.contains("`relatum ")
}
