//! Running the built binary and measuring it from outside.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::shell::root;

/// What one run took.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    /// Peak resident memory in MB (10⁶ bytes), where the system tells.
    pub(super) peak_mb: f64,
}

/// The release build of `relatum`.
pub(super) fn relatum() -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Command::new(target.join("release/relatum"))
}

/// Runs a command quietly; it must succeed.
pub(super) fn measure(command: &mut Command) -> anyhow::Result<Cost> {
    let start = Instant::now();
    let mut child =
        command.stdout(Stdio::null()).spawn().with_context(|| format!("cannot start {command:?}"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        // The kernel keeps the high-water mark only while the process exists.
        peak_kib = high_water(&status_file).unwrap_or(peak_kib);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(1));
    };
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(Cost { seconds: start.elapsed().as_secs_f64(), peak_mb: peak_kib as f64 * 1024.0 / 1e6 })
}

fn high_water(status_file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
