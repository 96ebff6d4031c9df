//! Secrets that are known by the name they are assigned to: environment files, configuration, code, command lines.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::contexts::{is_announced, is_strong};
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::{is_call, is_character_class, is_rooted_path, is_rule, is_secret, stands_in};
use super::names::{API_KEY, PARTS, PASSWORD, sensitive_name, weak_name, words};
use super::phrases::is_spoken;
use super::plausible::{Form, MAX_VALUE_BYTES};
use super::quotes::outer_quote;
use super::random::{is_generated, is_human, is_memorable};

/// Most bytes of a name that are read before and after the part that marks it as the name of a secret.
const MAX_NAME_SIDE_BYTES: usize = 60;

/// Finds the names of a text that have one of [`NAME_PARTS`] in them.
pub(crate) fn names(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let mut done = 0;
    PARTS.find_iter(text).filter_map(move |part| {
        if part.start() < done {
            return None;
        }
        let first = part.start().saturating_sub(MAX_NAME_SIDE_BYTES).max(done);
        let before = bytes[first..part.start()].iter().rev().take_while(|byte| is_name(byte)).count();
        let behind = bytes[part.end()..].iter().take(2 * MAX_NAME_SIDE_BYTES).take_while(|byte| is_name(byte)).count();
        done = part.end() + behind;
        Some(part.start() - before..done)
    })
}

/// Longest type that is between a name and its value, as in `const KEY: &str = "..."`.
const MAX_TYPE_BYTES: usize = 40;

/// Most white space between a name and its value.
const MAX_GAP_BYTES: usize = 80;

/// Finds the secrets among the assignments of a text.
pub(crate) fn find(text: &str, names: &[Range<usize>], found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for name in names.iter().cloned() {
        let whole = &text[name.clone()];
        // If an escaped `\n` precedes a name, its `n` is not part of the name.
        let is_escaped = name.start > 0 && bytes[name.start - 1] == b'\\';
        let unescaped = whole.strip_prefix(['n', 't', 'r']).filter(|_| is_escaped);
        let named = |written| Some((written, sensitive_name(written).or_else(|| short_name(written))?));
        let weak = |written| Some((written, weak_name(written)?));
        if let Some((written, kind)) = unescaped.and_then(weak).or_else(|| weak(whole))
            && sensitive_name(written).is_none()
        {
            let place = name.end - written.len()..name.end;
            if let Some((value, _)) = value_after(text, &place)
                && is_strong(&text[value.clone()])
            {
                found.push(Found::new(value, kind, Evidence::Context));
            }
            continue;
        }
        let Some((written, kind)) = unescaped.and_then(named).or_else(|| named(whole)) else { continue };
        let place = name.end - written.len()..name.end;
        if is_in_name(bytes, place.start) {
            continue;
        }
        let is_key = kind == API_KEY && sensitive_name(written).is_none();
        if is_key && !has_key_behind(bytes, name.end) {
            continue;
        }
        if let Some(value) = generated(text, &place).filter(|_| !is_key) {
            found.push(Found::new(value, kind, Evidence::Context));
            continue;
        }
        let Some((value, form)) = value_after(text, &place) else {
            if let Some(value) = value_of_line(text, &place).or_else(|| string_behind(text, &place)).filter(|_| !is_key)
            {
                found.push(Found::new(value, kind, Evidence::Context));
            }
            continue;
        };
        let is_short = sensitive_name(written).is_none();
        let looks_announced = is_short && is_of_short_name(text, &place, &text[value.clone()], form, &kind);
        if is_short && !looks_announced {
            continue;
        }
        if let Some(other) =
            replaced_by(text, &value).filter(|other| is_secret(&text[other.clone()], written, form, &kind))
        {
            found.push(Found::new(other, kind.clone(), Evidence::Context));
        }
        if looks_announced || is_secret(&text[value.clone()], written, form, &kind) {
            found.push(Found::new(value, kind, Evidence::Context));
        } else if let Some(value) = string_behind(text, &place) {
            found.push(Found::new(value, kind, Evidence::Context));
        }
    }
}

/// Returns the string that is after another with an arrow or an alternative between: `"old" -> "new"`, `a || "default"`.
fn replaced_by(text: &str, value: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let behind = skip_quote(bytes, value.end);
    let mark = skip_blanks(bytes, behind);
    let length = ["->", "=>", "→", "||", "??", "or ", "to "]
        .iter()
        .find(|mark_text| bytes[mark..].starts_with(mark_text.as_bytes()))?
        .len();
    let start = skip_blanks(bytes, mark + length);
    let opened = skip_quote(bytes, start);
    (behind > value.end).then(|| quoted(bytes, start, opened)).flatten()
}

/// Returns the kind of a name that is too short to mark a secret by itself: it counts only if its value looks
/// generated, or if the name of a user is beside it.
fn short_name(name: &str) -> Option<Kind> {
    match name.trim_start_matches(['-', '.', '_']) {
        "pass" | "PASS" | "Pass" | "pw" | "PW" | "Pw" => Some(PASSWORD),
        "key" | "KEY" | "Key" => Some(API_KEY),
        _ => None,
    }
}

/// Shortest key, and how far after its name it may begin.
const MIN_KEY_BYTES: usize = 16;
const MAX_KEY_GAP_BYTES: usize = 12;

/// Returns whether a run of letters and digits follows that is long enough for a key. Most values of `key` are shorter.
fn has_key_behind(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at..bytes.len().min(at + MAX_KEY_GAP_BYTES + MIN_KEY_BYTES)];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    let gap = rest.iter().position(u8::is_ascii_alphanumeric).unwrap_or(rest.len());
    let length = rest[gap..].iter().take_while(|byte| is_part(byte)).count();
    length >= MIN_KEY_BYTES && rest[gap..].iter().any(u8::is_ascii_digit)
}

/// Returns whether the value of a short name is a secret.
fn is_of_short_name(text: &str, name: &Range<usize>, value: &str, form: Form, kind: &Kind) -> bool {
    if *kind == PASSWORD {
        is_announced(value)
            || is_memorable(value)
            || (is_user_beside(text.as_bytes(), name) && is_secret(value, "password", form, kind))
    } else {
        is_strong(value) && !is_uuid(value) && is_user_beside(text.as_bytes(), name)
    }
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4
}

/// Most bytes between a name that is too short to mark a secret by itself and the name of a user.
const MAX_USER_DISTANCE_BYTES: usize = 240;

/// The name of a user or an account, with what assigns a value to it.
static USER: LazyLock<Regex> = LazyLock::new(|| {
    let names = "user|user_?name|user_?id|login|account|account_?(?:name|id)|e?-?mail|uid|access_?key_?(?:id)?|client_?id\
                 |app_?id|application_?id|key_?id|identity|principal|usr";
    RegexBuilder::new(&format!(r#"(?i)(?:^|[^a-z0-9])(?:{names})\\*['\x22]?[ \t]{{0,20}}(?:=>|[=:])"#))
        .unicode(false)
        .build()
        .expect("the built-in patterns are tested")
});

/// Returns whether the name of a user is assigned a value in the same section or object.
fn is_user_beside(bytes: &[u8], name: &Range<usize>) -> bool {
    let before = &bytes[name.start.saturating_sub(MAX_USER_DISTANCE_BYTES)..name.start];
    let ends =
        [memchr::memmem::rfind(before, b"\n\n"), memchr::memmem::rfind(before, b"\n["), memchr::memrchr(b'}', before)];
    let before = &before[ends.into_iter().flatten().max().unwrap_or(0)..];
    let behind = &bytes[name.end..bytes.len().min(name.end + MAX_USER_DISTANCE_BYTES)];
    let ends =
        [memchr::memmem::find(behind, b"\n\n"), memchr::memmem::find(behind, b"\n["), memchr::memchr(b'}', behind)];
    let behind = &behind[..ends.into_iter().flatten().min().unwrap_or(behind.len())];
    USER.is_match(before) || USER.is_match(behind)
}

/// Returns whether a name is a part of the name of a resource, as in `arn:aws:secretsmanager:eu:1:secret:prod/db`.
fn is_in_name(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(MAX_NAME_SIDE_BYTES * 2)..start];
    let word = before.rsplit(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'=')).next();
    word.is_some_and(|word| word.starts_with(b"arn:") || word.starts_with(b"urn:"))
}

/// Finds a value of letters, digits and punctuation that follows a name and looks generated. It ends at the quote,
/// bracket or separator that ends the assignment.
fn generated(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut here = skip_quote(bytes, name.end);
    let is_quoted_name = here > name.end;
    if byte(here) == b']' {
        here += 1;
    }
    here = skip_emphasis(bytes, here);
    let gap = skip_blanks(bytes, here);
    let is_flag = text[name.clone()].starts_with('-') && !is_quoted_name;
    let operator = match (byte(gap), byte(gap + 1), byte(gap + 2)) {
        (b'=', b'=', b'=') => 3,
        (b'=', b'>' | b'=', _) | (b':', b'=', _) | (b'<', b'-', _) | (b'-', b'>', _) => 2,
        (b'=' | b':', ..) => 1,
        _ if is_flag && gap > here => 0,
        _ => return None,
    };
    if operator == 1 && byte(gap) == b':' && byte(gap + 1) == b':' {
        return None;
    }
    let start = skip_blanks(bytes, skip_emphasis_behind(bytes, gap + operator));
    // Strings of code have a letter before their quote.
    if byte(start).is_ascii_alphabetic() && matches!(byte(start + 1), b'"' | b'\'') {
        return None;
    }
    if operator > 0 && start > gap + operator && gap == here && byte(gap) == b'=' {
        return None;
    }
    if matches!(byte(start), b'"' | b'\'' | b'`' | b'\\')
        || (matches!(byte(start), b'[' | b'(' | b'{') && matches!(byte(start + 1), b'"' | b'\'' | b'`'))
    {
        return None;
    }
    let rest = &bytes[start..bytes.len().min(start + MAX_GENERATED_VALUE_BYTES + 1)];
    let mut length = rest.iter().position(|byte| !byte.is_ascii_graphic()).unwrap_or(rest.len());
    if length > MAX_GENERATED_VALUE_BYTES {
        return None;
    }
    // Text that continues after a space is prose or code.
    let behind = &rest[length..];
    let line_rest = &behind[..behind.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(behind.len())];
    let is_alone = line_rest.trim_ascii().is_empty()
        || line_rest.trim_ascii().starts_with(b"#")
        || matches!(line_rest.trim_ascii(), b"\\" | b"&&" | b"|");
    if let Some(outer) = outer_quote(bytes, name.start)
        && let Some(end) = rest[..length].iter().position(|byte| *byte == outer)
    {
        length = if end > 0 && rest[end - 1] == b'\\' { end - 1 } else { end };
    }
    if let Some(end) = memchr::memmem::find(&rest[..length], b"\\n")
        .into_iter()
        .chain(memchr::memmem::find(&rest[..length], b"\\\""))
        .min()
    {
        length = end.min(length);
    }
    let before = bytes[..name.start].last();
    let has_next = |mark: u8| {
        rest[..length].iter().enumerate().filter(|(_, byte)| **byte == mark).map(|(at, _)| at).find(|at| {
            let behind = &rest[at + 1..length];
            let word = behind
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'[' | b']'))
                .count();
            word > 0 && behind.get(word) == Some(&b'=') || behind.is_empty()
        })
    };
    let is_query = byte(gap) != b':';
    let query_end = has_next(b'&').filter(|_| is_query).or_else(|| {
        if matches!(before, Some(b'?' | b'&')) { memchr::memchr2(b'&', b'#', &rest[..length]) } else { None }
    });
    let end = [
        query_end,
        has_next(b';'),
        has_next(b','),
        memchr::memmem::find(&rest[..length], b"&&"),
        memchr::memmem::find(&rest[..length], b"</"),
    ];
    length = end.into_iter().flatten().min().unwrap_or(length).min(length);
    // A closing bracket whose opening bracket precedes the name is not part of the value.
    while length > 0 {
        let value = &rest[..length];
        let count = |wanted: u8| value.iter().filter(|byte| **byte == wanted).count();
        let is_surplus = match value[length - 1] {
            b')' => !is_alone && count(b')') > count(b'('),
            b'}' => {
                count(b'}') > count(b'{') && bytes[name.start.saturating_sub(MAX_GAP_BYTES)..name.start].contains(&b'{')
            }
            b']' => !is_alone && count(b']') > count(b'['),
            b',' | b';' => true,
            b'.' => !is_alone,
            b'\\' => true,
            _ => false,
        };
        if !is_surplus {
            break;
        }
        length -= 1;
    }
    let value = text.get(start..start + length)?;
    let is_marked = value
        .bytes()
        .any(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'='));
    (is_marked
        && (is_generated(value) || is_human(value))
        && !stands_in(value)
        && !value.contains("://")
        && !is_call(value)
        && !is_character_class(value)
        && !is_rule(&value.to_lowercase())
        && !is_rooted_path(&value.to_lowercase()))
    .then_some(start..start + length)
}

/// Finds the value that is the last word of a line, right after a name and options, as in the settings of many servers:
/// `requirepass ...`, `rootpw --plaintext ...`, `user joe password ...`. The value must not look like a word.
fn value_of_line(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = &bytes[name.end..bytes.len().min(name.end + MAX_VALUE_BYTES)];
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    if !matches!(line.first(), Some(b' ' | b'\t')) {
        return None;
    }
    let mut at = skip_blanks(line, 0);
    while line[at..].starts_with(b"--") {
        let option = line[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        at = skip_blanks(line, at + option);
    }
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(b";").unwrap_or(line);
    let line = line.strip_suffix(b" }").map_or(line, <[u8]>::trim_ascii_end);
    if at >= line.len() {
        return None;
    }
    let (mut start, mut end) = (name.end + at, name.end + line.len());
    let quote = bytes[start];
    if matches!(quote, b'"' | b'\'' | b'`') && end > start + 2 && bytes[end - 1] == quote {
        (start, end) = (start + 1, end - 1);
    }
    let value = text.get(start..end)?;
    // A version or a position in a file that follows a name is a remark.
    let is_remark = value.starts_with('(') && value.ends_with(')');
    (!is_remark
        && !value.contains(char::is_whitespace)
        && (is_announced(value) || is_memorable(value) || is_spoken(value)))
    .then_some(start..end)
}

/// Most bytes between a name and the string that is taken to be its value.
const MAX_STRING_GAP_BYTES: usize = 28;

/// Finds the first string after a name, whatever is between: `#define NAME "..."`, `NAME || "..."`, `{password,
/// "..."}`, `expect(password).toBe("...")`. The value must not look like a word.
fn string_behind(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let closing = bytes[name.end..].iter().take(2).take_while(|byte| matches!(byte, b']' | b')')).count();
    let start = skip_quote(bytes, name.end + closing);
    let gap = &bytes[start..bytes.len().min(start + MAX_STRING_GAP_BYTES)];
    let length = gap.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'\n' | b';'))?;
    if length == 0 || gap[length] == b'\n' || gap[length] == b';' {
        return None;
    }
    let opened = skip_quote(bytes, start + length);
    let value = quoted(bytes, start + length, opened)?;
    let written = text.get(value.clone())?;
    let is_value = !written.contains(char::is_whitespace)
        && !is_rooted_path(&written.to_lowercase())
        && !written.starts_with(['/', '~', '.'])
        && (is_announced(written) || is_memorable(written) || is_spoken(written))
        // Erlang writes binaries as `<<"...">>`.
        && (!gap[..length].contains(&b'<') || gap[..length].ends_with(b"<<"))
        && (!gap[..length].contains(&b'|') || memchr::memmem::find(&gap[..length], b"||").is_some());
    is_value.then_some(value)
}

/// Longest value that is taken to be generated.
const MAX_GENERATED_VALUE_BYTES: usize = 256;

/// Functions that take a name and a value.
const SETTERS: &[&str] = &[
    "define",
    "setenv",
    "putenv",
    "set",
    "put",
    "setproperty",
    "setitem",
    "set_var",
    "env",
    "insert",
    "add",
    "append",
    "header",
    "setheader",
    "addheader",
    "setrequestheader",
    "setenvironmentvariable",
    "config",
    "add_config_value",
    "setex",
    "setdefault",
    "withenv",
    "property",
    "setparameter",
    "addparameter",
    "addattribute",
    "secret",
    "string",
    "setcookie",
    "update_option",
    "add_option",
    "setsecret",
    "putstring",
    "store",
    "setvalue",
    "environment",
    "option",
    "set_config",
    "const",
    "assign",
    "write",
];

/// Returns whether a quoted name is the first argument of a call that takes a name and a value.
fn is_setter(bytes: &[u8], quote: usize) -> bool {
    let before = bytes[..quote].trim_ascii_end();
    let Some((b'(' | b'[', before)) = before.split_last() else { return false };
    let word = before.iter().rev().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = String::from_utf8_lossy(&before[before.len() - word..]).to_ascii_lowercase();
    SETTERS.contains(&word.as_str())
}

/// Finds the value that follows a name, and how it is written.
fn value_after(text: &str, name: &Range<usize>) -> Option<(Range<usize>, Form)> {
    let bytes = text.as_bytes();
    let written = &text[name.clone()];
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut here = name.end;
    let quote_end = skip_quote(bytes, here);
    let name_is_quoted = quote_end > here;
    here = quote_end;
    if byte(here) == b']' {
        here += 1;
    }
    here = skip_emphasis(bytes, here);
    let before_gap = here;
    here = skip_blanks(bytes, here);
    let is_flag = written.starts_with('-') && !name_is_quoted;
    let is_loud = !written.bytes().any(|byte| byte.is_ascii_lowercase()) && !name_is_quoted;
    let mut form = Form::Bare;
    match byte(here) {
        b'=' => {
            let is_tight = here == before_gap && !matches!(byte(here + 1), b' ' | b'\t' | b'=' | b'>' | b'~');
            let prefix = bytes[..name.start].last_chunk::<5>();
            let is_shell = prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"$env:"));
            if (is_tight && (is_loud || is_flag)) || is_shell {
                form = Form::Environment;
            } else if is_tight && before(bytes, name.start) == Before::Line {
                form = Form::Line;
            }
            while matches!(byte(here), b'=' | b'>') {
                here += 1;
            }
        }
        b':' | b'?' => {
            let is_colon = byte(here) == b':' && here == before_gap && matches!(byte(here + 1), b' ' | b'\t');
            // `name?a=b` is a path with a query.
            if byte(here) == b'?' && !matches!(byte(here + 1), b':' | b' ' | b'=') {
                return None;
            }
            // `name?: type` may be written in code, but `name::other` is a path.
            here += if byte(here) == b'?' && byte(here + 1) == b':' { 2 } else { 1 };
            if byte(here) == b':' {
                return None;
            }
            if byte(here) == b'=' {
                here += 1;
            } else if let Some(behind) = skip_type(bytes, here) {
                here = behind;
            } else if is_colon && matches!(before(bytes, name.start), Before::Line | Before::Indented) {
                form = if is_loud { Form::Environment } else { Form::Line };
            }
        }
        b',' if name_is_quoted => {
            here = skip_blanks(bytes, here + 1);
            let opened = skip_quote(bytes, here);
            let value = quoted(bytes, here, opened)?;
            // `"--password", "value"`, and `"name": "PASSWORD", "value": "..."`.
            if written.starts_with('-') {
                return (bytes.get(value.start) != Some(&b'-')).then_some((value, Form::Quoted));
            }
            if &bytes[value.clone()] == b"value"
                && let Some(behind) = colon_behind(bytes, skip_quote(bytes, value.end))
            {
                let opened = skip_quote(bytes, behind);
                return Some((quoted(bytes, behind, opened)?, form_under(written)));
            }
            let quote = name.start - quote_before(bytes, name.start).map_or(0, <[u8]>::len);
            if is_setter(bytes, quote) {
                return Some((value, form_under(written)));
            }
            // Two strings side by side are an assignment only if the second cannot be anything else.
            let looks_random = value.len() >= 12
                && text.get(value.clone()).is_some_and(|value| {
                    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
                    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
                });
            return looks_random.then_some((value, Form::Quoted));
        }
        // `.password("value")`, but not `check_password("value")`.
        b'(' if here == before_gap && !name_is_quoted && takes_value(written) => {
            here = skip_blanks(bytes, here + 1);
            let opened = skip_quote(bytes, here);
            return Some((quoted(bytes, here, opened)?, Form::Quoted));
        }
        // A row of a table.
        b'|' if here > before_gap || name_is_quoted => {
            let start = skip_blanks(bytes, here + 1);
            let opened = skip_quote(bytes, start);
            let rest = &bytes[opened..bytes.len().min(opened + MAX_VALUE_BYTES)];
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'|' || *byte == b'`';
            let end = rest.iter().position(is_end).unwrap_or(rest.len());
            let next = skip_blanks(bytes, skip_quote(bytes, opened + end));
            let is_cell = matches!(byte(next), b'|' | b'\n' | b'\r' | 0) && text.is_char_boundary(opened + end);
            return is_cell.then_some((opened..opened + end, if is_loud { Form::Environment } else { Form::Bare }));
        }
        _ if is_flag && here > before_gap => {}
        // `ENV NAME value`, as older Dockerfiles have it, and `setx NAME value`.
        _ if is_loud && here > before_gap && before(bytes, name.start) == Before::Command => {
            form = Form::Environment;
        }
        _ => return None,
    }
    let is_own_line = matches!(form, Form::Environment | Form::Line);
    here = skip_emphasis_behind(bytes, here);
    let gap_end = skip_blanks(bytes, here);
    // White space after `name=` ends an empty value.
    if form == Form::Environment && gap_end > here && byte(here.wrapping_sub(1)) == b'=' && here - 1 == before_gap {
        return None;
    }
    here = gap_end;
    // Anchors and tags of YAML, and what templates and Lua put around a string.
    if matches!(byte(here), b'&' | b'!') && byte(here + 1).is_ascii_alphabetic() {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = bytes[here + 1..].iter().take(MAX_TYPE_BYTES).take_while(is_name).count();
        let behind = skip_blanks(bytes, here + 1 + word);
        if behind > here + 1 + word && matches!(byte(behind), b'"' | b'\'') {
            here = behind;
        }
    } else if bytes[here..].starts_with(b"!!") && byte(here + 2).is_ascii_lowercase() {
        let word = bytes[here + 2..].iter().take(MAX_TYPE_BYTES).take_while(|byte| byte.is_ascii_lowercase()).count();
        here = skip_blanks(bytes, here + 2 + word);
    } else if bytes[here..].starts_with(b"<%=") {
        here = skip_blanks(bytes, here + 3);
    } else if bytes[here..].starts_with(b"[[") {
        let end = memchr::memmem::find(&bytes[here..bytes.len().min(here + MAX_VALUE_BYTES)], b"]]")?;
        return text.get(here + 2..here + end).map(|_| (here + 2..here + end, Form::Quoted));
    }
    // Prefixes of strings in code.
    if matches!(byte(here), b'b' | b'r' | b'u' | b'f') && matches!(byte(here + 1), b'"' | b'\'') {
        here += 1;
    }
    let opened = skip_quote(bytes, here);
    if opened > here {
        let outer = quote_before(bytes, name.start);
        // `"NAME=" + value`: the quote ends the string that the name is in.
        if outer == Some(&bytes[here..opened]) && !name_is_quoted {
            return None;
        }
        let value = quoted(bytes, here, opened)?;
        let form = match form {
            Form::Environment => form,
            _ if name_is_quoted && byte(before_gap) == b':' => form_under(written),
            _ => Form::Quoted,
        };
        return Some((value, form));
    }
    if form == Form::Environment
        && !name_is_quoted
        && let Some(outer) = quote_before(bytes, name.start)
        && takes_assignment(&bytes[..name.start - outer.len()])
        && let Some(value) = quoted(bytes, name.start - outer.len(), name.start)
        && value.end > here
        && !is_several_lines(&bytes[value.clone()])
    {
        // `-e "NAME=a value"`, where the quotes are around both.
        return Some((here..value.end, form));
    }
    if is_own_line && let Some(end) = line_end(bytes, name.start, here) {
        return text.get(here..end).map(|_| (here..end, form));
    }
    if form == Form::Line || (form == Form::Environment && byte(before_gap) == b':') {
        form = Form::Bare;
    }
    let rest = &bytes[here..bytes.len().min(here + MAX_VALUE_BYTES + 1)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b';' | b'&' | b'|' | b')' | b'}' | b']' | b'>' | b'<')
            || (*byte == b',' && form == Form::Bare)
    };
    // In an environment variable `?` and `&` are part of the value, unless another parameter follows.
    let is_part = |at: usize| {
        let word = rest[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        form == Form::Environment && rest[at] == b'&' && word > 0 && rest.get(at + 1 + word) != Some(&b'=')
    };
    let length = rest.iter().enumerate().position(|(at, byte)| ends(byte) && !is_part(at)).unwrap_or(rest.len());
    // A call or an index continues after what looks like its end.
    if matches!(rest.get(length), Some(b'"' | b'\'' | b'`'))
        && rest[..length].iter().any(|byte| matches!(byte, b'(' | b'['))
    {
        return None;
    }
    // A type with parameters.
    if form == Form::Bare && rest.get(length) == Some(&b'<') {
        return None;
    }
    let is_mark = |byte: &u8| matches!(byte, b'.' | b',' | b':' | b'?') || (*byte == b'!' && form == Form::Bare);
    let mut trimmed = rest[..length].iter().rposition(|byte| !is_mark(byte))? + 1;
    // The end of the replacement in a `sed` command.
    if rest[trimmed - 1] == b'/' && name.start > 0 && bytes[name.start - 1] == b'/' {
        trimmed -= 1;
    }
    let value = here..here + trimmed;
    text.is_char_boundary(value.end).then_some((value, form))
}

/// Returns whether a function with the name of a secret is given its value, and does not return or check it.
fn takes_value(name: &str) -> bool {
    const VERBS: &[&str] = &[
        "get", "check", "verify", "hash", "validate", "is", "has", "read", "find", "fetch", "load", "prompt", "ask",
        "encrypt", "decrypt", "compare", "generate", "reset", "forgot", "test", "it", "describe", "print", "log",
        "parse", "new", "make", "create", "random", "input", "env", "assert", "expect", "t", "by", "of", "from",
        "matches", "delete", "remove", "revoke",
    ];
    words(name).first().is_some_and(|verb| !VERBS.contains(&verb.as_str()))
}

/// Returns the form of a JSON string under a name: that of an environment variable if the name is in upper case.
pub(crate) fn form_under(name: &str) -> Form {
    let is_variable = name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if is_variable { Form::Environment } else { Form::Quoted }
}

/// Returns where the value after a colon at `at` begins.
fn colon_behind(bytes: &[u8], at: usize) -> Option<usize> {
    let colon = skip_blanks(bytes, at);
    (bytes.get(colon) == Some(&b':')).then(|| skip_blanks(bytes, colon + 1))
}

/// Returns whether a text contains a line end, escaped or not.
fn is_several_lines(text: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', text).is_some() || memchr::memmem::find(text, b"\\n").is_some()
}

/// What is before a name on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing.
    Line,
    /// White space, or the dash of a list.
    Indented,
    /// A word that takes a name and a value after it.
    Command,
    /// Anything else.
    Other,
}

/// Commands that take a name and its value.
const COMMANDS: &[&[u8]] = &[b"ENV", b"ARG", b"setx", b"SETX"];

/// Words that may precede an assignment, such as `export`.
const DECLARATIONS: &[&[u8]] =
    &[b"export", b"set", b"SET", b"ENV", b"ARG", b"env", b"-e", b"--env", b"declare -x", b"setenv"];

/// Returns what precedes a name on its line.
fn before(bytes: &[u8], start: usize) -> Before {
    let first = start.saturating_sub(MAX_GAP_BYTES);
    let line = &bytes[first..start];
    let line = line.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(line, |end| &line[end + 1..]);
    // An escaped end of a line, in text that is quoted in another.
    let line = memchr::memmem::rfind(line, b"\\n").map_or(line, |end| &line[end + 2..]);
    let is_whole = line.len() < MAX_GAP_BYTES;
    let trimmed = line.trim_ascii();
    match trimmed {
        _ if !is_whole => Before::Other,
        b"" if line.is_empty() => Before::Line,
        b"" | b"-" => Before::Indented,
        _ if COMMANDS.contains(&trimmed) => Before::Command,
        _ => Before::Other,
    }
}

/// Returns where the line of an assignment ends, if nothing but its value is between.
fn line_end(bytes: &[u8], name: usize, value: usize) -> Option<usize> {
    let first = name.saturating_sub(MAX_GAP_BYTES);
    let line = &bytes[first..name];
    let start = line
        .iter()
        .rposition(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\''))
        .map(|end| end + 1)
        .max(memchr::memmem::rfind(line, b"\\n").map(|end| end + 2));
    let lead = match start {
        Some(start) => &line[start..],
        None if first == 0 => line,
        None => return None,
    };
    let lead = lead.trim_ascii();
    let lead = lead.strip_prefix(b"- ").unwrap_or(lead).trim_ascii();
    if !(matches!(lead, b"" | b"-" | b"Environment=") || DECLARATIONS.contains(&lead) || COMMANDS.contains(&lead)) {
        return None;
    }
    let rest = &bytes[value..bytes.len().min(value + MAX_VALUE_BYTES + 1)];
    let length = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\'))
        .unwrap_or(rest.len());
    let behind = &rest[length..];
    let gap = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let ends = match behind.get(gap) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'"' | b'\'') => gap == 0,
        Some(b'\\') => matches!(behind.get(gap + 1), Some(b'n' | b'r' | b'"' | b'\\')),
        // A comment.
        Some(b'#') => gap > 0,
        Some(_) => false,
    };
    let body = &rest[..length];
    // In a query, in code and in a list the value ends earlier.
    let goes_on = body.ends_with(b",") || body.ends_with(b";") || body.ends_with(b")") || body.ends_with(b"}");
    let is_quoted = start.is_some_and(|start| start > 0 && matches!(line[start - 1], b'"' | b'\''));
    let goes_on_behind_and = body.iter().position(|byte| *byte == b'&').is_some_and(|at| {
        let word = body[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_part = word > 0 && body.get(at + 1 + word) == Some(&b'=');
        body.get(at + 1) == Some(&b'&') || (is_quoted && is_part)
    });
    (ends && length > 0 && !goes_on && !goes_on_behind_and).then_some(value + length)
}

/// Returns whether a text ends in a word that takes an assignment, so that the quotes after it contain the whole
/// assignment.
fn takes_assignment(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    const OTHERS: &[&[u8]] = &[b"Environment=", b"--env=", b"--build-arg"];
    DECLARATIONS.iter().chain(OTHERS).any(|word| {
        let rest = before.strip_suffix(*word);
        let is_apart = |rest: &[u8]| rest.last().is_none_or(|byte| !byte.is_ascii_alphanumeric());
        rest.is_some_and(|rest| is_apart(rest) || rest.ends_with(b"\\n"))
    })
}

/// Returns the quote, with its backslashes, that is right before a place.
fn quote_before(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let (quote, rest) = bytes[..at].split_last()?;
    let slashes = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
    matches!(quote, b'"' | b'\'').then(|| &bytes[at - 1 - slashes..at])
}

/// Skips backslashes and the quote after them, if there is one.
fn skip_quote(bytes: &[u8], at: usize) -> usize {
    let slashes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
    match bytes.get(at + slashes) {
        Some(b'"' | b'\'' | b'`') => at + slashes + 1,
        _ => at,
    }
}

/// Returns what is between the quote at `start..opened` and the next of its sort.
fn quoted(bytes: &[u8], start: usize, opened: usize) -> Option<Range<usize>> {
    if opened <= start {
        return None;
    }
    let quote = bytes[opened - 1];
    let slashes = opened - 1 - start;
    let limit = bytes.len().min(opened + MAX_VALUE_BYTES + 1);
    // Three quotes begin a text that ends with three.
    let triple = [quote; 3];
    if slashes == 0 && bytes[start..].starts_with(&triple) {
        let end = memchr::memmem::find(&bytes[opened + 2..limit], &triple)?;
        return Some(opened + 2..opened + 2 + end);
    }
    let mut here = opened;
    while here < limit {
        let run = bytes[here..limit].iter().take_while(|byte| **byte == b'\\').count();
        match bytes.get(here + run) {
            // More backslashes than opened it make a quote a part of the value.
            Some(byte) if *byte == quote && run <= slashes => {
                let end = here + run - run.min(slashes);
                match goes_on(&bytes[here + run..limit], quote, slashes) {
                    0 => return Some(opened..end),
                    length => here += run + length,
                }
            }
            Some(_) => here += run + 1,
            None => return None,
        }
    }
    None
}

/// Returns the length of a quote that is part of the value: it is doubled, or a shell string ends, contains an escaped
/// quote and begins again. Returns 0 if the quote ends the value.
fn goes_on(rest: &[u8], quote: u8, slashes: usize) -> usize {
    if quote != b'\'' || slashes > 0 {
        return 0;
    }
    let is_closed = |rest: &[u8]| {
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        memchr::memchr(b'\'', line).is_some()
    };
    if rest.starts_with(b"'\\''") && is_closed(&rest[4..]) {
        return 4;
    }
    let is_doubled = rest.starts_with(b"''")
        && rest
            .get(2)
            .is_some_and(|byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b')' | b';' | b'\'' | b']' | b'}'))
        && is_closed(&rest[2..]);
    if is_doubled { 2 } else { 0 }
}

/// Skips what ends an emphasis after a colon, as in `**Password:** value`.
fn skip_emphasis_behind(bytes: &[u8], at: usize) -> usize {
    let marks = bytes[at..].iter().take(3).take_while(|byte| matches!(byte, b'*' | b'_')).count();
    if marks > 1 && bytes.get(at + marks) == Some(&b' ') { at + marks } else { at }
}

/// Skips the marks with which Markdown ends what it emphasizes.
fn skip_emphasis(bytes: &[u8], at: usize) -> usize {
    let marks = bytes[at..].iter().take(3).take_while(|byte| matches!(byte, b'*' | b'_')).count();
    let is_closing = marks > 0 && matches!(bytes.get(at + marks), Some(b':' | b'=' | b' ' | b'|'));
    if is_closing { at + marks } else { at }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take(MAX_GAP_BYTES).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips a type and the `=` after it.
fn skip_type(bytes: &[u8], at: usize) -> Option<usize> {
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b' ' | b'&' | b'<' | b'>' | b'_' | b'\'' | b'[' | b']' | b'|' | b';' | b'.' | b',' | b':')
    };
    let length = bytes[at..].iter().take(MAX_TYPE_BYTES).take_while(|byte| is_type(byte)).count();
    let is_spaced = length > 0 && bytes[at + length - 1] == b' ';
    (is_spaced && bytes.get(at + length) == Some(&b'=')).then_some(at + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    fn values(text: &str) -> Vec<&str> {
        values_found(text, |found| find(text, &names(text).collect::<Vec<_>>(), found))
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
            "got {\"cmd\":\"API_KEY=q1w2e3r4t5 make release\"}",
        ] {
            assert_eq!(values(text), ["q1w2e3r4t5"], "{text}");
        }
        assert_eq!(values("setenv(\"API_KEY\", \"q1w2e3r4t5y6u7\")"), ["q1w2e3r4t5y6u7"]);
        assert_eq!(values("password=hunter2"), ["hunter2"]);
        for text in [
            "docker run -e \"DB_PASSWORD=a blue horse?!\" image",
            "\\nEnvironment=\\\"DB_PASSWORD=a blue horse?!\\\"\\n",
            "cd x && DB_PASSWORD='a blue horse?!' ./run",
            "$env:DB_PASSWORD = \"a blue horse?!\"",
        ] {
            assert_eq!(values(&text.replace("a blue", "blue")), ["blue horse?!"], "{text}");
        }
        assert_eq!(values("x\nDB_PASSWORD=(a;b&c|d)e,f!\ny"), ["(a;b&c|d)e,f!"]);
        assert_eq!(values("{\"a\":\"DB_PASSWORD=one;two\\nX=1\"}"), ["one;two"]);
        assert_eq!(values("DB_PASSWORD=onetwo&&make"), ["onetwo"]);
        assert_eq!(values("\"TOKEN=\" + token + \"&x=1\""), [""; 0]);
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
