//! When to give up.

use std::cell::Cell;

use crate::control::Control;

/// How many steps are taken between two looks at the clock, which costs more than a step. Tests have
/// tiny graphs, and would never come to the second look.
const STEPS: u32 = if cfg!(test) { 2 } else { 256 };

/// Asked at every step whether to go on. Once it is lost, everything ends as soon as it can, with
/// sets that mean nothing.
pub(super) struct Patience {
    control: Control,
    steps: Cell<u32>,
    lost: Cell<bool>,
}

impl Patience {
    pub(super) fn new(control: &Control) -> Self {
        Self { control: control.clone(), steps: Cell::new(0), lost: Cell::new(control.is_late()) }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Counts a step. False: it is not worth taking any more.
    pub(super) fn step(&self) -> bool {
        self.steps.set((self.steps.get() + 1) % STEPS);
        if self.steps.get() == 0 && self.control.is_late() {
            self.lost.set(true);
        }
        !self.is_lost()
    }
}
