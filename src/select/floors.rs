//! Each responsibility is sure of its floor before any other takes more.

use super::Rule;
use super::ledger::{Ledger, Ranked, responsibility};
use crate::request::{Budget, Responsibility};

/// In layer order, what is optional comes in at its turn while its responsibility holds less than its floor.
pub(super) fn floors<'r>(ranked: &Ranked<'r>, budget: &Budget, ledger: &mut Ledger<'r>) {
    for &of in Responsibility::ALL {
        let floor = budget.share(of).floor;
        if floor == 0 {
            continue;
        }
        for candidate in ranked.order.iter().filter(|candidate| responsibility(candidate) == of) {
            if ledger.held(of) >= floor {
                break;
            }
            ledger.offer(*candidate, ranked, Rule::Floor);
        }
    }
}
