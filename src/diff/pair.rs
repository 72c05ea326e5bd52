//! Messages of a stretch that are not equal: the same text over other boundaries, and which changed into which.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::{Content, Message, Text};
use crate::measure;

/// The largest product of two lengths for which the best pairing is searched; what is larger is paired in order.
const SEARCHED: usize = 2_500;

/// The text of a message whose blocks are all text.
pub(super) fn text_of<'m>(message: &'m Message<'_>) -> Option<Cow<'m, str>> {
    if let [block] = &*message.blocks {
        return match &block.content {
            Content::Text(text) => Some(text.to_cow()),
            _ => None,
        };
    }
    let mut all = String::new();
    for block in &message.blocks {
        match &block.content {
            Content::Text(text) => all.extend(text.chunks()),
            _ => return None,
        }
    }
    Some(Cow::Owned(all))
}

/// Whether two lists of messages, all of text, hold the same text when their boundaries are left out.
pub(super) fn same_text_in_all(a: &[Message<'_>], b: &[Message<'_>]) -> bool {
    let bytes = |messages: &[Message<'_>]| messages.iter().map(measure::message).map(|size| size.bytes).sum::<u64>();
    // Most lists differ in length, which costs nothing to see.
    bytes(a) == bytes(b) && joined(a).is_some_and(|a| joined(b).is_some_and(|b| a == b))
}

fn joined<'m>(messages: &'m [Message<'_>]) -> Option<Text<'m>> {
    let mut all = Text::default();
    for block in messages.iter().flat_map(|message| &message.blocks) {
        match &block.content {
            Content::Text(text) => all.push_text(text),
            _ => return None,
        }
    }
    Some(all)
}

/// Stretches of `left` and `right` (which hold indices) that hold the same text over other boundaries, in order.
pub(super) fn text_groups(
    a: &[Message<'_>],
    b: &[Message<'_>],
    left: &[usize],
    right: &[usize],
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut groups = Vec::new();
    if left.is_empty() || right.is_empty() || left.len().saturating_mul(right.len()) > SEARCHED {
        return groups;
    }
    let texts_a: Vec<_> = left.iter().map(|&index| text_of(&a[index])).collect();
    let texts_b: Vec<_> = right.iter().map(|&index| text_of(&b[index])).collect();
    let (mut from_a, mut from_b) = (0, 0);
    while from_a < left.len() {
        let found = (from_b..right.len()).find_map(|start_b| {
            let (len_a, len_b) = same_text(&texts_a[from_a..], &texts_b[start_b..])?;
            let group = (from_a..from_a + len_a, start_b..start_b + len_b);
            // What has moved out of the middle leaves no stretch.
            (is_run(&left[group.0.clone()]) && is_run(&right[group.1.clone()])).then_some(group)
        });
        match found {
            Some(group) => {
                (from_a, from_b) = (group.0.end, group.1.end);
                groups.push(group);
            }
            None => from_a += 1,
        }
    }
    groups
}

fn is_run(indices: &[usize]) -> bool {
    indices.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// How many messages of both sides, from the first on, hold the same text; more than one on a side at least.
fn same_text(a: &[Option<Cow<'_, str>>], b: &[Option<Cow<'_, str>>]) -> Option<(usize, usize)> {
    let mut rest_a = a.first()?.as_deref()?;
    let mut rest_b = b.first()?.as_deref()?;
    if rest_a.is_empty() || rest_b.is_empty() {
        return None;
    }
    let (mut len_a, mut len_b) = (1, 1);
    loop {
        let both = rest_a.len().min(rest_b.len());
        if rest_a.as_bytes()[..both] != rest_b.as_bytes()[..both] {
            return None;
        }
        (rest_a, rest_b) = (rest_a.get(both..)?, rest_b.get(both..)?);
        if rest_a.is_empty() && rest_b.is_empty() {
            return (len_a + len_b > 2).then_some((len_a, len_b));
        }
        if rest_a.is_empty() {
            rest_a = a.get(len_a)?.as_deref()?;
            len_a += 1;
        }
        if rest_b.is_empty() {
            rest_b = b.get(len_b)?.as_deref()?;
            len_b += 1;
        }
    }
}

/// A message of one side, of the other, or of both.
pub(super) type Pair = (Option<usize>, Option<usize>);

/// Pairs what changed into what, order kept, so that the sum of likeness is greatest; the rest was removed or inserted.
/// True where the stretch was too large for that and was paired from its start.
pub(super) fn pair_up(a: &[Message<'_>], b: &[Message<'_>], left: &[usize], right: &[usize]) -> (Vec<Pair>, bool) {
    let rest = |from: usize| {
        let removed = left[from.min(left.len())..].iter().map(|&m| (Some(m), None));
        removed.chain(right[from.min(right.len())..].iter().map(|&n| (None, Some(n))))
    };
    if left.is_empty() || right.is_empty() {
        return (rest(0).collect(), false);
    }
    if left.len() == 1 && right.len() == 1 || left.len().saturating_mul(right.len()) > SEARCHED {
        let pairs = left.iter().zip(right).map(|(&m, &n)| (Some(m), Some(n)));
        let both = left.len().min(right.len());
        return (pairs.chain(rest(both)).collect(), both > 1);
    }
    // best[m][n]: the greatest sum over left[m..] and right[n..].
    let columns = right.len() + 1;
    let mut best = vec![0u64; (left.len() + 1) * columns];
    let likeness: Vec<u64> =
        left.iter().flat_map(|&m| right.iter().map(move |&n| (m, n))).map(|(m, n)| likeness(&a[m], &b[n])).collect();
    for m in (0..left.len()).rev() {
        for n in (0..right.len()).rev() {
            let paired = likeness[m * right.len() + n] + best[(m + 1) * columns + n + 1];
            best[m * columns + n] = paired.max(best[(m + 1) * columns + n]).max(best[m * columns + n + 1]);
        }
    }
    let mut pairs = Vec::new();
    let (mut m, mut n) = (0, 0);
    while m < left.len() && n < right.len() {
        let like = likeness[m * right.len() + n];
        let here = best[m * columns + n];
        if like > 0 && here == like + best[(m + 1) * columns + n + 1] {
            pairs.push((Some(left[m]), Some(right[n])));
            (m, n) = (m + 1, n + 1);
        } else if here == best[(m + 1) * columns + n] {
            pairs.push((Some(left[m]), None));
            m += 1;
        } else {
            pairs.push((None, Some(right[n])));
            n += 1;
        }
    }
    pairs.extend(left[m..].iter().map(|&m| (Some(m), None)));
    pairs.extend(right[n..].iter().map(|&n| (None, Some(n))));
    (pairs, false)
}

/// How like two messages are: the same origin and role count, and the share of the text that both begin or end with.
/// 0 is no pair at all.
fn likeness(a: &Message<'_>, b: &Message<'_>) -> u64 {
    let same_role = u64::from(a.role == b.role) * 100;
    let same_origin = u64::from(a.origin == b.origin) * 100;
    let text = match (text_of(a), text_of(b)) {
        (Some(a), Some(b)) => shared_share(a.as_bytes(), b.as_bytes()),
        _ => 0,
    };
    if same_role + same_origin == 0 && text < 500 { 0 } else { same_role + same_origin + text }
}

/// In thousandths of the longer.
fn shared_share(a: &[u8], b: &[u8]) -> u64 {
    let longer = a.len().max(b.len());
    if longer == 0 {
        return 1000;
    }
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    ((start + end) as u64).saturating_mul(1000) / longer as u64
}
