//! Large documents with right answers: one run in many spellings, and the canonical stream of all of them.

use serde_json::json;

/// A run of which everything is known.
pub struct Made {
    prefix: String,
    /// What the model said, and what came back.
    steps: Vec<[String; 2]>,
}

/// How texts are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// As in the canonical stream.
    Canonical,
    /// All that is not ASCII as `\u00e9`, and more than has to be.
    Ascii,
    /// Every other step as the one or the other.
    Mixed,
}

/// In which order the keys stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// What the steps are assembled with stands before them.
    Usual,
    /// The trajectory stands first, the template last, and in a step the observation first.
    StepsFirst,
}

/// How texts are written in YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalars {
    Literal,
    Quoted,
    /// Every other step as the one or the other.
    Mixed,
}

impl Made {
    /// A run of about so many bytes, with short and long texts; `prefix` is the size of its prefix.
    pub fn of(bytes: usize, prefix: usize) -> Self {
        // Round the length from which text is left in its file, and far behind it.
        Made::with(bytes, prefix, &[12, 250, 262, 3000, 9, 20_000, 256, 70_000])
    }

    /// One with short texts alone: much of a file is what lies between them, and so is where a window ends.
    pub fn of_short(bytes: usize) -> Self {
        Made::with(bytes, 100, &[12, 50, 37, 70])
    }

    fn with(bytes: usize, prefix: usize, lengths: &[usize]) -> Self {
        let mut steps = Vec::new();
        let mut left = bytes.saturating_sub(prefix);
        let mut seed = 1;
        while left > 0 {
            let step = [seed, seed + 3].map(|n| text(lengths[n % lengths.len()].min(left.max(12)), n as u32));
            left = left.saturating_sub(step[0].len() + step[1].len());
            steps.push(step);
            seed += 1;
        }
        Made { prefix: text(prefix, 0), steps }
    }

    /// Another run: one word near its end differs.
    pub fn changed(mut self) -> Self {
        let last = self.steps.len() - 2;
        self.steps[last][1].insert_str(0, "changed ");
        self
    }

    /// The canonical stream, spelled by serde_json.
    pub fn stream(&self) -> Vec<u8> {
        let mut stream = String::new();
        let mut push = |role: &str, text: &str| {
            let text = json!(text);
            stream += &format!("{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}\n");
        };
        push("system", &self.prefix);
        push("user", "one");
        push("user", "two");
        push("user", "Do it.");
        for [raw, observation] in &self.steps {
            push("assistant", raw);
            push("user", &format!("<out>\n{observation}\n</out>"));
        }
        stream.into_bytes()
    }

    /// The request in JSON.
    pub fn json(&self, order: Order, escapes: Escapes) -> Vec<u8> {
        let string = |text: &str, n: usize| match escapes {
            Escapes::Canonical => json!(text).to_string(),
            Escapes::Mixed if n.is_multiple_of(2) => json!(text).to_string(),
            Escapes::Ascii | Escapes::Mixed => ascii(text),
        };
        let step = |(n, [raw, observation]): (usize, &[String; 2])| {
            let (raw, observation) = (string(raw, n), string(observation, n));
            match order {
                Order::Usual => format!("{{\"raw_output\": {raw}, \"observation\": {observation}}}"),
                Order::StepsFirst => format!("{{\"observation\": {observation}, \"raw_output\": {raw}}}"),
            }
        };
        let steps: Vec<String> = self.steps.iter().enumerate().map(step).collect();
        let mut entries = [
            format!("\"prefix\": [{{\"role\": \"system\", \"content\": {}}}]", string(&self.prefix, 1)),
            // An entry that stands twice is allowed and warned of.
            "\"injections\": {\"m\": [{\"entry_id\": \"e\", \"content\": \"one\"}, {\"entry_id\": \"e\", \"content\": \"two\"}]}"
                .to_owned(),
            "\"goal\": [{\"role\": \"user\", \"content\": \"Do it.\"}]".to_owned(),
            "\"budget\": {\"max_prompt_chars\": 500000}".to_owned(),
            "\"observation_template\": \"<out>\\n{observation}\\n</out>\"".to_owned(),
            format!("\"trajectory\": [\n{}\n]", steps.join(",\n")),
        ];
        if order == Order::StepsFirst {
            entries.reverse();
        }
        format!("{{\n{}\n}}\n", entries.join(",\n")).into_bytes()
    }

    /// The request in YAML.
    pub fn yaml(&self, scalars: Scalars) -> Vec<u8> {
        let string = |text: &str, n: usize| match scalars {
            Scalars::Quoted => json!(text).to_string(),
            Scalars::Mixed if n.is_multiple_of(2) => json!(text).to_string(),
            Scalars::Literal | Scalars::Mixed => literal(text),
        };
        let mut yaml = format!("prefix:\n  - role: system\n    content: {}\n", string(&self.prefix, 1));
        yaml += "injections: {m: [{entry_id: e, content: one}, {entry_id: e, content: two}]}\n";
        yaml += "goal: [{role: user, content: Do it.}]\nbudget: {max_prompt_chars: 500000}\n";
        yaml += "observation_template: \"<out>\\n{observation}\\n</out>\"\ntrajectory:\n";
        for (n, [raw, observation]) in self.steps.iter().enumerate() {
            yaml += &format!("  - raw_output: {}\n", string(raw, n));
            yaml += &format!("    observation: {}\n", string(observation, n));
        }
        yaml.into_bytes()
    }

    /// A list of the messages, which has none of the stream's bytes in common with it for long.
    pub fn list(&self) -> Vec<u8> {
        let stream = String::from_utf8(self.stream()).expect("it is text");
        format!("[\n{}\n]\n", stream.trim_end().replace('\n', ",\n")).into_bytes()
    }
}

/// So many bytes of text, more or less, in lines: of all widths in UTF-8, with what JSON has to escape and what not.
fn text(bytes: usize, seed: u32) -> String {
    const WORDS: [&str; 11] =
        ["plain", "été", "\"quoted\"", "C:\\tmp", "漢字", "😀", "a/b", "\ttab", "{brace}", "# no: comment", "- item"];
    let mut text = format!("text {seed}");
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    while text.len() < bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(if state >> 28 == 0 { '\n' } else { ' ' });
        text += WORDS[(state >> 16) as usize % WORDS.len()];
    }
    if seed.is_multiple_of(3) {
        text.push('\n');
    }
    text
}

fn ascii(text: &str) -> String {
    let mut string = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(b'/') => string += "\\/",
            Ok(byte @ (b' '..=b'~')) if byte != b'"' && byte != b'\\' => string.push(char::from(byte)),
            _ => string += &format!("\\u{unit:04x}"),
        }
    }
    string + "\""
}

/// A literal block scalar for a value that is indented by four spaces or less.
fn literal(text: &str) -> String {
    let (text, header) = match text.strip_suffix('\n') {
        Some(text) => (text, "|"),
        None => (text, "|-"),
    };
    format!("{header}\n      {}", text.replace('\n', "\n      "))
}

/// One fault near the end of a valid document, by its name.
pub fn break_json(json: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let json = std::str::from_utf8(json).expect("it is text");
    let at_last = |old: &str, new: &str| {
        let at = json.rfind(old).unwrap_or_else(|| panic!("there is no {old}"));
        [&json[..at], new, &json[at + old.len()..]].concat().into_bytes()
    };
    let mut no_text = at_last("\"observation\": \"", "\"observation\": \"?");
    *no_text.iter_mut().rfind(|byte| **byte == b'?').expect("it was put there") = 0xff;
    vec![
        ("cut", json.trim_end().trim_end_matches('}').as_bytes().to_vec()),
        ("unknown key", at_last("\"raw_output\"", "\"raw_outputs\"")),
        ("no text", no_text),
        ("text behind", [json.as_bytes(), b"{"].concat()),
        ("key twice", at_last("\n}", ",\n\"goal\": []}")),
        ("lone surrogate", at_last("\"observation\": \"", "\"observation\": \"\\ud800")),
        ("control", at_last("\"observation\": \"", "\"observation\": \"\u{1}")),
        ("number", at_last("\"raw_output\": ", "\"raw_output\": 1, \"x\": ")),
    ]
}

/// The same for YAML.
pub fn break_yaml(yaml: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    [
        ("unknown key", &b"budgets: 1\n"[..]),
        ("key twice", b"goal: []\n"),
        ("tab", b"\tmetadata: {}\n"),
        ("no text", b"metadata: {a: \xff}\n"),
        ("unclosed", b"metadata: \"a\n"),
        ("nul", b"metadata: \"a\0\"\n"),
        ("second document", b"---\ngoal: []\n"),
        ("step", b"  - raw_output: a\n    observation: [b]\n"),
    ]
    .map(|(name, end)| (name, [yaml, end].concat()))
    .to_vec()
}

/// JSON Lines with the messages of a canonical stream and other bytes, near their end at least.
pub fn respell_stream(stream: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (stream, last) = split_stream(stream);
    vec![
        ("no newline", [stream, last.trim_end()].concat().into_bytes()),
        ("crlf", [stream, last].concat().replace('\n', "\r\n").into_bytes()),
        ("space", [stream, &last.replacen(':', ": ", 1)].concat().into_bytes()),
        ("blank line", [stream, "\n", last].concat().into_bytes()),
        ("mark", ["\u{feff}", stream, last].concat().into_bytes()),
    ]
}

/// The same with a fault near the end.
pub fn break_stream(stream: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (stream, last) = split_stream(stream);
    vec![
        ("cut", [stream, &last[..last.len() - 3]].concat().into_bytes()),
        ("no role", [stream, "{\"content\":[]}\n"].concat().into_bytes()),
        ("no message", [stream, last, "1\n"].concat().into_bytes()),
        ("no text", [stream.as_bytes(), last.trim_end_matches("\"}]}\n").as_bytes(), b"\xff\"}]}\n"].concat()),
    ]
}

/// All lines of a stream but the last, and that.
fn split_stream(stream: &[u8]) -> (&str, &str) {
    let stream = std::str::from_utf8(stream).expect("it is text");
    stream.split_at(stream.trim_end().rfind('\n').map_or(0, |at| at + 1))
}
