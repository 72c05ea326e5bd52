//! The space a selection is made in.

use std::collections::BTreeMap;

use super::words::{Responsibility, Unit};
use crate::error::{Code, Error, Result};

/// What a model takes, and how it is shared out. All sizes are in [`Budget::unit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is counted.
    pub unit: Unit,
    /// What the model takes in all; without it there is no limit.
    pub window: Option<u64>,
    /// What is kept free for the answer.
    pub reserved_output: u64,
    /// The shares that are bounded.
    pub responsibilities: BTreeMap<Responsibility, Share>,
}

/// The bounds of one responsibility.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Its optional fragments come before all others while it holds less than this.
    pub floor: u64,
    /// No optional fragment takes it past this.
    pub cap: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { unit: Unit::Chars, window: None, reserved_output: 0, responsibilities: BTreeMap::new() }
    }
}

impl Budget {
    /// The bounds of a responsibility; none where nothing is said of it.
    pub fn share(&self, responsibility: Responsibility) -> Share {
        self.responsibilities.get(&responsibility).copied().unwrap_or_default()
    }

    /// The rules between its parts.
    pub(super) fn check(&self) -> Result<()> {
        for (responsibility, share) in &self.responsibilities {
            if let Some(cap) = share.cap
                && share.floor > cap
            {
                let message = format!("the floor {} is over the cap {cap}", share.floor);
                return Err(Error::new(Code::BudgetFloorOverCap, message)
                    .with_hint("a floor is what a responsibility is sure of, a cap what it never passes")
                    .with_path(format!("budget.responsibilities.{}.floor", responsibility.as_str())));
            }
        }
        let Some(window) = self.window else { return Ok(()) };
        let Some(free) = window.checked_sub(self.reserved_output) else {
            let message = format!("reserved_output {} is over the window {window}", self.reserved_output);
            return Err(Error::new(Code::BudgetReservedOverWindow, message)
                .with_hint("the window holds both the prompt and the answer")
                .with_path("budget.reserved_output"));
        };
        let floors = self.responsibilities.values().fold(0u64, |sum, share| sum.saturating_add(share.floor));
        if floors > free {
            let message = format!("the floors come to {floors}, but the window without reserved_output holds {free}");
            return Err(Error::new(Code::BudgetFloorsOverWindow, message)
                .with_hint("lower the floors: what all are sure of has to be there")
                .with_path("budget.responsibilities"));
        }
        Ok(())
    }
}
