//! Paths as words of a shell, so that what is shown can be pasted.

use std::path::Path;

use crate::write::escape::Visible;

/// A path as one word: as it is, in single quotes, or in `$'…'` where it holds what a terminal would not show.
pub(super) fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    // What begins with a dash would be taken for an option.
    let dash = if bytes.first() == Some(&b'-') { "./" } else { "" };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_plain) => format!("{dash}{text}"),
        Ok(text) if text.chars().all(|character| Visible::sign(character).is_none()) => {
            format!("'{dash}{}'", text.replace('\'', "'\\''"))
        }
        _ => format!("$'{dash}{}'", escaped(bytes)),
    }
}

/// Bytes for `$'…'`: printable ASCII as it is, all else as `\xNN`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_one_word() {
        for (path, word) in [
            ("prompts/login.yaml", "prompts/login.yaml"),
            ("my prompts/a.yaml", "'my prompts/a.yaml'"),
            ("it's.yaml", "'it'\\''s.yaml'"),
            ("$(rm).yaml", "'$(rm).yaml'"),
            ("-rf.yaml", "./-rf.yaml"),
            ("- f.yaml", "'./- f.yaml'"),
            ("é.yaml", "'é.yaml'"),
            ("a\nb.yaml", "$'a\\x0ab.yaml'"),
            ("a\u{202e}'b.yaml", "$'a\\xe2\\x80\\xae\\'b.yaml'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }
}
