//! Every exit code there is.

use polyloop::{Code, Error};

/// How a run ends. Over several results the later one in this order wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done; identical; nothing found.
    Done,
    /// Differs; a check found something; a verdict is unknown.
    Differs,
    /// A budget is exceeded.
    OverBudget,
    /// Could not do it: usage, bad input, I/O.
    Failed,
}

impl Exit {
    pub const TABLE: [(Exit, &str); 4] = [
        (Exit::Done, "done; identical; nothing found"),
        (Exit::Differs, "differs; a check found something; a verdict is unknown"),
        (Exit::Failed, "could not do it: usage, bad input, I/O"),
        (Exit::OverBudget, "a budget is exceeded (context_overflow, budget.required_exceeds)"),
    ];

    /// How a run ends that an error ends.
    pub fn of_error(error: &Error) -> Exit {
        match error.code() {
            Code::BudgetRequiredExceeds => Exit::OverBudget,
            _ => Exit::Failed,
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Differs => 1,
            Exit::Failed => 2,
            Exit::OverBudget => 3,
        }
    }
}
