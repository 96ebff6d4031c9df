//! One direction of a stream: a queue that numbers messages and keeps them until they are acknowledged, and a filter
//! that drops what comes twice.
//!
//! Neither knows a socket. Whatever connection is cut and whatever acknowledgement is lost, what passes the filter is
//! what went into the queue, once and in order.

use std::collections::VecDeque;

/// A frame in a queue.
#[derive(Debug, Clone)]
struct Waiting<F> {
    seq: u64,
    segment: usize,
    is_last: bool,
    bytes: usize,
    frame: F,
}

/// The messages that one side sends. A message consists of one or more frames, which have its number.
///
/// At most `window` frames are sent and not acknowledged. A frame is kept until its whole message has been acknowledged.
#[derive(Debug)]
pub struct SendQueue<F> {
    window: usize,
    last: u64,
    waiting: VecDeque<Waiting<F>>,
    /// Frames at the front that were sent on this connection.
    sent: usize,
    /// Of these, frames whose pieces were acknowledged.
    arrived: usize,
    /// The highest number that was ever sent.
    highest_sent: u64,
    bytes: usize,
}

impl<F> SendQueue<F> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(window: usize) -> Self {
        Self { window, last: 0, waiting: VecDeque::new(), sent: 0, arrived: 0, highest_sent: 0, bytes: 0 }
    }

    /// Returns the number of the next message.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.last + 1
    }

    /// Adds a message with the number [`next_seq`](Self::next_seq). Each frame comes with its size in bytes.
    pub fn push(&mut self, frames: impl IntoIterator<Item = (F, usize)>) {
        let seq = self.next_seq();
        self.last = seq;
        for (segment, (frame, bytes)) in frames.into_iter().enumerate() {
            self.bytes += bytes;
            self.waiting.push_back(Waiting { seq, segment, is_last: false, bytes, frame });
        }
        if let Some(last) = self.waiting.back_mut() {
            last.is_last = last.seq == seq;
        }
    }

    /// Returns the next frame to send, and counts it as sent. Returns `None` if there is none or the window is full.
    pub fn send_next(&mut self) -> Option<&F> {
        if self.sent - self.arrived >= self.window {
            return None;
        }
        let next = self.waiting.get(self.sent)?;
        self.sent += 1;
        self.highest_sent = self.highest_sent.max(next.seq);
        Some(&next.frame)
    }

    /// Returns whether [`send_next`](Self::send_next) would return a frame.
    #[must_use]
    pub fn can_send(&self) -> bool {
        self.sent - self.arrived < self.window && self.sent < self.waiting.len()
    }

    /// Removes all messages up to `seq`. With a `segment`, only that piece and those before it have arrived of the last
    /// message, which is kept unless that was its last piece. Messages that were never sent stay.
    pub fn ack(&mut self, seq: u64, segment: Option<usize>) {
        let seq = seq.min(self.highest_sent);
        let is_whole = |frame: &Waiting<F>| match segment {
            None => true,
            Some(segment) => frame.is_last && frame.segment <= segment,
        };
        let whole = self
            .waiting
            .iter()
            .rposition(|frame| frame.is_last && (frame.seq < seq || (frame.seq == seq && is_whole(frame))));
        let removed = whole.map_or(0, |last| last + 1);
        for frame in self.waiting.drain(..removed) {
            self.bytes -= frame.bytes;
        }
        self.sent = self.sent.saturating_sub(removed);
        self.arrived = self.arrived.saturating_sub(removed);
        if let Some(segment) = segment {
            let arrived =
                self.waiting.iter().take(self.sent).take_while(|frame| frame.seq == seq && frame.segment <= segment);
            self.arrived = self.arrived.max(arrived.count());
        }
    }

    /// Starts again with the first frame that was not acknowledged, on a new connection.
    pub fn reconnected(&mut self) {
        self.sent = 0;
        self.arrived = 0;
    }

    /// Returns the number of frames that wait for acknowledgement, sent or not.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the bytes of these frames.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The numbers of the messages that one side receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    last: u64,
}

impl Received {
    /// Continues after a number.
    #[must_use]
    pub fn after(last: u64) -> Self {
        Self { last }
    }

    /// Returns whether a message with this number is new.
    #[must_use]
    pub fn is_new(self, seq: u64) -> bool {
        seq > self.last
    }

    /// Notes a message. Returns whether it is new. If it is not, it has to be dropped.
    #[must_use]
    pub fn note(&mut self, seq: u64) -> bool {
        let is_new = self.is_new(seq);
        self.last = self.last.max(seq);
        is_new
    }

    /// Returns the number of the last message, or 0 if there was none.
    #[must_use]
    pub fn last(self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(window: usize, messages: &[usize]) -> SendQueue<(u64, usize)> {
        let mut queue = SendQueue::new(window);
        for pieces in messages {
            let seq = queue.next_seq();
            queue.push((0..*pieces).map(|piece| ((seq, piece), 10)));
        }
        queue
    }

    fn send_all(queue: &mut SendQueue<(u64, usize)>) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| queue.send_next().copied()).collect()
    }

    #[test]
    fn the_window_is_counted_in_frames_and_opened_by_acknowledgements() {
        let mut queue = queue(128, &[1; 400]);
        assert_eq!(send_all(&mut queue).len(), 128);
        assert!(!queue.can_send());
        queue.ack(100, None);
        let more = send_all(&mut queue);
        assert_eq!((more.len(), more[0]), (100, (129, 0)));
        assert_eq!((queue.frames(), queue.bytes()), (300, 3_000));
    }

    #[test]
    fn what_was_not_acknowledged_comes_again_before_anything_new() {
        let mut queue = queue(128, &[1; 18]);
        send_all(&mut queue);
        queue.ack(18, None);
        for pieces in [1, 1, 1, 3] {
            let seq = queue.next_seq();
            queue.push((0..pieces).map(|piece| ((seq, piece), 10)));
        }
        send_all(&mut queue);
        queue.reconnected();
        queue.push([((23, 0), 10)]);
        assert_eq!(send_all(&mut queue), [(19, 0), (20, 0), (21, 0), (22, 0), (22, 1), (22, 2), (23, 0)]);
    }

    #[test]
    fn an_acknowledged_piece_opens_the_window_but_is_kept_until_the_message_has_arrived() {
        let mut queue = queue(2, &[4]);
        assert_eq!(send_all(&mut queue), [(1, 0), (1, 1)]);
        queue.ack(1, Some(0));
        assert_eq!(send_all(&mut queue), [(1, 2)]);
        queue.ack(1, Some(2));
        assert_eq!(send_all(&mut queue), [(1, 3)]);
        queue.reconnected();
        assert_eq!(send_all(&mut queue), [(1, 0), (1, 1)], "the whole message comes again");
        queue.ack(1, Some(3));
        assert_eq!(queue.frames(), 0);
    }

    #[test]
    fn messages_that_were_never_sent_cannot_be_acknowledged() {
        let mut queue = queue(2, &[1, 1, 1]);
        send_all(&mut queue);
        queue.ack(u64::MAX, None);
        assert_eq!(send_all(&mut queue), [(3, 0)]);
    }

    /// What can happen to a connection.
    #[derive(Debug, Clone)]
    enum Step {
        /// A message of this many pieces is sent.
        Push(usize),
        /// Frames reach the other side.
        Deliver(usize),
        /// The oldest acknowledgements reach this side.
        Acknowledge(usize),
        /// An old acknowledgement comes once more.
        Repeat(u64),
        /// The connection is cut: frames and acknowledgements on their way are lost.
        Cut,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (1_usize..5).prop_map(Step::Push),
            4 => (1_usize..6).prop_map(Step::Deliver),
            3 => (1_usize..6).prop_map(Step::Acknowledge),
            1 => (0_u64..20).prop_map(Step::Repeat),
            1 => Just(Step::Cut),
        ];
        prop::collection::vec(step, 0..120)
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_went_in_once(window in 1_usize..8, steps in steps()) {
            let mut queue = SendQueue::new(window);
            let mut wire = VecDeque::new();
            let mut acknowledgements = VecDeque::new();
            let mut received = Received::default();
            // Pieces of the message that is being assembled.
            let mut assembled = (0, 0);
            let mut out = Vec::new();
            let mut pushed = 0;
            let rest = std::iter::repeat_n([Step::Deliver(8), Step::Acknowledge(8)], 2_000).flatten();
            for step in steps.into_iter().chain([Step::Cut]).chain(rest) {
                match step {
                    Step::Push(pieces) => {
                        let seq = queue.next_seq();
                        pushed += 1;
                        queue.push((0..pieces).map(|piece| ((seq, piece, pieces), 1)));
                    }
                    Step::Deliver(most) => {
                        wire.extend(std::iter::from_fn(|| queue.send_next().copied()));
                        let in_flight = queue.sent - queue.arrived;
                        prop_assert!(in_flight <= window);
                        for _ in 0..most {
                            let Some((seq, piece, pieces)) = wire.pop_front() else { break };
                            if !received.is_new(seq) {
                                acknowledgements.push_back((received.last(), None));
                                continue;
                            }
                            if assembled.0 != seq {
                                assembled = (seq, 0);
                            }
                            if piece == assembled.1 {
                                assembled.1 += 1;
                            }
                            prop_assert!(piece < assembled.1, "no piece is left out");
                            if assembled.1 == pieces {
                                prop_assert!(received.note(seq));
                                out.push(seq);
                                acknowledgements.push_back((seq, None));
                            } else {
                                acknowledgements.push_back((seq, Some(assembled.1 - 1)));
                            }
                        }
                    }
                    Step::Acknowledge(most) => {
                        for _ in 0..most {
                            let Some((seq, piece)) = acknowledgements.pop_front() else { break };
                            queue.ack(seq, piece);
                        }
                    }
                    Step::Repeat(seq) => queue.ack(seq.min(received.last()), None),
                    Step::Cut => {
                        wire.clear();
                        acknowledgements.clear();
                        queue.reconnected();
                    }
                }
            }
            prop_assert_eq!(out, (1..=pushed).collect::<Vec<u64>>());
            prop_assert_eq!((queue.frames(), queue.bytes()), (0, 0));
        }
    }
}
