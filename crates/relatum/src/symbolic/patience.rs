//! When a search gives up.

use std::cell::Cell;

use crate::control::Control;

/// How many steps are taken between two looks at the clock, which costs more than a step. Tests have
/// tiny graphs, and would never come to the second look.
const STEPS: u32 = if cfg!(test) { 2 } else { 256 };

/// Says at every step whether to go on. Once patience is lost, everything ends as soon as it can, and
/// the sets that come back mean nothing.
pub(super) struct Patience {
    control: Control,
    steps: Cell<u32>,
    /// The steps that are left, where their number is limited: a number, not a time, so that the result does
    /// not depend on the machine.
    left: Cell<u64>,
    lost: Cell<bool>,
}

impl Patience {
    pub(super) fn new(control: &Control) -> Self {
        Self {
            control: control.clone(),
            steps: Cell::new(0),
            left: Cell::new(u64::MAX),
            lost: Cell::new(control.is_late()),
        }
    }

    /// Patience for so many steps.
    pub(super) fn of_steps(steps: u64) -> Self {
        let patience = Self::new(&Control::default());
        patience.left.set(steps);
        patience
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Counts a step; `false` if the steps or the time are used up.
    pub(super) fn step(&self) -> bool {
        self.steps.set((self.steps.get() + 1) % STEPS);
        self.left.set(self.left.get().saturating_sub(1));
        if self.left.get() == 0 || (self.steps.get() == 0 && self.control.is_late()) {
            self.lost.set(true);
        }
        !self.is_lost()
    }
}
