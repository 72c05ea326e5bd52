//! Rules of the family content.

use super::{Family, Findings, Rule, Subject};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[];

fn find(_subject: &Subject<'_>, _findings: &mut Findings) {}
