//! Files that were damaged at random give an answer each time, and what is lost is named.

use std::path::PathBuf;

use proptest::prelude::*;
use trace_import::{open, sessions, summarize};
use trace_reducer::{Options, reduce};

/// Files of a format, in their folder of fixtures.
const FILES: [(&str, &[&str]); 3] = [
    ("otel", &["conversation.jsonl", "handoff.jsonl", "older.json", "events.jsonl", "three-children-content.jsonl"]),
    ("otel", &["request.pb"]),
    ("atif", &["embedded.json", "parts/trajectory.json", "parts/trajectory.cont-1.json"]),
];

/// A change of a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// Changes a byte.
    Flip(usize, u8),
    /// Ends the file earlier.
    Cut(usize),
    /// Removes some bytes.
    Remove(usize, usize),
    /// Repeats some bytes.
    Repeat(usize, usize),
    /// Exchanges two lines.
    Swap(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<usize>;
    prop_oneof![
        (at(), 1u8..255).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        at().prop_map(Damage::Cut),
        (at(), 1usize..400).prop_map(|(at, count)| Damage::Remove(at, count)),
        (at(), 1usize..400).prop_map(|(at, count)| Damage::Repeat(at, count)),
        (at(), at()).prop_map(|(one, other)| Damage::Swap(one, other)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: Damage) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    let range = |at: usize, count: usize| at % length..(at % length + count).min(length);
    match damage {
        Damage::Flip(at, mask) => bytes[at % length] ^= mask,
        Damage::Cut(at) => bytes.truncate(at % length),
        Damage::Remove(at, count) => drop(bytes.drain(range(at, count))),
        Damage::Repeat(at, count) => {
            let range = range(at, count);
            let copy = bytes[range.clone()].to_vec();
            bytes.splice(range.start..range.start, copy);
        }
        Damage::Swap(one, other) => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let count = lines.len();
            lines.swap(one % count, other % count);
            *bytes = lines.concat();
        }
    }
}

fn fixture(folder: &str, name: &str) -> PathBuf {
    trace_needs::repository().join("samples/tests/import/fixtures").join(folder).join(name)
}

/// The fields of protobuf that lead to a span: the spans of a resource, those of a scope, the span.
const WAY: [u64; 3] = [1, 2, 2];

/// Returns how many spans a message has at the end of a way. `None` if a field on the way is cut or of no known form, or if a span has no
/// ids.
fn spans(message: &[u8], way: &[u64]) -> Option<usize> {
    let mut rest = message;
    let number = |rest: &mut &[u8]| {
        let mut value = 0;
        for index in 0..10 {
            let (byte, after) = rest.split_first()?;
            *rest = after;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    };
    let (mut count, mut ids) = (0, 0);
    while !rest.is_empty() {
        let tag = number(&mut rest)?;
        let length = match tag & 7 {
            0 => {
                number(&mut rest)?;
                0
            }
            1 => 8,
            2 => usize::try_from(number(&mut rest)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        rest = after;
        match way.split_first() {
            Some((field, below)) if tag == field << 3 | 2 => count += spans(content, below)?,
            Some(_) => {}
            // The ids of the trace and of the span, which are not all zero.
            None if tag == 0x0a || tag == 0x12 => ids += usize::from(content.iter().any(|byte| *byte != 0)),
            None => {}
        }
    }
    if way.is_empty() { (ids >= 2).then_some(1) } else { Some(count) }
}

fn survive(format: usize, file: usize, damages: &[Damage]) {
    let (folder, names) = FILES[format];
    let name = names[file % names.len()];
    let mut bytes = std::fs::read(fixture(folder, name)).expect("reads");
    damages.iter().for_each(|damage| apply(&mut bytes, *damage));
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join(PathBuf::from(name).file_name().expect("a name"));
    std::fs::write(&path, &bytes).expect("writes");
    for session in sessions(&path).unwrap_or_default() {
        let _ = summarize(&session);
        let Ok(bundle) = open(&session) else { continue };
        let strict = Options { strict: true, ..Options::default() };
        reduce(&bundle, strict).expect("what is made of a damaged file is a whole bundle");
        let notes = &bundle.import().expect("a record").notes;
        let named = notes.iter().filter(|note| note.code == "damaged-line").map(|note| note.count).sum::<u64>();
        if name.ends_with(".pb") {
            assert!(named > 0 || spans(&bytes, &WAY).is_some(), "spans are lost, and {notes:?} does not name it");
        }
        if name.ends_with(".json") {
            let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<serde::de::IgnoredAny>();
            assert!(
                named > 0 || values.all(|value| value.is_ok()),
                "the rest is no JSON, and {notes:?} does not name it"
            );
        }
        // A line that is no JSON any more is lost, and the record of the import says so.
        if name.ends_with(".jsonl") {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            let lost = lines.filter(|line| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()).count();
            assert!(named >= lost as u64, "{lost} lines are no JSON, {named} are named");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn traces_as_json(file in any::<usize>(), damages in prop::collection::vec(damage(), 1..6)) {
        survive(0, file, &damages);
    }

    #[test]
    fn traces_as_protobuf(file in any::<usize>(), damages in prop::collection::vec(damage(), 1..6)) {
        survive(1, file, &damages);
    }

    #[test]
    fn trajectories(file in any::<usize>(), damages in prop::collection::vec(damage(), 1..6)) {
        survive(2, file, &damages);
    }
}
