//! What a training run holds in memory, and whether the machine has it.

use super::TrainError;

/// What a training run holds in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The model.
    pub parameters: usize,
    /// What the optimiser remembers.
    pub optimizer: usize,
    /// A gradient as large as the entities. It is made and used in tiles, so less than this is held.
    pub gradient: usize,
    /// The scores of the largest batch.
    pub scores: usize,
}

impl Memory {
    /// The sum of all parts.
    pub fn total(self) -> usize {
        self.parameters + self.optimizer + self.gradient + self.scores
    }
}

/// Refuses a run that needs more memory than is available, before anything is allocated: Linux may grant
/// an allocation that it cannot back, and later kills the process without a message.
pub(super) fn affordable(needed: u64, available: Option<u64>) -> Result<(), TrainError> {
    match available {
        Some(available) if needed > available => Err(TrainError::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// A number of bytes in MB or GB.
pub(super) fn readable(bytes: u64) -> String {
    const MB: f64 = 1e6;
    let bytes = bytes as f64;
    if bytes < 1e3 * MB { format!("{:.1} MB", bytes / MB) } else { format!("{:.1} GB", bytes / (1e3 * MB)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_needs_more_memory_than_available_is_refused_with_both_figures() {
        let available = Some(2_048_000_000);
        assert!(affordable(2_048_000_000, available).is_ok());
        let error = affordable(3_000_000_000, available).unwrap_err().to_string();
        assert!(error.contains("3.0 GB") && error.contains("2.0 GB"), "{error}");
        assert!(affordable(u64::MAX, None).is_ok());
    }
}
