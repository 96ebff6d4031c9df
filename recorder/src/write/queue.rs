//! The bounded queue between the threads of a session and the writer of its bundle.
//!
//! A caller that records an event holds the lock only while it copies one line. The sequence number is assigned under the
//! lock, so the order in the queue is the order in the log. Lines are collected in one buffer. The writer swaps it for an
//! empty one and writes all of it at once. Beside the lines are the contents of payloads (*bodies*), each with the offset
//! of the line that refers to it.
//!
//! The bytes of lines and the bytes of bodies in the queue have a limit each. If a limit is reached, a caller waits for a
//! limited time. Then the queue returns the body to the caller, which replaces it by a smaller one. This starts a
//! *shortage*: until at most half of both limits is in use, callers no longer wait for room for bodies. At the end of the
//! shortage the queue inserts an event that reports it. Lines are never returned: if there is no room even for a line, the
//! recording stops.
//!
//! This file uses nothing of the crate except `super::sync`, so that a test can compile it with a scheduler that tries many
//! interleavings.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::sync::{Condvar, Mutex, MutexGuard};

/// Limits of the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Limit on the bytes of lines and of small bodies.
    pub(crate) line_bytes: usize,
    /// Limit on the bytes of other bodies.
    pub(crate) body_bytes: usize,
    /// Longest time that a caller waits for room.
    pub(crate) patience: Duration,
    /// Longest time for which the writer lets lines collect before it takes them.
    pub(crate) linger: Duration,
}

/// A payload on its way to the disk.
#[derive(Debug)]
pub(crate) struct QueuedBody<B> {
    /// The content of the payload.
    pub(crate) body: B,
    /// Offset in the batch of the line that refers to it.
    pub(crate) line_start: usize,
    /// Bytes that it counts against the limit on bodies. 0 for a small one.
    pub(crate) room_bytes: usize,
}

/// What the writer takes from the queue at once.
#[derive(Debug)]
pub(crate) struct Batch<B> {
    /// Complete lines.
    pub(crate) lines: Vec<u8>,
    /// The bodies to which the lines refer, in the order of the lines.
    pub(crate) bodies: Vec<QueuedBody<B>>,
    /// Sequence number of the last line.
    pub(crate) last_seq: u64,
    /// Whether no further batch can follow.
    pub(crate) is_last: bool,
    /// Bytes of lines and of small bodies that still count against the limit.
    pub(crate) line_bytes: usize,
    /// Bytes of bodies that still count against the limit.
    pub(crate) body_bytes: usize,
    /// When the writer took it.
    taken_at: Option<Instant>,
}

impl<B> Batch<B> {
    /// Returns an empty batch for [`Queue::take`] to fill.
    pub(crate) fn new() -> Self {
        Self {
            lines: Vec::new(),
            bodies: Vec::new(),
            last_seq: 0,
            is_last: false,
            line_bytes: 0,
            body_bytes: 0,
            taken_at: None,
        }
    }
}

/// The bytes of a batch that still count against the limits.
#[derive(Debug)]
pub(crate) struct Unreleased<'b> {
    pub(crate) line_bytes: &'b mut usize,
    pub(crate) body_bytes: &'b mut usize,
}

/// Which limit a body counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// There is no body.
    None,
    /// A small body, which counts as a part of its line. Has its size in bytes.
    WithLine(usize),
    /// A body that counts against the limit on bodies. Has its size in bytes.
    OnItsOwn(usize),
}

/// Whether more may follow an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Events may follow.
    Inside,
    /// The log ends with this event.
    End,
}

/// What happened to an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed<B> {
    /// It is in the queue under this sequence number.
    Queued(u64),
    /// There was no room for its body, which is returned. The event is not in the queue.
    NoRoom(B),
    /// The queue is closed.
    Refused,
}

/// Writes the line of the event that reports a shortage, with the given sequence number. Returns the payload of the event
/// and its size in bytes.
///
/// The queue calls the function while it holds its lock, so that no event comes between the end of a shortage and its
/// report.
pub(crate) type WriteGap<B> = Box<dyn Fn(Shortage, u64, &mut Vec<u8>) -> (B, usize) + Send + Sync>;

/// Result of acknowledging a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// The shortage that ended. The event that reports it was added to the queue.
    pub(crate) told: Option<Shortage>,
    /// Whether there are more lines to write. This can be the case even after the last batch.
    pub(crate) has_more: bool,
}

/// Result of waiting for an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything up to this sequence number is acknowledged.
    All(u64),
    /// The writer has ended. Events after this sequence number are lost.
    Never(u64),
    /// The time ran out. Everything up to this sequence number is acknowledged.
    NotYet(u64),
}

/// Why the queue accepts no more events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The last event of the log is in the queue.
    Complete,
    /// The last handle was dropped.
    Dismissed,
    /// There was no room even for a line.
    Overflow,
    /// The writer could not write.
    Failed,
}

/// What was returned to callers while there was no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// Sequence number of the last event before the shortage.
    pub(crate) after_seq: u64,
    /// Number of bodies that were returned.
    pub(crate) bodies: u64,
    /// Size of these bodies in bytes.
    pub(crate) bytes: u64,
}

/// Fill level and counters of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) line_bytes: usize,
    pub(crate) body_bytes: usize,
    pub(crate) last_seq: u64,
    pub(crate) acknowledged_seq: u64,
    pub(crate) refused: u64,
    pub(crate) waits: u64,
    pub(crate) waited: Duration,
    pub(crate) handed_back: u64,
    pub(crate) handed_back_bytes: u64,
    /// Number of bodies that the current shortage has dropped and that no event has reported yet.
    pub(crate) untold_bodies: u64,
}

#[derive(Debug)]
struct State<B> {
    pending: Batch<B>,
    /// Counters, and the bytes in the queue together with those in the batch that the writer is writing.
    level: Level,
    shortage: Option<Shortage>,
    closed: Option<Closed>,
    /// The writer waits for the first event of a batch.
    writer_sleeps: bool,
    /// The writer waits for more events of a batch.
    writer_lingers: bool,
    /// A caller waits for an acknowledgement or for room, so the writer should not wait for more events.
    hurry: bool,
    callers_waiting: usize,
    /// How long the writer took for its last batch.
    busy: Duration,
    /// No further acknowledgement will follow.
    finished: bool,
    /// The last handle was dropped.
    dismissed: bool,
    /// The writer has ended.
    gone: bool,
}

/// How many times as long as the writer took for a batch it lets the lines of the next one collect. So a session that records all
/// the time spends at most this part of a processor on it, however small the batches would be.
const LINGER_PER_BUSY: u32 = 16;

/// Shortest time for which the writer lets lines collect, unless the limit is shorter.
const MIN_LINGER: Duration = Duration::from_millis(1);

/// Largest capacity of the line buffer that is kept for the next batch.
const KEPT_LINE_BYTES: usize = 8 << 20;

/// A body of at most this size has room whenever its line has.
pub(crate) const NOTE_BYTES: usize = 256;

/// The queue between handles and writer.
pub(crate) struct Queue<B> {
    state: Mutex<State<B>>,
    limits: Limits,
    write_gap: WriteGap<B>,
    /// Signalled when there is work for the writer.
    work: Condvar,
    /// Signalled when there is room for callers.
    room: Condvar,
    /// Signalled when a batch is acknowledged or the writer ends.
    acknowledged: Condvar,
}

impl<B> Queue<B> {
    /// Returns an empty queue. The next event has the sequence number `last_seq + 1`.
    pub(crate) fn new(limits: Limits, last_seq: u64, write_gap: WriteGap<B>) -> Self {
        let level = Level { last_seq, acknowledged_seq: last_seq, ..Level::default() };
        Self {
            state: Mutex::new(State {
                pending: Batch { last_seq, ..Batch::new() },
                level,
                shortage: None,
                closed: None,
                writer_sleeps: false,
                writer_lingers: false,
                hurry: false,
                callers_waiting: 0,
                busy: Duration::ZERO,
                finished: false,
                dismissed: false,
                gone: false,
            }),
            limits,
            write_gap,
            work: Condvar::new(),
            room: Condvar::new(),
            acknowledged: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<B>> {
        // Code under the lock only copies lines and updates counters, so a panic leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event to the queue. `write_line` appends its line for the given sequence number.
    pub(crate) fn push(
        &self,
        body: Option<B>,
        weight: Weight,
        place: Place,
        write_line: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Pushed<B> {
        let mut state = self.lock();
        let (mut body_deadline, mut line_deadline) = (None, None);
        loop {
            if state.closed.is_some() {
                state.level.refused += 1;
                return Pushed::Refused;
            }
            let has_line_room = state.level.line_bytes < self.limits.line_bytes;
            if has_line_room && self.has_body_room(&state.level, weight) {
                return self.put(state, body, weight, place, write_line);
            }
            // During a shortage no caller waits for room for its body.
            let waits_in_vain = has_line_room && state.shortage.is_some();
            if !waits_in_vain {
                let deadline = if has_line_room { &mut body_deadline } else { &mut line_deadline };
                let has_waited;
                (state, has_waited) = self.wait_for_room(deadline, state);
                if has_waited {
                    continue;
                }
            }
            return match (body, weight) {
                (Some(body), Weight::OnItsOwn(bytes) | Weight::WithLine(bytes)) if has_line_room => {
                    hand_back(&mut state, body, bytes)
                }
                _ => {
                    state.closed = Some(Closed::Overflow);
                    state.level.refused += 1;
                    self.work.notify_all();
                    self.room.notify_all();
                    Pushed::Refused
                }
            };
        }
    }

    fn has_body_room(&self, level: &Level, weight: Weight) -> bool {
        match weight {
            Weight::None => true,
            // The last quarter is reserved for lines, so small bodies are dropped before events are.
            Weight::WithLine(bytes) => {
                bytes <= NOTE_BYTES || level.line_bytes.saturating_add(bytes) <= self.limits.line_bytes / 4 * 3
            }
            // A body that is larger than the limit is accepted if it is the only one.
            Weight::OnItsOwn(bytes) => {
                level.body_bytes == 0 || level.body_bytes.saturating_add(bytes) <= self.limits.body_bytes
            }
        }
    }

    fn put(
        &self,
        mut guard: MutexGuard<'_, State<B>>,
        body: Option<B>,
        weight: Weight,
        place: Place,
        write_line: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Pushed<B> {
        let state = &mut *guard;
        if place == Place::End {
            // No event may follow the end, so a shortage must be reported before it.
            self.tell_shortage(state);
        }
        let seq = append(state, body, weight, write_line);
        if place == Place::End {
            state.closed = Some(Closed::Complete);
        }
        let is_urgent = state.closed.is_some() || self.is_filling(&state.level);
        let wakes = state.writer_sleeps || state.writer_lingers && is_urgent;
        if wakes {
            // Only the first caller wakes the writer, and it does so after releasing the lock.
            state.writer_sleeps = false;
            state.writer_lingers = false;
        }
        drop(guard);
        if wakes {
            self.work.notify_one();
        }
        Pushed::Queued(seq)
    }

    /// Ends a shortage by adding the event that reports it.
    fn tell_shortage(&self, state: &mut State<B>) -> Option<Shortage> {
        let shortage = state.shortage.take()?;
        let mut line = Vec::new();
        let (body, bytes) = (self.write_gap)(shortage, state.level.last_seq + 1, &mut line);
        append(state, Some(body), Weight::WithLine(bytes), |_, lines| lines.extend_from_slice(&line));
        Some(shortage)
    }

    /// Returns whether the queue is so full that the writer should not wait for more events.
    fn is_filling(&self, level: &Level) -> bool {
        level.line_bytes > self.limits.line_bytes / 4 || level.body_bytes > self.limits.body_bytes / 4
    }

    /// Waits for room until the deadline. Returns true if it waited and there may be room now, false if the deadline has
    /// passed.
    fn wait_for_room<'q>(
        &'q self,
        deadline: &mut Option<Option<Instant>>,
        mut state: MutexGuard<'q, State<B>>,
    ) -> (MutexGuard<'q, State<B>>, bool) {
        if self.limits.patience.is_zero() {
            return (state, false);
        }
        let now = Instant::now();
        let deadline = *deadline.get_or_insert_with(|| now.checked_add(self.limits.patience));
        let left = time_left(deadline);
        if left.is_zero() {
            return (state, false);
        }
        state.level.waits += 1;
        state.callers_waiting += 1;
        state.hurry = true;
        if state.writer_sleeps || state.writer_lingers {
            self.wake_writer(&mut state);
        }
        let mut state = self.room.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        state.callers_waiting -= 1;
        state.level.waited += now.elapsed();
        (state, true)
    }

    fn wake_writer(&self, state: &mut State<B>) {
        // Later callers see the cleared flags and do not signal again.
        state.writer_sleeps = false;
        state.writer_lingers = false;
        self.work.notify_one();
    }

    /// Waits until there are events or the queue is closed, but at most for `time`. Returns whether the time ran out.
    pub(crate) fn is_idle_for(&self, time: Duration) -> bool {
        let deadline = Instant::now().checked_add(time);
        let mut state = self.lock();
        while state.pending.lines.is_empty() && state.closed.is_none() {
            let left = time_left(deadline);
            if left.is_zero() {
                state.writer_sleeps = false;
                return true;
            }
            state.writer_sleeps = true;
            state = self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.writer_sleeps = false;
        false
    }

    /// Waits for events and moves them into `batch`, whose buffers are reused.
    ///
    /// The batch is empty only if it is the last one.
    pub(crate) fn take(&self, batch: &mut Batch<B>) {
        batch.lines.clear();
        batch.lines.shrink_to(KEPT_LINE_BYTES);
        batch.bodies.clear();
        let mut state = self.lock();
        while state.pending.lines.is_empty() && state.closed.is_none() {
            state.writer_sleeps = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.writer_sleeps = false;
        if !self.limits.linger.is_zero() {
            let linger = state.busy.saturating_mul(LINGER_PER_BUSY).max(MIN_LINGER).min(self.limits.linger);
            let until = Instant::now().checked_add(linger);
            state.writer_lingers = true;
            while !state.hurry && state.closed.is_none() && !self.is_filling(&state.level) {
                let left = time_left(until);
                if left.is_zero() {
                    break;
                }
                state = self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            state.writer_lingers = false;
        }
        state.hurry = false;
        std::mem::swap(&mut state.pending, batch);
        state.pending.last_seq = batch.last_seq;
        state.pending.line_bytes = 0;
        state.pending.body_bytes = 0;
        batch.is_last = state.closed.is_some();
        drop(state);
        batch.taken_at = Some(Instant::now());
    }

    /// Frees the room of bodies and lines of a batch that are written, so that waiting callers need not wait for all of it.
    pub(crate) fn release(&self, batch: &mut Unreleased<'_>, line_bytes: usize, body_bytes: usize) {
        if line_bytes == 0 && body_bytes == 0 {
            return;
        }
        *batch.line_bytes = batch.line_bytes.saturating_sub(line_bytes);
        *batch.body_bytes = batch.body_bytes.saturating_sub(body_bytes);
        let mut state = self.lock();
        state.level.line_bytes = state.level.line_bytes.saturating_sub(line_bytes);
        state.level.body_bytes = state.level.body_bytes.saturating_sub(body_bytes);
        let has_waiting = state.callers_waiting > 0;
        drop(state);
        if has_waiting {
            self.room.notify_all();
        }
    }

    /// Frees the room of a batch and notifies the waiting callers that it is written. If there is enough room again after a
    /// shortage, the event that reports the shortage is added to the queue.
    pub(crate) fn acknowledge(&self, batch: &Batch<B>) -> Acknowledged {
        let busy = batch.taken_at.map_or(Duration::ZERO, |taken_at| taken_at.elapsed());
        let mut guard = self.lock();
        let state = &mut *guard;
        state.busy = busy;
        state.level.line_bytes = state.level.line_bytes.saturating_sub(batch.line_bytes);
        state.level.body_bytes = state.level.body_bytes.saturating_sub(batch.body_bytes);
        state.level.acknowledged_seq = batch.last_seq;
        let has_recovered = batch.is_last
            || state.level.body_bytes <= self.limits.body_bytes / 2
                && state.level.line_bytes <= self.limits.line_bytes / 2;
        let told = if has_recovered && state.closed != Some(Closed::Failed) { self.tell_shortage(state) } else { None };
        let has_more = !state.pending.lines.is_empty();
        let has_waiting = state.callers_waiting > 0;
        drop(guard);
        if has_waiting {
            self.room.notify_all();
        }
        self.acknowledged.notify_all();
        Acknowledged { told, has_more }
    }

    /// Waits until everything that is in the queue now is acknowledged, but at most for `patience`.
    pub(crate) fn flush(&self, patience: Duration) -> Flushed {
        let deadline = Instant::now().checked_add(patience);
        let mut state = self.lock();
        let seq = state.level.last_seq;
        loop {
            let acknowledged = state.level.acknowledged_seq;
            if acknowledged >= seq {
                return Flushed::All(seq);
            }
            if state.finished {
                return Flushed::Never(acknowledged);
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return Flushed::NotYet(acknowledged);
            }
            state.hurry = true;
            if state.writer_sleeps || state.writer_lingers {
                self.wake_writer(&mut state);
            }
            state = self.acknowledged.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Closes the queue because the last handle was dropped. Events in the queue are still written.
    pub(crate) fn dismiss(&self) {
        let mut state = self.lock();
        state.closed.get_or_insert(Closed::Dismissed);
        state.dismissed = true;
        state.writer_sleeps = false;
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Closes the queue because the writer failed after `acknowledged_seq`. Events in the queue are lost.
    pub(crate) fn fail(&self, acknowledged_seq: u64) {
        let mut state = self.lock();
        state.closed = Some(Closed::Failed);
        state.level.acknowledged_seq = acknowledged_seq;
        state.level.line_bytes = 0;
        state.level.body_bytes = 0;
        state.finished = true;
        let empty = Batch { last_seq: state.level.last_seq, ..Batch::new() };
        let lost = std::mem::replace(&mut state.pending, empty);
        drop(state);
        // The lost bodies are dropped without the lock, because one of them may hold the last handle of the recording.
        drop(lost);
        self.room.notify_all();
        self.acknowledged.notify_all();
    }

    /// Waits until the last handle was dropped.
    pub(crate) fn wait_until_dismissed(&self) {
        let mut state = self.lock();
        while !state.dismissed {
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that the writer has ended.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.closed.get_or_insert(Closed::Dismissed);
        state.finished = true;
        state.gone = true;
        drop(state);
        self.room.notify_all();
        self.acknowledged.notify_all();
    }

    /// Waits until the writer has ended, but at most for `patience`. Returns whether it has ended.
    pub(crate) fn wait_until_gone(&self, patience: Duration) -> bool {
        let deadline = Instant::now().checked_add(patience);
        let mut state = self.lock();
        while !state.gone {
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            state = self.acknowledged.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns the fill level and counters, and the reason if the queue is closed.
    pub(crate) fn level(&self) -> (Level, Option<Closed>) {
        let state = self.lock();
        let untold_bodies = state.shortage.map_or(0, |shortage| shortage.bodies);
        (Level { untold_bodies, ..state.level }, state.closed)
    }

    /// Returns why the queue is closed, or `None` if it is not.
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.lock().closed
    }
}

impl<B> std::fmt::Debug for Queue<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("limits", &self.limits).field("level", &self.level()).finish_non_exhaustive()
    }
}

/// Appends an event to the pending batch. Returns its sequence number.
fn append<B>(state: &mut State<B>, body: Option<B>, weight: Weight, write_line: impl FnOnce(u64, &mut Vec<u8>)) -> u64 {
    let seq = state.level.last_seq + 1;
    let line_start = state.pending.lines.len();
    write_line(seq, &mut state.pending.lines);
    state.level.last_seq = seq;
    state.pending.last_seq = seq;
    let mut line_bytes = state.pending.lines.len() - line_start;
    let mut room_bytes = 0;
    match weight {
        Weight::None => {}
        Weight::WithLine(bytes) => line_bytes += bytes,
        Weight::OnItsOwn(bytes) => room_bytes = bytes,
    }
    state.level.body_bytes = state.level.body_bytes.saturating_add(room_bytes);
    state.pending.body_bytes = state.pending.body_bytes.saturating_add(room_bytes);
    state.level.line_bytes += line_bytes;
    state.pending.line_bytes += line_bytes;
    if let Some(body) = body {
        state.pending.bodies.push(QueuedBody { body, line_start, room_bytes });
    }
    seq
}

/// Returns the time until a deadline. `None` is a deadline that is too far away for the clock and never passes.
fn time_left(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

fn hand_back<B>(state: &mut State<B>, body: B, bytes: usize) -> Pushed<B> {
    let after_seq = state.level.last_seq;
    let shortage = state.shortage.get_or_insert(Shortage { after_seq, bodies: 0, bytes: 0 });
    shortage.bodies += 1;
    shortage.bytes = shortage.bytes.saturating_add(bytes as u64);
    state.level.handed_back += 1;
    state.level.handed_back_bytes = state.level.handed_back_bytes.saturating_add(bytes as u64);
    Pushed::NoRoom(body)
}
