//! The queue of messages to one connection.
//!
//! Senders never wait: a call adds a message to the queue and returns. The transport of the connection is the only
//! reader. It takes the messages in order, and several at a time if possible. The queue is limited in one of two ways.
//! If many clients share a server, a full queue ends its own connection and frees its memory, so that a client that
//! does not read delays no other work. If there is only one client, the queue is not limited, and producers of many
//! messages wait in [`Outbound::producers_ready`] until it has drained. Long messages have a limit of their own, so
//! that a client which requests a large file is not disconnected because of small messages beside it.
//!
//! With both kinds of limits, the task that accepts requests of the client first waits in [`Outbound::ready`].
//! Therefore, the requests of a client cannot fill the queue that its responses pass through.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Most queued messages of a client that reads too slowly. If there are more, its connection ends.
pub const MAX_QUEUED_MESSAGES: usize = 32_768;

/// Most queued bytes of a client that reads too slowly. If there are more, its connection ends.
pub const MAX_QUEUED_BYTES: usize = 64 << 20;

/// Size in bytes from which on a message is long.
pub const LONG_TEXT_BYTES: usize = 4 << 20;

/// Most queued bytes of long messages of a client that reads too slowly. If there are more, its connection ends. A
/// single message may be larger.
pub const MAX_QUEUED_LONG_BYTES: usize = 256 << 20;

/// Number of queued messages from which on the queue is busy, so that producers wait. They continue when it has shrunk
/// to half.
pub const BUSY_MESSAGES: usize = 1_024;

/// Number of queued bytes from which on the queue is busy, so that producers wait. They continue when it has shrunk to
/// half.
pub const BUSY_BYTES: usize = 4 << 20;

/// Most messages that a transport takes at a time.
pub const MAX_BATCH_MESSAGES: usize = 1_024;

/// Capacity in messages that an empty queue keeps. Capacity beyond this is freed after a burst.
const KEPT_PLACES: usize = 1_024;

/// Limits of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboundLimits {
    /// Number of messages.
    pub messages: usize,
    /// Bytes of messages that are not long.
    pub bytes: usize,
    /// Bytes of long messages. A single message may be larger.
    pub long_bytes: usize,
}

/// What happens if a client reads more slowly than messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboundPolicy {
    /// The connection ends when a limit is exceeded.
    End(OutboundLimits),
    /// The connection does not end, and producers wait.
    Wait,
}

impl OutboundPolicy {
    /// The policy of connections that share a server.
    pub const SHARED: Self = Self::End(OutboundLimits {
        messages: MAX_QUEUED_MESSAGES,
        bytes: MAX_QUEUED_BYTES,
        long_bytes: MAX_QUEUED_LONG_BYTES,
    });
}

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The client closed the connection, or its input ended.
    ClientLeft,
    /// The transport failed.
    Broken,
    /// The client read too slowly.
    TooSlow,
    /// The client has not read its messages for too long.
    Abandoned,
    /// The server refused what the client sent.
    Refused,
    /// The server shuts down.
    ServerEnds,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ClientLeft => "the client left",
            Self::Broken => "the connection broke",
            Self::TooSlow => "the client reads too slowly",
            Self::Abandoned => "the session has no reader",
            Self::Refused => "the server refused what the client sent",
            Self::ServerEnds => "the server is shutting down",
        })
    }
}

/// What happened to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The message is in the queue.
    Queued,
    /// The connection has ended, and the message was dropped.
    Ended,
}

/// When the reader is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wake {
    Now,
    Later,
}

/// The size of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of messages.
    pub messages: usize,
    /// Bytes of the messages.
    pub bytes: usize,
}

/// Creates the queue of a connection.
#[must_use]
pub fn outbound(policy: OutboundPolicy) -> (Outbound, OutboundReader) {
    let queue = Arc::new(Queue {
        policy,
        state: Mutex::default(),
        work: Notify::new(),
        room: Notify::new(),
        ended: CancellationToken::new(),
        cut: CancellationToken::new(),
    });
    (Outbound(Arc::clone(&queue)), OutboundReader(queue))
}

/// The sending end of a queue. Clones share the queue.
#[derive(Debug, Clone)]
pub struct Outbound(Arc<Queue>);

/// The receiving end of a queue. Dropping it ends the connection.
#[derive(Debug)]
pub struct OutboundReader(Arc<Queue>);

#[derive(Debug)]
struct Queue {
    policy: OutboundPolicy,
    state: Mutex<State>,
    /// Notified when messages can be taken or the queue has ended.
    work: Notify,
    /// Notified when the queue has drained or was cut.
    room: Notify,
    /// Cancelled when no more messages are accepted.
    ended: CancellationToken,
    /// Cancelled when no more messages are written.
    cut: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    texts: VecDeque<Arc<str>>,
    /// Bytes of all messages, including long ones.
    bytes: usize,
    long_texts: usize,
    long_bytes: usize,
    /// Whether the queue has been busy and has not shrunk to half since.
    is_busy: bool,
    /// Whether there are messages for which the reader was not woken.
    is_unheard: bool,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, Default)]
enum Phase {
    #[default]
    Open,
    /// Queued messages are still written.
    Ending(CloseReason),
    /// No more messages are written.
    Cut(CloseReason),
}

impl Phase {
    fn reason(self) -> Option<CloseReason> {
        match self {
            Self::Open => None,
            Self::Ending(reason) | Self::Cut(reason) => Some(reason),
        }
    }
}

impl State {
    fn exceeds(&self, limits: OutboundLimits) -> bool {
        self.texts.len() > limits.messages
            || self.bytes - self.long_bytes > limits.bytes
            || (self.long_texts > 1 && self.long_bytes > limits.long_bytes)
    }

    fn put(&mut self, text: Arc<str>) {
        self.bytes += text.len();
        if text.len() >= LONG_TEXT_BYTES {
            self.long_texts += 1;
            self.long_bytes += text.len();
        }
        self.texts.push_back(text);
    }

    fn take_one(&mut self) -> Option<Arc<str>> {
        let text = self.texts.pop_front()?;
        self.bytes -= text.len();
        if text.len() >= LONG_TEXT_BYTES {
            self.long_texts -= 1;
            self.long_bytes -= text.len();
        }
        Some(text)
    }

    /// Takes messages from the front: at least one, if there is one.
    fn take(&mut self, most_bytes: usize) -> Vec<Arc<str>> {
        let mut taken = Vec::new();
        let mut taken_bytes = 0_usize;
        while let Some(text) = self.texts.front() {
            taken_bytes = taken_bytes.saturating_add(text.len());
            if !taken.is_empty() && (taken_bytes > most_bytes || taken.len() == MAX_BATCH_MESSAGES) {
                break;
            }
            taken.extend(self.take_one());
        }
        self.is_unheard = false;
        if self.texts.is_empty() && self.texts.capacity() > KEPT_PLACES {
            self.texts = VecDeque::new();
        }
        taken
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut(&self, reason: CloseReason) {
        let mut state = self.state();
        state.phase = Phase::Cut(state.phase.reason().unwrap_or(reason));
        let phase = state.phase;
        let rest = std::mem::replace(&mut *state, State { phase, ..State::default() });
        drop(state);
        drop(rest);
        self.ended.cancel();
        self.cut.cancel();
        self.work.notify_one();
        self.room.notify_waiters();
    }
}

impl Outbound {
    /// Adds a message to the queue. It must not contain a line break.
    pub fn send(&self, text: Arc<str>) -> Sent {
        self.put(text, Wake::Now)
    }

    /// Adds a message without waking the reader. The reader finds it when it is woken by another message or by
    /// [`wake`](Self::wake).
    pub fn send_quietly(&self, text: Arc<str>) -> Sent {
        self.put(text, Wake::Later)
    }

    /// Wakes the reader if messages were added quietly.
    pub fn wake(&self) {
        if std::mem::take(&mut self.0.state().is_unheard) {
            self.0.work.notify_one();
        }
    }

    fn put(&self, text: Arc<str>, wake: Wake) -> Sent {
        let mut state = self.0.state();
        if state.phase.reason().is_some() {
            return Sent::Ended;
        }
        let is_first = state.texts.is_empty() || state.is_unheard;
        state.put(text);
        if let OutboundPolicy::End(limits) = self.0.policy
            && state.exceeds(limits)
        {
            drop(state);
            self.0.cut(CloseReason::TooSlow);
            return Sent::Ended;
        }
        state.is_busy |= state.texts.len() >= BUSY_MESSAGES || state.bytes >= BUSY_BYTES;
        state.is_unheard = is_first && wake == Wake::Later;
        drop(state);
        if is_first && wake == Wake::Now {
            self.0.work.notify_one();
        }
        Sent::Queued
    }

    /// Waits until the queue is not busy, or the connection has ended.
    pub async fn ready(&self) {
        loop {
            let mut drained = std::pin::pin!(self.0.room.notified());
            drained.as_mut().enable();
            {
                let state = self.0.state();
                if !state.is_busy || state.phase.reason().is_some() {
                    return;
                }
            }
            drained.await;
        }
    }

    /// Waits as [`ready`](Self::ready) does if the policy is [`OutboundPolicy::Wait`]. Otherwise it returns at once.
    pub async fn producers_ready(&self) {
        if self.0.policy == OutboundPolicy::Wait {
            self.ready().await;
        }
    }

    /// Accepts no more messages. Queued ones are still written. If there is a reason already, it stays.
    pub fn end(&self, reason: CloseReason) {
        let mut state = self.0.state();
        if state.phase.reason().is_some() {
            return;
        }
        state.phase = Phase::Ending(reason);
        drop(state);
        self.0.ended.cancel();
        self.0.work.notify_one();
        self.0.room.notify_waiters();
    }

    /// Ends the connection at once, and drops queued messages. If there is a reason already, it stays.
    pub fn cut(&self, reason: CloseReason) {
        self.0.cut(reason);
    }

    /// Waits until no more messages are accepted.
    pub async fn ended(&self) {
        self.0.ended.cancelled().await;
    }

    /// Waits until no more messages are written.
    pub async fn was_cut(&self) {
        self.0.cut.cancelled().await;
    }

    /// Returns whether no more messages are accepted.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.ended.is_cancelled()
    }

    /// Returns why the connection ended, if it has.
    #[must_use]
    pub fn reason(&self) -> Option<CloseReason> {
        self.0.state().phase.reason()
    }

    /// Returns the size of the queue.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let state = self.0.state();
        Backlog { messages: state.texts.len(), bytes: state.bytes }
    }
}

impl OutboundReader {
    /// Takes the next messages: at least one, and more as long as they have at most `most_bytes` together. Returns
    /// `None` after the last one. The call is cancel-safe.
    pub async fn next(&mut self, most_bytes: usize) -> Option<Vec<Arc<str>>> {
        loop {
            {
                let mut state = self.0.state();
                if !state.texts.is_empty() {
                    let taken = state.take(most_bytes);
                    let has_drained =
                        state.is_busy && state.texts.len() <= BUSY_MESSAGES / 2 && state.bytes <= BUSY_BYTES / 2;
                    if has_drained {
                        state.is_busy = false;
                        drop(state);
                        self.0.room.notify_waiters();
                    }
                    return Some(taken);
                }
                if state.phase.reason().is_some() {
                    return None;
                }
            }
            self.0.work.notified().await;
        }
    }

    /// Returns the sending end of the queue.
    #[must_use]
    pub fn outbound(&self) -> Outbound {
        Outbound(Arc::clone(&self.0))
    }
}

impl Drop for OutboundReader {
    fn drop(&mut self) {
        self.0.cut(CloseReason::ClientLeft);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;

    fn text(text: &str) -> Arc<str> {
        Arc::from(text)
    }

    fn small(messages: usize, bytes: usize) -> OutboundPolicy {
        OutboundPolicy::End(OutboundLimits { messages, bytes, long_bytes: 2 * LONG_TEXT_BYTES })
    }

    #[tokio::test]
    async fn texts_come_out_in_order_and_together() {
        let (outbound, mut reader) = outbound(OutboundPolicy::SHARED);
        for number in 0..10 {
            assert_eq!(outbound.send(text(&number.to_string())), Sent::Queued);
        }
        assert_eq!(outbound.backlog(), Backlog { messages: 10, bytes: 10 });
        assert_eq!(reader.next(3).await.expect("a message").concat(), "012");
        assert_eq!(reader.next(0).await.expect("a message").concat(), "3", "one at least");
        assert_eq!(reader.next(usize::MAX).await.expect("a message").concat(), "456789");
        assert_eq!(outbound.backlog(), Backlog::default());
    }

    #[tokio::test]
    async fn a_batch_has_a_limited_number_of_texts() {
        let (outbound, mut reader) = outbound(OutboundPolicy::Wait);
        for _ in 0..=MAX_BATCH_MESSAGES {
            outbound.send(text("x"));
        }
        assert_eq!(reader.next(usize::MAX).await.expect("a message").len(), MAX_BATCH_MESSAGES);
        assert_eq!(reader.next(usize::MAX).await.expect("a message").len(), 1);
    }

    #[tokio::test]
    async fn what_is_queued_is_written_at_the_end_and_not_after_a_cut() {
        let (outbound, mut reader) = outbound(OutboundPolicy::SHARED);
        outbound.send(text("a"));
        outbound.end(CloseReason::ServerEnds);
        assert_eq!(outbound.send(text("b")), Sent::Ended);
        outbound.ended().await;
        assert_eq!(reader.next(1).await.expect("a message").concat(), "a");
        assert_eq!(reader.next(1).await, None);

        let (outbound, mut reader) = super::outbound(OutboundPolicy::SHARED);
        outbound.send(text("a"));
        outbound.cut(CloseReason::Broken);
        outbound.end(CloseReason::ServerEnds);
        outbound.was_cut().await;
        assert_eq!(reader.next(1).await, None);
        assert_eq!(outbound.reason(), Some(CloseReason::Broken), "the first reason stays");
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_ends_the_connection() {
        let (outbound, reader) = outbound(OutboundPolicy::Wait);
        outbound.send(text("a"));
        drop(reader);
        assert_eq!(outbound.send(text("b")), Sent::Ended);
        assert_eq!(outbound.reason(), Some(CloseReason::ClientLeft));
        outbound.ready().await;
    }

    #[test]
    fn a_full_queue_ends_its_connection_and_frees_its_texts() {
        for (policy, fits) in [(small(3, 1_000), 3), (small(1_000, 30), 3)] {
            let (outbound, _reader) = outbound(policy);
            let mut kept: Vec<Weak<str>> = Vec::new();
            for _ in 0..fits {
                let text = text("0123456789");
                kept.push(Arc::downgrade(&text));
                assert_eq!(outbound.send(text), Sent::Queued);
            }
            assert_eq!(outbound.send(text("x")), Sent::Ended, "{policy:?}");
            assert_eq!(outbound.reason(), Some(CloseReason::TooSlow));
            assert_eq!(outbound.backlog(), Backlog::default());
            assert!(kept.iter().all(|text| text.upgrade().is_none()), "the memory is free");
        }
    }

    #[tokio::test]
    async fn long_texts_are_counted_apart() {
        let long = text(&"x".repeat(LONG_TEXT_BYTES));
        let (outbound, mut reader) = outbound(small(10, 5));
        assert_eq!(outbound.send(text("a")), Sent::Queued);
        for _ in 0..2 {
            assert_eq!(outbound.send(Arc::clone(&long)), Sent::Queued);
        }
        assert_eq!(outbound.send(text("bcde")), Sent::Queued, "the small ones beside them have room of their own");
        reader.next(LONG_TEXT_BYTES + 1).await.expect("two texts");
        assert_eq!(outbound.send(Arc::clone(&long)), Sent::Queued, "there is room again");
        assert_eq!(outbound.send(Arc::clone(&long)), Sent::Ended);
        assert_eq!(Arc::strong_count(&long), 1, "the memory is free");

        let (outbound, _reader) = super::outbound(small(10, 5));
        assert_eq!(outbound.send(text(&"x".repeat(3 * LONG_TEXT_BYTES))), Sent::Queued, "it is the only one");
        assert_eq!(outbound.send(text("abcdef")), Sent::Ended);
    }

    #[tokio::test]
    async fn quiet_messages_are_read_after_a_wake() {
        let (outbound, mut reader) = outbound(OutboundPolicy::SHARED);
        let by_another = |outbound: &Outbound| {
            outbound.send(text("c"));
        };
        for wake in [Outbound::wake, by_another] {
            let mut next = stepped(async { drop(reader.next(usize::MAX).await.expect("a message")) });
            assert!(next.is_pending());
            outbound.send_quietly(text("a"));
            outbound.send_quietly(text("b"));
            assert!(!next.was_woken());
            wake(&outbound);
            assert!(next.was_woken());
            assert!(!next.is_pending());
        }
        assert_eq!(outbound.backlog(), Backlog::default());
        outbound.send_quietly(text("a"));
        outbound.end(CloseReason::ServerEnds);
        assert_eq!(reader.next(usize::MAX).await.expect("it is written at the end").concat(), "a");
    }

    #[test]
    fn a_stalled_reader_costs_limited_memory() {
        let (outbound, _reader) = outbound(OutboundPolicy::SHARED);
        let text = text(&"x".repeat(16 << 10));
        let mut most = Backlog::default();
        while outbound.send(Arc::clone(&text)) == Sent::Queued {
            most = outbound.backlog();
        }
        assert_eq!(most.bytes, MAX_QUEUED_BYTES);
        assert!(most.messages <= MAX_QUEUED_MESSAGES);
        assert_eq!(Arc::strong_count(&text), 1);
    }

    #[tokio::test]
    async fn producers_wait_until_half_of_the_queue_is_gone() {
        let (outbound, mut reader) = outbound(OutboundPolicy::Wait);
        for _ in 0..BUSY_MESSAGES - 1 {
            outbound.send(text("x"));
        }
        outbound.producers_ready().await;
        outbound.send(text("x"));
        let mut ready = stepped(outbound.producers_ready());
        assert!(ready.is_pending());
        let mut taken = 0;
        while taken < BUSY_MESSAGES / 2 {
            assert!(ready.is_pending(), "{taken} are gone");
            taken += reader.next(0).await.expect("a message").len();
        }
        assert!(!ready.is_pending());
    }

    #[tokio::test]
    async fn a_shared_server_waits_before_it_takes_work_but_producers_do_not() {
        let (outbound, mut reader) = outbound(OutboundPolicy::SHARED);
        outbound.send(text(&"x".repeat(BUSY_BYTES)));
        assert!(stepped(outbound.ready()).is_pending());
        assert!(!stepped(outbound.producers_ready()).is_pending());
        reader.next(0).await;
        assert!(!stepped(outbound.ready()).is_pending());
    }

    #[tokio::test]
    async fn waiting_producers_continue_when_the_connection_ends() {
        for end in [Outbound::end, Outbound::cut] {
            let (outbound, _reader) = outbound(OutboundPolicy::Wait);
            outbound.send(text(&"x".repeat(BUSY_BYTES)));
            let mut ready = stepped(outbound.ready());
            assert!(ready.is_pending());
            end(&outbound, CloseReason::ServerEnds);
            assert!(!ready.is_pending());
        }
    }

    /// A future that a test polls manually.
    struct Step<F>(std::pin::Pin<Box<F>>, Arc<Bell>);

    #[derive(Default)]
    struct Bell(std::sync::atomic::AtomicBool);

    impl std::task::Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }

    fn stepped<F: Future<Output = ()>>(future: F) -> Step<F> {
        Step(Box::pin(future), Arc::default())
    }

    impl<F: Future<Output = ()>> Step<F> {
        fn is_pending(&mut self) -> bool {
            let waker = std::task::Waker::from(Arc::clone(&self.1));
            self.0.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending()
        }

        fn was_woken(&self) -> bool {
            self.1.0.load(std::sync::atomic::Ordering::SeqCst)
        }
    }
}
