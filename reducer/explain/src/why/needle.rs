//! The text that is searched for, and how a longer text contains it.

use memchr::memmem::Finder;
use serde_json::Value;

use super::answer::Form;
use super::cut::{self, Around, Cut, Demand};
use super::escapes::{self, Bounds};
use crate::texts::document;

/// Length in bytes of the longest text that can be searched for.
pub const MAX_NEEDLE_BYTES: usize = 16 << 20;

/// Why a text cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NeedleError {
    /// The text is empty.
    #[error("the text to look for is empty")]
    Empty,
    /// The text is too long.
    #[error("the text to look for has {bytes} bytes; at most {MAX_NEEDLE_BYTES} can be looked for")]
    TooLong {
        /// Length of the text in bytes.
        bytes: usize,
    },
}

/// A text that is searched for.
#[derive(Debug)]
pub struct Needle {
    text: String,
    whole: Finder<'static>,
    /// The longest part of the text that contains no character that JSON must escape. It speeds up the search.
    plain: Finder<'static>,
}

impl Needle {
    /// Prepares the search for a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is empty or longer than [`MAX_NEEDLE_BYTES`].
    pub fn new(text: &str) -> Result<Self, NeedleError> {
        match text.len() {
            0 => return Err(NeedleError::Empty),
            bytes if bytes > MAX_NEEDLE_BYTES => return Err(NeedleError::TooLong { bytes }),
            _ => {}
        }
        let is_plain = |c: char| (' '..='~').contains(&c) && !matches!(c, '"' | '\\' | '/');
        let plain = text.split(|c| !is_plain(c)).max_by_key(|run| run.len()).unwrap_or_default();
        Ok(Self {
            text: text.to_owned(),
            whole: Finder::new(text).into_owned(),
            plain: Finder::new(plain).into_owned(),
        })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns how `text` contains the needle, or `None` if it does not. For [`Form::Truncated`] both ends of the
    /// needle must remain, because its neighbours are not known.
    pub fn find(&self, text: &str) -> Option<Form> {
        match self.look(text, Strings::Loose)? {
            Sight::Whole(form, _) => Some(form),
            Sight::Abridged => Some(Form::Truncated),
            Sight::Cut(cuts) => {
                let is_cut = |cut: &Cut| cut.went_through(&self.text, std::iter::empty(), Demand::More);
                cuts.iter().any(is_cut).then_some(Form::Truncated)
            }
        }
    }

    /// Searches for the needle, or for parts of it next to cuts, in `text`.
    pub(super) fn look(&self, text: &str, strings: Strings) -> Option<Sight> {
        if self.whole.find(text.as_bytes()).is_some() {
            let form = if text.len() == self.text.len() { Form::Verbatim } else { Form::Within };
            return Some(Sight::Whole(form, self.around(text)));
        }
        if let Some(around) = self.escaped_in(text, strings, escapes::MAX_DEPTH) {
            return Some(Sight::Whole(Form::JsonEscaped, around));
        }
        let mut cuts = Vec::new();
        self.cuts_in(text, escapes::MAX_DEPTH, &mut cuts).then_some(Sight::Abridged).or_else(|| {
            // In most texts no part of the needle remains.
            (!cuts.is_empty()).then_some(Sight::Cut(cuts))
        })
    }

    fn around(&self, text: &str) -> Vec<Around> {
        if self.text.len() < cut::MIN_CUT_BYTES { Vec::new() } else { Around::of(text, &self.text) }
    }

    /// Returns the neighbours of the needle in the first JSON string that contains it, at any depth.
    fn escaped_in(&self, text: &str, strings: Strings, depth: usize) -> Option<Vec<Around>> {
        if depth == 0 || !self.may_hold_escaped(text) {
            return None;
        }
        let mut found = None;
        let mut look = |decoded: &str, inner: Strings| {
            if found.is_none() {
                let is_whole = self.whole.find(decoded.as_bytes()).is_some();
                let inside = || self.escaped_in(decoded, inner, depth - 1);
                found = if is_whole { Some(self.around(decoded)) } else { inside() };
            }
        };
        match strings {
            Strings::Loose => {
                escapes::each_decoded(text, Bounds::Anything, &mut |decoded| look(&decoded, strings));
            }
            Strings::Quoted => {
                escapes::each_decoded(text, Bounds::Quotes, &mut |decoded| look(&decoded, strings));
            }
            Strings::Arguments => match serde_json::from_str::<Value>(text) {
                Ok(value @ Value::Object(_)) => each_argument(&value, Strings::Quoted, &mut look),
                _ => escapes::each_decoded(text, Bounds::Quotes, &mut |decoded| look(&decoded, Strings::Quoted)),
            },
            Strings::Command => {
                escapes::each_document(text, &mut |value| {
                    document::strings(value, &[], &mut |leaf| look(leaf, Strings::Quoted));
                });
            }
        }
        found
    }

    fn may_hold_escaped(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        memchr::memchr(b'\\', bytes).is_some()
            && (self.plain.find(bytes).is_some() || memchr::memmem::find(bytes, br"\u").is_some())
    }

    /// Collects the cuts next to which parts of the needle may remain. Returns whether the author of `text` abridged
    /// the needle with dots.
    fn cuts_in(&self, text: &str, depth: usize, cuts: &mut Vec<Cut>) -> bool {
        if cut::is_abridged(text, &self.text) {
            return true;
        }
        cuts.extend(cut::through(text, &self.text));
        // Marks are rare. If the outer text contains none, the strings in it contain none either.
        let may_be_cut = cut::may_be_cut(text) || cut::may_be_abridged(text);
        if depth == 0 || !text.contains('\\') || !may_be_cut {
            return false;
        }
        let mut is_abridged = false;
        escapes::each_decoded(text, Bounds::Quotes, &mut |decoded| {
            is_abridged = is_abridged || self.cuts_in(&decoded, depth - 1, cuts);
        });
        is_abridged
    }
}

/// What remains of the needle in another text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sight {
    /// All of it, with its neighbours.
    Whole(Form, Vec<Around>),
    /// A part, next to cuts. Whether the cuts removed the rest of the needle is decided later.
    Cut(Vec<Cut>),
    /// Its beginning, which the author of the text ended with dots.
    Abridged,
}

/// Where a text may contain JSON strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// Between quotes, and on lines without quotes.
    Loose,
    /// Between quotes.
    Quoted,
    /// The text is the JSON of arguments, of which some may be a command.
    Arguments,
    /// Only in the JSON documents of a command; the other quotes are those of the shell.
    Command,
}

/// Calls `look` with each string in the arguments of a call.
fn each_argument(value: &Value, strings: Strings, look: &mut dyn FnMut(&str, Strings)) {
    match value {
        Value::String(text) => look(text, strings),
        Value::Array(values) => values.iter().for_each(|value| each_argument(value, strings, look)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            let is_command = matches!(name.as_str(), "cmd" | "command");
            each_argument(value, if is_command { Strings::Command } else { strings }, look);
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(needle: &str, text: &str) -> Option<Form> {
        Needle::new(needle).expect("a needle").find(text)
    }

    #[test]
    fn a_text_is_held_in_one_of_four_forms() {
        assert_eq!(find("a b", "a b"), Some(Form::Verbatim));
        assert_eq!(find("a b", "x a b y"), Some(Form::Within));
        assert_eq!(find("a\nb", r#"{"x": "a\nb"}"#), Some(Form::JsonEscaped));
        assert_eq!(find("\"é\" 😀", r#"say "{\"x\": \"\\\"\\u00E9\\\" \\ud83d\\uDE00\"}""#), Some(Form::JsonEscaped));
        let cut = "0123456789abcdef01…9 tokens truncated…0123456789abcdef";
        assert_eq!(find("0123456789abcdef----0123456789abcdef", &cut.replace("01…", "…")), Some(Form::Truncated));
        assert_eq!(find("a b", "a  b"), None);
        assert_eq!(find("a b", "A b"), None);
        assert_eq!(find("a\nb", r"printf 'a\qa\nb'"), None);
    }

    #[test]
    fn quotes_of_a_shell_are_not_those_of_json() {
        let needle = Needle::new("a\nb").expect("a needle");
        let is_in = |text: &str, strings: Strings| needle.look(text, strings).is_some();
        for line in [r"printf 'a\nb'", r#"printf "a\nb""#, r#"echo "{" "a\nb""#] {
            assert!(!is_in(line, Strings::Command), "{line}");
            let args = serde_json::json!({ "cmd": line, "yield_time_ms": 5 }).to_string();
            assert!(!is_in(&args, Strings::Arguments), "{line}");
        }
        let curl = r#"curl -d '{"x": ["a\nb"]}'"#;
        assert!(is_in(curl, Strings::Command));
        assert!(is_in(&serde_json::json!({ "command": ["sh", "-c", curl] }).to_string(), Strings::Arguments));
        assert!(is_in(&serde_json::json!({ "cmd": "cat\na\nb" }).to_string(), Strings::Arguments));
        assert!(is_in(&serde_json::json!({ "note": r#"say "a\nb""# }).to_string(), Strings::Arguments));
        assert!(is_in(r#"text("a\nb")"#, Strings::Arguments), "code");
        assert!(!is_in(r"it says a\nb", Strings::Quoted) && is_in(r"it says a\nb", Strings::Loose));
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!(Needle::new("").err(), Some(NeedleError::Empty));
        let long = "x".repeat(MAX_NEEDLE_BYTES);
        assert!(Needle::new(&long).is_ok());
        let bytes = MAX_NEEDLE_BYTES + 1;
        assert_eq!(Needle::new(&format!("{long}x")).err(), Some(NeedleError::TooLong { bytes }));
    }

    #[test]
    fn strings_in_strings_end_somewhere() {
        let nested =
            |levels: usize| (0..levels).fold("a\nb".to_owned(), |text, _| serde_json::to_string(&text).expect("JSON"));
        assert_eq!(find("a\nb", &nested(escapes::MAX_DEPTH)), Some(Form::JsonEscaped));
        assert_eq!(find("a\nb", &nested(escapes::MAX_DEPTH + 1)), None);
    }

    /// Writes a text as a JSON string. `choices` decides for each character which of its JSON forms is used.
    fn escaped(text: &str, choices: &[u8]) -> String {
        let mut json = String::from("\"");
        for (index, c) in text.chars().enumerate() {
            let choice = choices.get(index % choices.len().max(1)).copied().unwrap_or(0);
            if choice.is_multiple_of(3) {
                let plain = serde_json::to_string(&c.to_string()).expect("JSON");
                json.push_str(&plain[1..plain.len() - 1]);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                json.push_str(&if choice % 3 == 1 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") });
            }
        }
        json.push('"');
        json
    }

    proptest! {
        #[test]
        fn any_text_is_found_however_it_is_escaped(
            text in "\\PC{1,12}[\n\t\"\\\\/é😀a]{1,6}",
            choices in prop::collection::vec(0u8..9, 1..20),
            levels in 1usize..4,
            before in "[a-z :\n\"]{0,10}",
        ) {
            let mut json = text.clone();
            for _ in 0..levels {
                json = escaped(&json, &choices);
            }
            let form = find(&text, &format!("{before}{json}"));
            prop_assert!(matches!(form, Some(Form::JsonEscaped | Form::Within)), "{form:?} {json}");
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,40}", needle in "\\PC{1,8}") {
            let found = find(&needle, &text);
            prop_assert_eq!(matches!(found, Some(Form::Verbatim | Form::Within)), text.contains(&needle));
        }
    }
}
