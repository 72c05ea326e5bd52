//! What one result may hold.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::text::prefix_within;

/// What is kept free in a result for all that is not a list: names, totals and the cursor.
const RESERVED_BYTES: usize = 384;

/// The longest role or origin that is given whole where something is given in part.
const LABEL_BYTES: usize = 256;

/// The most entries of a list that are given where something is given in part.
const LIST_ENTRIES: usize = 16;

/// A list in JSON, as long as it may be.
pub struct Page {
    entries: String,
    room: usize,
}

impl Page {
    pub fn new(max_bytes: usize) -> Self {
        Page { entries: String::new(), room: max_bytes.saturating_sub(RESERVED_BYTES) }
    }

    /// The bytes that are left.
    pub fn left(&self) -> usize {
        self.room.saturating_sub(self.entries.len())
    }

    /// All bytes that an entry may have that stands alone.
    pub fn room(&self) -> usize {
        self.room
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an entry, if it fits.
    pub fn add(&mut self, entry: &str) -> bool {
        let is_first = self.is_empty();
        if entry.len() + usize::from(!is_first) > self.left() {
            return false;
        }
        if !is_first {
            self.entries.push(',');
        }
        self.entries.push_str(entry);
        true
    }

    /// The list.
    pub fn finish(self) -> String {
        format!("[{}]", self.entries)
    }
}

/// JSON of what always can be written.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it holds no map with other keys than strings")
}

/// An object whose long texts and lists are cut, with the full sizes of those under `cut`.
pub fn shortened(object: Map<String, Value>) -> Map<String, Value> {
    let mut cut = Map::new();
    let mut short = Map::new();
    for (key, value) in object {
        let value = match value {
            Value::String(text) => {
                let (bytes, _) = prefix_within(&text, LABEL_BYTES);
                if bytes < text.len() {
                    cut.insert(key.clone(), json!(text.chars().count()));
                }
                Value::from(&text[..bytes])
            }
            Value::Array(mut list) => {
                if list.len() > LIST_ENTRIES {
                    cut.insert(key.clone(), json!(list.len()));
                    list.truncate(LIST_ENTRIES);
                }
                Value::Array(list)
            }
            other => other,
        };
        short.insert(key, value);
    }
    if !cut.is_empty() {
        short.insert("cut".to_owned(), Value::Object(cut));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_what_fits() {
        let mut page = Page::new(RESERVED_BYTES + 5);
        assert!(page.add("11") && page.add("22"));
        assert!(!page.add("3"), "a comma has to fit too");
        assert_eq!(page.finish(), "[11,22]");
    }

    #[test]
    fn what_is_cut_says_so() {
        let Value::Object(object) = json!({"a": "x", "b": "é".repeat(200), "c": vec![0; 17], "d": 1}) else {
            unreachable!()
        };
        let short = Value::Object(shortened(object));
        assert_eq!(short["b"], "é".repeat(128));
        assert_eq!(short["cut"], json!({"b": 200, "c": 17}));
        assert_eq!(short["c"].as_array().unwrap().len(), 16);
        assert_eq!((&short["a"], &short["d"]), (&json!("x"), &json!(1)));
    }
}
