//! Tests the page in a real browser, and that its committed files match its sources.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::shell::{self, root};

/// Where Debian puts the browser; the variable `CHROMIUM` names another.
const CHROMIUM: &str = "/usr/bin/chromium";

pub(super) fn run() -> anyhow::Result<()> {
    let relatum = super::command()?;
    install()?;
    let npm = |arguments: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(root().join("web"));
        npm
    };
    shell::run(&mut npm(&["ci", "--no-audit", "--no-fund"]))?;
    shell::run(&mut npm(&["run", "check"]))?;
    shell::run(npm(&["test"]).env("RELATUM_BIN", relatum))
}

/// Installs Node and a browser from the packages of Debian, if they are missing.
fn install() -> anyhow::Result<()> {
    let missing =
        |tool: &str| !Command::new(tool).arg("--version").output().is_ok_and(|it| it.status.success());
    let mut packages = Vec::new();
    if missing("node") || missing("npm") {
        packages.extend(["nodejs", "npm"]);
    }
    if std::env::var_os("CHROMIUM").is_none() && !Path::new(CHROMIUM).exists() {
        packages.push("chromium");
    }
    if packages.is_empty() {
        return Ok(());
    }
    ensure!(!missing("apt-get"), "the tests of the page need {}; please install them", packages.join(", "));
    println!("installing {}", packages.join(", "));
    let mut update = Command::new("apt-get");
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(&packages);
    shell::run(update.arg("update"))
        .and_then(|()| shell::run(install.env("DEBIAN_FRONTEND", "noninteractive")))
        .with_context(|| format!("install {} by hand, as root", packages.join(", ")))
}
