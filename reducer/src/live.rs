//! Reduces a session while it is being recorded.
//!
//! A [`LiveReduction`] takes the bytes of a log in pieces of any size and reports after each line how the graph
//! changed. It opens no file and never waits: the caller, which follows a file, a page or a socket, feeds it.
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
//! **Cost of an event.** An event costs time in proportion to the objects that it changes: objects record that they
//! were changed, and nothing searches for them. Only the payload of an inference request takes longer to read in a
//! longer session, because the request is longer.
//!
//! **Limits before the end.** Some things are decided only at the end of the log: a spawn that no item shows gets an
//! edge to its thread, a message that nobody received counts as lost, and schema 2 removes items from the threads'
//! lists that were never accepted. [`LiveReduction::snapshot`] copies the graph and finishes the copy as if the log
//! ended now.
//!
//! **Result.** The finished reduction is the same as the reduction of the whole bundle, byte for byte in `state.json`,
//! unless events came late ([`LiveReduction::has_late_events`]): a reduction of the whole log sorts them, and a live
//! reduction has already applied them in the order in which they came.

use trace_recorder::Bundle;
use trace_recorder::format::Manifest;
use trace_recorder::log::{Line, MAX_LINE_BYTES};
use trace_recorder::payloads::PayloadFiles;

use crate::diagnostic::Diagnostics;
use crate::model::{Handle, Moment, Object, Trace, Window};
use crate::reducer::{BATCH_LINES, Options, ReduceError, Reducer, Reduction};

/// Most bytes of an incomplete line that are kept until its line feed comes. One byte more than the longest line that
/// is parsed, so that a line that is too long is recognised as such.
pub const MAX_HELD_BYTES: usize = MAX_LINE_BYTES + 1;

/// One change that an event made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The object is new.
    Added(Object),
    /// The object was changed: for example it was linked to another object, or more became known about it. An event may
    /// report a change of an object that is the same as before.
    Changed(Object),
    /// A thread, turn, inference call, code cell, tool call, terminal operation or compaction request has ended. A thread
    /// that is resumed ends again.
    Ended(Object),
    /// An event of the client protocol was observed. The value is its index in [`Trace::protocol_events`].
    Observed(usize),
    /// A parent received its child's answer. The value is the index in [`Trace::agent_results`].
    Answered(usize),
    /// The session has ended; see [`Trace::status`].
    SessionEnded,
    /// The recorder closed the log.
    RecordingCompleted,
    /// A diagnostic was added. The value is its index among the diagnostics that are kept.
    Found(usize),
}

/// What one line of the log changed.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// Number of the line, from 1.
    pub line: u64,
    /// The last event so far. If the line is not an event, this is the last event before it.
    pub at: Option<Moment>,
    /// The changes; additions come before the changes of other objects.
    pub changes: &'a [Change],
    /// The graph after the line.
    pub trace: &'a Trace,
    /// The diagnostics after the line.
    pub diagnostics: &'a Diagnostics,
}

/// A reduction that follows a growing log.
#[derive(Debug, Clone)]
pub struct LiveReduction {
    reducer: Reducer,
    /// The beginning of a line whose line feed has not come yet.
    held: Vec<u8>,
    /// Bytes of that line beyond [`MAX_HELD_BYTES`], which are counted but not kept.
    dropped: u64,
    lines: u64,
    offset: u64,
    seen: Seen,
}

impl LiveReduction {
    /// Starts the reduction of a bundle. What the log already contains is not read here; the caller feeds it like the
    /// rest.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the bundle breaks a rule of its format.
    pub fn begin(bundle: &Bundle, options: Options) -> Result<Self, ReduceError> {
        Ok(Self::of(Reducer::begin(bundle, options)?))
    }

    /// Starts the reduction of a bundle that has this manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the schema version is not known.
    pub fn new(manifest: &Manifest, options: Options) -> Result<Self, ReduceError> {
        Ok(Self::of(Reducer::new(manifest, options)?))
    }

    fn of(mut reducer: Reducer) -> Self {
        reducer.watch();
        Self { reducer, held: Vec::new(), dropped: 0, lines: 0, offset: 0, seen: Seen::default() }
    }

    /// Applies more bytes of the log and calls `tell` after each complete line. The payloads that an event names are
    /// read from `payloads`; a recorder writes them before the event.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and a line breaks a rule of the format. The reduction cannot be used
    /// after an error.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        payloads: &PayloadFiles,
        mut tell: impl FnMut(Update<'_>),
    ) -> Result<(), ReduceError> {
        let mut changes = Vec::new();
        self.each_line(bytes, |live, line| live.apply(line, payloads, &mut changes, &mut tell))
    }

    /// Applies the incomplete last line, if there is one, and calls `tell` with its changes. For a log that will not
    /// grow.
    ///
    /// # Errors
    ///
    /// See [`feed`](Self::feed).
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

    /// Applies more bytes of the log without reporting changes, for what was recorded before a viewer connected. This
    /// is much faster than [`feed`](Self::feed), because many lines are read together and in parallel.
    ///
    /// # Errors
    ///
    /// See [`feed`](Self::feed).
    pub fn catch_up(&mut self, bytes: &[u8], payloads: &PayloadFiles) -> Result<(), ReduceError> {
        // The line whose beginning is in `held` is not contiguous in `bytes`, so it is applied separately.
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

    /// Splits bytes into lines, the first of which may have started in earlier bytes, and keeps an incomplete last
    /// line.
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

    /// Splits bytes that contain only complete lines.
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

    /// Returns the graph after the complete lines so far.
    pub fn trace(&self) -> &Trace {
        self.reducer.trace()
    }

    /// Returns the diagnostics of the lines so far.
    pub fn diagnostics(&self) -> &Diagnostics {
        self.reducer.diagnostics()
    }

    /// Returns the number of complete lines so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns whether an event came in a later piece than an event with a higher sequence number. The graph may then
    /// differ from the one of the whole bundle.
    pub fn has_late_events(&self) -> bool {
        self.reducer.has_late_events()
    }

    /// Copies the reduction and finishes the copy, as if the log ended here.
    ///
    /// # Errors
    ///
    /// See [`finish`](Self::finish).
    pub fn snapshot(&self, payloads: &PayloadFiles) -> Result<Reduction, ReduceError> {
        self.clone().finish(payloads)
    }

    /// Finishes the reduction. An incomplete last line is applied first.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the log as a whole, or its last line, breaks a rule of the
    /// format.
    pub fn finish(mut self, payloads: &PayloadFiles) -> Result<Reduction, ReduceError> {
        self.feed_rest(payloads, |_| ())?;
        self.reducer.finish()
    }
}

/// Whether a line has its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    LineFeed,
    None,
}

/// What has been reported already.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// For each type of object, one entry for each reported object: whether its end was reported.
    objects: [Vec<bool>; OBJECT_TYPES],
    protocol_events: usize,
    agent_results: usize,
    diagnostics: usize,
    session_ended: bool,
    recording_completed: bool,
}

/// Number of object types whose changes are reported: all types but payloads.
const OBJECT_TYPES: usize = 11;

impl Seen {
    /// Adds everything to `changes` that is new since the last call.
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

/// Returns the number of an object's type and the object's index in its arena, or `None` for a payload.
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

/// Returns the window in which an object ran, or `None` if objects of its type do not run.
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
