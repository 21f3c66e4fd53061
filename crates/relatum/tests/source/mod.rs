//! The source of the engine, for tests that read it.

use std::fs;
use std::path::{Path, PathBuf};

/// The code without comments and without the unit tests below it, which may use what they like.
pub(crate) fn shipped(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// The source files, but for those that hold tests alone.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name != "tests" {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !["tests.rs", "testing.rs", "naive.rs"].contains(&name.as_str())
        {
            found.push(path);
        }
    }
    found
}
