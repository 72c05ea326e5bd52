//! Plain scalars by the core schema (YAML 1.2.2, 10.3.2).

/// What a scalar without quotes is.
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int,
    Float,
    Text,
}

impl Plain {
    pub fn of(text: &str) -> Plain {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
            "true" | "True" | "TRUE" => return Plain::Bool(true),
            "false" | "False" | "FALSE" => return Plain::Bool(false),
            ".nan" | ".NaN" | ".NAN" => return Plain::Float,
            _ => {}
        }
        let digits =
            |text: &str, is_digit: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| is_digit(&byte));
        let octal = text.strip_prefix("0o").is_some_and(|rest| digits(rest, |byte| matches!(byte, b'0'..=b'7')));
        let hex = text.strip_prefix("0x").is_some_and(|rest| digits(rest, u8::is_ascii_hexdigit));
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if octal || hex || digits(unsigned, u8::is_ascii_digit) {
            Plain::Int
        } else if matches!(unsigned, ".inf" | ".Inf" | ".INF") || is_float(unsigned) {
            Plain::Float
        } else {
            Plain::Text
        }
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number_ok = match number.split_once('.') {
        Some((whole, part)) => all_digits(whole) && all_digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !number.is_empty() && all_digits(number),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    number_ok && exponent_ok
}
