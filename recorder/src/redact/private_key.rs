//! Private keys: between their markers, cut off at either end, and whatever is around each of their lines.
//!
//! A key is lines of base64. What is before and after each line (numbers, quotes, marks of a diff, times of a log) is
//! not enumerated: the runs of base64 are taken and the rest is left as it is.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::found::{Evidence, Found};
use super::kind::Kind;
use super::plausible::is_wordlike;
use super::random::distinct;

const PRIVATE_KEY: Kind = Kind::known("private-key");

/// Longest private key that is looked for after its first marker or before its last.
pub const MAX_PRIVATE_KEY_BYTES: usize = 64 << 10;

/// Fewest characters of base64 that make a key more than an example of one.
const MIN_BODY_BYTES: usize = 40;

/// Shortest line of a key that gives a part of it away on its own.
const MIN_LINE_BYTES: usize = 24;

/// Shortest run of base64 that is a line of a key, but for its last line.
const MIN_RUN_BYTES: usize = 16;

/// Most lines in a row without base64 between the first marker and the key: headers and an empty line.
const MAX_HEADER_LINES: usize = 6;

/// Lines of headers that are no part of a key.
const HEADERS: &[&str] =
    &["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:", "Subject:"];

/// Most lines in a row without base64 between two lines of a key.
const MAX_BLANK_LINES: usize = 3;

/// Headers between the lines of a PuTTY key.
const PUTTY_HEADERS: &[&str] =
    &["Encryption:", "Comment:", "Public-Lines", "Private-Lines", "Key-Derivation", "Argon2-"];

/// What is before and after a private key. The spaces of its label may be written as in URLs.
static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"-{4,5}[ ]?(BEGIN|END)[ +](?:[A-Z0-9]{2,12}[ +_]){0,4}PRIVATE[ +]KEY(?:[ +]BLOCK)?[ ]?-{4,5}|PuTTY-User-Key-File-[0-9]:|(?:untrusted )?comment: [a-z ]{0,20}encrypted secret key",
    )
    .expect("the built-in patterns are tested")
});

/// How the bodies of unencrypted keys begin: PKCS #1, PKCS #8, SEC 1 and OpenSSH.
static BEGINNING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"MII[A-Za-z0-9+/]{2}[AQgw]IB(?:AAKC|ADAN)[A-Za-z0-9+/]{6}",
        r"|MII[A-Z][A-Za-z0-9+/]{2}[A-Za-z0-9+/]{2}IBA(?:AKC|DAN)[A-Za-z0-9+/]{6}",
        r"|M[A-Z](?:[A-Za-z0-9+/]{2})EA(?:MBMG|MAsG|MBAG|MAUG)[A-Za-z0-9+/]{16}",
        r"|M(?:HcCAQEEI|IGkAgEBBD|IHcAgEBBE|C4CAQAwBQYDK2V)[A-Za-z0-9+/]{16}",
        r"|b3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/]{16}",
    ))
    .expect("the built-in patterns are tested")
});

/// Finds the private keys of a text.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let has_marker = memchr::memmem::find(bytes, b"PRIVATE").is_some()
        || memchr::memmem::find(bytes, b"PuTTY-User").is_some()
        || memchr::memmem::find(bytes, b"encrypted secret key").is_some();
    let mut done = 0;
    if has_marker {
        let markers: Vec<_> = MARKER.find_iter(text).collect();
        for (index, marker) in markers.iter().enumerate() {
            if marker.start() < done {
                continue;
            }
            if is_end(marker.as_str()) {
                // The beginning is lost. Nothing before another marker belongs to the key.
                let before = index.checked_sub(1).map_or(0, |before| markers[before].end());
                if let Some(key) = before_end(text, done.max(before), marker.range()) {
                    done = marker.end();
                    found.push(key);
                }
                continue;
            }
            let end = markers
                .get(index + 1)
                .filter(|next| is_end(next.as_str()) && next.start() - marker.end() <= MAX_PRIVATE_KEY_BYTES);
            let next = markers.get(index + 1).map_or(text.len(), |next| next.start());
            let key = match end {
                Some(end) => {
                    between(text, marker.range(), end.range()).or_else(|| behind_beginning(text, marker.range(), next))
                }
                None => behind_beginning(text, marker.range(), next),
            };
            if let Some(key) = key {
                done = key.parts.last().map_or(key.span.end, |last| last.end);
                found.push(key);
            }
        }
    }
    if ["MII", "MHcC", "MC4C", "MIG", "b3BlbnNzaC1rZXktdjEA", "EAMB"].iter().any(|start| text.contains(start)) {
        let mut covered: Vec<Range<usize>> =
            found.iter().filter(|key| key.kind == PRIVATE_KEY).map(|key| key.span.start..key.end()).collect();
        covered.sort_by_key(|key| key.start);
        let mut end = 0;
        for beginning in BEGINNING.find_iter(text) {
            let index = covered.partition_point(|key| key.start <= beginning.start());
            let is_covered = beginning.start() < end
                || index.checked_sub(1).is_some_and(|before| covered[before].end >= beginning.end());
            if !is_covered && let Some(key) = behind_beginning(text, beginning.start()..beginning.start(), text.len()) {
                end = key.end();
                found.push(key);
            }
        }
    }
}

fn is_end(marker: &str) -> bool {
    marker.contains("END")
}

/// A line of a text, and the run of base64 in it that may be one of a key.
struct KeyLine {
    line: Range<usize>,
    /// The last run that looks random, or the longest one.
    run: Range<usize>,
    /// The last run, which a short line of a key is.
    last: Range<usize>,
}

/// Goes through the lines of a range, split at real and at escaped line ends.
fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = KeyLine> {
    let bytes = &text.as_bytes()[..range.end];
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start >= range.end {
            return None;
        }
        let mut end = start;
        let mut next = range.end;
        while end < range.end {
            match bytes[end] {
                b'\n' | b'\r' => {
                    next = end + 1;
                    break;
                }
                b'\\' => {
                    let slashes = bytes[end..].iter().take_while(|byte| **byte == b'\\').count();
                    if matches!(bytes.get(end + slashes), Some(b'n' | b'r')) {
                        next = end + slashes + 1;
                        break;
                    }
                    end += slashes;
                }
                _ => end += 1,
            }
        }
        let line = start..end.min(range.end);
        let (run, last) = runs_of(text, line.clone());
        start = next.max(end);
        Some(KeyLine { line, run, last })
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns the run of base64 in a line that may be one of a key, and the last one.
fn runs_of(text: &str, line: Range<usize>) -> (Range<usize>, Range<usize>) {
    let bytes = text.as_bytes();
    let mut longest = line.start..line.start;
    let mut random = None;
    let mut last = longest.clone();
    let mut at = line.start;
    while at < line.end {
        let length = bytes[at..line.end].iter().take_while(|byte| is_base64(**byte)).count();
        if length > 0 {
            // A `+` before complete groups of four characters is the mark of a diff.
            let is_marked = bytes[at] == b'+' && length % 4 == 1;
            last = at + usize::from(is_marked)..at + length;
            if last.len() >= longest.len() {
                longest = last.clone();
            }
            if is_random(&text[last.clone()]) {
                random = Some(last.clone());
            }
        }
        at += length + 1;
    }
    // The end of a terminal colour sequence is not a line of a key.
    if memchr::memchr(0x1b, &bytes[line.clone()]).is_some() {
        last = line.start..line.start;
    }
    (random.unwrap_or(longest), last)
}

/// Returns whether a run may be a line of a key.
fn is_random(run: &str) -> bool {
    let has = |test: fn(&u8) -> bool| run.as_bytes().iter().any(test);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    run.len() >= MIN_RUN_BYTES
        && is_mixed
        && (has(u8::is_ascii_digit) || run.len() >= MIN_LINE_BYTES)
        && !is_wordlike(run)
        && distinct(run) >= 8
}

/// Takes the key between two markers.
fn between(text: &str, begin: Range<usize>, end: Range<usize>) -> Option<Found> {
    let body = begin.end..end.start;
    let lines: Vec<KeyLine> = lines(text, body.clone())
        .filter(|line| !HEADERS.iter().any(|header| text[line.line.clone()].contains(header)))
        .collect();
    let mut runs: Vec<Range<usize>> = Vec::new();
    let is_broken = lines.iter().filter(|line| line.run.len() >= MIN_RUN_BYTES).count() > 1 || lines.len() > 3;
    if is_broken {
        let random = |line: &KeyLine| is_random(&text[line.run.clone()]);
        let last = lines.iter().rposition(random)?;
        let mut is_begun = false;
        for (index, line) in lines.iter().enumerate() {
            is_begun |= random(line);
            // The last line of a key and its checksum may be short.
            let is_short_end =
                index > last && index <= last + 2 && !line.last.is_empty() && !is_number(&text[line.last.clone()]);
            if is_short_end && !random(line) {
                runs.push(line.last.clone());
            } else if random(line) || (is_begun && index < last && line.run.len() >= MIN_RUN_BYTES) {
                runs.push(line.run.clone());
            }
        }
    }
    let mut all = Vec::new();
    if runs.iter().map(ExactSizeIterator::len).sum::<usize>() < MIN_BODY_BYTES {
        // Spaces stand for line ends, or the lines are short.
        let bytes = text.as_bytes();
        let mut at = body.start;
        while at < body.end {
            let length = bytes[at..body.end].iter().take_while(|byte| is_base64(**byte)).count();
            if length > 0 {
                all.push(at..at + length);
            }
            at += length + 1;
        }
        runs = all;
    }
    let identity = identity(text, &runs)?;
    let is_plain = is_plain(text, &body, &runs);
    Some(if is_plain { whole(begin.start..end.end, text, &runs, identity) } else { split(text, runs, identity) })
}

fn is_number(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether the runs of a key are separated only by headers and white space, escaped or not.
fn is_plain(text: &str, body: &Range<usize>, runs: &[Range<usize>]) -> bool {
    let mut at = body.start;
    let is_blank = |gap: &str| {
        let mut rest = gap.trim_start();
        while !rest.is_empty() {
            let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
            let behind = &rest[slashes..];
            if slashes == 0 || !behind.starts_with(['n', 'r', 't']) {
                return HEADERS.iter().any(|header| gap.contains(header));
            }
            rest = behind[1..].trim_start();
        }
        true
    };
    for run in runs {
        if !is_blank(&text[at..run.start]) {
            return false;
        }
        at = run.end;
    }
    is_blank(&text[at..body.end])
}

/// Takes the key after its first marker when the last is missing: lines as long as they look like its lines.
fn behind_beginning(text: &str, begin: Range<usize>, next: usize) -> Option<Found> {
    let mut limit = next.min(begin.end + MAX_PRIVATE_KEY_BYTES);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut misses = 0;
    for line in lines(text, begin.end..limit) {
        let run = &text[line.run.clone()];
        // A PuTTY key has headers between its public and its private lines.
        if PUTTY_HEADERS.iter().any(|header| text[line.line.clone()].contains(header)) {
            continue;
        }
        if is_random(run) {
            push_blank_runs(text, &line, &mut runs);
            misses = 0;
        } else if !runs.is_empty() && line.last.is_empty() && misses < MAX_BLANK_LINES {
            // Line ends of two characters, blank lines, and what is between two strings.
            misses += 1;
        } else if runs.is_empty() {
            misses += usize::from(!line.line.is_empty());
            if misses > MAX_HEADER_LINES {
                break;
            }
        } else {
            // The last line may be short, and is alone on its line but for what is before all of them.
            let run = &text[line.last.clone()];
            let is_last = !run.is_empty()
                && (!is_wordlike(run) || run.len() < 8)
                && run.len().is_multiple_of(4)
                && runs.last().is_some_and(|last| last.len() >= run.len());
            if is_last {
                runs.push(line.last);
            }
            break;
        }
    }
    let identity = identity(text, &runs)?;
    let end = runs.last()?.end;
    let body = begin.end..end;
    let is_marked = !begin.is_empty();
    Some(if is_marked && is_plain(text, &body, &runs) {
        let whole_start = begin.start;
        whole(whole_start..end, text, &runs, identity)
    } else {
        split(text, runs, identity)
    })
}

/// Adds the run of a line, and those beside it if spaces are between them alone.
fn push_blank_runs(text: &str, line: &KeyLine, runs: &mut Vec<Range<usize>>) {
    let rest = &text[line.line.clone()];
    let mut at = line.line.start;
    let pieces: Vec<Range<usize>> = rest
        .split(' ')
        .map(|piece| {
            let range = at..at + piece.len();
            at += piece.len() + 1;
            range
        })
        .collect();
    let is_run = |piece: &Range<usize>| !piece.is_empty() && text[piece.clone()].bytes().all(is_base64);
    let many = pieces.iter().filter(|piece| is_run(piece) && is_random(&text[(*piece).clone()])).count();
    if many < 2 {
        runs.push(line.run.clone());
        return;
    }
    runs.extend(
        pieces.into_iter().skip_while(|piece| !(is_run(piece) && is_random(&text[piece.clone()]))).take_while(is_run),
    );
}

/// Takes the key before its last marker when the first is missing.
fn before_end(text: &str, from: usize, end: Range<usize>) -> Option<Found> {
    let mut limit = from.max(end.start.saturating_sub(MAX_PRIVATE_KEY_BYTES));
    while !text.is_char_boundary(limit) {
        limit += 1;
    }
    let mut lines: Vec<KeyLine> = lines(text, limit..end.start).collect();
    // What is before the marker on its own line is its prefix.
    if lines.last().is_some_and(|line| line.run.len() < MIN_RUN_BYTES && line.line.end == end.start) && lines.len() > 1
    {
        lines.pop();
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut blanks = 0;
    for (index, line) in lines.iter().rev().enumerate() {
        let run = &text[line.run.clone()];
        let is_short_end = index < 3 && runs.iter().all(|run| run.len() < MIN_RUN_BYTES) && !line.last.is_empty();
        if is_random(run) {
            blanks = 0;
            runs.push(line.run.clone());
        } else if is_short_end {
            runs.push(line.last.clone());
        } else if !runs.is_empty() && line.last.is_empty() && blanks < MAX_BLANK_LINES {
            blanks += 1;
        } else if !line.run.is_empty() || !runs.is_empty() {
            break;
        }
    }
    runs.reverse();
    let identity = identity(text, &runs)?;
    let mut key = split(text, runs, identity);
    key.aliases.retain(|alias| alias.len() >= MIN_LINE_BYTES);
    Some(key)
}

/// Returns the base64 of a key without its layout, if it is more than an example of one.
fn identity(text: &str, runs: &[Range<usize>]) -> Option<String> {
    let identity: String = runs.iter().map(|run| &text[run.clone()]).collect();
    let has = |test: fn(&u8) -> bool| identity.as_bytes().iter().any(test);
    (identity.len() >= MIN_BODY_BYTES
        && distinct(&identity) >= 12
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_lowercase) || has(u8::is_ascii_uppercase)))
    .then_some(identity)
}

fn whole(span: Range<usize>, text: &str, runs: &[Range<usize>], identity: String) -> Found {
    finished(Found::new(span, PRIVATE_KEY, Evidence::Shape), text, runs, identity)
}

/// Limits a match to the runs of base64, so that the text around them is kept.
fn split(text: &str, mut runs: Vec<Range<usize>>, identity: String) -> Found {
    let lines = runs.clone();
    let first = runs.remove(0);
    let mut key = Found::new(first, PRIVATE_KEY, Evidence::Shape);
    key.parts = runs;
    finished(key, text, &lines, identity)
}

fn finished(mut key: Found, text: &str, runs: &[Range<usize>], identity: String) -> Found {
    let lines = runs.iter().map(|run| &text[run.clone()]);
    key.aliases = lines.filter(|line| line.len() >= MIN_LINE_BYTES).map(str::to_owned).collect();
    key.identity = Some(identity);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of_key() -> Vec<String> {
        use base64::Engine as _;
        (0..4_u32)
            .map(|line| {
                let bytes: Vec<u8> =
                    (0..48_u32).map(|at| ((line * 7919 + at * 104_729 + at * at * 31) >> 3) as u8).collect();
                base64::engine::general_purpose::STANDARD.encode(bytes)
            })
            .chain(["Zm9vYmFyMQ==".to_owned()])
            .collect()
    }

    fn key(line_end: &str) -> String {
        // The text is split, so that secret scanners do not take this test for a key.
        format!(
            "-----BEGIN RSA {0}-----{1}{2}{1}-----END RSA {0}-----",
            "PRIVATE KEY",
            line_end,
            lines_of_key().join(line_end)
        )
    }

    fn remains(text: &str) -> String {
        let mut found = Vec::new();
        find(text, &mut found);
        let mut spans: Vec<_> = found.into_iter().flat_map(|key| std::iter::once(key.span).chain(key.parts)).collect();
        spans.sort_by_key(|span| span.start);
        let mut left = text.to_owned();
        for span in spans.into_iter().rev() {
            left.replace_range(span, "#");
        }
        left
    }

    #[test]
    fn a_key_is_the_same_key_however_its_lines_end() {
        let mut identities = Vec::new();
        for line_end in ["\n", "\r\n", "\\n", "\\\\n", "\n    ", "\\r\\n", " "] {
            let text = format!("before {} after", key(line_end));
            let mut found = Vec::new();
            find(&text, &mut found);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(text[found[0].span.clone()], key(line_end));
            assert_eq!(found[0].aliases.len(), 4);
            identities.push(found[0].identity.clone());
        }
        identities.dedup();
        assert_eq!(identities.len(), 1);
    }

    #[test]
    fn what_stands_around_the_lines_of_a_key_stays() {
        type Layout = fn(usize, &str) -> String;
        let layouts: [(&str, Layout); 12] = [
            ("cat -n", |number, line| format!("{number:6}\t{line}\n")),
            ("grep -n", |number, line| format!("etc/ssl/server.key:{number}:{line}\n")),
            ("diff", |_, line| format!("+{line}\n")),
            ("quote", |_, line| format!("> {line}\n")),
            ("comment", |_, line| format!("    // {line}\n")),
            ("joined", |_, line| format!("  \"{line}\\n\" +\n")),
            ("array", |_, line| format!("  '{line}',\n")),
            ("yaml", |_, line| format!("  - {line}\n")),
            ("box", |_, line| format!("│ {line:<64} │\n")),
            ("log", |number, line| format!("2026-01-02T03:04:{number:02}.123Z web-7d9f8b6c5d INFO {line}\n")),
            ("trace", |_, line| format!("+ echo '{line}'\n")),
            ("colour", |_, line| format!("\u{1b}[32m{line}\u{1b}[0m\n")),
        ];
        for (name, layout) in layouts {
            let text: String = key("\n").lines().enumerate().map(|(at, line)| layout(at + 1, line)).collect();
            let left = remains(&text);
            for line in lines_of_key() {
                assert!(!left.contains(&line) || (name == "colour" && line.len() < 16), "{name}: {left}");
            }
            assert_eq!(left.lines().count(), text.lines().count(), "{name}");
        }
    }

    #[test]
    fn a_key_without_one_end_or_both_is_found_as_far_as_it_goes() {
        let whole = key("\n");
        let text = format!("{}...", &whole[..150]);
        let mut found = Vec::new();
        find(&text, &mut found);
        assert_eq!(found[0].span, 0..150);
        let tail = remains(&whole[60..]);
        assert!(lines_of_key()[1..].iter().all(|line| !tail.contains(line)), "{tail}");
        let openssh = format!("b3BlbnNzaC1rZXktdjEAAAAA{}\n{}\nend", lines_of_key()[0], lines_of_key()[1]);
        assert_eq!(remains(&openssh), "#\n#\nend");
    }

    #[test]
    fn a_key_without_an_end_is_followed_to_the_limit() {
        let begin = format!("-----BEGIN {}-----\n", "PRIVATE KEY");
        let text =
            format!("{begin}{}", (lines_of_key()[..4].join("\n") + "\n").repeat(2 * MAX_PRIVATE_KEY_BYTES / 260));
        let mut found = Vec::new();
        find(&text, &mut found);
        let end = found[0].end();
        assert!(end <= begin.len() + MAX_PRIVATE_KEY_BYTES && end + 80 > MAX_PRIVATE_KEY_BYTES, "{end}");
    }

    #[test]
    fn the_private_lines_of_a_putty_key_follow_its_public_ones() {
        let lines = lines_of_key();
        for line_end in ["\n", "\r\n", "\\n", "\",\n  \""] {
            let text = [
                "PuTTY-User-Key-File-3: ssh-rsa",
                "Encryption: none",
                "Public-Lines: 2",
                &lines[0],
                &lines[1],
                "Private-Lines: 2",
                &lines[2],
                &lines[3],
            ]
            .join(line_end);
            let left = remains(&text);
            assert!(lines[..4].iter().all(|line| !left.contains(line)), "{left}");
        }
    }

    #[test]
    fn public_keys_and_examples_are_left_alone() {
        let mut found = Vec::new();
        for label in ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY"] {
            find(&key("\n").replace("RSA PRIVATE KEY", label), &mut found);
        }
        for example in ["\n...\n", "\nMIIE...\n", "\" + privateKeyOfTheServerInBase64 + \"", "\", \"\").replace(\""] {
            find(&format!("-----BEGIN {0}-----{example}-----END {0}-----", "PRIVATE KEY"), &mut found);
        }
        find(
            &format!(
                "if text.startsWith(\"-----BEGIN {}-----\") {{\n  return PrivateKeyInfoFactory.createPrivateKeyInfo(x);\n}}",
                "PRIVATE KEY"
            ),
            &mut found,
        );
        assert!(found.is_empty());
    }
}
