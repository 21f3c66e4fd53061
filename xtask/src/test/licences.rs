//! Checks that every dependency has a licence that requires no more than keeping its notice and, if the database of
//! advisories is available, that no dependency has a known vulnerability.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::shell::{self, cargo};

/// Licences that require no more than their notice; `MPL-2.0` also requires changes of its own files.
const ALLOWED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
    "bzip2-1.0.6",
];

/// Checks the dependencies of the workspace in a folder.
pub(super) fn run(workspace: &Path) -> anyhow::Result<()> {
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
    let output = metadata.current_dir(workspace).output()?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("the packages of cargo metadata")?;
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default()))
        .map(|package| format!("{} ({})", package["name"], package["license"]))
        .collect();
    ensure!(refused.is_empty(), "licences that are not on the list of {}: {}", file!(), refused.join(", "));
    println!("{} packages, all under licences of the list", packages.len());
    advisories(workspace)
}

/// Whether one of the alternatives of a licence expression names only licences of the list.
fn is_allowed(expression: &str) -> bool {
    // Older packages write `/` for `OR`.
    let alternatives = expression.replace('/', " OR ").replace(['(', ')'], " ");
    alternatives.split(" OR ").any(|all| all.split(" AND ").all(|one| ALLOWED.contains(&one.trim())))
}

/// Checks the database of advisories, if the tool and the database are available.
fn advisories(workspace: &Path) -> anyhow::Result<()> {
    let there = Command::new("cargo").args(["audit", "--version"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("advisories: not checked, because `cargo audit` is not installed");
        return Ok(());
    }
    let fetched = Command::new("cargo").args(["audit", "--quiet"]).current_dir(workspace).output()?;
    let said = String::from_utf8_lossy(&fetched.stderr);
    if said.contains("couldn't fetch advisory database") {
        println!("advisories: not checked, because their database cannot be reached");
        return Ok(());
    }
    shell::run(Command::new("cargo").args(["audit", "--no-fetch"]).current_dir(workspace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_good_alternative_is_enough_and_every_part_of_it_must_be_good() {
        for good in ["MIT", "MIT OR GPL-3.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND AGPL-3.0"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }
}
