//! Bytes at positions of another process, over two pipes: [`lend`] answers, and [`PipedBytes`] asks.
//!
//! A program that reads a packed bundle in a store need not link the clients of all stores: it starts one that does. The lender
//! begins with a line of JSON, with the number of bytes or why there are none. Each request is a number, an offset and a length;
//! each answer has the number of its request, so a slow one keeps nobody else waiting. The lender ends when its input does.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::positioned::ReadAt;

/// Version of what is said over the pipes. Both programs must be of the same one.
pub const LENDING_VERSION: u32 = 1;

/// Most bytes of one answer.
pub const MAX_LENT_BYTES: usize = 8 << 20;

/// Most requests that a lender works on at the same time.
pub const MAX_LENT_AT_ONCE: usize = 8;

/// Longest first line of a lender, in bytes.
const MAX_GREETING_BYTES: u64 = 64 << 10;

const REQUEST_BYTES: usize = 16;
const ANSWER_HEAD_BYTES: usize = 12;

/// What an answer has.
const GIVEN: u32 = 0;
const REFUSED: u32 = 1;

/// The first line of a lender.
#[derive(Debug, Serialize, Deserialize)]
struct Greeting {
    version: u32,
    /// Number of bytes.
    bytes: Option<u64>,
    /// When they were written.
    modified_unix_ms: Option<u64>,
    /// Why there are none.
    error: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    number: u32,
    offset: u64,
    length: u32,
}

impl Request {
    fn encode(self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.offset.to_le_bytes());
        bytes[12..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    fn decode(bytes: [u8; REQUEST_BYTES]) -> Self {
        let [a, b, c, d, offset @ .., w, x, y, z] = bytes;
        Self {
            number: u32::from_le_bytes([a, b, c, d]),
            offset: u64::from_le_bytes(offset),
            length: u32::from_le_bytes([w, x, y, z]),
        }
    }
}

/// Lends bytes to the process at the other end of two pipes, until `input` ends. `bytes` is why there are none, if there are none.
///
/// # Errors
///
/// Returns an error if a pipe breaks, or a request asks for more than [`MAX_LENT_BYTES`].
pub fn lend(bytes: Result<&dyn ReadAt, String>, mut input: impl Read, mut output: impl Write + Send) -> io::Result<()> {
    let since_epoch = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok();
    let (bytes, error) = match bytes {
        Ok(bytes) => (Some(bytes), None),
        Err(error) => (None, Some(error)),
    };
    let modified = bytes.and_then(|bytes| since_epoch(bytes.modified()?));
    let greeting = Greeting {
        version: LENDING_VERSION,
        bytes: bytes.map(ReadAt::bytes),
        modified_unix_ms: modified.and_then(|time| u64::try_from(time.as_millis()).ok()),
        error,
    };
    let mut line = serde_json::to_vec(&greeting)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()?;
    let Some(bytes) = bytes else { return Ok(()) };
    let output = Mutex::new(output);
    let (sender, receiver) = sync_channel::<Request>(MAX_LENT_AT_ONCE);
    let receiver = Arc::new(Mutex::new(receiver));
    thread::scope(|scope| {
        for _ in 0..MAX_LENT_AT_ONCE {
            let (receiver, output) = (Arc::clone(&receiver), &output);
            scope.spawn(move || while answer_next(bytes, &receiver, output) {});
        }
        // Only the threads have it, so that sending fails when all of them have ended.
        drop(receiver);
        // Dropping the sender ends the threads.
        let sender = sender;
        while let Some(request) = read_request(&mut input)? {
            if request.length as usize > MAX_LENT_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "a request asks for too many bytes"));
            }
            // All threads end only when the other side is gone.
            if sender.send(request).is_err() {
                break;
            }
        }
        Ok(())
    })
}

/// Reads a request, or returns `None` at the end.
fn read_request(input: &mut impl Read) -> io::Result<Option<Request>> {
    let mut request = [0; REQUEST_BYTES];
    match input.read_exact(&mut request) {
        Ok(()) => Ok(Some(Request::decode(request))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Answers one request. Returns false if there are no more, or nobody takes the answers.
fn answer_next(bytes: &dyn ReadAt, requests: &Mutex<Receiver<Request>>, output: &Mutex<impl Write>) -> bool {
    let Ok(request) = lock(requests).recv() else { return false };
    let mut content = vec![0; request.length as usize];
    // Whoever asked waits for an answer.
    let read = catch_unwind(AssertUnwindSafe(|| bytes.read_exact_at(&mut content, request.offset)));
    let (kind, content) = match read {
        Ok(Ok(())) => (GIVEN, content),
        Ok(Err(error)) => (REFUSED, error.to_string().into_bytes()),
        Err(_) => (REFUSED, b"the program that reads the store panicked".to_vec()),
    };
    let mut head = [0; ANSWER_HEAD_BYTES];
    head[..4].copy_from_slice(&request.number.to_le_bytes());
    head[4..8].copy_from_slice(&kind.to_le_bytes());
    head[8..].copy_from_slice(&(content.len() as u32).to_le_bytes());
    let mut output = lock(output);
    output.write_all(&head).and_then(|()| output.write_all(&content)).and_then(|()| output.flush()).is_ok()
}

/// The answer to a request: its bytes, or why there are none.
type Answer = Result<Vec<u8>, String>;

/// Who waits for which answer. `None` after the lender ended.
type Waiting = Arc<Mutex<Option<HashMap<u32, Sender<Answer>>>>>;

/// Bytes that another process lends.
pub struct PipedBytes {
    bytes: u64,
    modified: Option<SystemTime>,
    asking: Mutex<Asking>,
    waiting: Waiting,
}

struct Asking {
    output: Box<dyn Write + Send>,
    next: u32,
}

impl std::fmt::Debug for PipedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipedBytes").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Why nothing is lent.
#[derive(Debug, thiserror::Error)]
pub enum LendingError {
    /// The lender says why.
    #[error("{0}")]
    Refused(String),
    /// The lender says nothing that this program understands, or ended.
    #[error("the program that reads the store does not say what it has")]
    NoGreeting,
    /// The lender is another version.
    #[error("the program that reads the store is of another version")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A pipe broke.
    #[error("the program that reads the store cannot be reached")]
    Io(#[from] io::Error),
}

impl PipedBytes {
    /// Reads the first line of a lender, of whose output this is the input.
    ///
    /// # Errors
    ///
    /// Returns an error if the lender has no bytes, is of another version, or ended.
    pub fn open(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Result<Self, LendingError> {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        input.by_ref().take(MAX_GREETING_BYTES).read_until(b'\n', &mut line)?;
        let greeting: Greeting = serde_json::from_slice(&line).map_err(|_| LendingError::NoGreeting)?;
        if greeting.version != LENDING_VERSION {
            return Err(LendingError::Version { found: greeting.version });
        }
        let bytes = match (greeting.bytes, greeting.error) {
            (Some(bytes), None) => bytes,
            (_, Some(error)) => return Err(LendingError::Refused(error)),
            (None, None) => return Err(LendingError::NoGreeting),
        };
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let answered = Arc::clone(&waiting);
        thread::Builder::new().name("lent bytes".to_owned()).spawn(move || {
            while let Ok(true) = take_answer(&mut input, &answered) {}
            // Whoever waits sees that its sender is gone.
            lock(&answered).take();
        })?;
        Ok(Self {
            bytes,
            modified: greeting.modified_unix_ms.and_then(|ms| UNIX_EPOCH.checked_add(Duration::from_millis(ms))),
            asking: Mutex::new(Asking { output: Box::new(output), next: 0 }),
            waiting,
        })
    }

    fn ask(&self, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        let ended = || io::Error::other("the program that reads the store has ended");
        let (sender, receiver) = channel();
        {
            let mut asking = lock(&self.asking);
            let number = asking.next;
            asking.next = number.wrapping_add(1);
            lock(&self.waiting).as_mut().ok_or_else(ended)?.insert(number, sender);
            let request = Request { number, offset, length }.encode();
            asking.output.write_all(&request).and_then(|()| asking.output.flush()).map_err(|_| ended())?;
        }
        receiver.recv().map_err(|_| ended())?.map_err(io::Error::other)
    }
}

/// Reads an answer and gives it to who waits for it. Returns false if it is not an answer to any request.
fn take_answer(input: &mut impl Read, waiting: &Mutex<Option<HashMap<u32, Sender<Answer>>>>) -> io::Result<bool> {
    let mut head = [0; ANSWER_HEAD_BYTES];
    input.read_exact(&mut head)?;
    let [a, b, c, d, e, f, g, h, w, x, y, z] = head;
    let length = u32::from_le_bytes([w, x, y, z]) as usize;
    let sender = lock(waiting).as_mut().and_then(|waiting| waiting.remove(&u32::from_le_bytes([a, b, c, d])));
    let Some(sender) = sender.filter(|_| length <= MAX_LENT_BYTES) else { return Ok(false) };
    let mut content = vec![0; length];
    input.read_exact(&mut content)?;
    let answer = match u32::from_le_bytes([e, f, g, h]) {
        GIVEN => Ok(content),
        _ => Err(String::from_utf8_lossy(&content).into_owned()),
    };
    // Who asked waits, so it takes the answer.
    let _ = sender.send(answer);
    Ok(true)
}

impl ReadAt for PipedBytes {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut at = offset;
        for part in buffer.chunks_mut(MAX_LENT_BYTES) {
            let content = self.ask(at, part.len() as u32)?;
            if content.len() != part.len() {
                return Err(io::Error::other("the program that reads the store answered with another number of bytes"));
            }
            part.copy_from_slice(&content);
            at += part.len() as u64;
        }
        Ok(())
    }
}

/// Locks a mutex and ignores poisoning: nothing is left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::SyncSender;

    use super::*;

    /// Bytes whose reads at one place wait for a read of another, and fail at a third.
    #[derive(Debug)]
    struct Bytes {
        length: u64,
        other: (Mutex<Receiver<()>>, SyncSender<()>),
    }

    const WAITS: u64 = 1000;
    const FREES: u64 = 2000;
    const FAILS: u64 = 3000;

    impl ReadAt for Bytes {
        fn bytes(&self) -> u64 {
            self.length
        }

        fn modified(&self) -> Option<SystemTime> {
            Some(UNIX_EPOCH + Duration::from_millis(1500))
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            match offset {
                WAITS => lock(&self.other.0).recv().expect("the other read comes"),
                FREES => self.other.1.send(()).expect("the first read waits"),
                FAILS => return Err(io::Error::other("the store is away")),
                _ => {}
            }
            for (at, byte) in (offset..).zip(buffer) {
                *byte = (at % 251) as u8;
            }
            Ok(())
        }
    }

    /// Lends bytes to a function that gets the other end.
    fn lent<T>(length: u64, use_it: impl FnOnce(PipedBytes) -> T) -> T {
        let (requests, ask) = io::pipe().expect("a pipe");
        let (answers, answer) = io::pipe().expect("a pipe");
        let (sender, receiver) = sync_channel(1);
        let bytes = Bytes { length, other: (Mutex::new(receiver), sender) };
        thread::scope(|scope| {
            let lending = scope.spawn(|| lend(Ok(&bytes), requests, answer));
            let result = use_it(PipedBytes::open(answers, ask).expect("there are bytes"));
            lending.join().expect("no panic").expect("ends with its input");
            result
        })
    }

    #[test]
    fn bytes_are_lent() {
        lent(100 << 20, |bytes| {
            assert_eq!((bytes.bytes(), bytes.modified()), (100 << 20, Some(UNIX_EPOCH + Duration::from_millis(1500))));
            for (offset, length) in [(0, 0), (5, 1), (77, 4 << 20), (9, (2 * MAX_LENT_BYTES) + 1)] {
                let mut buffer = vec![0; length];
                bytes.read_exact_at(&mut buffer, offset).expect("reads");
                assert!((offset..).zip(&buffer).all(|(at, byte)| *byte == (at % 251) as u8), "{offset} {length}");
            }
            let mut buffer = [0; 10];
            let failed = bytes.read_exact_at(&mut buffer, FAILS).expect_err("fails");
            assert_eq!(failed.to_string(), "the store is away");
            let behind = bytes.read_exact_at(&mut buffer, (100 << 20) - 9).expect_err("there are fewer");
            assert_eq!(behind.kind(), io::ErrorKind::UnexpectedEof);
            bytes.read_exact_at(&mut buffer, (100 << 20) - 10).expect("the last ones");
        });
    }

    #[test]
    fn a_slow_answer_keeps_nobody_else_waiting() {
        lent(1 << 20, |bytes| {
            thread::scope(|scope| {
                let slow = scope.spawn(|| bytes.read_exact_at(&mut [0; 10], WAITS));
                bytes.read_exact_at(&mut [0; 10], FREES).expect("reads");
                slow.join().expect("no panic").expect("reads");
            });
        });
    }

    #[test]
    fn a_lender_that_ends_or_says_something_else_is_told() {
        let open = |said: &[u8]| PipedBytes::open(io::Cursor::new(said.to_vec()), io::sink());
        assert!(matches!(open(b""), Err(LendingError::NoGreeting)));
        assert!(matches!(open(b"hello\n"), Err(LendingError::NoGreeting)));
        assert!(matches!(open(b"{\"version\":2,\"bytes\":1}\n"), Err(LendingError::Version { found: 2 })));
        let refused = open(b"{\"version\":1,\"error\":\"there is none\"}\n").expect_err("is refused");
        assert_eq!(refused.to_string(), "there is none");
        let greeting = b"{\"version\":1,\"bytes\":100}\n".as_slice();
        let ended = open(greeting).expect("there are bytes").read_exact_at(&mut [0; 10], 0).expect_err("it ended");
        assert_eq!(ended.to_string(), "the program that reads the store has ended");
        let (mut out, input) = (Vec::new(), io::Cursor::new(Vec::new()));
        lend(Err("there is none".to_owned()), input, &mut out).expect("ends");
        assert_eq!(open(&out).expect_err("is refused").to_string(), "there is none");
    }

    #[test]
    fn a_request_for_too_much_ends_the_lender() {
        let (sender, receiver) = sync_channel(1);
        let bytes = Bytes { length: 1 << 40, other: (Mutex::new(receiver), sender) };
        let request = |length| Request { number: 0, offset: 0, length }.encode().to_vec();
        let mut out = Vec::new();
        lend(Ok(&bytes), io::Cursor::new(request(MAX_LENT_BYTES as u32)), &mut out).expect("answers");
        assert!(out.len() > MAX_LENT_BYTES);
        lend(Ok(&bytes), io::Cursor::new(request(MAX_LENT_BYTES as u32 + 1)), io::sink()).expect_err("is too much");
    }
}
