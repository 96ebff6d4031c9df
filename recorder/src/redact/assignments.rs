//! Secrets that are known by the name they are assigned to: environment files, configuration, code, command lines.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::found::{Evidence, Found};
use super::names::sensitive_name;
use super::plausible::{Form, MAX_VALUE_BYTES, is_plausible};

/// A name with one of the words of [`sensitive_name`] in it.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u:[a-z0-9_.\-]{0,60}(?:pass|pwd|_pw|secret|token|key|cred|auth)[a-z0-9_.\-]{0,40})")
        .expect("the built-in patterns are tested")
});

/// Longest type that stands between a name and its value, as in `const KEY: &str = "..."`.
const MAX_TYPE_BYTES: usize = 40;

/// Most white space between a name and its value.
const MAX_GAP_BYTES: usize = 80;

/// Finds the secrets among the assignments of a text.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for name in NAME.find_iter(text) {
        // A quoted `\n` right before a name leaves its `n` there.
        let written = name.as_str();
        let is_escaped = name.start() > 0 && bytes[name.start() - 1] == b'\\';
        let kind = sensitive_name(written).or_else(|| {
            let behind = written.get(1..).filter(|_| is_escaped && written.starts_with(['n', 't', 'r']))?;
            sensitive_name(behind)
        });
        let Some(kind) = kind else { continue };
        let Some((value, form)) = value_after(text, written, name.end()) else { continue };
        if is_plausible(&text[value.clone()], form, &kind) {
            found.push(Found::new(value, kind, Evidence::Context));
        }
    }
}

/// Finds the value that follows a name which ends at `at`.
fn value_after(text: &str, name: &str, at: usize) -> Option<(Range<usize>, Form)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut here = at;
    let quote_end = skip_quote(bytes, here);
    let name_is_quoted = quote_end > here;
    here = quote_end;
    if byte(here) == b']' {
        here += 1;
    }
    let before_gap = here;
    here = skip_blanks(bytes, here);
    let is_flag = name.starts_with('-') && !name_is_quoted;
    let mut form = Form::Bare;
    match byte(here) {
        b'=' => {
            let is_tight = here == before_gap && !matches!(byte(here + 1), b' ' | b'\t' | b'=' | b'>');
            let is_loud = name.bytes().all(|byte| !byte.is_ascii_lowercase());
            if is_tight && (is_loud || is_flag) {
                form = Form::Environment;
            }
            while matches!(byte(here), b'=' | b'>') {
                here += 1;
            }
        }
        b':' | b'?' => {
            // `name?: type` may be written in code, but `name::other` is a path.
            here += if byte(here) == b'?' && byte(here + 1) == b':' { 2 } else { 1 };
            if byte(here) == b':' {
                return None;
            }
            if byte(here) == b'=' {
                here += 1;
            } else if let Some(behind) = skip_type(bytes, here) {
                here = behind;
            }
        }
        b',' if name_is_quoted => {
            here = skip_blanks(bytes, here + 1);
            let opened = skip_quote(bytes, here);
            // Two strings side by side are an assignment only if the second cannot be anything else.
            let value = quoted(bytes, here, opened)?;
            let looks_random = value.len() >= 12
                && text.get(value.clone()).is_some_and(|value| {
                    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
                    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
                });
            return looks_random.then_some((value, Form::Quoted));
        }
        _ if is_flag && here > before_gap => {}
        _ => return None,
    }
    here = skip_blanks(bytes, here);
    // Prefixes of strings in code.
    if matches!(byte(here), b'b' | b'r' | b'u' | b'f') && matches!(byte(here + 1), b'"' | b'\'') {
        here += 1;
    }
    let opened = skip_quote(bytes, here);
    if opened > here {
        let value = quoted(bytes, here, opened)?;
        return Some((value, Form::Quoted));
    }
    let rest = &bytes[here..bytes.len().min(here + MAX_VALUE_BYTES + 1)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b';' | b'&' | b'|' | b')' | b'}' | b']' | b'>' | b'<')
            || (*byte == b',' && form == Form::Bare)
    };
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    // A call or an index goes on behind what looks like its end.
    if matches!(rest.get(length), Some(b'"' | b'\'' | b'`'))
        && rest[..length].iter().any(|byte| matches!(byte, b'(' | b'['))
    {
        return None;
    }
    let trimmed = rest[..length].iter().rposition(|byte| !matches!(byte, b'.' | b',' | b':' | b'!' | b'?'))? + 1;
    let value = here..here + trimmed;
    text.is_char_boundary(value.end).then_some((value, form))
}

/// Skips backslashes and the quote behind them, if there is one.
fn skip_quote(bytes: &[u8], at: usize) -> usize {
    let slashes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
    match bytes.get(at + slashes) {
        Some(b'"' | b'\'' | b'`') => at + slashes + 1,
        _ => at,
    }
}

/// Returns what stands between the quote at `start..opened` and the next of its sort.
fn quoted(bytes: &[u8], start: usize, opened: usize) -> Option<Range<usize>> {
    if opened <= start {
        return None;
    }
    let quote = bytes[opened - 1];
    let slashes = opened - 1 - start;
    let limit = bytes.len().min(opened + MAX_VALUE_BYTES + 1);
    let mut here = opened;
    while here < limit {
        let run = bytes[here..limit].iter().take_while(|byte| **byte == b'\\').count();
        match bytes.get(here + run) {
            // More backslashes than opened it make a quote a part of the value.
            Some(byte) if *byte == quote && run <= slashes => return Some(opened..here + run - run.min(slashes)),
            Some(_) => here += run + 1,
            None => return None,
        }
    }
    None
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take(MAX_GAP_BYTES).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips a type and the `=` behind it.
fn skip_type(bytes: &[u8], at: usize) -> Option<usize> {
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'&' | b'<' | b'>' | b'_' | b'\'' | b'[' | b']' | b'|')
    };
    let length = bytes[at..].iter().take(MAX_TYPE_BYTES).take_while(|byte| is_type(byte)).count();
    let is_spaced = length > 0 && bytes[at + length - 1] == b' ';
    (is_spaced && bytes.get(at + length) == Some(&b'=')).then_some(at + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|found| &text[found.span]).collect()
    }

    #[test]
    fn assignments_of_many_forms_are_found() {
        for text in [
            "API_KEY=q1w2e3r4t5",
            "export API_KEY='q1w2e3r4t5'",
            "  api_key: q1w2e3r4t5\n",
            r#"{"api_key": "q1w2e3r4t5"}"#,
            r#"{\"api_key\":\"q1w2e3r4t5\"}"#,
            r#"{\\\"api_key\\\": \\\"q1w2e3r4t5\\\"}"#,
            "const API_KEY: &str = \"q1w2e3r4t5\";",
            "api_key: str = 'q1w2e3r4t5'",
            "apiKey => 'q1w2e3r4t5',",
            "api_key := `q1w2e3r4t5`",
            "tool --api-key q1w2e3r4t5 --other",
            "tool --api-key=q1w2e3r4t5",
            "curl 'https://host/path?api_key=q1w2e3r4t5&x=1'",
            "os.environ[\"API_KEY\"] = \"q1w2e3r4t5\"",
            "echo x\\nAPI_KEY=q1w2e3r4t5\\nY=1",
            "Endpoint=sb://x/;AccountKey=q1w2e3r4t5;Other=1",
            "if api_key == \"q1w2e3r4t5\" {",
            "X-Api-Key: q1w2e3r4t5",
        ] {
            assert_eq!(values(text), ["q1w2e3r4t5"], "{text}");
        }
        assert_eq!(values("setenv(\"API_KEY\", \"q1w2e3r4t5y6u7\")"), ["q1w2e3r4t5y6u7"]);
        assert_eq!(values("password=hunter2"), ["hunter2"]);
        assert_eq!(values("PASSWORD=Tr0ub4dor,3x end"), ["Tr0ub4dor,3x"]);
    }

    #[test]
    fn code_and_prose_are_left_alone() {
        for text in [
            "password = get_password()",
            "password = getpass.getpass(\"Password: \")",
            "token = os.environ[\"TOKEN_2A\"]",
            "api_key: str | None = None",
            "api_key: Optional[str1] = None",
            "token: TokenKind2,",
            "let token = self.tokens2[index1];",
            "max_tokens: 100000",
            "the password is required, and the token: see below",
            "Token::new(value1)",
            "API_KEY=${API_KEY:-none}",
            "--password is needed",
            "key=abc123def456",
            "password: string;",
            "secret: $SECRET_V2",
            "password=\"$(cat file1)\"",
        ] {
            assert_eq!(values(text), [""; 0], "{text}");
        }
    }
}
