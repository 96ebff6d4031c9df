//! Checks JSON documents in pieces.
//!
//! A request begins with the request before it. A checker that has read that beginning can be copied and goes on from there, so
//! checking the requests of a conversation costs what is new in each.

/// Reads one JSON document in pieces, and tells whether it is one. A copy goes on from the same place.
///
/// It accepts what `serde_json` accepts when it ignores the value.
#[derive(Debug, Clone)]
pub(super) struct JsonChecker {
    /// The arrays (`false`) and objects (`true`) around the place.
    open: Vec<bool>,
    expected: Expected,
    /// The beginning of a character of several bytes.
    character: [u8; 4],
    character_bytes: usize,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// The first value of an array, or its end.
    ValueOrEnd,
    /// The first name in an object, or its end.
    NameOrEnd,
    Name,
    Colon,
    /// A comma, or the end of the array or object.
    CommaOrEnd,
    /// Nothing but blanks: the document is complete.
    Nothing,
    Text(Text),
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
}

/// A place in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Text {
    is_name: bool,
    escape: Escape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// The character behind a backslash.
    Letter,
    /// This many hexadecimal digits.
    Digits(u8),
}

/// A place in a number, by what stands in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl JsonChecker {
    /// Starts in front of a document.
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), expected: Expected::Value, character: [0; 4], character_bytes: 0 }
    }

    /// Reads on. Returns whether what was read can be the beginning of a document; once it cannot, nothing is read any more.
    pub(super) fn read(&mut self, bytes: &[u8]) -> bool {
        if !self.read_characters(bytes) {
            return false;
        }
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            if let Expected::Text(Text { escape: Escape::None, .. }) = self.expected {
                // Most bytes are in strings.
                let plain = rest.iter().take_while(|byte| **byte >= 0x20 && !matches!(byte, b'"' | b'\\')).count();
                if plain > 0 {
                    rest = &rest[plain..];
                    continue;
                }
            }
            match self.step(*byte) {
                Step::Read => rest = behind,
                Step::Again => {}
                Step::Wrong => return false,
            }
        }
        true
    }

    /// Returns whether what was read is a whole document.
    pub(super) fn is_whole(&self) -> bool {
        let is_number =
            |number| matches!(number, Number::Zero | Number::Whole | Number::Fraction | Number::ExponentDigits);
        let is_over = match self.expected {
            Expected::Nothing => true,
            Expected::Number(number) => self.open.is_empty() && is_number(number),
            _ => false,
        };
        is_over && self.character_bytes == 0
    }

    /// Checks that the bytes are UTF-8. A character may be divided between two pieces.
    fn read_characters(&mut self, mut bytes: &[u8]) -> bool {
        while self.character_bytes > 0 {
            let Some((byte, rest)) = bytes.split_first() else { return true };
            self.character[self.character_bytes] = *byte;
            self.character_bytes += 1;
            bytes = rest;
            match std::str::from_utf8(&self.character[..self.character_bytes]) {
                Ok(_) => self.character_bytes = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let begun = &bytes[error.valid_up_to()..];
                self.character[..begun.len()].copy_from_slice(begun);
                self.character_bytes = begun.len();
                true
            }
        }
    }

    fn step(&mut self, byte: u8) -> Step {
        let is_blank = matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        match self.expected {
            Expected::Text(text) => self.step_in_text(text, byte),
            Expected::Number(number) => self.step_in_number(number, byte),
            Expected::Word(rest) => match rest.split_first() {
                Some((first, rest)) if *first == byte => {
                    self.expected = Expected::Word(rest);
                    if rest.is_empty() {
                        self.end_value();
                    }
                    Step::Read
                }
                _ => Step::Wrong,
            },
            _ if is_blank => Step::Read,
            Expected::ValueOrEnd if byte == b']' => self.close(),
            Expected::Value | Expected::ValueOrEnd => self.begin_value(byte),
            Expected::NameOrEnd if byte == b'}' => self.close(),
            Expected::Name | Expected::NameOrEnd if byte == b'"' => {
                self.expected = Expected::Text(Text { is_name: true, escape: Escape::None });
                Step::Read
            }
            Expected::Colon if byte == b':' => self.then(Expected::Value),
            Expected::CommaOrEnd => match (self.open.last(), byte) {
                (Some(true), b',') => self.then(Expected::Name),
                (Some(false), b',') => self.then(Expected::Value),
                (Some(true), b'}') | (Some(false), b']') => self.close(),
                _ => Step::Wrong,
            },
            _ => Step::Wrong,
        }
    }

    fn begin_value(&mut self, byte: u8) -> Step {
        let expected = match byte {
            b'"' => Expected::Text(Text { is_name: false, escape: Escape::None }),
            b'{' => {
                self.open.push(true);
                Expected::NameOrEnd
            }
            b'[' => {
                self.open.push(false);
                Expected::ValueOrEnd
            }
            b'-' => Expected::Number(Number::Minus),
            b'0' => Expected::Number(Number::Zero),
            b'1'..=b'9' => Expected::Number(Number::Whole),
            b't' => Expected::Word(b"rue"),
            b'f' => Expected::Word(b"alse"),
            b'n' => Expected::Word(b"ull"),
            _ => return Step::Wrong,
        };
        self.then(expected)
    }

    fn step_in_text(&mut self, text: Text, byte: u8) -> Step {
        let escape = match (text.escape, byte) {
            (Escape::None, b'"') => {
                if text.is_name {
                    return self.then(Expected::Colon);
                }
                self.end_value();
                return Step::Read;
            }
            (Escape::None, b'\\') => Escape::Letter,
            (Escape::None, 0..0x20) => return Step::Wrong,
            (Escape::None, _) => Escape::None,
            (Escape::Letter, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Escape::None,
            (Escape::Letter, b'u') => Escape::Digits(4),
            (Escape::Digits(1), byte) if byte.is_ascii_hexdigit() => Escape::None,
            (Escape::Digits(left), byte) if byte.is_ascii_hexdigit() => Escape::Digits(left - 1),
            _ => return Step::Wrong,
        };
        self.then(Expected::Text(Text { escape, ..text }))
    }

    fn step_in_number(&mut self, number: Number, byte: u8) -> Step {
        let next = match (number, byte) {
            (Number::Minus, b'0') => Number::Zero,
            (Number::Minus, b'1'..=b'9') | (Number::Whole, b'0'..=b'9') => Number::Whole,
            (Number::Zero | Number::Whole, b'.') => Number::Point,
            (Number::Point | Number::Fraction, b'0'..=b'9') => Number::Fraction,
            (Number::Zero | Number::Whole | Number::Fraction, b'e' | b'E') => Number::Exponent,
            (Number::Exponent, b'+' | b'-') => Number::ExponentSign,
            (Number::Exponent | Number::ExponentSign | Number::ExponentDigits, b'0'..=b'9') => Number::ExponentDigits,
            (Number::Zero, b'0'..=b'9') => return Step::Wrong,
            (Number::Zero | Number::Whole | Number::Fraction | Number::ExponentDigits, _) => {
                self.end_value();
                return Step::Again;
            }
            _ => return Step::Wrong,
        };
        self.then(Expected::Number(next))
    }

    fn then(&mut self, expected: Expected) -> Step {
        self.expected = expected;
        Step::Read
    }

    fn close(&mut self) -> Step {
        self.open.pop();
        self.end_value();
        Step::Read
    }

    fn end_value(&mut self) {
        self.expected = if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd };
    }
}

/// What became of a byte.
enum Step {
    Read,
    /// It ended a number, and is to be read again.
    Again,
    Wrong,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    /// Reads a text in two pieces, the second time with a copy.
    fn accepts(bytes: &[u8], cut: usize) -> bool {
        let mut checker = JsonChecker::new();
        let (one, two) = bytes.split_at(cut.min(bytes.len()));
        if !checker.read(one) {
            return false;
        }
        let mut copy = checker.clone();
        let accepted = checker.read(two) && checker.is_whole();
        assert_eq!(copy.read(two) && copy.is_whole(), accepted);
        accepted
    }

    fn serde_accepts(bytes: &[u8]) -> bool {
        std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
    }

    #[test]
    fn it_accepts_what_serde_accepts() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "nulll",
            "true",
            " false\n",
            "0",
            "-0",
            "-",
            "00",
            "01",
            "1.",
            "1.5",
            ".5",
            "1e",
            "1e+",
            "1e5",
            "1E-05x",
            "12 ",
            "1 2",
            "\"\"",
            "\"a",
            "\"\\n\\u12aF\"",
            "\"\\u12g0\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\t\"",
            "[]",
            "[ ]",
            "[1,]",
            "[1 2]",
            "[,1]",
            "[1,2]",
            "{}",
            "{ }",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1}",
            "{a:1}",
            "{\"a\":[{}, [], \"é\u{10ffff}\"]}",
            "[1}",
            "{\"a\":1]",
            "]",
            "[[[",
            "{\"a\":-1.5e3 , \"b\" : null }",
        ] {
            for cut in 0..=text.len() {
                assert_eq!(accepts(text.as_bytes(), cut), serde_accepts(text.as_bytes()), "{text:?} cut at {cut}");
            }
        }
        for bytes in [
            &b"\"\xff\""[..],
            b"\"\xc3\"",
            b"\"\xe2\x82\"",
            b"\xc3\xa9",
            b"\"\xf0\x9f\x98\x80\"",
            b"[\"\xe2\x82\xac\"]",
        ] {
            for cut in 0..=bytes.len() {
                assert_eq!(accepts(bytes, cut), serde_accepts(bytes), "{bytes:?} cut at {cut}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_accepts_what_serde_accepts_of_any_text(text in r#"[\[\]{}:,"0-9.eE+\-\\ntrufals é]{0,24}"#, cut in 0..40_usize) {
            prop_assert_eq!(accepts(text.as_bytes(), cut), serde_accepts(text.as_bytes()));
        }

        #[test]
        fn it_accepts_documents_and_not_broken_ones(
            numbers in proptest::collection::vec((any::<f64>(), "[a-zé\"\\\\\n]{0,5}"), 0..6),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in 0..200_usize,
        ) {
            let document: serde_json::Value = numbers.iter().map(|(number, text)| serde_json::json!({ "n": number, "t": [text, null] })).collect();
            let mut bytes = document.to_string().into_bytes();
            prop_assert!(accepts(&bytes, cut));
            let at = at.index(bytes.len());
            bytes[at] = byte;
            prop_assert_eq!(accepts(&bytes, cut), serde_accepts(&bytes));
        }
    }
}
