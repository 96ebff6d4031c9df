//! Reads the end of a log, which tells how a session ended without reading the whole log.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the end of a log that are read first. The events that end a session have a few hundred bytes.
pub const TAIL_BYTES: u64 = 8 << 10;

/// Most bytes at the end of a log that are read. The end of the session comes before the ends of its threads, and there
/// may be many threads.
pub const MAX_TAIL_BYTES: u64 = 4 << 20;

/// Reads as much of the end of a log as is needed to see how the session ended. If the first line is incomplete, it is
/// dropped. `read_end` returns the given number of bytes at the end of the log, and `log_bytes` is the size of the log.
///
/// # Errors
///
/// Returns the error of `read_end`.
pub fn read_tail<E>(log_bytes: u64, mut read_end: impl FnMut(u64) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
    let mut most = TAIL_BYTES;
    let (mut bytes, is_whole) = loop {
        let wanted = most.min(log_bytes);
        let bytes = read_end(wanted)?;
        let names = |event: &str| memchr::memmem::find(&bytes, event.as_bytes()).is_some();
        let is_behind_an_end = names("\"recording_completed\"") || names("\"thread_ended\"");
        let is_whole = wanted == log_bytes;
        if is_whole || most >= MAX_TAIL_BYTES || names("\"rollout_ended\"") || !is_behind_an_end {
            break (bytes, is_whole);
        }
        most *= 8;
    };
    if !is_whole {
        let first_line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.drain(..first_line);
    }
    Ok(bytes)
}

/// Reads the end of the log at `path`, as [`read_tail`] does. `log_bytes` is the size of the log.
///
/// # Errors
///
/// Returns the I/O error of reading the file.
pub fn read_tail_of_file(path: &Path, log_bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    read_tail(log_bytes, |wanted| {
        file.seek(SeekFrom::Start(log_bytes.saturating_sub(wanted)))?;
        let mut bytes = Vec::new();
        file.by_ref().take(wanted).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(log: &str) -> String {
        let read_end = |wanted: u64| Ok::<_, io::Error>(log.as_bytes()[log.len() - wanted as usize..].to_vec());
        String::from_utf8(read_tail(log.len() as u64, read_end).expect("reads")).expect("UTF-8")
    }

    #[test]
    fn no_line_is_cut() {
        assert_eq!(tail("one\ntwo"), "one\ntwo");
        let log = format!("{}\nlast\n", "x".repeat(TAIL_BYTES as usize));
        assert_eq!(tail(&log), "last\n");
    }

    #[test]
    fn the_end_of_a_session_is_looked_for_before_those_of_its_threads() {
        let threads = "\"thread_ended\"\n".repeat(1000);
        let log = format!("{}\n\"rollout_ended\"\n{threads}", "x".repeat(200_000));
        assert!(tail(&log).starts_with("\"rollout_ended\"\n"));
        assert_eq!(tail(&threads), threads);
        let log = "\"thread_ended\"\n".repeat(400_000);
        assert!((tail(&log).len() as u64) < MAX_TAIL_BYTES + TAIL_BYTES);
    }
}
