//! Reduces a session while it is being recorded.
//!
//! A [`LiveReduction`] takes the bytes of a log as they come, cut anywhere, and tells after each event what became of the
//! graph. It opens no log of its own and waits for nothing: whoever follows a file, a page or a socket feeds it.
//!
//! ```no_run
//! use std::io::Read;
//! use trace_recorder::Bundle;
//! use trace_reducer::live::{Change, LiveReduction};
//! use trace_reducer::{Options, model::Object};
//!
//! let bundle = Bundle::open("traces/trace-1".as_ref())?;
//! let mut live = LiveReduction::begin(&bundle, Options::default())?;
//! let mut log = std::fs::File::open("traces/trace-1/trace.jsonl")?;
//! let mut bytes = vec![0; 1 << 16];
//! loop {
//!     let length = log.read(&mut bytes)?;
//!     if length == 0 {
//!         break; // Or wait for more.
//!     }
//!     live.feed(&bytes[..length], bundle.payloads(), |update| {
//!         for change in update.changes {
//!             if let Change::Ended(Object::Turn(turn)) = change {
//!                 let turn = &update.trace.turns[*turn];
//!                 println!("{} {:?}", update.trace.text(turn.id), turn.execution.status);
//!             }
//!         }
//!     })?;
//! }
//! println!("{} items so far", live.trace().items.len());
//! let reduction = live.finish(bundle.payloads())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What an event costs** is what it does: the objects that it touches tell of themselves, and nothing looks for them.
//! Only reading the payload of an inference request takes longer in a longer session, because the request is longer.
//!
//! **What the graph lacks before the end.** Some things only the end of a log decides: a spawn that no item shows ends at
//! its thread, a message that nobody got is lost, schema 2 leaves out of the threads' lists what was never accepted.
//! [`LiveReduction::snapshot`] gives the graph as if the log ended now, at the price of a copy.
//!
//! **What it all comes to** is the reduction of the whole bundle, to the byte of `state.json`, unless events came late
//! ([`LiveReduction::has_late_events`]): a reduction of the whole sorts them, and this one has applied them as they came.

use trace_recorder::Bundle;
use trace_recorder::format::Manifest;
use trace_recorder::log::{Line, MAX_LINE_BYTES};
use trace_recorder::payloads::PayloadFiles;

use crate::diagnostic::Diagnostics;
use crate::model::{Handle, Moment, Object, Trace, Window};
use crate::reducer::{BATCH_LINES, Options, ReduceError, Reducer, Reduction};

/// Most bytes of a line that are held back until its end comes: more than any line that is parsed.
pub const MAX_HELD_BYTES: usize = MAX_LINE_BYTES + 1;

/// Something that an event did to the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An object is new.
    Added(Object),
    /// An object is no longer what it was: it was linked, or something more became known of it. An event may touch an
    /// object and leave it as it was.
    Changed(Object),
    /// A thread, turn, inference call, code cell, tool call, terminal operation or compaction request has ended. A thread
    /// that is resumed ends again.
    Ended(Object),
    /// An event of the client protocol was observed: the one at this index of [`Trace::protocol_events`].
    Observed(usize),
    /// A child's answer was handed to its parent: the one at this index of [`Trace::agent_results`].
    Answered(usize),
    /// The session has ended; see [`Trace::status`].
    SessionEnded,
    /// The recorder closed the log.
    RecordingCompleted,
    /// There is something to say about the bundle: the diagnostic at this index of those that are kept.
    Found(usize),
}

/// What one line of the log did.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// Number of the line, from 1.
    pub line: u64,
    /// The last event so far. For a line that is no event, the one before it.
    pub at: Option<Moment>,
    /// What changed: new objects before those that they changed.
    pub changes: &'a [Change],
    /// The graph after the line.
    pub trace: &'a Trace,
    /// What there is to say after the line.
    pub diagnostics: &'a Diagnostics,
}

/// A reduction that follows a log.
#[derive(Debug, Clone)]
pub struct LiveReduction {
    reducer: Reducer,
    /// The beginning of a line whose end has not come yet.
    held: Vec<u8>,
    /// Bytes of that line that were not worth keeping.
    dropped: u64,
    lines: u64,
    offset: u64,
    seen: Seen,
}

impl LiveReduction {
    /// Begins the reduction of a bundle that may have a part of its log already; that part is fed like the rest.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and the bundle breaks a rule of its format.
    pub fn begin(bundle: &Bundle, options: Options) -> Result<Self, ReduceError> {
        Ok(Self::of(Reducer::begin(bundle, options)?))
    }

    /// Begins the reduction of the bundle with this manifest.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and the schema is not known.
    pub fn new(manifest: &Manifest, options: Options) -> Result<Self, ReduceError> {
        Ok(Self::of(Reducer::new(manifest, options)?))
    }

    fn of(mut reducer: Reducer) -> Self {
        reducer.watch();
        Self { reducer, held: Vec::new(), dropped: 0, lines: 0, offset: 0, seen: Seen::default() }
    }

    /// Applies further bytes of the log, and tells after each whole line what it did. The payloads that an event names are
    /// read from `payloads`; the format has them written before the event.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and a line breaks a rule of the format. The reduction is then of no
    /// further use.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        payloads: &PayloadFiles,
        mut tell: impl FnMut(Update<'_>),
    ) -> Result<(), ReduceError> {
        let mut changes = Vec::new();
        self.each_line(bytes, |live, line| live.apply(line, payloads, &mut changes, &mut tell))
    }

    /// Applies what is held back as the last line of the log, and tells what it did: for a log that will not grow.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn feed_rest(&mut self, payloads: &PayloadFiles, mut tell: impl FnMut(Update<'_>)) -> Result<(), ReduceError> {
        let (held, dropped) = (std::mem::take(&mut self.held), std::mem::take(&mut self.dropped));
        if held.is_empty() {
            return Ok(());
        }
        let line = self.next_line(&held, dropped, Ending::None);
        self.apply(line, payloads, &mut Vec::new(), &mut tell)
    }

    fn apply(
        &mut self,
        line: Line<'_>,
        payloads: &PayloadFiles,
        changes: &mut Vec<Change>,
        tell: &mut impl FnMut(Update<'_>),
    ) -> Result<(), ReduceError> {
        self.reducer.feed(&[line], payloads)?;
        changes.clear();
        self.seen.look(&mut self.reducer, changes);
        let (trace, diagnostics) = (self.reducer.trace(), self.reducer.diagnostics());
        tell(Update { line: line.number, at: trace.last_event, changes, trace, diagnostics });
        Ok(())
    }

    /// Applies further bytes of the log without telling what they do: for what was recorded before somebody looks. Much
    /// faster, since many lines are read together, and in parallel.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn catch_up(&mut self, bytes: &[u8], payloads: &PayloadFiles) -> Result<(), ReduceError> {
        // The line whose beginning is held is not in these bytes as a whole, and goes by itself.
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let head = if self.held.is_empty() { 0 } else { memchr::memchr(b'\n', bytes).map_or(whole, |end| end + 1) };
        self.each_line(&bytes[..head], |live, line| live.reducer.feed(&[line], payloads))?;
        let mut batch = Vec::new();
        self.each_line_of(&bytes[head..whole], |live, line| {
            batch.push(line);
            if batch.len() == BATCH_LINES {
                live.reducer.feed(&batch, payloads)?;
                batch.clear();
            }
            Ok(())
        })?;
        self.reducer.feed(&batch, payloads)?;
        self.hold(&bytes[head.max(whole)..]);
        self.seen.look(&mut self.reducer, &mut Vec::new());
        Ok(())
    }

    /// Splits bytes into lines, the first of which may have begun before, and holds back what has no end yet.
    fn each_line(
        &mut self,
        bytes: &[u8],
        mut apply: impl FnMut(&mut Self, Line<'_>) -> Result<(), ReduceError>,
    ) -> Result<(), ReduceError> {
        let mut rest = bytes;
        if !self.held.is_empty() {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.hold(rest);
                return Ok(());
            };
            self.hold(&rest[..end]);
            rest = &rest[end + 1..];
            let (held, dropped) = (std::mem::take(&mut self.held), std::mem::take(&mut self.dropped));
            let line = self.next_line(&held, dropped, Ending::LineFeed);
            apply(self, line)?;
        }
        let whole = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        self.each_line_of(&rest[..whole], apply)?;
        self.hold(&rest[whole..]);
        Ok(())
    }

    /// Splits bytes into lines that begin and end in them.
    fn each_line_of<'b>(
        &mut self,
        mut bytes: &'b [u8],
        mut apply: impl FnMut(&mut Self, Line<'b>) -> Result<(), ReduceError>,
    ) -> Result<(), ReduceError> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = self.next_line(&bytes[..end], 0, Ending::LineFeed);
            bytes = &bytes[end + 1..];
            apply(self, line)?;
        }
        Ok(())
    }

    fn next_line<'b>(&mut self, bytes: &'b [u8], dropped: u64, ending: Ending) -> Line<'b> {
        let terminated = ending == Ending::LineFeed;
        self.lines += 1;
        let line = Line { number: self.lines, offset: self.offset, bytes, terminated };
        self.offset += bytes.len() as u64 + dropped + u64::from(terminated);
        line
    }

    fn hold(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(MAX_HELD_BYTES.saturating_sub(self.held.len()));
        self.held.extend_from_slice(&bytes[..kept]);
        self.dropped += (bytes.len() - kept) as u64;
    }

    /// Returns the graph as the whole lines so far make it.
    pub fn trace(&self) -> &Trace {
        self.reducer.trace()
    }

    /// Returns what there is to say about the lines so far.
    pub fn diagnostics(&self) -> &Diagnostics {
        self.reducer.diagnostics()
    }

    /// Returns the number of whole lines so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Says whether an event came in a later piece than one that follows it, so that the graph need not be that of the
    /// whole bundle.
    pub fn has_late_events(&self) -> bool {
        self.reducer.has_late_events()
    }

    /// Returns the reduction of the log so far, as if it ended here. Takes a copy of the graph.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn snapshot(&self, payloads: &PayloadFiles) -> Result<Reduction, ReduceError> {
        self.clone().finish(payloads)
    }

    /// Finishes the reduction. What is held back is then a last line without its end.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and the log as a whole, or its last line, breaks a rule of the format.
    pub fn finish(mut self, payloads: &PayloadFiles) -> Result<Reduction, ReduceError> {
        self.feed_rest(payloads, |_| ())?;
        self.reducer.finish()
    }
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    LineFeed,
    None,
}

/// What was told already.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// By type: which of the objects that were told have ended. Its length is the number of objects that were told.
    objects: [Vec<bool>; OBJECT_TYPES],
    protocol_events: usize,
    agent_results: usize,
    diagnostics: usize,
    session_ended: bool,
    recording_completed: bool,
}

/// Types of objects whose changes are told: all but payloads.
const OBJECT_TYPES: usize = 11;

impl Seen {
    /// Tells what is different from before.
    fn look(&mut self, reducer: &mut Reducer, changes: &mut Vec<Change>) {
        let mut touched = reducer.take_touched();
        touched.sort_unstable();
        touched.dedup();
        let trace = reducer.trace();
        let first = changes.len();
        for object in touched {
            let Some((kind, index)) = place_of(object) else { continue };
            let ends = &mut self.objects[kind];
            let is_new = index >= ends.len();
            if is_new {
                ends.resize(index + 1, false);
            }
            let has_ended = window_of(trace, object).is_some_and(|window| window.ended.is_some());
            let had_ended = std::mem::replace(&mut ends[index], has_ended);
            if is_new {
                changes.push(Change::Added(object));
            }
            if has_ended && !had_ended {
                changes.push(Change::Ended(object));
            } else if !is_new {
                changes.push(Change::Changed(object));
            }
        }
        changes[first..].sort_by_key(|change| !matches!(change, Change::Added(_)));
        let new = |seen: &mut usize, now: usize| std::mem::replace(seen, now)..now;
        changes.extend(new(&mut self.protocol_events, trace.protocol_events.len()).map(Change::Observed));
        changes.extend(new(&mut self.agent_results, trace.agent_results.len()).map(Change::Answered));
        if trace.ended.is_some() && !std::mem::replace(&mut self.session_ended, true) {
            changes.push(Change::SessionEnded);
        }
        if trace.recording_complete && !std::mem::replace(&mut self.recording_completed, true) {
            changes.push(Change::RecordingCompleted);
        }
        changes.extend(new(&mut self.diagnostics, reducer.diagnostics().iter().len()).map(Change::Found));
    }
}

/// Returns the number of an object's type and its index in its arena.
fn place_of(object: Object) -> Option<(usize, usize)> {
    Some(match object {
        Object::Thread(handle) => (0, handle.index()),
        Object::Turn(handle) => (1, handle.index()),
        Object::Item(handle) => (2, handle.index()),
        Object::Inference(handle) => (3, handle.index()),
        Object::Cell(handle) => (4, handle.index()),
        Object::Tool(handle) => (5, handle.index()),
        Object::Session(handle) => (6, handle.index()),
        Object::Operation(handle) => (7, handle.index()),
        Object::Compaction(handle) => (8, handle.index()),
        Object::CompactionRequest(handle) => (9, handle.index()),
        Object::Edge(handle) => (10, handle.index()),
        Object::Payload(_) => return None,
    })
}

/// Returns when an object ran, if it is of a type that runs.
fn window_of(trace: &Trace, object: Object) -> Option<&Window> {
    Some(match object {
        Object::Thread(thread) => &trace.threads[thread].execution,
        Object::Turn(turn) => &trace.turns[turn].execution,
        Object::Inference(inference) => &trace.inferences[inference].execution,
        Object::Cell(cell) => &trace.cells[cell].execution,
        Object::Tool(tool) => &trace.tools[tool].execution,
        Object::Operation(operation) => &trace.operations[operation].execution,
        Object::CompactionRequest(request) => &trace.compaction_requests[request].execution,
        Object::Item(_) | Object::Session(_) | Object::Compaction(_) | Object::Edge(_) | Object::Payload(_) => {
            return None;
        }
    })
}
