//! Which of two versions is the newer.

use std::cmp::Ordering;

/// How some versions compare: as numbers if all of them are whole numbers, else as text. Decided for all at once, since
/// an order that is made up pair by pair may go round in a circle (9 < 10 < 1a < 9).
#[derive(Clone, Copy)]
pub(super) struct Versions {
    are_numbers: bool,
}

impl Versions {
    pub fn of<'v>(mut versions: impl Iterator<Item = &'v str>) -> Self {
        let is_number = |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        Versions { are_numbers: versions.all(is_number) }
    }

    /// The newer is the greater.
    pub fn compare(self, a: &str, b: &str) -> Ordering {
        if !self.are_numbers {
            return a.cmp(b);
        }
        // Numbers of any length.
        let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
        a.len().cmp(&b.len()).then_with(|| a.cmp(b))
    }

    /// The same, where one that has no version is older than any.
    pub fn compare_known(self, a: Option<&str>, b: Option<&str>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_compare_as_numbers_and_the_rest_as_text() {
        let compare = |versions: &[&str]| {
            let rule = Versions::of(versions.iter().copied());
            rule.compare(versions[0], versions[1])
        };
        assert_eq!(compare(&["9", "10"]), Ordering::Less);
        assert_eq!(compare(&["007", "7"]), Ordering::Equal);
        assert_eq!(compare(&["18446744073709551616", "9"]), Ordering::Greater);
        assert_eq!(compare(&["v9", "v10"]), Ordering::Greater);
        assert_eq!(compare(&["9", "10", "1a"]), Ordering::Greater);
        assert_eq!(Versions::of([].into_iter()).compare_known(None, Some("0")), Ordering::Less);
    }
}
