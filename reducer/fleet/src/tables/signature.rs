//! Signatures of failures: equal for failures that differ only in numbers, ids, paths and quoted names.

use xxhash_rust::xxh3::xxh3_64;

/// Most characters of a text that count for its signature. What follows is detail: a trace of calls, the output of a build.
pub const MAX_SIGNED_CHARS: usize = 400;

/// Shortest run of hexadecimal digits that counts as an id.
const MIN_HEX_CHARS: usize = 8;

/// Stands for a quoted text until letters are small.
const QUOTED: char = '\u{1}';

/// Returns a text with everything replaced that differs between two occurrences of one failure: numbers become `N`, ids in
/// hexadecimal `H`, paths and URLs `P`, and quoted texts `Q`. Letters become small, and white space one space.
pub fn normalised(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let cut: String = text.chars().take(MAX_SIGNED_CHARS).collect();
    let unquoted = without_quotes(&cut);
    for word in unquoted.split_whitespace() {
        let word = word.to_lowercase().replace(QUOTED, "Q");
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let is_hex = core.len() >= MIN_HEX_CHARS
            && core.bytes().any(|byte| byte.is_ascii_digit())
            && core.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let is_path = core.contains("://") || (core.contains('/') && core.len() > 1);
        let replaced = if is_path {
            word.replacen(core, "P", 1)
        } else if is_hex {
            word.replacen(core, "H", 1)
        } else {
            numbers_replaced(&word)
        };
        // Repeated placeholders only tell the length of a list, so one is kept.
        if words.last() != Some(&replaced) || replaced.chars().any(|c| c.is_lowercase()) {
            words.push(replaced);
        }
    }
    words.join(" ")
}

/// Replaces quoted texts by `Q`. A quote without an end stays.
fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'', '`']) {
        let quote = rest[start..].chars().next().unwrap_or('"');
        let before = rest[..start].chars().next_back();
        // An apostrophe within a word begins no quotation.
        let is_apostrophe = quote == '\'' && before.is_some_and(char::is_alphanumeric);
        let inner = &rest[start + quote.len_utf8()..];
        match inner.find(quote).filter(|end| !is_apostrophe && !inner[..*end].contains('\n')) {
            Some(end) => {
                out.push_str(&rest[..start]);
                out.push(QUOTED);
                rest = &inner[end + quote.len_utf8()..];
            }
            None => {
                out.push_str(&rest[..start + quote.len_utf8()]);
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Replaces runs of digits, with points and commas between them, by `N`.
fn numbers_replaced(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_digit() {
            out.push(c);
            continue;
        }
        out.push('N');
        while chars.peek().is_some_and(|next| next.is_ascii_digit() || matches!(next, '.' | ',' | ':')) {
            chars.next();
        }
    }
    out
}

/// Returns the signature of a failure: 16 hexadecimal digits that follow from its category, its tool and its text.
pub fn signature(category: &str, tool: Option<&str>, text: &str) -> String {
    let key = format!("{category}\n{}\n{}", tool.unwrap_or_default(), normalised(text));
    format!("{:016x}", xxh3_64(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_two_occurrences_is_replaced() {
        let cases = [
            ("Connection refused (os error 111)", "connection refused (os error N)"),
            ("cannot open /tmp/a/b.txt: No such file", "cannot open P: no such file"),
            ("request 5f0c2a9b7d failed after 1,250 ms", "request H failed after N ms"),
            ("no column `user_id` in \"orders\"", "no column Q in Q"),
            ("can't find it", "can't find it"),
            ("expected 3, 4, 5, 6 rows", "expected N rows"),
            ("see https://example.com/x?y=1.", "see P."),
        ];
        for (text, expected) in cases {
            assert_eq!(normalised(text), expected, "{text}");
        }
    }

    #[test]
    fn a_signature_depends_on_category_tool_and_kind_of_text() {
        let one = signature("tool_failed", Some("shell"), "exit 1 in 20 ms");
        assert_eq!(one, signature("tool_failed", Some("shell"), "exit 2 in 3 ms"));
        assert_ne!(one, signature("tool_failed", Some("patch"), "exit 2 in 3 ms"));
        assert_ne!(one, signature("tool_timeout", Some("shell"), "exit 2 in 3 ms"));
        let long = |end: &str| format!("{} {end}", "x ".repeat(MAX_SIGNED_CHARS));
        assert_eq!(signature("a", None, &long("one")), signature("a", None, &long("other")));
    }
}
