//! Characters that look alike, by the tables of Unicode's UTS #39.

use std::collections::VecDeque;

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

use super::normalise::{Item, Items, is_invisible};

/// The longest stretch of characters that may stand for another one; real ones have three.
const LONGEST: usize = 16;

/// Whether two characters, with as many after them as it takes, look alike without being the same. Reads what belongs
/// to the stretch from both sides.
///
/// Not every likeness counts. Between ASCII characters (`l` and `1`, `rn` and `m`) it is more likely a typing error;
/// between normalization forms, white space or what cannot be seen it has a class of its own.
pub(super) fn look_alike(x: char, y: char, a: &mut Items<'_>, b: &mut Items<'_>) -> bool {
    let (mut seen_a, mut seen_b) = (x.to_string(), y.to_string());
    let (mut look_a, mut look_b) = (looks(x), looks(y));
    loop {
        while let (Some(one), Some(other)) = (look_a.front(), look_b.front()) {
            if one != other {
                return false;
            }
            look_a.pop_front();
            look_b.pop_front();
        }
        let (next, seen, look) = match (look_a.is_empty(), look_b.is_empty()) {
            (true, true) => break,
            (true, false) => (a.next(), &mut seen_a, &mut look_a),
            (false, _) => (b.next(), &mut seen_b, &mut look_b),
        };
        match next {
            Some(Item::Char(c)) if seen.len() < LONGEST => {
                seen.push(c);
                look.extend(looks(c));
            }
            _ => return false,
        }
    }
    let has_other_than_ascii = !seen_a.is_ascii() || !seen_b.is_ascii();
    has_other_than_ascii && !seen_a.nfkc().eq(seen_b.nfkc())
}

/// What a character looks like, in the characters the tables choose to say it with.
fn looks(c: char) -> VecDeque<char> {
    if c.is_whitespace() || c == '\u{feff}' || is_invisible(c) {
        return VecDeque::from([c]);
    }
    skeleton(c.encode_utf8(&mut [0; 4])).collect()
}
