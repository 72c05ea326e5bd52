//! What must not reach a terminal as it is, and how it is shown instead.

use std::borrow::Cow;
use std::fmt;
use std::io;

use serde_json::ser::Formatter;

/// Whether a terminal would act on a character, or show nothing for it: controls, line and paragraph separators, bidi
/// marks, zero-width and other format characters, variation selectors beyond the emoji's own, tags, private and
/// unassigned marks of that kind.
pub fn is_live(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (character as u32) & 0xfffe == 0xfffe
}

/// Spaces that look like the common one, or like nothing.
fn is_odd_space(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Signs that the view itself writes; in content they are named, so that the view can be read back.
fn is_own_sign(character: char) -> bool {
    matches!(character, '\u{2400}'..='\u{2426}' | '⟨' | '⟩' | '⏎')
}

/// Text made visible: control characters as their control pictures (`␍ ␛ ␀`), other invisible ones as `⟨U+202E⟩`. What
/// would look like the view's own signs is named too, so that nothing is shown for two different texts.
///
/// Line feeds are shown as `␊`: split lines first where they shall be lines.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'t>(pub &'t str);

impl Visible<'_> {
    /// The picture or name of a character that is not shown as it is.
    pub fn sign(character: char) -> Option<Cow<'static, str>> {
        const PICTURES: &str = "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟";
        const BYTES_OF_A_PICTURE: usize = 3;
        match character {
            '\0'..='\x1f' => {
                let at = character as usize * BYTES_OF_A_PICTURE;
                Some(Cow::Borrowed(&PICTURES[at..at + BYTES_OF_A_PICTURE]))
            }
            '\x7f' => Some(Cow::Borrowed("␡")),
            _ if is_live(character) || is_odd_space(character) || is_own_sign(character) => {
                Some(Cow::Owned(format!("⟨U+{:04X}⟩", character as u32)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0;
        for (at, character) in self.0.char_indices() {
            // Plain ASCII is most of what there is.
            if matches!(character, ' '..='~') {
                continue;
            }
            if let Some(sign) = Visible::sign(character) {
                f.write_str(&self.0[shown..at])?;
                f.write_str(&sign)?;
                shown = at + character.len_utf8();
            }
        }
        f.write_str(&self.0[shown..])
    }
}

/// JSON that a terminal may be given: what is live is written as `\uXXXX`, which is the same value.
pub fn json_formatter(pretty: bool) -> impl Formatter + Clone {
    Escaping { pretty: pretty.then(serde_json::ser::PrettyFormatter::new) }
}

#[derive(Clone)]
struct Escaping {
    pretty: Option<serde_json::ser::PrettyFormatter<'static>>,
}

/// Passes every call on to serde_json's own pretty or compact formatter.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $name<W: ?Sized + io::Write>(&mut self, out: &mut W $(, $argument: $type)*) -> io::Result<()> {
            match &mut self.pretty {
                Some(pretty) => pretty.$name(out $(, $argument)*),
                None => serde_json::ser::CompactFormatter.$name(out $(, $argument)*),
            }
        }
    )*};
}

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in fragment.char_indices().filter(|&(_, character)| is_live(character)) {
            out.write_all(&fragment.as_bytes()[written..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            written = at + character.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[written..])
    }

    /// JSON handed through: such characters can stand in its strings only, where the escape is the same value.
    fn write_raw_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        self.write_string_fragment(out, fragment)
    }

    pass_on! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }
}
