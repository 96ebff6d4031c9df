//! Secrets that are cut over the pieces of a stream: deltas, chunks of an output, lines in an array.
//!
//! The pieces of each stream are joined in the order of the documents and looked at as one text. What is found in one piece
//! alone is left to the look at that piece; what spans several is replaced in each of them, where it stands.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::edit::{Edit, apply, lift, merge, overlaps};
use super::found::Found;
use super::known::{Known, Secret};
use super::placeholder::placeholders;
use super::rules::Rules;
use super::structure::{Joint, Structure};
use super::surroundings;

/// Longest text that the pieces of one stream are joined to. What comes behind begins a new one.
pub const MAX_STREAM_BYTES: usize = 16 << 20;

/// Longest piece. A longer one is a text of its own.
const MAX_PIECE_BYTES: usize = 64 << 10;

/// A piece with its text.
#[derive(Debug)]
struct Chunk {
    document: u64,
    /// Where its source stands in the document.
    start: usize,
    source: String,
    text: String,
    form: Form,
    joint: Joint,
}

/// How the text of a piece is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Base64,
}

/// The streams of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: HashMap<(u64, u64), Vec<Chunk>>,
}

/// What has to change in pieces of streams, by document.
pub(crate) type StreamEdits = HashMap<u64, Vec<Edit>>;

impl Streams {
    /// Adds the pieces of a document. A stream that is an array is one of its document.
    pub(crate) fn add(&mut self, document: u64, text: &[u8], structure: &Structure) {
        for piece in &structure.pieces {
            let source = &text[piece.inner.clone()];
            if source.is_empty() || source.len() > MAX_PIECE_BYTES {
                continue;
            }
            let Ok(source) = std::str::from_utf8(source) else { continue };
            let decoded = if source.contains('\\') {
                match serde_json::from_str::<String>(&format!("\"{source}\"")) {
                    Ok(decoded) => decoded,
                    Err(_) => continue,
                }
            } else {
                source.to_owned()
            };
            let (text, form) = match text_of_base64(&decoded) {
                Some(text) => (text, Form::Base64),
                None => (decoded, Form::Plain),
            };
            let of = if piece.joint == Joint::Line { document } else { 0 };
            let chunk =
                Chunk { document, start: piece.inner.start, source: source.to_owned(), text, form, joint: piece.joint };
            self.streams.entry((piece.stream, of)).or_default().push(chunk);
        }
    }

    /// Adds the pieces of other documents.
    pub(crate) fn append(&mut self, other: Self) {
        for (stream, chunks) in other.streams {
            self.streams.entry(stream).or_default().extend(chunks);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Finds the secrets that span several pieces.
    pub(crate) fn secrets(&mut self, rules: &Rules) -> Vec<Secret> {
        let mut secrets = Vec::new();
        for chunks in self.streams.values_mut() {
            chunks.sort_by_key(|chunk| (chunk.document, chunk.start));
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
            let mut by_chunk: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
            let found = joined
                .found(rules)
                .into_iter()
                .map(|(secret, spans)| (known.placeholder(rules, &secret.identity, &secret.kind), spans));
            let kept = placeholders(&joined.text);
            let hits = known.hits(&joined.text).filter(|hit| !overlaps(&kept, |kept| kept, &hit.span));
            let hits = hits.map(|hit| (hit.placeholder.clone(), vec![hit.span]));
            for (placeholder, spans) in found.chain(hits) {
                let parts: Vec<_> = spans.iter().flat_map(|span| joined.parts(span)).collect();
                let is_split = parts.windows(2).any(|pair| pair[0].0 != pair[1].0);
                for (index, (chunk, span)) in parts.into_iter().enumerate().filter(|_| is_split) {
                    let marks = if index == 0 { vec![placeholder.clone()] } else { Vec::new() };
                    by_chunk.entry(chunk).or_default().push(Edit { span, text: placeholder.to_string(), marks });
                }
            }
            for (index, of_chunk) in by_chunk {
                let chunk = &joined.chunks[index];
                edits.entry(chunk.document).or_default().extend(chunk.written(merge(of_chunk)));
            }
        }
        edits
    }

    fn joined(&self) -> impl Iterator<Item = Joined<'_>> {
        self.streams.values().flat_map(|chunks| {
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
            parts.into_iter().filter(|part| part.len() > 1).map(Joined::of)
        })
    }
}

impl Chunk {
    /// Carries edits of the text over to the document.
    fn written(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        match self.form {
            Form::Plain => lift(self.source.as_bytes(), &mut edits),
            Form::Base64 => {
                let edited = apply(self.text.as_bytes(), &edits);
                let marks = edits.into_iter().flat_map(|edit| edit.marks).collect();
                edits = vec![Edit { span: 0..self.source.len(), text: STANDARD.encode(edited), marks }];
            }
        }
        for edit in &mut edits {
            edit.span.start += self.start;
            edit.span.end += self.start;
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
}

impl<'a> Joined<'a> {
    fn of(chunks: &'a [Chunk]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            starts.push(text.len());
            text.push_str(&chunk.text);
            if chunk.joint == Joint::Line && !chunk.text.ends_with('\n') {
                text.push('\n');
            }
        }
        Self { chunks, text, starts }
    }

    /// Finds the secrets of the joined text that span several pieces, with the places of each.
    fn found(&self, rules: &Rules) -> Vec<(Secret, Vec<Range<usize>>)> {
        let mut all = Vec::new();
        let mut add = |text: &str, raw: &dyn Fn(&Range<usize>) -> Vec<Range<usize>>| {
            let mut found: Vec<Found> = Vec::new();
            rules.find_unmistakable(text, &mut found);
            Rules::find_in_context(text, &mut found);
            let kept = placeholders(text);
            for found in found {
                let is_kept = |span: &Range<usize>| overlaps(&kept, |kept| kept, span);
                let spans: Vec<Range<usize>> = found.spans().flat_map(raw).collect();
                let first = spans.first().map_or(0, |span| self.chunk_at(span.start));
                let last = spans.last().map_or(0, |span| self.chunk_at(span.end.saturating_sub(1)));
                if first != last && !found.spans().any(is_kept) {
                    all.push((Secret::of(text, &found), spans));
                }
            }
        };
        add(&self.text, &|span| vec![span.clone()]);
        for layers in surroundings::decode(&self.text) {
            add(layers.text(&self.text), &|span| layers.raw(span));
        }
        all
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
