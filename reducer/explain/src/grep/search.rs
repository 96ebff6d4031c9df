//! Searches the texts of a session for a pattern.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trace_reducer::model::{Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx};
use xxhash_rust::xxh3::xxh3_128;

use super::matcher::Matcher;
use crate::object::{Object, ObjectRef};
use crate::session::Session;
use crate::texts::{Aspect, Calls, Place, Texts, document};
use crate::why::{Kind, attribute};

/// Which texts are searched, and what is reported of them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Agent paths or ids of threads. Empty means all threads.
    pub threads: Vec<String>,
    /// Kinds of sources. Empty means all kinds.
    pub kinds: Vec<Kind>,
    /// Whether to report the lines that do not match.
    pub inverted: bool,
    /// Number of lines to report before each match.
    pub before: usize,
    /// Number of lines to report after each match.
    pub after: usize,
    /// Most matching lines to report in a session.
    pub max_lines: Option<u64>,
    /// What to report of the matching lines.
    pub detail: Detail,
}

/// What is reported of matching lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The lines and the positions of the matches.
    #[default]
    Lines,
    /// Only the number of lines. The texts then have no lines.
    Number,
}

/// Most matches that are reported in one line. A pattern of one letter can match almost every position of a long line.
pub const MAX_SUBMATCHES: usize = 100_000;

/// Results of a search in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Texts with matching lines, in the order in which the texts first appeared.
    pub texts: Vec<TextHits>,
    /// Number of matching lines.
    pub lines: u64,
    /// Number of payloads that could not be searched.
    pub unread_payloads: u64,
}

/// A text with matching lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextHits {
    /// Kind of the text's source.
    pub kind: Kind,
    /// The object with the first occurrence of the text.
    pub object: ObjectRef,
    /// Which text of the object it is.
    pub aspect: Aspect,
    /// The thread.
    pub thread_id: String,
    /// Place of the agent in the tree of agents.
    pub agent_path: String,
    /// The turn; `None` if the text belongs to no turn.
    pub turn_id: Option<String>,
    /// Number of the turn within its thread, from 1; `None` if the trace does not have the turn.
    pub turn: Option<u64>,
    /// Sequence number of the event that first shows the text.
    pub seq: u64,
    /// The matching lines and the lines around them.
    pub lines: Vec<Line>,
}

/// A line of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Whether the line matches.
    #[serde(rename = "type")]
    pub kind: LineKind,
    /// Number of the line, from 1.
    pub line_number: u64,
    /// The line without its line feed.
    pub text: String,
    /// Byte ranges of the matches, at most [`MAX_SUBMATCHES`].
    pub submatches: Vec<Span>,
}

/// Whether a line matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// It matches.
    Match,
    /// It is near a matching line.
    Context,
}

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
}

/// A matching text. It is not known yet whether an equal text came earlier.
struct Hit {
    place: Place,
    content: u128,
    matched: Matched,
}

/// The matches in a text.
#[derive(Default)]
struct Matched {
    /// A hash of each matching line.
    hashes: Vec<u128>,
    /// The matching lines and those around them, if they were asked for.
    lines: Vec<Line>,
}

/// Searches a session.
pub fn grep(session: &Session, matcher: &Matcher, selection: &Selection) -> Found {
    let trace = session.trace();
    let texts = Texts::new(session);
    let calls = texts.calls();
    let wanted = wanted_threads(session, &selection.threads);
    let repeated = Repeated::new(trace, calls);
    let hits: Vec<Vec<Hit>> = texts.collect(|place, text| {
        let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&place.thread))
            && (selection.kinds.is_empty() || selection.kinds.contains(&attribute(trace, calls, place).0))
            && !repeated.is(place);
        let hits = if is_wanted { search_text(trace, place, text, matcher, selection) } else { Vec::new() };
        (!hits.is_empty()).then_some(hits)
    });
    let mut hits: Vec<Hit> = hits.into_iter().flatten().collect();
    hits.sort_by_key(|hit| hit.place.birth);
    let mut found = Found { unread_payloads: texts.unread(), ..Found::default() };
    let mut seen: HashSet<u128> = HashSet::new();
    let mut printed = Printed::default();
    let turns = Turns::new(trace);
    for mut hit in hits {
        // Call both: each must record the hit, so do not short-circuit.
        let is_known = printed.has(calls, trace, &hit);
        if !seen.insert(hit.content) || is_known {
            continue;
        }
        let left = selection.max_lines.map_or(u64::MAX, |max| max - found.lines);
        if left == 0 {
            break;
        }
        keep_first(&mut hit.matched.lines, left, selection.after);
        found.lines += left.min(hit.matched.hashes.len() as u64);
        found.texts.push(describe(session, calls, &turns, hit));
    }
    found
}

/// Searches a text. In the JSON of arguments, line feeds and quotes are escaped, so the strings in it are searched. The
/// document itself is only searched for what none of the strings contains.
fn search_text(trace: &Trace, place: &Place, text: &str, matcher: &Matcher, selection: &Selection) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut search = |text: &str| {
        let matched = matches_in(text, matcher, selection);
        if !matched.hashes.is_empty() {
            hits.push(Hit { place: *place, content: xxh3_128(text.as_bytes()), matched });
        }
    };
    let is_arguments = match place.object {
        Object::Item(item) => place.aspect == Aspect::Json && trace.items[item].kind.is_call(),
        _ => place.aspect == Aspect::Arguments,
    };
    let is_document = is_arguments && text.trim_start().starts_with(['{', '[']);
    match is_document.then(|| serde_json::from_str::<Value>(text)) {
        Some(Ok(value)) => {
            document::strings(&value, &[], &mut search);
            if hits.is_empty() && !selection.inverted {
                let matched = matches_in(text, matcher, selection);
                if !matched.hashes.is_empty() {
                    hits.push(Hit { place: *place, content: xxh3_128(text.as_bytes()), matched });
                }
            }
        }
        _ => search(text),
    }
    hits
}

fn wanted_threads(session: &Session, names: &[String]) -> Option<HashSet<ThreadIdx>> {
    let trace = session.trace();
    let is_named = |thread: ThreadIdx| {
        let id = trace.text(trace.threads[thread].id);
        names.iter().any(|name| name == id || name == session.agent_path(thread))
    };
    (!names.is_empty()).then(|| trace.threads.handles().filter(|thread| is_named(*thread)).collect())
}

/// Recognises places that only repeat the text of another place of the same call.
struct Repeated<'t> {
    trace: &'t Trace,
    calls: &'t Calls,
}

impl<'t> Repeated<'t> {
    fn new(trace: &'t Trace, calls: &'t Calls) -> Self {
        Self { trace, calls }
    }

    fn is(&self, place: &Place) -> bool {
        match (place.object, place.aspect) {
            // The request to the runtime repeats the arguments of the call.
            (Object::Tool(tool), Aspect::Request) => self.trace.tools[tool].invocation_payload_id.is_some(),
            (Object::Cell(cell), Aspect::Source) => self.has_invocation(self.calls.tool_of_cell(self.trace, cell)),
            (Object::Item(item), _) if self.trace.items[item].kind.is_call() => {
                self.has_invocation(self.calls.tool_of(self.trace, item))
            }
            // The call that sent a message, and the turn of the child that answered, have the text already.
            (Object::Tool(_) | Object::Edge(_), Aspect::Message) => true,
            _ => false,
        }
    }

    fn has_invocation(&self, tool: Option<ToolIdx>) -> bool {
        tool.is_some_and(|tool| self.trace.tools[tool].invocation_payload_id.is_some())
    }
}

/// The lines that earlier hits of each call contained. The result of a call repeats the output of its tool with a few
/// more lines, and only a result with new matching lines is reported.
#[derive(Default)]
struct Printed {
    lines: HashSet<(Object, u128)>,
}

impl Printed {
    /// Returns whether earlier hits of the same call contained all matching lines of this hit, and records the lines.
    fn has(&mut self, calls: &Calls, trace: &Trace, hit: &Hit) -> bool {
        let (kind, object) = attribute(trace, calls, &hit.place);
        if kind != Kind::ToolOutput {
            return false;
        }
        let mut is_known = true;
        for hash in &hit.matched.hashes {
            is_known &= !self.lines.insert((object, *hash));
        }
        is_known
    }
}

fn matches_in(text: &str, matcher: &Matcher, selection: &Selection) -> Matched {
    let mut found = Matched::default();
    let lines = &mut found.lines;
    let is_number = selection.detail == Detail::Number;
    // Lines before the current one that no match has reported yet.
    let mut waiting: VecDeque<(u64, &str)> = VecDeque::new();
    let mut after = 0;
    for (number, line) in (1u64..).zip(text_lines(text)) {
        let is_full = selection.max_lines.is_some_and(|max| found.hashes.len() as u64 >= max);
        if !is_full && matcher.is_match(line) != selection.inverted {
            found.hashes.push(xxh3_128(line.trim_end_matches('\r').as_bytes()));
            if is_number {
                continue;
            }
            lines.extend(waiting.drain(..).map(|(number, line)| context(number, line)));
            let spans = matcher.find_all(line).map(|(start, end)| Span { start, end }).take(MAX_SUBMATCHES);
            let submatches = if selection.inverted { Vec::new() } else { spans.collect() };
            lines.push(Line { kind: LineKind::Match, line_number: number, text: line.to_owned(), submatches });
            after = selection.after;
        } else if after > 0 {
            after -= 1;
            lines.push(context(number, line));
        } else if is_full {
            break;
        } else if selection.before > 0 && !is_number {
            if waiting.len() == selection.before {
                waiting.pop_front();
            }
            waiting.push_back((number, line));
        }
    }
    found
}

/// Iterates over the lines of a text without their line feeds. Text after the last line feed is a line too.
fn text_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}

fn context(number: u64, line: &str) -> Line {
    Line { kind: LineKind::Context, line_number: number, text: line.to_owned(), submatches: Vec::new() }
}

/// Keeps the first `matches` matching lines, and behind the last one at most `after` other lines.
fn keep_first(lines: &mut Vec<Line>, matches: u64, after: usize) {
    let mut left = matches;
    let mut end = lines.len();
    let mut last_match = 0;
    for (index, line) in lines.iter().enumerate() {
        if line.kind == LineKind::Match {
            if left == 0 {
                end = index;
                break;
            }
            left -= 1;
            last_match = index;
        }
    }
    lines.truncate(end.min(lines.len()));
    if left == 0 {
        lines.truncate(last_match + 1 + after);
        let number = |line: &Line| line.line_number;
        let from = lines.get(last_match).map_or(0, number);
        lines.retain(|line| number(line) <= from + after as u64);
    }
}

/// The turns of a session by id, with their numbers within their threads.
struct Turns {
    by_id: HashMap<Symbol, TurnIdx>,
    numbers: HashMap<TurnIdx, u64>,
}

impl Turns {
    fn new(trace: &Trace) -> Self {
        let mut by_id = HashMap::new();
        let mut numbers = HashMap::new();
        let mut counts: HashMap<ThreadIdx, u64> = HashMap::new();
        for (turn, it) in trace.turns.iter() {
            by_id.insert(it.id, turn);
            let count = counts.entry(it.thread).or_default();
            *count += 1;
            numbers.insert(turn, *count);
        }
        Self { by_id, numbers }
    }

    fn of(&self, trace: &Trace, object: Object) -> Option<TurnIdx> {
        match object {
            Object::Tool(tool) => trace.tools[tool].turn,
            Object::Cell(cell) => Some(trace.cells[cell].turn),
            Object::Inference(inference) => Some(trace.inferences[inference].turn),
            Object::Item(item) => self.by_id.get(&trace.items[item].codex_turn_id?).copied(),
            _ => None,
        }
    }
}

fn describe(session: &Session, calls: &Calls, turns: &Turns, hit: Hit) -> TextHits {
    let trace = session.trace();
    let (kind, object) = attribute(trace, calls, &hit.place);
    let turn = turns.of(trace, hit.place.object);
    let turn_id = match (turn, hit.place.object) {
        (Some(turn), _) => Some(trace.turns[turn].id),
        (None, Object::Item(item)) => trace.items[item].codex_turn_id,
        _ => None,
    };
    TextHits {
        kind,
        object: session.name(object),
        aspect: hit.place.aspect,
        thread_id: trace.text(trace.threads[hit.place.thread].id).to_owned(),
        agent_path: session.agent_path(hit.place.thread).to_owned(),
        turn_id: turn_id.map(|id| trace.text(id).to_owned()),
        turn: turn.and_then(|turn| turns.numbers.get(&turn).copied()),
        seq: hit.place.seq,
        lines: hit.matched.lines,
    }
}

#[cfg(test)]
mod tests {
    use super::super::matcher::{CaseRule, Syntax, WholeWords};
    use super::*;

    fn matched(text: &str, detail: Detail) -> Matched {
        let matcher = Matcher::new(&["a"], Syntax::Fixed, CaseRule::Exact, WholeWords::No).expect("a pattern");
        matches_in(text, &matcher, &Selection { detail, before: 1, after: 1, ..Selection::default() })
    }

    #[test]
    fn matches_of_a_line_are_told_up_to_a_limit() {
        let spans = |bytes: usize| matched(&"a".repeat(bytes), Detail::Lines).lines[0].submatches.len();
        assert_eq!(spans(MAX_SUBMATCHES), MAX_SUBMATCHES);
        assert_eq!(spans(MAX_SUBMATCHES + 1), MAX_SUBMATCHES);
    }

    #[test]
    fn who_wants_a_number_gets_no_lines() {
        let found = matched("x\na\ny\nb\na\n", Detail::Number);
        assert_eq!((found.hashes.len(), found.lines.len()), (2, 0));
        assert_eq!(matched("x\na\ny\nb\na\n", Detail::Lines).lines.len(), 5);
    }
}
