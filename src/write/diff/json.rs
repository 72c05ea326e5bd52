//! `polyloop.diff/1`.

use serde::{Serialize, Serializer};

use super::DiffReport;
use crate::diff::{Change, Class, FirstDifference, SharedPrefix, Side};
use crate::provider::WireChange;

impl Serialize for DiffReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let comparison = self.comparison;
        let (digest_a, digest_b) = if comparison.identical {
            let digest = self.a.context.digest();
            (digest.clone(), digest)
        } else {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| self.b.context.digest());
                let digest = self.a.context.digest();
                (digest, other.join().unwrap_or_else(|_| self.b.context.digest()))
            })
        };
        #[derive(Serialize)]
        struct Document<'d> {
            schema: &'static str,
            identical: bool,
            a: SideOf<'d>,
            b: SideOf<'d>,
            shared_prefix: SharedPrefix,
            first_difference: &'d Option<FirstDifference>,
            changes: &'d [Change],
            classes: Vec<Class>,
            /// Equal messages, and the first byte in which the files spell them differently.
            #[serde(skip_serializing_if = "Option::is_none")]
            spelled_differently_at_byte: Option<u64>,
            /// Messages were too many to find the shortest list of changes.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            paired_in_order: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            wire: Option<OnTheWire<'d>>,
        }
        Document {
            schema: "polyloop.diff/1",
            identical: comparison.identical,
            a: SideOf::new(&comparison.a, digest_a),
            b: SideOf::new(&comparison.b, digest_b),
            shared_prefix: comparison.shared_prefix,
            first_difference: &comparison.first_difference,
            changes: &comparison.changes,
            classes: comparison.classes(),
            spelled_differently_at_byte: comparison.spelling.as_ref().map(|spelling| spelling.byte),
            paired_in_order: comparison.paired_in_order,
            wire: self.wire.map(|changes| OnTheWire { identical: changes.is_empty(), changes }),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct OnTheWire<'d> {
    identical: bool,
    changes: &'d [WireChange],
}

#[derive(Serialize)]
struct SideOf<'d> {
    source: &'d str,
    digest: String,
    messages: usize,
    chars: Option<u64>,
    bytes: u64,
}

impl<'d> SideOf<'d> {
    fn new(side: &'d Side, digest: String) -> Self {
        let Side { source, messages, size, bytes } = side;
        SideOf { source, digest, messages: *messages, chars: size.known_chars(), bytes: *bytes }
    }
}
