//! The text that is looked for, and how a longer one holds it.

use memchr::memmem::Finder;

use super::answer::Form;
use super::{cut, escapes};

/// Longest text that can be asked for.
pub const MAX_NEEDLE_BYTES: usize = 16 << 20;

/// A text that cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NeedleError {
    /// It is everywhere.
    #[error("the text to look for is empty")]
    Empty,
    /// It is too long.
    #[error("the text to look for has {bytes} bytes; at most {MAX_NEEDLE_BYTES} can be looked for")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

/// A text that is looked for.
#[derive(Debug)]
pub struct Needle {
    text: String,
    whole: Finder<'static>,
    /// The longest run of it that JSON leaves as it is, unless it writes all characters as `\uXXXX`.
    plain: Finder<'static>,
}

impl Needle {
    /// Prepares to look for a text.
    ///
    /// # Errors
    ///
    /// Returns an error when the text is empty or longer than [`MAX_NEEDLE_BYTES`].
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

    /// Says how a text holds the one that is looked for, if it does.
    pub fn find(&self, text: &str) -> Option<Form> {
        if self.whole.find(text.as_bytes()).is_some() {
            return Some(if text.len() == self.text.len() { Form::Verbatim } else { Form::Within });
        }
        if self.is_escaped_in(text, escapes::MAX_DEPTH) {
            return Some(Form::JsonEscaped);
        }
        self.is_cut_in(text, escapes::MAX_DEPTH).then_some(Form::Truncated)
    }

    fn is_escaped_in(&self, text: &str, depth: usize) -> bool {
        if depth == 0 || !self.may_hold_escaped(text) {
            return false;
        }
        let mut is_found = false;
        escapes::each_decoded(text, &mut |decoded| {
            is_found =
                is_found || self.whole.find(decoded.as_bytes()).is_some() || self.is_escaped_in(&decoded, depth - 1);
        });
        is_found
    }

    fn may_hold_escaped(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        memchr::memchr(b'\\', bytes).is_some()
            && (self.plain.find(bytes).is_some() || memchr::memmem::find(bytes, br"\u").is_some())
    }

    fn is_cut_in(&self, text: &str, depth: usize) -> bool {
        if cut::goes_through(text, &self.text) {
            return true;
        }
        // Marks are rare; where there is none on the outside, escaped or not, there is none inside.
        if depth == 0 || !text.contains('\\') || !cut::may_be_cut(text) {
            return false;
        }
        let mut is_cut = false;
        escapes::each_decoded(text, &mut |decoded| is_cut = is_cut || self.is_cut_in(&decoded, depth - 1));
        is_cut
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
        assert_eq!(find("0123456789abcdef0123456789", "0123456789abcdef01…9 tokens truncated…"), Some(Form::Truncated));
        assert_eq!(find("a b", "a  b"), None);
        assert_eq!(find("a b", "A b"), None);
        assert_eq!(find("a\nb", r"printf 'a\nb'"), None);
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

    /// Writes a text as a JSON string, each character in one of the ways that JSON has for it.
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
