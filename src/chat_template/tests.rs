//! Tests that answer as Jinja2's do where the engine's own do not.

use minijinja::Environment;
use minijinja::value::{Value, ValueKind};

pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_test("sequence", |value: Value| {
        let kind = value.kind();
        matches!(kind, ValueKind::Seq | ValueKind::String | ValueKind::Map | ValueKind::Undefined)
            || kind == ValueKind::Iterable && value.len().is_some()
    });
    environment.add_test("iterable", |value: Value| {
        !matches!(value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number | ValueKind::Plain)
    });
    environment.add_test("callable", |value: Value| value.kind() == ValueKind::Plain);
}
