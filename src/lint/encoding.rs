//! Rules of the family encoding: characters that a reader does not see, or a model does not get.

use super::{Family, Findings, Rule, Severity, Subject, texts};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[NUL, ANSI, BIDI, INVISIBLE, SOFT_HYPHEN, MIXED_LINE_ENDINGS, BOM, REPLACEMENT];

const NUL: Rule = Rule {
    code: "encoding.nul",
    severity: Severity::Error,
    finds: "a NUL character in a text",
    why: "servers and databases refuse it or end the text there, and a session that holds one stays refused at every later call",
    fix: "take NUL out of what a tool prints before it is kept; a binary file belongs in an artifact, not in the prompt",
    fine: "never known to be: no model needs one",
};
const ANSI: Rule = Rule {
    code: "encoding.ansi",
    severity: Severity::Warning,
    finds: "terminal escape sequences (colours, cursor moves) in a text",
    why: "they cost tokens, say nothing to a model, may be cut in the middle by truncation, and act on the terminal of whoever prints the prompt",
    fix: "run tools without colour (NO_COLOR=1, TERM=dumb), or take the sequences out before the observation is kept",
    fine: "where the sequences themselves are the matter, as in work on a terminal program, or where recorded runs must be kept as they were",
};
const BIDI: Rule = Rule {
    code: "encoding.bidi",
    severity: Severity::Warning,
    finds: "characters that change the direction of writing: embeddings, overrides, isolates and their ends",
    why: "what a reviewer sees is in another order than what the model reads: the known way to hide an instruction or a line of code",
    fix: "take them out, or show them escaped where they come from",
    fine: "in text of a right-to-left language that was written with them",
};
const INVISIBLE: Rule = Rule {
    code: "encoding.invisible",
    severity: Severity::Warning,
    finds: "characters of no width (zero-width spaces and joiners, word joiners) and tag characters",
    why: "a model reads them and a person does not: two texts that look alike are not, searches miss, and tag characters can carry a whole hidden sentence",
    fix: "take them out at the source; polyloop shows where they stand",
    fine: "joiners inside emoji and in scripts that need them, which are not reported",
};
const SOFT_HYPHEN: Rule = Rule {
    code: "encoding.soft_hyphen",
    severity: Severity::Warning,
    finds: "soft hyphens (U+00AD) in a text",
    why: "they are not shown, and split a word into other tokens: a name that holds one is not found, called or matched",
    fix: "take them out: they come from pages and documents that were copied",
    fine: "in text that is quoted for its typography",
};
const MIXED_LINE_ENDINGS: Rule = Rule {
    code: "encoding.mixed_line_endings",
    severity: Severity::Note,
    finds: "more than one kind of line ending (LF, CRLF, CR) within one text",
    why: "an edit that looks for the text with one kind does not find the other, and the same text drifts between machines, which breaks goldens and caches",
    fix: "make line endings one kind where the text enters; text from a terminal has CRLF, and CR from progress bars",
    fine: "in observations that are kept exactly as a terminal gave them",
};
const BOM: Rule = Rule {
    code: "encoding.bom",
    severity: Severity::Warning,
    finds: "a byte order mark (U+FEFF) in a text",
    why: "it comes from a file that was read with it and pasted in: the same prompt differs by three bytes nobody sees, and a keyword behind it is not at the start of its line",
    fix: "read files as UTF-8 with a byte order mark that is dropped (in Python `utf-8-sig`)",
    fine: "never known to be: it has no meaning inside a text",
};
const REPLACEMENT: Rule = Rule {
    code: "encoding.replacement",
    severity: Severity::Warning,
    finds: "replacement characters (U+FFFD) in a text",
    why: "something was decoded by the wrong encoding or cut inside a character; what stood there is lost for good",
    fix: "decode by the right encoding, and cut text between characters",
    fine: "where the bytes never were text, as when a tool prints a binary file",
};

const CHARACTERS: [(&Rule, &str, &str); 7] = [
    (&NUL, "NUL character", "NUL characters"),
    (&ANSI, "escape sequence", "escape sequences"),
    (&BIDI, "bidi control", "bidi controls"),
    (&INVISIBLE, "invisible character", "invisible characters"),
    (&SOFT_HYPHEN, "soft hyphen", "soft hyphens"),
    (&BOM, "byte order mark", "byte order marks"),
    (&REPLACEMENT, "replacement character", "replacement characters"),
];

/// The place in a text, both counted from 1, in characters.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    column: u64,
}

/// How many of a kind, and the first of them.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: u64,
    first: Option<(Place, char)>,
}

#[derive(Default)]
struct Census {
    seen: [Seen; CHARACTERS.len()],
    lf: u64,
    crlf: u64,
    cr: u64,
}

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    for (block, text) in subject.context.messages.iter().flat_map(texts) {
        let census = census(text.chunks());
        for (&(rule, one, many), seen) in CHARACTERS.iter().zip(census.seen) {
            let Some((Place { line, column }, first)) = seen.first else { continue };
            let what = if seen.count == 1 { one } else { many };
            let code = u32::from(first);
            let message =
                format!("{} {what}, the first (U+{code:04X}) at line {line}, column {column} of the text", seen.count);
            findings.add(rule, &block.origin, message);
        }
        let kinds: Vec<String> = [("LF", census.lf), ("CRLF", census.crlf), ("CR", census.cr)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        if kinds.len() > 1 {
            findings.add(&MIXED_LINE_ENDINGS, &block.origin, format!("lines end in {}", kinds.join(" and ")));
        }
    }
}

/// Counts what there is, run by run: a text is looked at once and not copied.
fn census<'t>(chunks: impl Iterator<Item = std::borrow::Cow<'t, str>>) -> Census {
    let mut census = Census::default();
    let mut place = Place { line: 1, column: 1 };
    let (mut before, mut in_flag) = ('\0', false);
    for chunk in chunks {
        for character in chunk.chars() {
            in_flag = character == BLACK_FLAG || in_flag && is_tag(character);
            if let Some(kind) = kind(character, before, in_flag) {
                let seen = &mut census.seen[kind];
                seen.count += 1;
                seen.first.get_or_insert((place, character));
            }
            match character {
                '\n' if before == '\r' => {
                    census.cr -= 1;
                    census.crlf += 1;
                }
                '\n' => census.lf += 1,
                '\r' => census.cr += 1,
                _ => {}
            }
            place = match character {
                '\n' => Place { line: place.line + 1, column: 1 },
                _ => Place { column: place.column + 1, ..place },
            };
            before = character;
        }
    }
    census
}

/// Tag characters behind it spell the flag of a region.
const BLACK_FLAG: char = '\u{1f3f4}';

fn is_tag(character: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&character)
}

/// The place in [`CHARACTERS`] of what a character is.
fn kind(character: char, before: char, in_flag: bool) -> Option<usize> {
    if matches!(character, ' '..='~' | '\n' | '\r' | '\t') {
        return None;
    }
    Some(match character {
        '\0' => 0,
        '\x1b' | '\u{9b}' => 1,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => 2,
        // Scripts and emoji are joined by these; between ASCII letters they join nothing.
        '\u{200c}' | '\u{200d}' if !before.is_ascii() => return None,
        '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{180e}' => 3,
        tag if is_tag(tag) && !in_flag => 3,
        '\u{ad}' => 4,
        '\u{feff}' => 5,
        '\u{fffd}' => 6,
        _ => return None,
    })
}
