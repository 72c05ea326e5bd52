//! What can be told of a message that is no message of the protocol, or too long to be read.

use serde_json::value::RawValue;

/// The outside of a message.
#[derive(Debug, Default)]
pub struct Envelope {
    /// The id, where it is a number or a string: what an answer names.
    pub id: Option<Box<RawValue>>,
    /// Whether there is an id, of whatever kind.
    pub has_id: bool,
    /// Whether it answers something: such a message is never answered, or two sides would answer each other for ever.
    pub is_answer: bool,
}

impl Envelope {
    /// Reads it from a whole message, which need not be JSON.
    pub fn of(bytes: &[u8]) -> Envelope {
        let mut scan = Scan::default();
        scan.push(bytes);
        scan.finish()
    }
}

/// Looks at the keys of the outermost object, byte by byte, and keeps next to nothing.
#[derive(Default)]
pub struct Scan {
    depth: u64,
    is_in_string: bool,
    is_escaped: bool,
    is_object: bool,
    /// The key whose value comes.
    key: Vec<u8>,
    /// What stands at the first level since the last `:` or `,`.
    token: Vec<u8>,
    /// Whether that is more than a key or an id may be.
    is_other: bool,
    has_method: bool,
    has_answer: bool,
    has_id: bool,
    id: Option<Vec<u8>>,
}

/// The longest key or id that is kept.
const MAX_TOKEN_BYTES: usize = 256;

impl Scan {
    pub fn push(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.take(*byte));
    }

    pub fn finish(self) -> Envelope {
        let id = self.id.and_then(|id| serde_json::from_slice::<Box<RawValue>>(&id).ok());
        let is_name =
            |id: &RawValue| id.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
        Envelope {
            id: id.filter(|id| is_name(id)),
            has_id: self.has_id,
            is_answer: self.has_answer && !self.has_method,
        }
    }

    fn take(&mut self, byte: u8) {
        if self.is_in_string {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.is_in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.is_object = byte == b'{';
                } else {
                    self.is_other = true;
                }
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.key = std::mem::take(&mut self.token);
                self.is_other = false;
            }
            b',' if self.depth == 1 => self.end_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || self.is_other {
            return;
        }
        if self.token.len() == MAX_TOKEN_BYTES {
            self.is_other = true;
            self.token.clear();
        } else {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        let token = std::mem::take(&mut self.token);
        let is_other = std::mem::take(&mut self.is_other);
        let key = std::mem::take(&mut self.key);
        match &*key {
            b"\"id\"" if self.is_object => {
                self.has_id = true;
                self.id = (!is_other).then_some(token);
            }
            b"\"method\"" => self.has_method = true,
            b"\"result\"" | b"\"error\"" => self.has_answer = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_that_of_the_outermost_object() {
        let long = format!("{{\"id\":\"{}\"}}", "x".repeat(300));
        for (message, id) in [
            (r#"{"id":7}"#, Some("7")),
            (r#" { "a" : [1, {"id": 3}, "]"] , "id" : "x\"y" } "#, Some(r#""x\"y""#)),
            (r#"{"params":{"id":1,"b":"}\\"},"id":-1.50}"#, Some("-1.50")),
            (r#"{"id":null}"#, None),
            (r#"{"id":[1]}"#, None),
            (r#"{"id":{"id":1}}"#, None),
            (r#"{"id":true}"#, None),
            (r#"{"id":1x}"#, None),
            (r#"{"id":7"#, None),
            (r#"[{"id":7}]"#, None),
            (r#"["id":7]"#, None),
            (r#""id":7"#, None),
            ("}}}]]],,,:::", None),
            (&long, None),
            ("", None),
        ] {
            let found = Envelope::of(message.as_bytes()).id.map(|id| id.get().to_owned());
            assert_eq!(found.as_deref(), id, "{message}");
        }
    }

    #[test]
    fn answers_are_told_from_requests() {
        for (message, is_answer, has_id) in [
            (r#"{"id":7,"result":{}}"#, true, true),
            (r#"{"id":null,"error":{"method":1}}"#, true, true),
            (r#"{"id":7,"method":"x","error":1}"#, false, true),
            (r#"{"params":{"result":1}}"#, false, false),
        ] {
            let envelope = Envelope::of(message.as_bytes());
            assert_eq!((envelope.is_answer, envelope.has_id), (is_answer, has_id), "{message}");
        }
    }
}
