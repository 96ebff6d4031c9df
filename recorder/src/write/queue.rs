//! The bounded queue between a session's threads and the writer of its bundle.
//!
//! Whoever records an event holds the lock just long enough to copy one line: the sequence number is given there, so the
//! order in the queue is the order in the log. Lines gather in one buffer, which the writer swaps for an empty one and
//! writes at once. Payload bodies lie beside it, each with the place of the line that names it.
//!
//! The queue has room for so many bytes of lines and so many bytes of bodies. When there is none, a caller waits, but no
//! longer than it has patience for: then the body is handed back to it, to be made small, and until the queue has
//! drained to a half nobody waits for bodies again. That a shortage was there is told by an event of its own, which goes
//! into the queue when it is over. Lines are never handed back: when not even a line has room, the recording is over.
//!
//! The file names nothing but `super::sync`, so that a test can run it on a scheduler that tries many interleavings.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::sync::{Condvar, Mutex, MutexGuard};

/// How much the queue holds, and how long a caller waits for room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of lines, and of bodies that count as lines.
    pub(crate) line_bytes: usize,
    /// Bytes of bodies.
    pub(crate) body_bytes: usize,
    /// Longest wait of a caller.
    pub(crate) patience: Duration,
    /// How long the writer lets lines gather before it takes them.
    pub(crate) linger: Duration,
}

/// A payload on its way to the disk.
#[derive(Debug)]
pub(crate) struct QueuedBody<B> {
    /// The payload.
    pub(crate) body: B,
    /// Where its event's line begins in the batch.
    pub(crate) line_start: usize,
    /// What it takes of the room for bodies.
    pub(crate) room_bytes: usize,
}

/// What the writer takes at once.
#[derive(Debug)]
pub(crate) struct Batch<B> {
    /// Whole lines.
    pub(crate) lines: Vec<u8>,
    /// The bodies that the lines refer to, in their order.
    pub(crate) bodies: Vec<QueuedBody<B>>,
    /// Sequence number of the last line.
    pub(crate) last_seq: u64,
    /// Whether nothing can follow.
    pub(crate) is_last: bool,
    line_bytes: usize,
    /// Bytes of bodies whose room is still to be given back.
    pub(crate) body_bytes: usize,
}

impl<B> Batch<B> {
    /// Returns an empty batch, for [`Queue::take`] to fill.
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), bodies: Vec::new(), last_seq: 0, is_last: false, line_bytes: 0, body_bytes: 0 }
    }
}

/// Which budget a body counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// There is no body.
    None,
    /// A body so small that it travels with its line.
    WithLine(usize),
    /// A body that may be handed back.
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

/// What became of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed<B> {
    /// It is in the queue under this sequence number.
    Queued(u64),
    /// There was no room for its body, which comes back.
    NoRoom(B),
    /// The queue takes nothing any more.
    Refused,
}

/// Writes the line of the event that tells a shortage, given its sequence number. Returns its payload, and the bytes of it.
///
/// The queue calls it under its lock, so that nothing can come between the end of a shortage and its event.
pub(crate) type WriteGap<B> = Box<dyn Fn(Shortage, u64, &mut Vec<u8>) -> (B, usize) + Send + Sync>;

/// What came of a batch that was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// The shortage that is over, and whose event is in the queue now.
    pub(crate) told: Option<Shortage>,
    /// Whether there is more to write, also behind a last batch.
    pub(crate) has_more: bool,
}

/// How a wait for acknowledgement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything is acknowledged.
    All(u64),
    /// What comes after this event never will be.
    Never(u64),
    /// Time ran out; this much is acknowledged.
    NotYet(u64),
}

/// Why the queue takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The log has its last event.
    Complete,
    /// Nobody records any more.
    Dismissed,
    /// Not even a line had room.
    Overflow,
    /// The writer could not go on.
    Failed,
}

/// What was handed back while there was no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The last event before.
    pub(crate) after_seq: u64,
    /// Bodies that were handed back.
    pub(crate) bodies: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// How full the queue is, and what it went through.
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
    /// Bodies of the shortage that lasts.
    pub(crate) untold_bodies: u64,
}

#[derive(Debug)]
struct State<B> {
    pending: Batch<B>,
    /// Bytes in the queue and in the batch that the writer has in hand.
    level: Level,
    shortage: Option<Shortage>,
    closed: Option<Closed>,
    /// The writer waits for a first event.
    writer_sleeps: bool,
    /// The writer lets events gather.
    writer_lingers: bool,
    /// Somebody waits for an acknowledgement.
    hurry: bool,
    callers_waiting: usize,
    /// No further acknowledgement will come.
    finished: bool,
    /// Nobody records any more.
    dismissed: bool,
    /// The writer has ended.
    gone: bool,
}

/// Largest buffer of lines that is kept from one batch to the next.
const KEPT_LINE_BYTES: usize = 8 << 20;

/// A body of at most so many bytes always finds room where its line does.
pub(crate) const NOTE_BYTES: usize = 256;

/// The queue.
pub(crate) struct Queue<B> {
    state: Mutex<State<B>>,
    limits: Limits,
    write_gap: WriteGap<B>,
    /// Something for the writer.
    work: Condvar,
    /// Room for callers.
    room: Condvar,
    /// An acknowledgement, or the end.
    acknowledged: Condvar,
}

impl<B> Queue<B> {
    /// Returns an empty queue behind the event `last_seq`.
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
        // What runs under the lock copies lines and counts bytes; whoever panics there has not half changed anything.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an event into the queue. `write_line` appends its line, given its sequence number.
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
            // Nobody waits for a body again before the shortage is over.
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
            // The last quarter is for events: bodies that travel with them go before any of them does.
            Weight::WithLine(bytes) => {
                bytes <= NOTE_BYTES || level.line_bytes.saturating_add(bytes) <= self.limits.line_bytes / 4 * 3
            }
            // A body larger than the whole budget still passes, alone.
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
            // Nothing can be told behind the end.
            self.tell_shortage(state);
        }
        let seq = append(state, body, weight, write_line);
        if place == Place::End {
            state.closed = Some(Closed::Complete);
        }
        let is_urgent = state.closed.is_some() || self.is_filling(&state.level);
        let wakes = state.writer_sleeps || state.writer_lingers && is_urgent;
        if wakes {
            // Only the first who wakes the writer pays for it, and does so without the lock.
            state.writer_sleeps = false;
            state.writer_lingers = false;
        }
        drop(guard);
        if wakes {
            self.work.notify_one();
        }
        Pushed::Queued(seq)
    }

    /// Ends a shortage with the event that tells it.
    fn tell_shortage(&self, state: &mut State<B>) -> Option<Shortage> {
        let shortage = state.shortage.take()?;
        let mut line = Vec::new();
        let (body, bytes) = (self.write_gap)(shortage, state.level.last_seq + 1, &mut line);
        append(state, Some(body), Weight::WithLine(bytes), |_, lines| lines.extend_from_slice(&line));
        Some(shortage)
    }

    /// Says whether so much is queued that the writer should not let more gather.
    fn is_filling(&self, level: &Level) -> bool {
        level.line_bytes > self.limits.line_bytes / 4 || level.body_bytes > self.limits.body_bytes / 4
    }

    /// Waits for room as long as there is patience. Returns whether it waited, and room may have come.
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
        // Only the first who wakes the writer pays for it.
        state.writer_sleeps = false;
        state.writer_lingers = false;
        self.work.notify_one();
    }

    /// Waits for events and moves them into `batch`, whose buffers are used again.
    ///
    /// The batch is empty only if it is the last.
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
            let until = Instant::now().checked_add(self.limits.linger);
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
    }

    /// Gives the room of some bodies of a batch back, which are written.
    pub(crate) fn release(&self, batch_body_bytes: &mut usize, bytes: usize) {
        if bytes == 0 {
            return;
        }
        *batch_body_bytes = batch_body_bytes.saturating_sub(bytes);
        let mut state = self.lock();
        state.level.body_bytes = state.level.body_bytes.saturating_sub(bytes);
        let has_waiting = state.callers_waiting > 0;
        drop(state);
        if has_waiting {
            self.room.notify_all();
        }
    }

    /// Gives the room of a batch back, and tells those who wait that it is where it should be. Where there is enough room
    /// again after a shortage, the event that tells it goes into the queue.
    pub(crate) fn acknowledge(&self, batch: &Batch<B>) -> Acknowledged {
        let mut guard = self.lock();
        let state = &mut *guard;
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

    /// Waits until everything that is in the queue now is acknowledged, but no longer than `patience`.
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

    /// Takes nothing any more: nobody records. What is in the queue is still written.
    pub(crate) fn dismiss(&self) {
        let mut state = self.lock();
        state.closed.get_or_insert(Closed::Dismissed);
        state.dismissed = true;
        state.writer_sleeps = false;
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Takes nothing any more, and what is in the queue is lost: the writer could not go on after `acknowledged_seq`.
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
        // Without the lock: a lost body may hold the last handle of the recording.
        drop(lost);
        self.room.notify_all();
        self.acknowledged.notify_all();
    }

    /// Waits until nobody records any more.
    pub(crate) fn wait_until_dismissed(&self) {
        let mut state = self.lock();
        while !state.dismissed {
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that the writer has ended.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.closed.get_or_insert(Closed::Dismissed);
        state.finished = true;
        state.gone = true;
        drop(state);
        self.room.notify_all();
        self.acknowledged.notify_all();
    }

    /// Waits until the writer has ended, but no longer than `patience`. Returns whether it has.
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

    /// Returns how full the queue is, and why it takes nothing any more, if that is so.
    pub(crate) fn level(&self) -> (Level, Option<Closed>) {
        let state = self.lock();
        let untold_bodies = state.shortage.map_or(0, |shortage| shortage.bodies);
        (Level { untold_bodies, ..state.level }, state.closed)
    }

    /// Returns why the queue takes nothing any more, if that is so.
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.lock().closed
    }
}

impl<B> std::fmt::Debug for Queue<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("limits", &self.limits).field("level", &self.level()).finish_non_exhaustive()
    }
}

/// Puts an event behind the others. Returns its sequence number.
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

/// Returns the time until a deadline; one that no clock can express never comes.
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
