//! One object of a store as a file that is read at positions: what is needed is fetched by ranges, each byte once, into a temporary
//! file.
//!
//! A packed session has its index at its end and its content in blocks, so a reader needs a few of its bytes first and others when
//! it gets to them. Most sessions are smaller than [`WHOLE_BYTES`] and come with the first request. Of a larger one, what is asked
//! for is fetched, and more ahead of a reader that goes on where it was: up to [`MAX_AHEAD_BYTES`], in requests of
//! [`MAX_RANGE_BYTES`] at the same time. Whoever reads everything gets everything with few requests, and nobody gets more bytes than
//! the object has.
//!
//! All bytes are of one version of the object: every answer must have the ETag and the size of the first one.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures::TryStreamExt;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore as _};
use tokio::runtime::Handle;
use trace_recorder::pack::ReadAt;

use crate::causes::with_causes;
use crate::store::{Store, StoreError};

/// Largest object that is fetched as a whole with the first request, in bytes. Of a larger one, this is how much the first request
/// fetches from its beginning.
pub const WHOLE_BYTES: u64 = 1 << 20;

/// What is fetched is divided into chunks of this many bytes, each of which is fetched once.
pub const CHUNK_BYTES: u64 = 256 << 10;

/// Most bytes of one request. More are fetched with several requests at the same time.
pub const MAX_RANGE_BYTES: u64 = 4 << 20;

/// Most bytes that are fetched ahead of one reader.
pub const MAX_AHEAD_BYTES: u64 = 16 << 20;

/// Largest object that is opened, in bytes.
pub const MAX_REMOTE_BYTES: u64 = 8 << 30;

/// How many readers at different places are known. Reductions read with as many threads as there are cores.
const MAX_WINDOWS: usize = 16;

/// How often in all a range is asked for whose answer broke off or had a wrong length, beside what the client library repeats.
pub const RANGE_ATTEMPTS: u32 = 3;

/// Pause before a range is asked for again, times the number of attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(200);

/// How long reads fail without a request after one that failed. The client library has tried for minutes then.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is no such object.
    #[error("there is no object at {address}")]
    Missing {
        /// Its address.
        address: String,
    },
    /// It is not in a store, but a file.
    #[error("{address} is no object of a store; a path names a file")]
    Local {
        /// The address.
        address: String,
    },
    /// It is larger than what is opened.
    #[error("{address} has {bytes} bytes; at most {MAX_REMOTE_BYTES} are read")]
    TooLarge {
        /// Its address.
        address: String,
        /// Its size.
        bytes: u64,
    },
    /// Another object took its place, or it was deleted, after a part of it was read.
    #[error("{address} was replaced or deleted while it was read")]
    Replaced {
        /// Its address.
        address: String,
    },
    /// The store answered with fewer or more bytes than it was asked for.
    #[error("the store answered with {got} of {wanted} bytes of {address}")]
    Length {
        /// Address of the object.
        address: String,
        /// Bytes that it was asked for.
        wanted: u64,
        /// Bytes that it sent, at least.
        got: u64,
    },
    /// The answer broke off.
    #[error("an answer of the store broke off")]
    Cut(#[source] StoreError),
    /// The store failed, or refused the request.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no place for what is fetched.
    #[error("what is fetched cannot be kept in a temporary file")]
    Temporary(#[source] io::Error),
    /// The requests of this program were ended.
    #[error("{address} was not read to the end: the program ends")]
    Ended {
        /// Address of the object.
        address: String,
    },
}

impl RemoteError {
    /// Returns whether a later read may succeed.
    fn is_final(&self) -> bool {
        !matches!(self, Self::Length { .. } | Self::Cut(_) | Self::Store(_))
    }

    /// Returns whether the rest of the range is asked for at once. Requests that fail were repeated by the client library already.
    fn is_cut(&self) -> bool {
        matches!(self, Self::Length { .. } | Self::Cut(_))
    }

    /// Returns the kind of I/O error.
    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Missing { .. } | Self::Local { .. } => io::ErrorKind::NotFound,
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Self::Length { .. } => io::ErrorKind::UnexpectedEof,
            Self::Temporary(error) => error.kind(),
            Self::Replaced { .. } | Self::Cut(_) | Self::Store(_) | Self::Ended { .. } => io::ErrorKind::Other,
        }
    }
}

/// What was asked of a store for one object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests. What the client library repeated by itself is not counted.
    pub requests: u64,
    /// Bytes of the answers, without headers.
    pub bytes: u64,
}

/// An object that is read at positions.
pub struct RemoteFile {
    shared: Arc<Shared>,
    runtime: Handle,
}

struct Shared {
    store: Store,
    path: String,
    version: Version,
    modified: SystemTime,
    /// Has the bytes of the chunks that are present, at their offsets.
    copy: File,
    state: Mutex<State>,
    changed: Condvar,
}

/// What tells one version of an object from another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    bytes: u64,
    /// The ETag, or the time of the last change in a store without ETags.
    mark: String,
    e_tag: Option<String>,
}

impl Version {
    fn of(meta: &ObjectMeta) -> Self {
        let mark = meta.e_tag.clone().unwrap_or_else(|| meta.last_modified.to_rfc3339());
        Self { bytes: meta.size, mark, e_tag: meta.e_tag.clone() }
    }

    /// Returns the condition that the store checks. A weak ETag never fulfils it.
    fn condition(&self) -> Option<String> {
        self.e_tag.clone().filter(|e_tag| !e_tag.starts_with("W/"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chunk {
    Absent,
    Loading,
    Present,
}

struct State {
    chunks: Vec<Chunk>,
    /// Where readers are, the one that read last at the end.
    windows: VecDeque<Window>,
    failure: Option<Failure>,
    traffic: Traffic,
}

struct Failure {
    error: Arc<RemoteError>,
    at: Instant,
}

/// A reader that goes forward: the chunks that were fetched for it last. As soon as it reads in them, the next ones are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    start: u64,
    end: u64,
}

impl Window {
    /// Returns whether a read of these chunks goes on where this reader was.
    fn is_continued_by(self, chunks: &Range<u64>) -> bool {
        chunks.start <= self.end && chunks.end > self.start
    }

    /// Returns the next window, which is twice as long.
    fn next(self, chunks: &Range<u64>) -> Self {
        let length = (2 * (self.end - self.start)).min(MAX_AHEAD_BYTES / CHUNK_BYTES);
        Self { start: self.end, end: (self.end + length).max(chunks.end) }
    }
}

impl State {
    fn new(chunks: usize) -> Self {
        Self {
            chunks: vec![Chunk::Absent; chunks],
            windows: VecDeque::new(),
            failure: None,
            traffic: Traffic::default(),
        }
    }

    fn has(&self, chunks: &Range<u64>) -> bool {
        self.chunks[chunks.start as usize..chunks.end as usize].iter().all(|chunk| *chunk == Chunk::Present)
    }

    /// Returns whether one of these chunks is neither present nor being fetched.
    fn lacks(&self, chunks: &Range<u64>) -> bool {
        self.chunks[chunks.start as usize..chunks.end as usize].contains(&Chunk::Absent)
    }

    /// Returns what to fetch for a read of these chunks, and marks it as being fetched.
    fn plan(&mut self, chunks: &Range<u64>) -> Vec<Range<u64>> {
        let continued = self.windows.iter().enumerate().filter(|(_, window)| window.is_continued_by(chunks));
        let continued = continued.max_by_key(|(_, window)| window.end).map(|(at, _)| at);
        let window = match continued.and_then(|at| self.windows.remove(at)) {
            Some(window) => window.next(chunks),
            // It reads what was fetched for another reader, or again.
            None if !self.lacks(chunks) => return Vec::new(),
            // A reader at a new place may need no more than this, as one that reads the footer.
            None => Window { start: chunks.start, end: chunks.end },
        };
        if self.windows.len() == MAX_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back(window);
        let end = window.end.max(chunks.end).min(self.chunks.len() as u64);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for at in chunks.start..end {
            if self.chunks[at as usize] != Chunk::Absent {
                continue;
            }
            self.chunks[at as usize] = Chunk::Loading;
            match ranges.last_mut() {
                Some(last) if last.end == at && last.end - last.start < MAX_RANGE_BYTES / CHUNK_BYTES => last.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteFile").field("address", &self.address()).field("version", &self.shared.version).finish()
    }
}

impl RemoteFile {
    /// Opens the object at an address: the URL of an object of a store. See [`RemoteFile::open`].
    ///
    /// # Errors
    ///
    /// Returns an error if the address is not that of an object, or cannot be opened.
    pub async fn at(address: &str, options: &[(String, String)], runtime: Handle) -> Result<Self, RemoteError> {
        // Opening a folder makes it.
        let remote = address.rsplit_once('/').filter(|_| address.contains("://") && !address.starts_with("file:"));
        let (folder, name) = remote.ok_or_else(|| RemoteError::Local { address: address.to_owned() })?;
        Self::open(Store::open(folder, options)?, name, runtime).await
    }

    /// Opens an object and fetches its first bytes. A store that does not answer ranges sends all of it. Requests run on `runtime`,
    /// whose threads must not call the methods of [`ReadAt`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such object, it is too large, the store fails, or there is no place for a temporary file.
    pub async fn open(store: Store, path: &str, runtime: Handle) -> Result<Self, RemoteError> {
        let full = store.full_path(path);
        let first = GetOptions { range: Some(GetRange::Bounded(0..WHOLE_BYTES)), ..GetOptions::default() };
        let mut requests = 1;
        let got = match store.object_store().get_opts(&full, first).await {
            // It is empty, or the store does not answer ranges. If anything else is wrong, this request fails, too.
            Err(object_store::Error::Generic { .. } | object_store::Error::NotSupported { .. }) => {
                requests += 1;
                store.object_store().get_opts(&full, GetOptions::default()).await
            }
            got => got,
        };
        let got = got.map_err(|source| match source {
            object_store::Error::NotFound { .. } => RemoteError::Missing { address: store.address(path) },
            source => StoreError::Request { action: "read", path: path.to_owned(), source }.into(),
        })?;
        if got.meta.size > MAX_REMOTE_BYTES {
            return Err(RemoteError::TooLarge { address: store.address(path), bytes: got.meta.size });
        }
        let version = Version::of(&got.meta);
        let state = State::new(version.bytes.div_ceil(CHUNK_BYTES) as usize);
        let shared = Arc::new(Shared {
            path: path.to_owned(),
            store,
            version,
            modified: got.meta.last_modified.into(),
            copy: tempfile::tempfile().map_err(RemoteError::Temporary)?,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let mut done = 0;
        let end = got.range.end;
        shared.lock().traffic.requests = requests;
        match shared.keep(got, &mut done, end).await {
            Ok(()) => {}
            Err(error) if error.is_cut() => shared.fetch_again(&mut done, end).await?,
            Err(error) => return Err(error),
        }
        Ok(Self { shared, runtime })
    }

    /// Returns the address of the object.
    pub fn address(&self) -> String {
        self.shared.address()
    }

    /// Returns what was asked of the store until now.
    pub fn traffic(&self) -> Traffic {
        self.shared.lock().traffic
    }

    /// Waits until chunks are present, and has them fetched if they are not.
    fn load(&self, chunks: &Range<u64>) -> Result<(), Arc<RemoteError>> {
        let mut state = self.shared.lock();
        let mut is_planned = false;
        loop {
            let is_present = state.has(chunks);
            if let (false, Some(failure)) = (is_present, &state.failure) {
                if failure.error.is_final() || failure.at.elapsed() < FAILED_FOR {
                    return Err(Arc::clone(&failure.error));
                }
                state.failure = None;
                is_planned = false;
            }
            if !is_planned {
                is_planned = true;
                let planned = state.plan(chunks);
                // A runtime that ends drops the task at once, which takes the lock.
                drop(state);
                for chunks in planned {
                    self.runtime.spawn(Fetching { shared: Arc::clone(&self.shared), chunks }.run());
                }
                state = self.shared.lock();
                continue;
            }
            if is_present {
                return Ok(());
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for RemoteFile {
    fn drop(&mut self) {
        let Traffic { requests, bytes } = self.traffic();
        tracing::info!(address = self.address(), requests, bytes, of = self.bytes(), "read from a store");
    }
}

impl ReadAt for RemoteFile {
    fn bytes(&self) -> u64 {
        self.shared.version.bytes
    }

    fn modified(&self) -> Option<SystemTime> {
        Some(self.shared.modified)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= self.bytes());
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if buffer.is_empty() {
            return Ok(());
        }
        let chunks = offset / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES);
        self.load(&chunks).map_err(|error| io::Error::new(error.kind(), with_causes(&*error)))?;
        read_exact_at(&self.shared.copy, buffer, offset)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No thread panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn address(&self) -> String {
        self.store.address(&self.path)
    }

    /// Fetches the bytes from `done` to `end`, and sets `done` to how far it came.
    async fn fetch(&self, done: &mut u64, end: u64) -> Result<(), RemoteError> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(*done..end)),
            if_match: self.version.condition(),
            ..GetOptions::default()
        };
        self.lock().traffic.requests += 1;
        let got = self.store.object_store().get_opts(&self.store.full_path(&self.path), options).await;
        let got = got.map_err(|source| match source {
            object_store::Error::Precondition { .. } | object_store::Error::NotFound { .. } => {
                RemoteError::Replaced { address: self.address() }
            }
            source => StoreError::Request { action: "read", path: self.path.clone(), source }.into(),
        })?;
        // Not every store checks the condition.
        if Version::of(&got.meta) != self.version {
            return Err(RemoteError::Replaced { address: self.address() });
        }
        self.keep(got, done, end).await
    }

    /// Keeps an answer, which has the bytes from `done` to `end`. Sets `done` to how far it came.
    async fn keep(&self, got: GetResult, done: &mut u64, end: u64) -> Result<(), RemoteError> {
        let start = *done;
        let length = |got| RemoteError::Length { address: self.address(), wanted: end - start, got };
        if got.range != (start..end) {
            return Err(length(got.range.end.saturating_sub(got.range.start)));
        }
        let mut pieces = got.into_stream();
        let cut = |source| RemoteError::Cut(StoreError::Request { action: "read", path: self.path.clone(), source });
        while let Some(piece) = pieces.try_next().await.map_err(cut)? {
            let next = *done + piece.len() as u64;
            if next > end {
                return Err(length(next - start));
            }
            write_all_at(&self.copy, &piece, *done).map_err(RemoteError::Temporary)?;
            let mut state = self.lock();
            state.traffic.bytes += piece.len() as u64;
            // A chunk is whole when its last byte is there. It began with its first one, or before an answer that was cut off.
            let is_end = next == self.version.bytes;
            let whole = if is_end { next.div_ceil(CHUNK_BYTES) } else { next / CHUNK_BYTES };
            for at in *done / CHUNK_BYTES..whole {
                state.chunks[at as usize] = Chunk::Present;
            }
            drop(state);
            *done = next;
            self.changed.notify_all();
        }
        if *done == end { Ok(()) } else { Err(length(*done - start)) }
    }

    /// Fetches the bytes from `done` to `end`, after an attempt that failed.
    async fn fetch_again(&self, done: &mut u64, end: u64) -> Result<(), RemoteError> {
        let mut attempt = 1;
        loop {
            tokio::time::sleep(ATTEMPT_PAUSE * attempt).await;
            attempt += 1;
            match self.fetch(done, end).await {
                Err(error) if !error.is_cut() || attempt >= RANGE_ATTEMPTS => return Err(error),
                Err(error) => tracing::info!(address = self.address(), %error, "a range is asked for again"),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Gives up chunks that are not present, and tells those who wait for them why.
    fn release(&self, chunks: &Range<u64>, error: RemoteError) {
        let mut state = self.lock();
        for chunk in &mut state.chunks[chunks.start as usize..chunks.end as usize] {
            if *chunk == Chunk::Loading {
                *chunk = Chunk::Absent;
            }
        }
        // That the object was replaced matters more than what else went wrong.
        if !state.failure.as_ref().is_some_and(|failure| failure.error.is_final()) {
            state.failure = Some(Failure { error: Arc::new(error), at: Instant::now() });
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Chunks that are being fetched.
struct Fetching {
    shared: Arc<Shared>,
    chunks: Range<u64>,
}

impl Fetching {
    async fn run(mut self) {
        let mut done = self.chunks.start * CHUNK_BYTES;
        let end = (self.chunks.end * CHUNK_BYTES).min(self.shared.version.bytes);
        let fetched = match self.shared.fetch(&mut done, end).await {
            Err(error) if error.is_cut() => self.shared.fetch_again(&mut done, end).await,
            fetched => fetched,
        };
        let chunks = std::mem::take(&mut self.chunks);
        if let Err(error) = fetched {
            self.shared.release(&chunks, error);
        }
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        // Nobody may wait for a task that was dropped.
        if !self.chunks.is_empty() {
            self.shared.release(&self.chunks, RemoteError::Ended { address: self.shared.address() });
        }
    }
}

/// Reads at a position. Several threads can call this at the same time.
#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Writes at a position. Several threads can call this at the same time.
#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Reads at a position. Several threads can call this at the same time.
#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (buffer, offset) = (&mut buffer[count..], offset + count as u64);
    }
    Ok(())
}

/// Writes at a position. Several threads can call this at the same time.
#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        (bytes, offset) = (&bytes[count..], offset + count as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of chunks: in the largest request, and of what is fetched ahead at most.
    const LARGEST: u64 = MAX_RANGE_BYTES / CHUNK_BYTES;
    const AHEAD: u64 = MAX_AHEAD_BYTES / CHUNK_BYTES;

    /// Returns the ends of the ranges that a read of these chunks has fetched.
    fn planned(state: &mut State, chunks: Range<u64>) -> Vec<(u64, u64)> {
        state.plan(&chunks).into_iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn a_reader_that_goes_on_gets_twice_as_much_each_time() {
        let mut state = State::new(1000);
        assert_eq!(planned(&mut state, 10..11), [(10, 11)]);
        assert_eq!(planned(&mut state, 10..11), [(11, 13)], "as soon as it reads what was fetched for it");
        assert_eq!(planned(&mut state, 10..11), [], "it has not come further");
        assert_eq!(planned(&mut state, 11..12), [(13, 17)]);
        assert_eq!(planned(&mut state, 13..14), [(17, 25)]);
        assert_eq!(planned(&mut state, 17..18), [(25, 41)]);
        assert_eq!(planned(&mut state, 25..26), [(41, 57), (57, 73)], "in several requests");
        let largest = state.plan(&(41..42));
        assert_eq!(largest.len() as u64 * LARGEST, AHEAD);
        assert!(largest.iter().all(|range| range.end - range.start == LARGEST));
        let (mut at, mut end) = (73, 73 + AHEAD);
        while end < 1000 {
            let planned = state.plan(&(at..at + 1));
            assert_eq!(planned.first().map(|range| range.start), Some(end));
            assert!(planned.iter().map(|range| range.end - range.start).sum::<u64>() <= AHEAD);
            (at, end) = (end, end + AHEAD);
        }
        assert!(state.plan(&(at..at + 1)).is_empty(), "there is no more");
    }

    #[test]
    fn a_reader_at_a_new_place_gets_what_it_reads() {
        let mut state = State::new(1000);
        assert_eq!(planned(&mut state, 999..1000), [(999, 1000)]);
        assert_eq!(planned(&mut state, 5..8), [(5, 8)]);
        assert_eq!(planned(&mut state, 500..500 + LARGEST + 1), [(500, 500 + LARGEST), (500 + LARGEST, 501 + LARGEST)]);
        // What others fetched is not fetched again, and does not count as its own.
        assert_eq!(planned(&mut state, 3..7), [(3, 5), (8, 14)], "it is the reader of before");
        for place in 0..100 {
            state.plan(&(20 + place * 4..21 + place * 4));
            assert!(state.windows.len() <= MAX_WINDOWS);
        }
    }
}
