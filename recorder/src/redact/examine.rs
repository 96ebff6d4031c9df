//! Looks at texts: which secrets they hold, at any depth of encoding, and what has to change.
//!
//! What is decided about a text depends on the text, on what is known of the whole bundle, and on nothing else but the name
//! that the text is the value of. So equal texts are changed equally, and stay equal.

use std::collections::HashMap;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::assignments::form_under;
use super::blobs::{self, Content};
use super::blocks::is_plural;
use super::commands;
use super::contexts;
use super::edit::{Edit, apply, compose, lift, merge, overlaps};
use super::embedded;
use super::found::{Evidence, Found};
use super::headers::find_cookies;
use super::kind::Kind;
use super::known::{Known, Secret};
use super::literal::is_secret;
use super::names::{PASSWORD, SECRET, is_session_name, is_value_key, sensitive_name, weak_name, words};
use super::placeholder::{Placeholder, placeholders};
use super::rules::{MIN_LITERAL_BYTES, Rules};
use super::sentences;
use super::shell::Word;
use super::streams::{Streams, look_at_list};
use super::strings::StringPlace;
use super::structure::{self, List, ListSort, Relation, Structure};
use super::surroundings;
use super::triggers::{self, Needs, Window};
use super::view::Layers;

/// Deepest nesting of encodings (JSON in a string, base64) that is decoded. What is deeper is searched as it is.
pub const MAX_NESTING: usize = 8;

/// Most times that a text is looked at again after something was replaced in it.
const MAX_ROUNDS: usize = 8;

/// Texts that mark a string with stream events in lines of JSON.
const STREAM_MARKS: &[&str] =
    &["delta\"", "\"chunk", "\"stdout\"", "\"stderr\"", "\"o\",", "partial_json\"", "\"stream\""];

/// How references to payloads begin.
pub(crate) const PAYLOADS_PREFIX: &[u8] = b"payloads/";

const BASE64: Kind = Kind::known("base64");
const CREDENTIALS: Kind = Kind::known("credential");

/// What a text is, by the name that it is the value of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Anything.
    Free,
    /// An id, a type or another word of the format. Only texts with the shape of a known secret are replaced there.
    Structural,
    /// Encrypted by a provider, and not looked at.
    Opaque,
    /// A cookie header.
    Cookies,
    /// The answer of a user who was asked for a secret.
    Answer,
    /// The value of a secret's name.
    Sensitive(Kind, String),
    /// The value of a name that is only sometimes a secret, so the value must look like a key.
    Weak(Kind),
}

/// What is looked at in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// The source of a string.
    String(&'a Sense),
    /// The strings of an array, with what is between them.
    List(&'a List),
}

/// Whether a document is JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Sound,
    Damaged,
}

impl Health {
    pub(crate) fn of(document: &[u8]) -> Self {
        if is_valid_json(document) { Self::Sound } else { Self::Damaged }
    }
}

/// What was seen in a text.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What has to change, merged.
    pub(crate) edits: Vec<Edit>,
    /// The secrets, at any depth.
    pub(crate) secrets: Vec<Secret>,
}

/// Looks at texts with what is known so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Examiner<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) known: &'a Known,
    search: Search,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// All that may be a secret.
    All,
    /// What is known to be one.
    Known,
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(rules: &'a Rules, known: &'a Known) -> Self {
        Self { rules, known, search: Search::All }
    }

    /// Returns an examiner for strings that have no secret of their own.
    pub(crate) fn for_known(self) -> Self {
        Self { search: Search::Known, ..self }
    }
}

impl Examiner<'_> {
    /// Looks at a JSON document, or at one that is damaged, as far as it goes. `look` is asked for every string, so that
    /// it can answer from memory.
    pub(crate) fn document(
        &self,
        document: &[u8],
        structure: &Structure,
        mut look: impl FnMut(&Self, Subject<'_>, &[u8]) -> Vec<Edit>,
        health: Health,
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        senses(document, structure, Level::Document, |sense, inner| {
            // A shorter string cannot contain a secret.
            if sense == &Sense::Opaque || inner.len() < MIN_LITERAL_BYTES {
                return;
            }
            let start = inner.start;
            let looked = look(self, Subject::String(sense), &document[inner]);
            edits.extend(looked.into_iter().map(|edit| shifted(edit, start)));
        });
        for list in &structure.lists {
            let Some(region) = list.region() else { continue };
            let start = region.start;
            let looked = look(self, Subject::List(&list.moved(start)), &document[region]);
            edits.extend(looked.into_iter().map(|edit| shifted(edit, start)));
        }
        if health == Health::Damaged {
            // What the strings of a damaged text are is a guess, so it is also searched as it is.
            edits.extend(self.damaged(document));
        }
        merge(edits)
    }

    /// Looks at a part of a document.
    pub(crate) fn look(&self, subject: Subject<'_>, source: &[u8]) -> Seen {
        match subject {
            Subject::String(sense) => self.string(sense, source, 0),
            Subject::List(list) => self.list(source, list),
        }
    }

    /// Looks at the strings of an array together.
    fn list(&self, text: &[u8], list: &List) -> Seen {
        match list.sort {
            ListSort::Parts(_) => {
                let rules = (self.search == Search::All).then_some(self.rules);
                let (secrets, edits) = look_at_list(text, list, rules, self.known);
                Seen { edits: merge(edits), secrets }
            }
            ListSort::Words if self.search == Search::All => self.words(text, list),
            ListSort::Words => Seen::default(),
        }
    }

    /// Looks at the strings of an array as the words of a command.
    fn words(&self, text: &[u8], list: &List) -> Seen {
        let mut seen = Seen::default();
        let decode = |item: &Range<usize>| {
            let source = std::str::from_utf8(&text[item.clone()]).ok()?;
            if source.contains('\\') {
                serde_json::from_str(&format!("\"{source}\"")).ok()
            } else {
                Some(source.to_owned())
            }
        };
        let decoded: Option<Vec<String>> = list.items.iter().map(decode).collect();
        let Some(decoded) = decoded else { return seen };
        let words: Vec<Word> = decoded.iter().map(|word| Word::whole(word)).collect();
        for (index, part, kind) in commands::find_in_words(&words) {
            let item = &list.items[index];
            let secret = Secret::of(&decoded[index], &Found::new(part.clone(), kind, Evidence::Context));
            let placeholder = self.known.placeholder(self.rules, &secret.identity, &secret.kind);
            let mut edits = vec![edit(part, placeholder)];
            lift(&text[item.clone()], &mut edits);
            seen.edits.extend(edits.into_iter().map(|edit| shifted(edit, item.start)));
            seen.secrets.push(secret);
        }
        seen.edits = merge(seen.edits);
        seen
    }

    /// Looks at the source of a JSON string, which is between quotes.
    pub(crate) fn string(&self, sense: &Sense, source: &[u8], depth: usize) -> Seen {
        let Ok(text) = std::str::from_utf8(source) else {
            return Seen { edits: self.damaged(source), secrets: Vec::new() };
        };
        if !text.contains('\\') {
            return self.text(sense, text, depth);
        }
        match serde_json::from_str::<String>(&format!("\"{text}\"")) {
            Ok(decoded) => {
                let mut seen = self.text(sense, &decoded, depth);
                lift(source, &mut seen.edits);
                seen
            }
            // Half a surrogate, or an escape that is none.
            Err(_) => self.text(sense, text, depth),
        }
    }

    /// Looks at a text that is not JSON, or no longer.
    fn damaged(&self, bytes: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            let seen = self.plain(&Sense::Free, chunk.valid(), 0);
            edits.extend(seen.edits.into_iter().map(|edit| shifted(edit, at)));
            at += chunk.valid().len() + chunk.invalid().len();
        }
        edits
    }

    /// Finds the secrets of a damaged text.
    pub(crate) fn damaged_secrets(&self, bytes: &[u8]) -> Vec<Secret> {
        bytes.utf8_chunks().flat_map(|chunk| self.plain(&Sense::Free, chunk.valid(), 0).secrets).collect()
    }

    /// Looks at a text, decoding it if it is JSON.
    pub(crate) fn text(&self, sense: &Sense, text: &str, depth: usize) -> Seen {
        if text.len() < MIN_LITERAL_BYTES || *sense == Sense::Opaque {
            return Seen::default();
        }
        if depth >= MAX_NESTING || !is_json(text) {
            return self.plain(sense, text, depth);
        }
        let mut seen = Seen::default();
        let structure = structure::read(text.as_bytes());
        self.streams(text, &structure, &mut seen);
        senses(text.as_bytes(), &structure, Level::Inner, |inner_sense, inner| {
            let start = inner.start;
            let inner = self.string(inner_sense, &text.as_bytes()[inner], depth + 1);
            seen.edits.extend(inner.edits.into_iter().map(|edit| shifted(edit, start)));
            seen.secrets.extend(inner.secrets);
        });
        // A literal value from the user may itself be JSON.
        for hit in self.known.hits(text).filter(|hit| hit.evidence == Evidence::Literal) {
            seen.edits.push(edit(hit.span, hit.placeholder.clone()));
        }
        seen.edits = merge(seen.edits);
        seen
    }

    /// Looks at a text that is not decoded. What is replaced can uncover what was right beside it, so the result is
    /// looked at again until nothing is found in it.
    fn plain(&self, sense: &Sense, text: &str, depth: usize) -> Seen {
        let mut seen = self.plain_once(sense, text, depth);
        if seen.edits.is_empty() {
            return seen;
        }
        let examiner = Self { search: Search::All, ..*self };
        for _ in 0..MAX_ROUNDS {
            let Ok(edited) = String::from_utf8(apply(text.as_bytes(), &seen.edits)) else { break };
            let mut uncovered = Seen::default();
            for part in parts_around(&edited, &seen.edits) {
                let of_part = examiner.plain_once(sense, &edited[part.clone()], depth);
                uncovered.edits.extend(of_part.edits.into_iter().map(|edit| shifted(edit, part.start)));
                uncovered.secrets.extend(of_part.secrets);
            }
            if uncovered.edits.is_empty() {
                break;
            }
            seen.edits = compose(std::mem::take(&mut seen.edits), uncovered.edits);
            seen.secrets.extend(uncovered.secrets);
        }
        seen
    }

    fn plain_once(&self, sense: &Sense, text: &str, depth: usize) -> Seen {
        let mut found = Vec::new();
        let is_for_all = self.search == Search::All;
        let has_windows = is_for_all && !matches!(sense, Sense::Structural | Sense::Opaque);
        let windows = if has_windows { triggers::windows(text) } else { Vec::new() };
        if is_for_all {
            self.find(sense, text, &windows, &mut found);
        }
        let is_structural = *sense == Sense::Structural;
        let kept = placeholders(text);
        let is_kept = |span: &Range<usize>| overlaps(&kept, |kept| kept, span);
        found.retain(|found| !found.spans().any(is_kept));

        let mut seen = Seen::default();
        for found in found {
            let secret = Secret::of(text, &found);
            let placeholder = self.known.placeholder(self.rules, &secret.identity, &secret.kind);
            push_edits(found.spans(), &placeholder, &mut seen.edits);
            seen.secrets.push(secret);
        }
        let hits = self.known.hits(text).chain(self.known.cut_hits(text));
        for hit in hits.filter(|hit| !is_structural || hit.evidence < Evidence::Context) {
            if !is_kept(&hit.span) {
                seen.edits.push(edit(hit.span, hit.placeholder.clone()));
            }
        }
        for (span, name) in self.known.names(text) {
            seen.edits.push(Edit { span, text: name.text.clone(), marks: name.marks.clone() });
        }
        if depth < MAX_NESTING && is_for_all {
            self.json_within(text, &windows, depth, &mut seen);
        }
        for window in &windows {
            let part = &text[window.span.clone()];
            for layers in surroundings::decode(part) {
                self.decoded(sense, part, window, &layers, &is_kept, &mut seen);
            }
        }
        if !is_structural && is_for_all {
            for layers in surroundings::dumps(text) {
                let whole = Window { span: 0..text.len(), needs: Needs::ALL };
                self.decoded(sense, text, &whole, &layers, &is_kept, &mut seen);
            }
        }
        if !is_structural && is_for_all && STREAM_MARKS.iter().any(|mark| text.contains(mark)) {
            self.streams(text, &structure::read(text.as_bytes()), &mut seen);
        }
        seen.edits = merge(seen.edits);
        if !is_structural && depth < MAX_NESTING {
            self.blobs(text, depth, &mut seen);
        }
        seen
    }

    /// Looks at the JSON documents in the middle of a text.
    fn json_within(&self, text: &str, windows: &[Window], depth: usize, seen: &mut Seen) {
        for window in windows {
            for span in embedded::documents(text, window.span.clone()) {
                let inner = self.text(&Sense::Free, &text[span.clone()], depth + 1);
                seen.edits.extend(inner.edits.into_iter().map(|edit| shifted(edit, span.start)));
                seen.secrets.extend(inner.secrets);
            }
        }
    }

    /// Looks at the pieces of streams in a text: events of a server, or lines of a recording.
    fn streams(&self, text: &str, structure: &Structure, seen: &mut Seen) {
        for list in &structure.lists {
            let of_list = self.list(text.as_bytes(), list);
            seen.edits.extend(of_list.edits);
            seen.secrets.extend(of_list.secrets);
        }
        if structure.pieces.is_empty() || self.search == Search::Known {
            return;
        }
        let mut streams = Streams::default();
        streams.add(0, text.as_bytes(), structure);
        seen.secrets.extend(streams.secrets(self.rules));
        for edits in streams.edits(self.rules, self.known).into_values() {
            seen.edits.extend(edits);
        }
    }

    /// Finds the secrets of a text as it is.
    fn find(&self, sense: &Sense, text: &str, windows: &[Window], found: &mut Vec<Found>) {
        self.rules.find_unmistakable(text, found);
        let find_in_context = |found: &mut Vec<Found>| {
            for window in windows {
                let first = found.len();
                Rules::find_in_context(&text[window.span.clone()], window.needs, found);
                found[first..].iter_mut().for_each(|found| found.shift(window.span.start));
            }
        };
        match sense {
            Sense::Opaque | Sense::Structural => found.retain(|found| found.evidence < Evidence::Context),
            Sense::Free => find_in_context(found),
            Sense::Cookies => find_cookies(text, 0, text, found),
            Sense::Answer => {
                find_in_context(found);
                sentences::find_in_answer(text, found);
            }
            Sense::Weak(kind) => {
                let value = text.trim();
                if contexts::is_strong(value) {
                    let start = text.len() - text.trim_start().len();
                    found.push(Found::new(start..start + value.len(), kind.clone(), Evidence::Context));
                } else {
                    find_in_context(found);
                }
            }
            Sense::Sensitive(kind, name) => {
                let value = text.trim();
                if is_secret(value, name, form_under(name), kind) {
                    let start = text.len() - text.trim_start().len();
                    found.push(Found::new(start..start + value.len(), kind.clone(), Evidence::Context));
                } else {
                    find_in_context(found);
                    find_behind_scheme(text, name, kind, found);
                }
            }
        }
    }

    /// Searches the decoded forms of a text. Each secret is replaced where it is written in the text.
    fn decoded(
        &self,
        sense: &Sense,
        text: &str,
        window: &Window,
        layers: &Layers,
        is_kept: &dyn Fn(&Range<usize>) -> bool,
        seen: &mut Seen,
    ) {
        let plain = layers.text(text);
        let mut found = Vec::new();
        self.rules.find_unmistakable(plain, &mut found);
        if matches!(sense, Sense::Free | Sense::Answer | Sense::Sensitive(..) | Sense::Weak(_)) {
            Rules::find_in_context(plain, window.needs, &mut found);
        }
        let start = window.span.start;
        let inner = placeholders(plain);
        let raw = |span: &Range<usize>| {
            layers.raw(span).into_iter().map(|span| span.start + start..span.end + start).collect::<Vec<_>>()
        };
        for found in found {
            let spans: Vec<Range<usize>> = found.spans().flat_map(&raw).collect();
            let is_inner = found.spans().any(|span| overlaps(&inner, |kept| kept, span));
            if is_inner || spans.is_empty() || spans.iter().any(is_kept) {
                continue;
            }
            let secret = Secret::of(plain, &found);
            let placeholder = self.known.placeholder(self.rules, &secret.identity, &secret.kind);
            push_edits(spans.iter(), &placeholder, &mut seen.edits);
            seen.secrets.push(secret);
        }
        for hit in self.known.hits(plain) {
            let spans = raw(&hit.span);
            // A secret that is written in one piece is found in the text itself, if it is spelled there as it was
            // found.
            if spans.len() > 1 && !spans.iter().any(is_kept) {
                push_edits(spans.iter(), hit.placeholder, &mut seen.edits);
            }
        }
    }

    fn blobs(&self, text: &str, depth: usize, seen: &mut Seen) {
        let mut edits = Vec::new();
        for blob in blobs::find(text) {
            let is_free = !overlaps(&seen.edits, |edit| &edit.span, &blob.span);
            let whole = || {
                let placeholder = self.known.placeholder(self.rules, &text[blob.span.clone()], &BASE64);
                edit(blob.span.clone(), placeholder)
            };
            match &blob.content {
                Content::Text(content) if is_free && is_pair(content) => {
                    seen.secrets.push(Secret {
                        identity: text[blob.span.clone()].to_owned(),
                        evidence: Evidence::Context,
                        kind: CREDENTIALS,
                        aliases: vec![content.clone()],
                    });
                    edits.push(edit(
                        blob.span.clone(),
                        self.known.placeholder(self.rules, &text[blob.span.clone()], &CREDENTIALS),
                    ));
                }
                Content::Text(content) => {
                    let inner = self.text(&Sense::Free, content, depth + 1);
                    seen.secrets.extend(inner.secrets);
                    if is_free && !inner.edits.is_empty() {
                        let edited = String::from_utf8(apply(content.as_bytes(), &inner.edits)).ok();
                        let encoded = edited.and_then(|edited| blob.encode(&edited));
                        edits.push(encoded.map_or_else(whole, |text| Edit {
                            span: blob.span.clone(),
                            text,
                            marks: inner.edits.into_iter().flat_map(|edit| edit.marks).collect(),
                        }));
                    }
                }
                Content::Bytes(bytes) if is_free && self.known.is_in(bytes) => edits.push(whole()),
                Content::Bytes(_) => {}
            }
        }
        if !edits.is_empty() {
            seen.edits.append(&mut edits);
            seen.edits = merge(std::mem::take(&mut seen.edits));
        }
    }
}

/// Bytes around a replacement in a long text that are searched again.
const REACH_BYTES: usize = 16 << 10;

/// Returns the parts of an edited text around its replacements, sorted and without overlaps: the whole text if it is
/// short.
fn parts_around(edited: &str, edits: &[Edit]) -> Vec<Range<usize>> {
    if edited.len() <= 4 * REACH_BYTES {
        return std::iter::once(0..edited.len()).collect();
    }
    let bytes = edited.as_bytes();
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut grown = 0_isize;
    for edit in edits {
        let start = edit.span.start.saturating_add_signed(grown);
        grown += edit.text.len() as isize - edit.span.len() as isize;
        let from = start.saturating_sub(REACH_BYTES);
        let to = bytes.len().min(start + edit.text.len() + REACH_BYTES);
        let mut from =
            memchr::memrchr(b'\n', &bytes[..from]).map_or(0, |end| end + 1).max(from.saturating_sub(REACH_BYTES));
        let mut to = memchr::memchr(b'\n', &bytes[to..]).map_or(bytes.len(), |end| to + end + 1).min(to + REACH_BYTES);
        while !edited.is_char_boundary(from) {
            from -= 1;
        }
        while !edited.is_char_boundary(to) {
            to += 1;
        }
        match parts.last_mut() {
            Some(last) if last.end >= from => last.end = last.end.max(to),
            _ => parts.push(from..to),
        }
    }
    parts
}

/// Returns whether a text is an id and a key with a colon between, as services have them in base64.
fn is_pair(text: &str) -> bool {
    text.split_once(':').is_some_and(|(id, key)| {
        (16..=24).contains(&id.len())
            && (20..=64).contains(&key.len())
            && contexts::is_strong(id)
            && contexts::is_strong(key)
    })
}

/// Finds the credentials of a header that come after the name of a scheme.
fn find_behind_scheme(text: &str, name: &str, kind: &Kind, found: &mut Vec<Found>) {
    if name.to_ascii_lowercase().ends_with("authorization")
        && let Some((scheme, credentials)) = text.split_once(' ')
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && contexts::is_random(credentials.trim())
    {
        let start = text.len() - credentials.trim_start().len();
        found.push(Found::new(start..start + credentials.trim().len(), kind.clone(), Evidence::Context));
    }
}

fn edit(span: Range<usize>, placeholder: Placeholder) -> Edit {
    Edit { span, text: placeholder.to_string(), marks: vec![placeholder] }
}

/// Replaces every part of a secret. The first counts as the occurrence.
fn push_edits<'a>(spans: impl Iterator<Item = &'a Range<usize>>, placeholder: &Placeholder, edits: &mut Vec<Edit>) {
    for (index, span) in spans.enumerate() {
        let mut edit = edit(span.clone(), placeholder.clone());
        if index > 0 {
            edit.marks.clear();
        }
        edits.push(edit);
    }
}

fn shifted(mut edit: Edit, by: usize) -> Edit {
    edit.span.start += by;
    edit.span.end += by;
    edit
}

/// Returns whether a text is a JSON container or string.
fn is_json(text: &str) -> bool {
    let trimmed = text.trim_ascii().as_bytes();
    matches!(
        (trimmed.first(), trimmed.last()),
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) | (Some(b'"'), Some(b'"'))
    ) && trimmed.len() > 2
        && is_valid_json(text.as_bytes())
}

/// Returns whether bytes are one JSON document.
fn is_valid_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok() && std::str::from_utf8(bytes).is_ok()
}

/// Where a JSON text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// It is a file or a line, with the format's own names.
    Document,
    /// It is the value of a string.
    Inner,
}

/// Goes through the strings of a JSON text with what each is.
fn senses(text: &[u8], structure: &Structure, level: Level, mut visit: impl FnMut(&Sense, Range<usize>)) {
    let mut by_name: HashMap<&[u8], Sense> = HashMap::new();
    let password = Sense::Sensitive(PASSWORD, "password".to_owned());
    let key_part = Sense::Sensitive(Kind::known("private-key"), "private_key".to_owned());
    for string in &structure.strings {
        let inner = string.inner.clone();
        let value = &text[inner.clone()];
        let relation = structure.relations.get(&inner.start);
        let (name, is_command) = match &string.place {
            // Programs need these names to read the bundle, so they are kept whatever a user wants replaced.
            StringPlace::Key if level == Level::Document && is_format_word(value) => continue,
            StringPlace::Key => (None, false),
            StringPlace::Value { key, .. } => (Some(key), false),
            StringPlace::Element { previous } => (previous.as_ref(), true),
        };
        match relation {
            Some(Relation::Credential) => {
                visit(&Sense::Weak(CREDENTIALS), inner);
                continue;
            }
            Some(Relation::Password) => {
                visit(&password, inner);
                continue;
            }
            Some(Relation::Answer) => {
                visit(&Sense::Answer, inner);
                continue;
            }
            Some(Relation::KeyPart) => {
                visit(&key_part, inner);
                continue;
            }
            Some(Relation::ValueOf(named)) => {
                let named = &text[named.clone()];
                let sense = by_name.entry(named).or_insert_with(|| sense_of_sibling(named));
                if matches!(sense, Sense::Sensitive(..) | Sense::Cookies | Sense::Weak(_)) {
                    visit(sense, inner);
                    continue;
                }
            }
            Some(Relation::Under(parent)) if name_is_silent(text, &string.place) => {
                let parent = &text[parent.clone()];
                let is_value = string.place.key().is_some_and(|key| is_value_key(&text[key.clone()]));
                let looks_random = || std::str::from_utf8(value).is_ok_and(contexts::is_strong);
                if is_value || looks_random() {
                    let sense = by_name.entry(parent).or_insert_with(|| sense_of_sibling(parent));
                    if matches!(sense, Sense::Sensitive(..)) {
                        visit(sense, inner);
                        continue;
                    }
                    if looks_random() && std::str::from_utf8(parent).is_ok_and(is_plural) {
                        visit(&Sense::Weak(SECRET), inner);
                        continue;
                    }
                }
            }
            Some(Relation::Kubernetes(key)) => {
                let key = std::str::from_utf8(&text[key.clone()]).unwrap_or_default();
                let kind = sensitive_name(key).unwrap_or(SECRET);
                // The values of a Kubernetes secret are secrets, whatever their names are.
                visit(&Sense::Sensitive(kind, "SECRET_VALUE".to_owned()), inner);
                continue;
            }
            Some(Relation::OneOf(list)) if !value.starts_with(b"-") => {
                let name = &text[list.clone()];
                let sense = by_name.entry(name).or_insert_with(|| match name {
                    // The shares of a key, in two spellings beside each other.
                    b"keys" if memchr::memmem::find(text, b"\"keys_base64\"").is_some() => sense_of(b"unseal_keys"),
                    name if std::str::from_utf8(name).is_ok_and(is_plural) => Sense::Weak(SECRET),
                    name => sense_of(name),
                });
                if matches!(sense, Sense::Sensitive(..) | Sense::Weak(_)) {
                    visit(sense, inner);
                    continue;
                }
            }
            _ => {}
        }
        let Some(name) = name.map(|name| &text[name.clone()]) else {
            visit(&Sense::Free, inner);
            continue;
        };
        // The string after `--token` in a command line is its value; after any other string it is not.
        if is_command && (!name.starts_with(b"-") || value.starts_with(b"-")) {
            visit(&Sense::Free, inner);
            continue;
        }
        if level == Level::Document && name == b"path" && value.starts_with(PAYLOADS_PREFIX) {
            // A reference to a payload: the file is renamed by the same rules.
            visit(&Sense::Free, inner.start + PAYLOADS_PREFIX.len()..inner.end);
            continue;
        }
        let is_word = match name {
            b"type" | b"status" | b"role" | b"kind" | b"phase" | b"event_type" => is_format_word(value),
            b"raw_event_log" | b"payloads_dir" => true,
            _ => false,
        };
        if level == Level::Document && is_word {
            continue;
        }
        if name == b"encrypted_content" && !is_ciphertext(value) {
            visit(&Sense::Free, inner);
            continue;
        }
        let sense = by_name.entry(name).or_insert_with(|| sense_of(name));
        visit(sense, inner);
    }
}

/// Shortest text that a provider encrypts to.
const MIN_CIPHERTEXT_BYTES: usize = 64;

/// Returns whether a text may be what a provider encrypted: a run of base64, and nothing that can be read. Where the provider
/// does not encrypt, the text itself is in its place.
fn is_ciphertext(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'.');
    text.len() >= MIN_CIPHERTEXT_BYTES && text[..text.len() - padding].iter().all(is_digit)
}

/// Returns whether the name of a value says nothing about the value, so that its place decides.
fn name_is_silent(text: &[u8], place: &StringPlace) -> bool {
    place.key().is_some_and(|key| matches!(sense_of(&text[key.clone()]), Sense::Free))
}

/// Returns what a value is by the name that is beside it.
fn sense_of_sibling(name: &[u8]) -> Sense {
    let Ok(name) = std::str::from_utf8(name) else { return Sense::Free };
    match sensitive_name(name) {
        // If a name and a value are members of one object, the value belongs to the name.
        Some(kind) => Sense::Sensitive(kind, variable(name)),
        None if is_session_name(name) => Sense::Sensitive(Kind::known("cookie"), "session".to_owned()),
        None if is_cookie_header(name) => Sense::Cookies,
        None => weak_name(name).map_or(Sense::Free, Sense::Weak),
    }
}

fn is_cookie_header(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie")
}

/// Spells a name like that of a variable of an environment.
fn variable(name: &str) -> String {
    if name.contains(' ') || !name.is_ascii() {
        name.to_owned()
    } else {
        format!("{}_", words(name).join("_").to_uppercase())
    }
}

/// Returns whether a text is spelt like the names and words of the format.
fn is_format_word(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
}

fn sense_of(name: &[u8]) -> Sense {
    let Ok(name) = std::str::from_utf8(name) else { return Sense::Free };
    match name {
        "encrypted_content" => Sense::Opaque,
        "id" | "type" | "status" | "role" | "model" | "namespace" | "phase" | "event_type" | "agent_path" | "kind"
        | "provider_name" | "tool_name" => Sense::Structural,
        _ if name.ends_with("_id") && name != "access_key_id" => Sense::Structural,
        _ if is_cookie_header(name) => Sense::Cookies,
        _ => match sensitive_name(name) {
            Some(kind) => Sense::Sensitive(kind, name.to_owned()),
            None => weak_name(name).map_or(Sense::Free, Sense::Weak),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::known::Gathered;
    use base64::Engine as _;

    fn redacted(rules: &Rules, document: &str) -> String {
        let health = Health::of(document.as_bytes());
        let mut gathered = Gathered::default();
        let nothing = Known::default();
        let first = Examiner::new(rules, &nothing);
        let look = |examiner: &Examiner<'_>, subject: Subject<'_>, source: &[u8]| {
            let seen = examiner.look(subject, source);
            seen.secrets.into_iter().for_each(|secret| gathered.add(secret));
            Vec::new()
        };
        let structure = structure::read(document.as_bytes());
        first.document(document.as_bytes(), &structure, look, health);
        if health == Health::Damaged {
            first.damaged_secrets(document.as_bytes()).into_iter().for_each(|secret| gathered.add(secret));
        }
        let known = Known::new(rules, gathered);
        let second = Examiner::new(rules, &known);
        let look = |examiner: &Examiner<'_>, subject: Subject<'_>, source: &[u8]| examiner.look(subject, source).edits;
        let edits = second.document(document.as_bytes(), &structure, look, health);
        String::from_utf8(apply(document.as_bytes(), &edits)).expect("UTF-8")
    }

    #[test]
    fn the_rest_of_a_document_stays_as_it_is_to_the_byte() {
        let rules = Rules::default();
        insta::assert_snapshot!(
            redacted(&rules, "{ \"a\\u0062\":1.50,\r\n\t\"password\" : \"hun\\u0074er2\",\"e\":1E+2, \"x\":\"\\/ \\u00e9 API_KEY=q1w2e3r4t5 \\\"\" }"),
            @r#"
            { "a\u0062":1.50,
            	"password" : "[redacted:password:7bb76b8b]","e":1E+2, "x":"\/ \u00e9 API_KEY=[redacted:api-key:6731dd85] \"" }
            "#
        );
    }

    #[test]
    fn a_secret_found_once_is_removed_everywhere() {
        let rules = Rules::default();
        insta::assert_snapshot!(
            redacted(&rules, r#"{"a":"the value is q1w2e3r4t5, yes","b":["--api-key","q1w2e3r4t5"],"id":"q1w2e3r4t5","c":"cut at q1w2e3r4..."}"#),
            @r#"
            {"a":"the value is [redacted:api-key:6731dd85], yes","b":["--api-key","[redacted:api-key:6731dd85]"],"id":"q1w2e3r4t5","c":"cut at [redacted:api-key:6731dd85]..."}
            "#
        );
        insta::assert_snapshot!(redacted(&rules, r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"X","value":"hunter2"}]}"#), @r#"
        {"env":[{"name":"DB_PASSWORD","value":"[redacted:password:7bb76b8b]"},{"name":"X","value":"hunter2"}]}
        "#);
    }

    #[test]
    fn types_and_questions_around_a_value_tell_what_it_is() {
        let rules = Rules::default();
        let resource = |kind: &str| {
            format!(
                r#"{{"resources":[{{"type":"{kind}","name":"db","instances":[{{"attributes":{{"id":"none","result":"walnut-lantern-47"}}}}]}},{{"type":"random_pet","instances":[{{"attributes":{{"result":"clever-otter-12"}}}}]}}]}}"#
            )
        };
        let of_secret = redacted(&rules, &resource("random_password"));
        assert!(!of_secret.contains("walnut") && of_secret.contains("clever-otter-12"), "{of_secret}");
        assert_eq!(redacted(&rules, &resource("random_pet")), resource("random_pet"));
        let dialogue = |question: &str| {
            format!(
                r#"[{{"role":"assistant","content":[{{"text":"{question}"}}]}},{{"role":"user","content":[{{"text":"sure, Vq7xR2mKp9LwTz4Bn8"}}]}}]"#
            )
        };
        assert!(!redacted(&rules, &dialogue("Thanks. What is the password of db.example.com?")).contains("Vq7xR2"));
        let other = dialogue("Which branch do you want?");
        assert_eq!(redacted(&rules, &other), other);
    }

    #[test]
    fn json_in_json_is_decoded_at_any_depth() {
        let rules = Rules::default();
        // The escape hides the value from a search of the text as it is.
        let mut document = r#"{"x":"a DB_PASSWORD=\u0068unter2"}"#.to_owned();
        for depth in 0..MAX_NESTING + 2 {
            let redacted = redacted(&rules, &document);
            assert!(!redacted.contains("ter2"), "{depth}: {redacted}");
            assert!(is_valid_json(redacted.as_bytes()));
            document = serde_json::to_string(&[&document]).expect("a string");
        }
    }

    #[test]
    fn base64_in_base64_is_decoded_to_a_limit() {
        let rules = Rules::default();
        let engine = base64::engine::general_purpose::STANDARD;
        let mut text = "export DB_PASSWORD=hunter2\n".to_owned();
        for depth in 1..MAX_NESTING + 2 {
            text = engine.encode(format!("{text} and more of it"));
            let document = serde_json::to_string(&text).expect("a string");
            assert_eq!(redacted(&rules, &document) != document, depth <= MAX_NESTING, "{depth}");
        }
    }

    #[test]
    fn base64_is_decoded_and_written_again() {
        let rules = Rules::default();
        let engine = base64::engine::general_purpose::STANDARD;
        let settings = engine.encode("NAME=thing\nDB_PASSWORD=hunter2\nMORE=1\n");
        let twice = engine.encode(format!("content: {settings}"));
        let binary = engine.encode([b"\x00\x01\x02 q1w2e3r4t5".as_slice(), &[0xff; 12]].concat());
        let document = format!(r#"["{settings}","echo {twice}","API_KEY=q1w2e3r4t5","{binary}"]"#);
        let redacted = redacted(&rules, &document);
        let strings: Vec<String> = serde_json::from_str(&redacted).expect("JSON");
        let decode = |text: &str| String::from_utf8(engine.decode(text).expect("base64")).expect("UTF-8");
        insta::assert_snapshot!(decode(&strings[0]), @r#"
        NAME=thing
        DB_PASSWORD=[redacted:password:7bb76b8b]
        MORE=1
        "#);
        let once = decode(strings[1].strip_prefix("echo ").expect("kept"));
        assert_eq!(once.strip_prefix("content: "), Some(strings[0].as_str()));
        insta::assert_snapshot!(strings[2..].join("\n"), @r#"
        API_KEY=[redacted:api-key:6731dd85]
        [redacted:base64:f7a23d9c]
        "#);
    }

    #[test]
    fn damaged_documents_are_searched_as_they_stand() {
        let rules = Rules::default().with_literal("unlucky").expect("long enough");
        insta::assert_snapshot!(
            redacted(&rules, r#"{"a":"{\"api_key\":\"q1w2e3r4t5\"}", "b": unlucky, "c":"token: q1w2e3r4t5 and API_KEY=q1w2e3r4t5 an"#),
            @r#"
            {"a":"{\"api_key\":\"[redacted:api-key:6731dd85]\"}", "b": [redacted:literal:19ae0dd0], "c":"token: [redacted:api-key:6731dd85] and API_KEY=[redacted:api-key:6731dd85] an
            "#
        );
    }

    #[test]
    fn opaque_and_structural_strings_are_kept() {
        let rules = Rules::default();
        let document = r#"{"type":"password=hunter2","call_id":"token=a1b2c3d4e5"}"#;
        assert_eq!(redacted(&rules, document), document);
        let sealed = format!(r#"{{"encrypted_content":"gAAAA{}=="}}"#, "q1W2e3R4_-".repeat(9));
        assert_eq!(redacted(&rules, &sealed), sealed);
        let open = r#"{"encrypted_content":"DB_PASSWORD=hunter2"}"#;
        insta::assert_snapshot!(redacted(&rules, open), @r#"{"encrypted_content":"DB_PASSWORD=[redacted:password:7bb76b8b]"}"#);
    }

    #[test]
    fn words_of_the_format_are_kept_even_from_the_user() {
        let rules = ["message", "payloads", "input"]
            .iter()
            .try_fold(Rules::default(), |rules, word| rules.with_literal(word))
            .expect("long enough");
        let document =
            r#"{"type":"message","input":[{"path":"payloads/1.json","call_id":"a message"}],"Message":"input"}"#;
        insta::assert_snapshot!(redacted(&rules, document), @r#"
        {"type":"message","input":[{"path":"payloads/1.json","call_id":"a [redacted:literal:09a25e37]"}],"Message":"[redacted:literal:cbeca514]"}
        "#);
    }

    #[test]
    fn patterns_and_json_literals_of_the_user_are_found() {
        let literal = r#"{"type":"service","k":"v"}"#;
        let rules = Rules::default().with_pattern("order", r"ORD-(\d+)").and_then(|rules| rules.with_literal(literal));
        let document = serde_json::to_string(&["see ORD-4711", literal, &format!("x {literal}")]).expect("JSON");
        insta::assert_snapshot!(redacted(&rules.expect("rules"), &document), @r#"
        ["see ORD-[redacted:order:482c8705]","[redacted:literal:208474fd]","x [redacted:literal:208474fd]"]
        "#);
    }
}
