//! Secrets that are cut over the pieces of a stream: deltas, chunks of an output, what is typed into a terminal, the parts of
//! a message, lines in an array.
//!
//! The pieces of each stream are joined in the order of the documents and looked at as one text. What is found in one piece
//! alone is left to the look at that piece; what spans several is replaced in each of them, where it is.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem::Finder;
use regex::bytes::Regex;

use super::edit::{Edit, apply, lift, merge, overlaps};
use super::found::Found;
use super::known::{Known, Secret};
use super::placeholder::{Placeholder, placeholders};
use super::rules::Rules;
use super::strings::{JsonString, StringPlace};
use super::structure::{self, Joint, List, ListSort, Structure};
use super::surroundings;
use super::triggers;

/// Longest text that the pieces of one stream are joined to. What comes after begins a new one.
pub const MAX_STREAM_BYTES: usize = 16 << 20;

/// Longest piece. A longer one is a text of its own.
pub(crate) const MAX_PIECE_BYTES: usize = 1 << 20;

/// How far before and after the place where two pieces meet a secret that spans them is looked for.
const MAX_REACH_BYTES: usize = 8 << 10;

/// Streams of a terminal are told apart by the number of its session, mixed with this.
const TERMINAL: u64 = 0x7465_726d_696e_616c;

/// What the output of a program begins with that goes on running: the number of its session, and where the output begins.
static TERMINAL_OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s-u)\A.{0,400}?[Ss]ession ID:? ([0-9]{1,18})\b.{0,200}?Output:\\n")
        .expect("the built-in patterns are tested")
});

/// What the output of a program begins with that has ended: nothing says which session it was.
static LAST_OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s-u)\A.{0,200}?Process exited with code .{0,100}?Output:\\n")
        .expect("the built-in patterns are tested")
});

/// Texts of which every string is asked whether it has them.
static SESSION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("ession ID"));
static SESSION_ID: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("session_id"));
static EXITED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("Process exited with code "));

/// Longest last output of a program that is joined to those before it.
const MAX_LAST_OUTPUT_BYTES: usize = 64 << 10;

/// Longest question of a program that waits for an answer.
const MAX_QUESTION_BYTES: usize = 200;

/// Keys of the id that a call and its output have in common.
const CALL_KEYS: &[&[u8]] = &[b"call_id", b"tool_call_id", b"callId", b"toolCallId", b"tool_use_id"];

/// A piece with its text.
#[derive(Debug, Clone)]
struct Chunk {
    document: u64,
    /// The sources of the strings that the text was decoded from, from the inside to the outside.
    layers: Vec<Layer>,
    text: String,
    form: Form,
    /// Other places where the same piece is written. Requests repeat what was said before.
    copies: Vec<(u64, usize)>,
}

/// Which finds in the joined text count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finds {
    /// Those that span several pieces. What is in one of them is found there.
    Spanning,
    /// All: what is in other pieces may give away what is in one.
    All,
}

impl Finds {
    /// Returns what counts in a stream. A piece in base64 changes as a whole, so its edit has to hold all that is in it.
    fn of(chunks: &[Chunk]) -> Self {
        if chunks.iter().any(|chunk| chunk.form == Form::Base64) { Self::All } else { Self::Spanning }
    }
}

/// The source of a string, and how its text becomes a part of the text around it.
#[derive(Debug, Clone)]
struct Layer {
    /// Shared by the pieces of one string: it may hold thousands of them.
    source: Arc<str>,
    /// Where in the decoded string the text of this piece, or the string one layer below, begins.
    skip: usize,
    /// Where the source begins in the text one layer above, or in the document.
    start: usize,
}

/// How the text of a piece is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Base64,
}

/// How often a piece may be written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repetition {
    /// Each piece is written once.
    Never,
    /// Documents may hold all pieces so far.
    History,
}

/// The streams of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: HashMap<(u64, u64), Vec<Chunk>>,
    /// Questions of programs, and what was typed into them.
    dialogues: HashMap<(u64, u64), Vec<Chunk>>,
    /// The number of the terminal that a call writes to.
    terminals: HashMap<u64, u64>,
    /// Last outputs, by the call that they answer.
    last_outputs: Vec<(u64, LastOutput)>,
}

/// An output that is a piece of a terminal's if its call says of which.
#[derive(Debug)]
struct LastOutput {
    document: u64,
    start: usize,
    source: Box<[u8]>,
}

impl LastOutput {
    fn chunk(&self) -> Option<Chunk> {
        let header = LAST_OUTPUT.find(&self.source)?;
        output_behind(self.document, self.start, &self.source, header.end())
    }
}

/// What has to change in pieces of streams, by document.
pub(crate) type StreamEdits = HashMap<u64, Vec<Edit>>;

impl Streams {
    /// Adds the pieces of a document.
    pub(crate) fn add(&mut self, document: u64, text: &[u8], structure: &Structure) {
        let mut added: HashMap<u64, Vec<Chunk>> = HashMap::new();
        let mut repeated: HashMap<u64, Vec<Chunk>> = HashMap::new();
        for piece in &structure.pieces {
            if let Some(chunk) = Chunk::of(document, text, &piece.inner) {
                added.entry(piece.stream).or_default().push(chunk);
            }
        }
        let mut dialogue: HashMap<u64, Vec<Chunk>> = HashMap::new();
        let mut last_outputs: Vec<(u64, LastOutput)> = Vec::new();
        let mut outputs = 0;
        for (index, string) in structure.strings.iter().enumerate() {
            let source = &text[string.inner.clone()];
            if string.place == StringPlace::Key || source.len() > MAX_PIECE_BYTES || source.len() < MIN_NESTED_BYTES {
                continue;
            }
            if source.starts_with(b"{") {
                let terminal = terminal_of(source);
                if let Some(terminal) = terminal
                    && let Some(call) = call_of(text, &structure.strings, index)
                {
                    self.terminals.insert(call, terminal);
                }
                nested_pieces(document, text, &string.inner, &mut |stream, chunk| {
                    if let Some(terminal) = terminal {
                        dialogue.entry(terminal).or_default().push(chunk.clone());
                    }
                    repeated.entry(stream).or_default().push(chunk);
                });
            } else if let Some((terminal, chunk)) = terminal_output(document, text, &string.inner) {
                outputs += 1;
                dialogue.entry(terminal).or_default().extend(question(&chunk));
                repeated.entry(terminal ^ TERMINAL).or_default().push(chunk);
            } else if source.len() <= MAX_LAST_OUTPUT_BYTES
                && (source.starts_with(b"Chunk ID") || source.starts_with(b"Wall time"))
                && EXITED.find(&source[..source.len().min(300)]).is_some()
                && let Some(call) = call_of(text, &structure.strings, index)
            {
                outputs += 1;
                last_outputs.push((call, LastOutput { document, start: string.inner.start, source: source.into() }));
            }
        }
        for (call, output) in last_outputs {
            if let Some(terminal) = self.terminals.get(&call) {
                repeated.entry(terminal ^ TERMINAL).or_default().extend(output.chunk());
            } else if outputs == 1 {
                // A document with several outputs has the calls as well.
                self.last_outputs.push((call, output));
            }
        }
        for (terminal, chunks) in dialogue.into_iter().filter(|(_, chunks)| !chunks.is_empty()) {
            let scope = if chunks.len() > 1 { document } else { u64::MAX };
            self.dialogues.entry((terminal, scope)).or_default().extend(chunks);
        }
        for (pieces, repetition) in [(added, Repetition::Never), (repeated, Repetition::History)] {
            for (stream, chunks) in pieces {
                // A document that has several pieces of a conversation has all of them so far.
                let scope = if repetition == Repetition::History && chunks.len() > 1 { document } else { u64::MAX };
                self.streams.entry((stream, scope)).or_default().extend(chunks);
            }
        }
    }

    /// Adds the pieces of other documents.
    pub(crate) fn append(&mut self, other: Self) {
        for (stream, chunks) in other.streams {
            self.streams.entry(stream).or_default().extend(chunks);
        }
        for (stream, chunks) in other.dialogues {
            self.dialogues.entry(stream).or_default().extend(chunks);
        }
        self.terminals.extend(other.terminals);
        self.last_outputs.extend(other.last_outputs);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
            && self.dialogues.is_empty()
            && self.terminals.is_empty()
            && self.last_outputs.is_empty()
    }

    /// Finds the secrets that span several pieces.
    pub(crate) fn secrets(&mut self, rules: &Rules) -> Vec<Secret> {
        let mut secrets = Vec::new();
        for (call, output) in std::mem::take(&mut self.last_outputs) {
            if let Some(terminal) = self.terminals.get(&call) {
                self.streams.entry((terminal ^ TERMINAL, u64::MAX)).or_default().extend(output.chunk());
            }
        }
        for chunks in self.streams.values_mut().chain(self.dialogues.values_mut()) {
            chunks.sort_by_key(|chunk| (chunk.document, chunk.start()));
            join_copies(chunks);
            settle_form(chunks);
        }
        for joined in self.joined() {
            secrets.extend(joined.found(rules).into_iter().map(|(secret, _)| secret));
        }
        secrets
    }

    /// Returns what has to change in each document, with what is known of the whole bundle.
    pub(crate) fn edits(&self, rules: &Rules, known: &Known) -> StreamEdits {
        let mut edits = StreamEdits::new();
        for joined in self.joined() {
            let found = joined.found(rules).into_iter();
            let marked = found.map(|(secret, spans)| (known.placeholder(rules, &secret.identity, &secret.kind), spans));
            for (chunk, of_chunk) in joined.edits(marked.collect(), known) {
                let first = chunk.start();
                for (document, start) in std::iter::once(&(chunk.document, first)).chain(&chunk.copies) {
                    let moved = of_chunk.iter().cloned().map(|mut edit| {
                        edit.span = edit.span.start - first + start..edit.span.end - first + start;
                        edit
                    });
                    edits.entry(*document).or_default().extend(moved);
                }
            }
        }
        edits
    }

    fn joined(&self) -> impl Iterator<Item = Joined<'_>> {
        let spanning = self.streams.values().flat_map(|chunks| parts(chunks)).map(|part| (part, Finds::of(part)));
        let all = self.dialogues.values().flat_map(|chunks| parts(chunks)).map(|part| (part, Finds::All));
        spanning.chain(all).map(|(part, finds)| Joined::of(part, Joint::Nothing, finds))
    }
}

/// Splits the pieces of a stream into runs that are joined to one text each.
fn parts(chunks: &[Chunk]) -> Vec<&[Chunk]> {
    let mut parts = Vec::new();
    let (mut first, mut length) = (0, 0);
    for (index, chunk) in chunks.iter().enumerate() {
        if length + chunk.text.len() > MAX_STREAM_BYTES {
            parts.push(&chunks[first..index]);
            (first, length) = (index, 0);
        }
        length += chunk.text.len();
    }
    parts.push(&chunks[first..]);
    parts.retain(|part| part.len() > 1);
    parts
}

/// Finds the secrets that span several strings of a list, and what has to change in the text that the list is in.
pub(crate) fn look_at_list(text: &[u8], list: &List, rules: Option<&Rules>, known: &Known) -> (Vec<Secret>, Vec<Edit>) {
    let ListSort::Parts(joint) = list.sort else { return (Vec::new(), Vec::new()) };
    let mut chunks: Vec<Chunk> = list.items.iter().filter_map(|item| Chunk::of(0, text, item)).collect();
    settle_form(&mut chunks);
    let (mut secrets, mut edits) = (Vec::new(), Vec::new());
    for part in parts(&chunks) {
        let finds = if joint == Joint::Line { Finds::All } else { Finds::of(part) };
        let joined = Joined::of(part, joint, finds);
        let found = rules.map(|rules| joined.found(rules).into_iter().map(|found| (rules, found)).collect::<Vec<_>>());
        let found: Vec<_> = found.into_iter().flatten().collect();
        secrets.extend(found.iter().map(|(_, (secret, _))| secret.clone()));
        let marked = found
            .into_iter()
            .map(|(rules, (secret, spans))| (known.placeholder(rules, &secret.identity, &secret.kind), spans));
        edits.extend(joined.edits(marked.collect(), known).into_iter().flat_map(|(_, edits)| edits));
    }
    (secrets, edits)
}

/// Shortest JSON in a string, or output of a terminal, that is looked at for pieces.
const MIN_NESTED_BYTES: usize = 24;

/// Adds the pieces in a string that is JSON itself, such as what is typed into a terminal in the arguments of a call.
fn nested_pieces(document: u64, text: &[u8], inner: &Range<usize>, add: &mut dyn FnMut(u64, Chunk)) {
    let source = &text[inner.clone()];
    let has_piece =
        [&b"chars\\\""[..], b"delta\\\"", b"chunk\\\""].iter().any(|mark| memchr::memmem::find(source, mark).is_some());
    if !has_piece {
        return;
    }
    let Some((source, decoded)) = decode(source) else { return };
    let structure = structure::read(decoded.as_bytes());
    for piece in &structure.pieces {
        if let Some(mut chunk) = Chunk::of(document, decoded.as_bytes(), &piece.inner) {
            chunk.layers.push(Layer { source: Arc::clone(&source), skip: 0, start: inner.start });
            add(piece.stream, chunk);
        }
    }
}

/// Returns the number of the terminal that a call with these arguments writes to.
fn terminal_of(arguments: &[u8]) -> Option<u64> {
    let at = SESSION_ID.find(arguments)? + b"session_id".len();
    let rest = &arguments[at..];
    let blanks = rest.iter().take(12).take_while(|byte| matches!(byte, b'\\' | b'"' | b':' | b' ')).count();
    let digits = rest[blanks..].iter().take(19).take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[blanks..blanks + digits]).ok()?.parse().ok()
}

/// Most strings between what a call says and its id.
const MAX_CALL_STRINGS: usize = 24;

/// Returns the id of the call that a string belongs to: in its own object, or in one of two around it.
fn call_of(text: &[u8], strings: &[JsonString], index: usize) -> Option<u64> {
    let id = |string: &JsonString| {
        let StringPlace::Value { key, .. } = &string.place else { return None };
        CALL_KEYS.contains(&&text[key.clone()]).then(|| {
            let mut hasher = DefaultHasher::new();
            text[string.inner.clone()].hash(&mut hasher);
            hasher.finish()
        })
    };
    let gap = |first: usize| &text[strings[first].inner.end + 1..strings[first + 1].inner.start.saturating_sub(1)];
    let mut depth = 0;
    for at in index..strings.len().min(index + MAX_CALL_STRINGS).saturating_sub(1) {
        for byte in gap(at) {
            depth += i32::from(matches!(byte, b'{' | b'[')) - i32::from(matches!(byte, b'}' | b']'));
            if depth < 0 {
                break;
            }
        }
        if depth < 0 {
            break;
        }
        if depth == 0
            && let Some(id) = id(&strings[at + 1])
        {
            return Some(id);
        }
    }
    let (mut depth, mut outermost) = (0, 0);
    for at in (index.saturating_sub(MAX_CALL_STRINGS)..index).rev() {
        for byte in gap(at).iter().rev() {
            depth += i32::from(matches!(byte, b'}' | b']')) - i32::from(matches!(byte, b'{' | b'['));
            outermost = depth.min(outermost);
        }
        if outermost < -2 {
            return None;
        }
        if depth == outermost
            && let Some(id) = id(&strings[at])
        {
            return Some(id);
        }
    }
    None
}

/// Returns the last line of an output as a piece of its own, if a program asks for something in it.
fn question(output: &Chunk) -> Option<Chunk> {
    let start = output.text.rfind('\n').map_or(0, |at| at + 1);
    let asked = &output.text[start..];
    if asked.len() > MAX_QUESTION_BYTES || !asked.trim_end().ends_with([':', '?']) {
        return None;
    }
    let mut question = output.clone();
    question.text = asked.to_owned();
    question.layers.first_mut()?.skip += start;
    Some(question)
}

/// Returns the output of a terminal, and the number of its stream.
fn terminal_output(document: u64, text: &[u8], inner: &Range<usize>) -> Option<(u64, Chunk)> {
    let source = &text[inner.clone()];
    SESSION.find(&source[..source.len().min(400)])?;
    let captures = TERMINAL_OUTPUT.captures(source)?;
    let session = std::str::from_utf8(&captures[1]).ok()?.parse::<u64>().ok()?;
    Some((session, output_behind(document, inner.start, source, captures[0].len())?))
}

/// Returns what is after the header of an output.
fn output_behind(document: u64, start: usize, source: &[u8], header: usize) -> Option<Chunk> {
    let (_, header) = decode(&source[..header])?;
    let (source, decoded) = decode(source)?;
    let text = decoded.get(header.len()..)?.to_owned();
    let layers = vec![Layer { source, skip: header.len(), start }];
    Some(Chunk { document, layers, text, form: Form::Plain, copies: Vec::new() })
}

/// Makes one chunk of those that are copies of each other and follow one another.
fn join_copies(chunks: &mut Vec<Chunk>) {
    let mut kept: Vec<Chunk> = Vec::with_capacity(chunks.len());
    for chunk in chunks.drain(..) {
        let is_copy = |last: &&mut Chunk| {
            last.document != chunk.document
                && last.layers.last().is_some_and(|layer| layer.source.len() >= MIN_NESTED_BYTES)
                && last.layers.last().map(|layer| &layer.source) == chunk.layers.last().map(|layer| &layer.source)
        };
        match kept.last_mut().filter(is_copy) {
            Some(last) => last.copies.push((chunk.document, chunk.start())),
            None => kept.push(chunk),
        }
    }
    *chunks = kept;
}

/// Takes the pieces of a stream as they are written, unless all of them are base64: a short word may be it by chance.
fn settle_form(chunks: &mut [Chunk]) {
    if chunks.iter().all(|chunk| chunk.form == Form::Base64) {
        return;
    }
    for chunk in chunks.iter_mut().filter(|chunk| chunk.form == Form::Base64) {
        if let Some((_, decoded)) = chunk.layers.first().and_then(|layer| decode(layer.source.as_bytes())) {
            (chunk.text, chunk.form) = (decoded, Form::Plain);
        }
    }
}

/// Returns the source of a string and what it stands for.
fn decode(source: &[u8]) -> Option<(Arc<str>, String)> {
    let source = std::str::from_utf8(source).ok()?;
    let decoded = if source.contains('\\') {
        serde_json::from_str::<String>(&format!("\"{source}\"")).ok()?
    } else {
        source.to_owned()
    };
    Some((source.into(), decoded))
}

impl Chunk {
    /// Takes a string of a text.
    fn of(document: u64, text: &[u8], inner: &Range<usize>) -> Option<Self> {
        if inner.is_empty() || inner.len() > MAX_PIECE_BYTES {
            return None;
        }
        let (source, decoded) = decode(&text[inner.clone()])?;
        let (text, form) = match text_of_base64(&decoded) {
            Some(text) => (text, Form::Base64),
            None => (decoded, Form::Plain),
        };
        let layers = vec![Layer { source, skip: 0, start: inner.start }];
        Some(Self { document, layers, text, form, copies: Vec::new() })
    }

    /// Returns where the outermost string of the piece begins in its document.
    fn start(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.start)
    }

    /// Carries edits of the text over to the document.
    fn written(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        for (depth, layer) in self.layers.iter().enumerate() {
            if depth == 0 && self.form == Form::Base64 {
                let edited = apply(self.text.as_bytes(), &edits);
                let marks = edits.into_iter().flat_map(|edit| edit.marks).collect();
                edits = vec![Edit { span: 0..layer.source.len(), text: STANDARD.encode(edited), marks }];
            } else {
                for edit in &mut edits {
                    edit.span = edit.span.start + layer.skip..edit.span.end + layer.skip;
                }
                lift(layer.source.as_bytes(), &mut edits);
            }
            for edit in &mut edits {
                edit.span = edit.span.start + layer.start..edit.span.end + layer.start;
            }
        }
        edits
    }
}
/// Decodes a piece that is base64 of a text as a whole.
fn text_of_base64(piece: &str) -> Option<String> {
    if piece.len() < 4 || !piece.len().is_multiple_of(4) {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(piece).ok()?).ok()?;
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\u{1b}')).then_some(text)
}

/// Pieces of a stream as one text.
struct Joined<'a> {
    chunks: &'a [Chunk],
    text: String,
    /// Where each piece begins.
    starts: Vec<usize>,
    finds: Finds,
}

impl<'a> Joined<'a> {
    fn of(chunks: &'a [Chunk], joint: Joint, finds: Finds) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            starts.push(text.len());
            text.push_str(&chunk.text);
            if joint == Joint::Line && !chunk.text.ends_with('\n') {
                text.push('\n');
            }
        }
        Self { chunks, text, starts, finds }
    }

    /// Returns the parts of the text around the places where pieces meet, sorted and without overlaps.
    fn windows(&self) -> Vec<Range<usize>> {
        if self.chunks.iter().any(|chunk| chunk.form == Form::Base64) {
            return std::iter::once(0..self.text.len()).collect();
        }
        let mut windows: Vec<Range<usize>> = Vec::new();
        for at in &self.starts[1..] {
            let mut window = at.saturating_sub(MAX_REACH_BYTES)..self.text.len().min(at + MAX_REACH_BYTES);
            while !self.text.is_char_boundary(window.start) {
                window.start -= 1;
            }
            while !self.text.is_char_boundary(window.end) {
                window.end += 1;
            }
            match windows.last_mut() {
                Some(last) if last.end >= window.start => last.end = window.end,
                _ => windows.push(window),
            }
        }
        windows
    }

    /// Finds the secrets of the joined text that span several pieces, with the places of each.
    fn found(&self, rules: &Rules) -> Vec<(Secret, Vec<Range<usize>>)> {
        let mut all = Vec::new();
        for window in self.windows() {
            let text = &self.text[window.clone()];
            let mut add = |found: Vec<Found>, text: &str, raw: &dyn Fn(&Range<usize>) -> Vec<Range<usize>>| {
                let kept = placeholders(text);
                for found in found {
                    let is_kept = |span: &Range<usize>| overlaps(&kept, |kept| kept, span);
                    let spans: Vec<Range<usize>> = found
                        .spans()
                        .flat_map(raw)
                        .map(|span| span.start + window.start..span.end + window.start)
                        .collect();
                    let first = spans.first().map_or(0, |span| self.chunk_at(span.start));
                    let last = spans.last().map_or(0, |span| self.chunk_at(span.end.saturating_sub(1)));
                    if (first != last || self.finds == Finds::All) && !found.spans().any(is_kept) {
                        all.push((Secret::of(text, &found), spans));
                    }
                }
            };
            let mut found = Vec::new();
            rules.find_unmistakable(text, &mut found);
            let hints = triggers::windows(text);
            for hint in &hints {
                let first = found.len();
                Rules::find_in_context(&text[hint.span.clone()], hint.needs, &mut found);
                found[first..].iter_mut().for_each(|found| found.shift(hint.span.start));
            }
            add(found, text, &|span| vec![span.clone()]);
            for hint in hints {
                let part = &text[hint.span.clone()];
                for layers in surroundings::decode(part) {
                    let plain = layers.text(part);
                    let mut found = Vec::new();
                    rules.find_unmistakable(plain, &mut found);
                    Rules::find_in_context(plain, hint.needs, &mut found);
                    add(found, plain, &|span| {
                        let raw = layers.raw(span).into_iter();
                        raw.map(|span| span.start + hint.span.start..span.end + hint.span.start).collect()
                    });
                }
            }
        }
        all
    }

    /// Returns what has to change in each piece, as it is written, for what was found and what is known of others.
    fn edits(&self, found: Vec<(Placeholder, Vec<Range<usize>>)>, known: &Known) -> Vec<(&Chunk, Vec<Edit>)> {
        let mut by_chunk: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
        let kept = placeholders(&self.text);
        let hits = known.hits(&self.text).filter(|hit| !overlaps(&kept, |kept| kept, &hit.span));
        let hits = hits.map(|hit| (hit.placeholder.clone(), vec![hit.span]));
        for (placeholder, spans) in found.into_iter().chain(hits) {
            let parts: Vec<_> = spans.iter().flat_map(|span| self.parts(span)).collect();
            let is_kept = self.finds == Finds::All || parts.windows(2).any(|pair| pair[0].0 != pair[1].0);
            for (index, (chunk, span)) in parts.into_iter().enumerate().filter(|_| is_kept) {
                let marks = if index == 0 { vec![placeholder.clone()] } else { Vec::new() };
                by_chunk.entry(chunk).or_default().push(Edit { span, text: placeholder.to_string(), marks });
            }
        }
        let written = |(index, edits): (usize, Vec<Edit>)| {
            let chunk = &self.chunks[index];
            (chunk, chunk.written(merge(edits)))
        };
        by_chunk.into_iter().map(written).collect()
    }

    fn chunk_at(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// Returns the places of a range in the pieces.
    fn parts(&self, span: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        (self.chunk_at(span.start)..self.chunks.len())
            .take_while(|index| self.starts[*index] < span.end)
            .filter_map(|index| {
                let (start, length) = (self.starts[index], self.chunks[index].text.len());
                let from = span.start.saturating_sub(start).min(length);
                let to = (span.end - start).min(length);
                (from < to).then_some((index, from..to))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: String) -> Chunk {
        Chunk { document: 0, layers: Vec::new(), text, form: Form::Plain, copies: Vec::new() }
    }

    #[test]
    fn no_more_than_the_limit_is_joined_to_one_text() {
        let half = "a".repeat(MAX_STREAM_BYTES / 2);
        let chunks = [half.clone(), half, "b".to_owned(), "c".to_owned()].map(chunk);
        let lengths: Vec<usize> = parts(&chunks).into_iter().map(<[Chunk]>::len).collect();
        assert_eq!(lengths, [2, 2]);
        assert!(parts(&chunks[1..]).len() == 1);
    }

    #[test]
    fn a_piece_over_the_limit_is_a_text_of_its_own() {
        let text = "a".repeat(MAX_PIECE_BYTES + 1);
        assert!(Chunk::of(0, text.as_bytes(), &(0..MAX_PIECE_BYTES)).is_some());
        assert!(Chunk::of(0, text.as_bytes(), &(0..MAX_PIECE_BYTES + 1)).is_none());
    }

    #[test]
    fn pieces_are_read_from_terminals_and_from_arguments() {
        let document = serde_json::json!([
            { "output": "Chunk ID: a\nProcess running with session ID 7\nOutput:\nsk-" },
            { "name": "write_stdin", "arguments": "{\"session_id\": 7, \"chars\": \"abc\\n\"}" },
        ])
        .to_string();
        let mut streams = Streams::default();
        streams.add(3, document.as_bytes(), &structure::read(document.as_bytes()));
        let mut texts: Vec<&str> = streams.streams.values().flatten().map(|chunk| chunk.text.as_str()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["abc\n", "sk-"]);
        for chunk in streams.streams.values().flatten() {
            // An edit of all of the text is carried back to where it is written.
            let edits = chunk.written(vec![Edit { span: 0..3, text: "#".to_owned(), marks: Vec::new() }]);
            assert_eq!(&document[edits[0].span.clone()], &chunk.text[..3]);
        }
    }
}
