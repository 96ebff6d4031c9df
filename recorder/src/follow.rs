//! Follows the log of a bundle while it grows, as `tail -f` does.
//!
//! A [`LogFollower`] returns the whole lines that were appended since the last read, and tells whether more can come. It
//! never waits; the caller decides how often to read. A recorder may truncate an incomplete line that it failed to write,
//! so an incomplete last line is returned only once nothing can follow it. It is not kept in memory either: the follower
//! reads a line once its line feed is there. A line that is longer than any event is returned in chunks, so that the caller
//! can drop it.
//!
//! A recorder that takes up a bundle with an incomplete last line, and a repair, put a new file in the place of the log. If
//! it begins with what was returned, the follower goes on in it.
//!
//! A growing bundle is one file with the log in it. Its follower reads the records that were appended, and keeps the file when
//! the recorder puts the finished bundle in its place: nothing is appended any more then. It looks at the checksums of the last
//! record that it read, so it notices if records were cut off, however long the file has become since.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::activity::{Activity, activity};
use crate::format::EVENT_LOG_FILE;
use crate::lock::is_at;
use crate::log::{MAX_LINE_BYTES, check_size};
use crate::pack::{MAX_BLOCK_BYTES, PackedBundle, PackedError};
use crate::recording::{Stopped, read_recording};

/// Most bytes that one read returns, unless a line is longer. Then a read returns at most [`MAX_LINE_BYTES`] and a chunk.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of decompressed blocks that a follower keeps while it reads. It reads from the beginning to the end.
const FOLLOWED_CACHE_BYTES: usize = 2 * MAX_BLOCK_BYTES;

/// What happened to a log since the last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Bytes were returned; there may be more.
    Grew,
    /// No whole line was appended. A log that does not exist yet counts as empty.
    Still,
    /// The log no longer begins with what was returned: it was repaired or recorded anew.
    Rewritten,
}

/// Whether more lines can come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A recorder holds the lock of the bundle.
    Recorded,
    /// Nobody holds the lock and the log has no end. A recorder that takes no lock may be at work, or may have died.
    Silent {
        /// When the log was last written to.
        since: SystemTime,
    },
    /// No more lines can come.
    Over(End),
}

/// Why no more lines can come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The log has its end event.
    Complete,
    /// The recorder stopped before the end of the session and recorded why.
    Stopped(Stopped),
    /// The recording process is gone and left the log without an end.
    Died {
        /// Id of the process.
        pid: u32,
    },
}

/// Reads what is appended to the log of a bundle directory or a growing bundle.
#[derive(Debug)]
pub struct LogFollower {
    bundle: PathBuf,
    log: PathBuf,
    source: Option<Source>,
    /// Number of bytes that were returned so far.
    position: u64,
    /// Offset up to which the bytes behind `position` were searched and have no line feed.
    searched: u64,
    line: LineState,
}

/// Where the log is.
#[derive(Debug)]
enum Source {
    /// A file of a directory.
    File(File),
    /// A part of one file.
    Packed(Box<PackedBundle>),
}

/// What begins at the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// A line.
    Beginning,
    /// The rest of a line that is too long and whose beginning was returned.
    RestOfLongLine,
}

impl LogFollower {
    /// Starts at the beginning of the log of the bundle at `bundle`, a directory or a packed bundle. The log need not exist yet.
    pub fn new(bundle: &Path) -> Self {
        let log = bundle.join(EVENT_LOG_FILE);
        Self { bundle: bundle.to_owned(), log, source: None, position: 0, searched: 0, line: LineState::Beginning }
    }

    /// Returns the number of bytes of the log that were returned so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns when the log was last written to.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of querying the log, also if it does not exist yet.
    pub fn written(&self) -> io::Result<SystemTime> {
        let log = if self.bundle.is_file() { &self.bundle } else { &self.log };
        fs::metadata(log)?.modified()
    }

    /// Appends to `bytes` the whole lines behind the position, about [`CHUNK_BYTES`] at most. Of a line that is longer than
    /// [`MAX_LINE_BYTES`] it appends one chunk per call: readers reject such a line and need only its length.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of opening or reading the log, or `FileTooLarge` if the log is larger than the limit on logs.
    pub fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<Growth> {
        let growth = self.look()?;
        if growth != Growth::Grew {
            if let (Growth::Still, Some(Source::Packed(packed))) = (growth, &self.source) {
                // The last block is read anew when it has grown, and those before it are not needed any more.
                packed.forget();
            }
            return Ok(growth);
        }
        let start = bytes.len();
        if self.searched == self.position {
            let length = self.read_at(self.position, bytes, CHUNK_BYTES)?;
            if self.line == LineState::RestOfLongLine || memchr::memchr(b'\n', &bytes[start..]).is_some() {
                return Ok(self.hand_out(bytes, start));
            }
            bytes.truncate(start);
            self.searched += length as u64;
            if length < CHUNK_BYTES {
                return Ok(Growth::Still);
            }
        }
        match self.find_line_end()? {
            LineEnd::At(length) => self.read_at(self.position, bytes, length.max(CHUNK_BYTES))?,
            LineEnd::NotYet => return Ok(Growth::Still),
            LineEnd::TooFar => {
                self.line = LineState::RestOfLongLine;
                self.read_at(self.position, bytes, CHUNK_BYTES)?
            }
        };
        Ok(self.hand_out(bytes, start))
    }

    /// Truncates `bytes` to the whole lines behind `start`, or to the part of a line that is too long, and moves the
    /// position.
    fn hand_out(&mut self, bytes: &mut Vec<u8>, start: usize) -> Growth {
        if let Some(end) = memchr::memrchr(b'\n', &bytes[start..]) {
            bytes.truncate(start + end + 1);
            self.line = LineState::Beginning;
        } else if self.line == LineState::Beginning {
            // The log was truncated after the line feed was found.
            bytes.truncate(start);
        }
        self.position += (bytes.len() - start) as u64;
        self.searched = self.position;
        if bytes.len() > start { Growth::Grew } else { Growth::Still }
    }

    /// Continues the search for the end of the line at the position, without keeping the bytes.
    fn find_line_end(&mut self) -> io::Result<LineEnd> {
        let mut chunk = Vec::new();
        loop {
            if self.searched - self.position > MAX_LINE_BYTES as u64 {
                return Ok(LineEnd::TooFar);
            }
            chunk.clear();
            let length = self.read_at(self.searched, &mut chunk, CHUNK_BYTES)?;
            if let Some(end) = memchr::memchr(b'\n', &chunk) {
                return Ok(LineEnd::At((self.searched - self.position) as usize + end + 1));
            }
            self.searched += length as u64;
            if length < CHUNK_BYTES {
                return Ok(LineEnd::NotYet);
            }
        }
    }

    /// Appends the incomplete last line to `bytes`. To be called when nobody will complete it.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of opening or reading the log.
    pub fn read_rest(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.source.is_some() {
            self.position += self.read_at(self.position, bytes, MAX_LINE_BYTES + 1)? as u64;
        }
        Ok(())
    }

    /// Checks the size and identity of the log without reading it.
    fn look(&mut self) -> io::Result<Growth> {
        if self.source.is_none() {
            self.source = self.open()?;
        }
        let length = match &mut self.source {
            None => return Ok(Growth::Still),
            Some(Source::Packed(packed)) => {
                // A recorder cuts off records that it failed to sync, and another one may have written others there since.
                let known = packed.last_record();
                if !packed.has_record(known)? || !packed.is_still_at(&self.bundle)? {
                    return Ok(Growth::Rewritten);
                }
                let caught_up = packed.catch_up();
                // It may have happened while this was read.
                if !packed.has_record(known)? {
                    return Ok(Growth::Rewritten);
                }
                caught_up.map_err(io::Error::other)?;
                packed.file(EVENT_LOG_FILE).map_or(0, |log| log.bytes)
            }
            Some(Source::File(file)) => {
                if !is_at(file, &self.log)? && !self.go_on_in_new_file()? {
                    return Ok(Growth::Rewritten);
                }
                let Some(Source::File(file)) = &self.source else { return Ok(Growth::Still) };
                file.metadata()?.len()
            }
        };
        if length < self.position {
            return Ok(Growth::Rewritten);
        }
        check_size(length)?;
        // A recorder truncated an incomplete line that was searched already.
        if length < self.searched {
            self.searched = self.position;
        }
        Ok(if length > self.searched { Growth::Grew } else { Growth::Still })
    }

    /// Opens the log. Returns `None` if it does not exist yet.
    fn open(&self) -> io::Result<Option<Source>> {
        if self.bundle.is_file() {
            return match PackedBundle::open(&self.bundle) {
                Ok(mut packed) => {
                    packed.limit_cache(FOLLOWED_CACHE_BYTES);
                    Ok(Some(Source::Packed(Box::new(packed))))
                }
                Err(PackedError::Io { source, .. }) => Err(source),
                Err(error) => Err(io::Error::other(error)),
            };
        }
        match fs::metadata(&self.log) {
            // Opening a named pipe in the place of the log would block forever.
            Ok(metadata) if !metadata.is_file() => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file")),
            Ok(_) => Ok(Some(Source::File(File::open(&self.log)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the file that took the place of the log, if it begins with what was returned. Returns whether it does.
    fn go_on_in_new_file(&mut self) -> io::Result<bool> {
        let Some(Source::File(before)) = &mut self.source else { return Ok(false) };
        let mut now = match fs::metadata(&self.log) {
            Ok(metadata) if metadata.is_file() && metadata.len() >= self.position => File::open(&self.log)?,
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        before.seek(SeekFrom::Start(0))?;
        let (mut known, mut found) = (Vec::new(), Vec::new());
        let mut rest = self.position;
        while rest > 0 {
            let wanted = rest.min(CHUNK_BYTES as u64);
            for (file, bytes) in [(&mut *before, &mut known), (&mut now, &mut found)] {
                bytes.clear();
                file.take(wanted).read_to_end(bytes)?;
            }
            if known != found || known.len() as u64 != wanted {
                return Ok(false);
            }
            rest -= wanted;
        }
        self.source = Some(Source::File(now));
        self.searched = self.position;
        Ok(true)
    }

    fn read_at(&mut self, offset: u64, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
        match &mut self.source {
            None => Ok(0),
            Some(Source::File(file)) => {
                file.seek(SeekFrom::Start(offset))?;
                file.take(wanted as u64).read_to_end(bytes)
            }
            Some(Source::Packed(packed)) => {
                let start = bytes.len();
                let end = offset.saturating_add(wanted as u64);
                packed.read_range(EVENT_LOG_FILE, offset..end, bytes).map_err(io::Error::other)?;
                Ok(bytes.len() - start)
            }
        }
    }

    /// Returns whether more lines can come. Lines that were appended before this call can still be read after it.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if [`activity`] cannot inspect the bundle.
    pub fn standing(&self) -> io::Result<Standing> {
        Ok(match activity(&self.bundle)? {
            Activity::Recorded => Standing::Recorded,
            Activity::Silent { since } => Standing::Silent { since },
            Activity::Over => Standing::Over(match read_recording(&self.bundle) {
                Ok(Some(recording)) if recording.opened_at_unix_ms > 0 => match recording.stopped {
                    Some(stopped) => End::Stopped(stopped),
                    None => End::Died { pid: recording.pid },
                },
                _ => End::Complete,
            }),
        })
    }
}

/// Where a line ends.
enum LineEnd {
    /// The line has this many bytes, with its line feed.
    At(usize),
    /// The log ends before the line does.
    NotYet,
    /// The line is longer than a line may be.
    TooFar,
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::recording::RECORDER_FILE;

    struct Scene {
        root: tempfile::TempDir,
        follower: LogFollower,
    }

    impl Scene {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a directory");
            let follower = LogFollower::new(root.path());
            Self { root, follower }
        }

        fn append(&self, text: &str) {
            let log = self.root.path().join(EVENT_LOG_FILE);
            let mut log = File::options().create(true).append(true).open(log).expect("opens");
            log.write_all(text.as_bytes()).expect("writes");
        }

        fn read(&mut self) -> (Growth, String) {
            let mut bytes = Vec::new();
            let growth = self.follower.read(&mut bytes).expect("reads");
            (growth, String::from_utf8(bytes).expect("UTF-8"))
        }
    }

    fn grew(text: &str) -> (Growth, String) {
        (Growth::Grew, text.to_owned())
    }

    fn still() -> (Growth, String) {
        (Growth::Still, String::new())
    }

    #[test]
    fn whole_lines_are_handed_out_once() {
        let mut scene = Scene::new();
        assert_eq!(scene.read(), still(), "there is no log yet");
        scene.append("one\ntw");
        assert_eq!(scene.read(), grew("one\n"));
        assert_eq!(scene.read(), still());
        assert_eq!(scene.read(), still());
        scene.append("o\nthree\n");
        assert_eq!(scene.read(), grew("two\nthree\n"));
        assert_eq!((scene.read(), scene.follower.position()), (still(), 14));
        assert!(scene.follower.written().expect("there is a log") > SystemTime::UNIX_EPOCH);
        scene.append("half");
        assert_eq!(scene.read(), still());
        let mut rest = Vec::new();
        scene.follower.read_rest(&mut rest).expect("reads");
        assert_eq!(rest, b"half");
    }

    #[test]
    fn half_a_line_may_be_taken_back() {
        let mut scene = Scene::new();
        scene.append("one\nhalf a li");
        assert_eq!(scene.read(), grew("one\n"));
        assert_eq!(scene.read(), still());
        let log = File::options().write(true).open(scene.root.path().join(EVENT_LOG_FILE)).expect("opens");
        log.set_len(4).expect("cuts");
        assert_eq!(scene.read(), still());
        scene.append("another\n");
        assert_eq!(scene.read(), grew("another\n"));
        log.set_len(4).expect("cuts");
        assert_eq!(scene.read().0, Growth::Rewritten, "a whole line is gone");
    }

    #[test]
    #[cfg(unix)]
    fn a_new_file_is_gone_on_with_if_it_begins_with_what_was_returned() {
        let replace = |scene: &Scene, text: &str| {
            let new = scene.root.path().join("new");
            fs::write(&new, text).expect("writes");
            fs::rename(&new, scene.root.path().join(EVENT_LOG_FILE)).expect("renames");
        };
        for (text, next) in [("one\n", still()), ("one\ntwo\n", grew("two\n")), ("one\nha", still())] {
            let mut scene = Scene::new();
            scene.append("one\nhalf a line");
            assert_eq!(scene.read(), grew("one\n"));
            assert_eq!(scene.read(), still());
            replace(&scene, text);
            assert_eq!(scene.read(), next, "{text}");
            scene.append("\nthree\n");
            assert!(scene.read().1.ends_with("\nthree\n"), "{text}");
        }
        let long = "x".repeat(CHUNK_BYTES + 10) + "\n";
        for text in ["", "one", "two\n", "one\nx\n", &format!("one\n{}y\n", "x".repeat(CHUNK_BYTES + 9))] {
            let mut scene = Scene::new();
            scene.append(&format!("one\n{long}"));
            while scene.read().0 == Growth::Grew {}
            replace(&scene, text);
            assert_eq!(scene.read().0, Growth::Rewritten, "{}", text.len());
        }
        let mut scene = Scene::new();
        scene.append("one\n");
        assert_eq!(scene.read(), grew("one\n"));
        fs::remove_file(scene.root.path().join(EVENT_LOG_FILE)).expect("removes");
        assert_eq!(scene.read().0, Growth::Rewritten);
    }

    #[test]
    fn a_recorder_that_takes_up_a_torn_bundle_is_followed() {
        use crate::write::{NewSession, TraceRoot, WriterOptions};

        let root = tempfile::tempdir().expect("a directory");
        let traces = TraceRoot::new(root.path(), WriterOptions::default());
        let writer = traces.start(&NewSession::new("thread-1")).expect("starts");
        let bundle = writer.path().expect("is enabled").to_owned();
        drop(writer);
        let log = bundle.join(EVENT_LOG_FILE);
        File::options().append(true).open(&log).and_then(|mut log| log.write_all(b"{\"torn")).expect("writes");
        let mut follower = LogFollower::new(&bundle);
        let mut bytes = Vec::new();
        assert_eq!(follower.read(&mut bytes).expect("reads"), Growth::Grew);
        traces.reopen(&bundle).expect("reopens").complete().expect("completes");
        assert_eq!(follower.read(&mut bytes).expect("reads"), Growth::Grew);
        assert!(bytes == fs::read(&log).expect("reads"));
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_one_line() {
        let mut scene = Scene::new();
        let long = "x".repeat(3 * CHUNK_BYTES) + "\n";
        scene.append("short\n");
        scene.append(&long);
        assert_eq!(scene.read(), grew("short\n"));
        assert!(scene.read() == grew(&long));
        scene.append(&long[1..CHUNK_BYTES]);
        assert_eq!(scene.read(), still());
        scene.append("\n");
        assert!(scene.read() == grew(&(long[1..CHUNK_BYTES].to_owned() + "\n")));
    }

    #[test]
    fn a_line_without_an_end_is_handed_out_in_chunks() {
        let mut scene = Scene::new();
        let log = scene.root.path().join(EVENT_LOG_FILE);
        let long = MAX_LINE_BYTES as u64 + 3 * CHUNK_BYTES as u64;
        File::create(&log).expect("creates").set_len(long).expect("a sparse file");
        let (mut bytes, mut most, mut sum) = (Vec::new(), 0, 0);
        while scene.follower.read(&mut bytes).expect("reads") == Growth::Grew {
            (most, sum) = (most.max(bytes.capacity()), sum + bytes.len() as u64);
            bytes.clear();
        }
        assert_eq!((sum, scene.follower.position()), (long, long));
        assert!(most <= 2 * CHUNK_BYTES, "{most} bytes at once");
        scene.append("end\nnext\nha");
        assert_eq!(scene.read(), grew("end\nnext\n"));
        assert_eq!(scene.read(), still());
        scene.append("lf\n");
        assert_eq!(scene.read(), grew("half\n"));
    }

    #[test]
    fn half_a_line_is_not_kept_and_not_looked_through_again() {
        let mut scene = Scene::new();
        for piece in 0..5 {
            scene.append(&"x".repeat(CHUNK_BYTES - 1));
            let mut bytes = Vec::new();
            assert_eq!(scene.follower.read(&mut bytes).expect("reads"), Growth::Still);
            assert!(bytes.capacity() <= 2 * CHUNK_BYTES);
            assert_eq!(scene.follower.searched, (piece + 1) * (CHUNK_BYTES as u64 - 1));
        }
        // Bytes that were searched can be truncated and written again.
        let log = File::options().write(true).open(scene.root.path().join(EVENT_LOG_FILE)).expect("opens");
        log.set_len(2).expect("cuts");
        assert_eq!(scene.read(), still());
        scene.append("y\n");
        assert_eq!(scene.read(), grew("xxy\n"));
    }

    #[test]
    fn a_log_over_the_limit_is_not_followed() {
        let mut scene = Scene::new();
        scene.append("one\n");
        assert_eq!(scene.read(), grew("one\n"));
        let log = File::options().write(true).open(scene.root.path().join(EVENT_LOG_FILE)).expect("opens");
        log.set_len(crate::log::MAX_LOG_BYTES + 1).expect("a sparse file");
        let error = scene.follower.read(&mut Vec::new()).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn the_lock_and_the_end_tell_whether_more_can_come() {
        let scene = Scene::new();
        scene.append("{}\n");
        assert!(matches!(scene.follower.standing().expect("asks"), Standing::Silent { .. }));
        let path = scene.root.path().join(RECORDER_FILE);
        fs::write(&path, r#"{"pid":7,"opened_at_unix_ms":1}"#).expect("writes");
        let lock = File::open(&path).expect("opens");
        lock.lock().expect("locks");
        assert_eq!(scene.follower.standing().expect("asks"), Standing::Recorded);
        lock.unlock().expect("unlocks");
        assert_eq!(scene.follower.standing().expect("asks"), Standing::Over(End::Died { pid: 7 }));
        fs::write(
            &path,
            r#"{"pid":7,"opened_at_unix_ms":1,"stopped":{"after_seq":2,"at_unix_ms":3,"lost_events":4,"reason":"full"}}"#,
        )
        .expect("writes");
        let standing = scene.follower.standing().expect("asks");
        assert!(matches!(standing, Standing::Over(End::Stopped(stopped)) if stopped.reason == "full"));
        fs::remove_file(&path).expect("removes");
        scene.append(
            r#"{"schema_version":2,"seq":3,"wall_time_unix_ms":2,"rollout_id":"r","payload":{"type":"recording_completed"}}"#,
        );
        assert_eq!(scene.follower.standing().expect("asks"), Standing::Over(End::Complete));
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_in_place_of_the_log_holds_nobody() {
        let mut scene = Scene::new();
        let log = scene.root.path().join(EVENT_LOG_FILE);
        assert!(std::process::Command::new("mkfifo").arg(log).status().expect("mkfifo runs").success());
        scene.follower.read(&mut Vec::new()).expect_err("no plain file");
    }
}
