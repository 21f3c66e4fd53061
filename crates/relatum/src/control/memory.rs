//! How much memory the machine has to spare.

use std::fs;

/// Bytes of memory available without swapping, where the system tells.
pub(crate) fn available_memory() -> Option<u64> {
    available_in(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        let meminfo = "MemTotal:       16000000 kB\nMemFree: 12 kB\nMemAvailable:    2000000 kB\n";
        assert_eq!(available_in(meminfo), Some(2_048_000_000));
        assert_eq!(available_in("nothing of the kind"), None);
    }
}
