//! Names of threads in a separate file, where other programs look for them.
//!
//! The file is only appended to, and the last line of a thread is valid. A name is also in the thread's rollout; the
//! newer one of the two is used. A line is appended with one write, which the system does not mix with other writes.
//! Therefore no lock is needed, which a program that can only read the file could hold.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trace_runtime::ThreadId;

use super::rollout::line::{stamp, time};
use super::rollout::reader::{Text, each_line};
use crate::private;

/// File name in the server home.
pub(super) const NAMES: &str = "session_index.jsonl";

#[derive(Serialize, Deserialize)]
struct Row {
    id: String,
    thread_name: String,
    updated_at: String,
}

/// Reads all names, with the times at which they were given.
///
/// # Errors
///
/// Returns an error if the file exists and cannot be read.
pub(super) fn read(home: &Path) -> io::Result<HashMap<ThreadId, (i64, String)>> {
    let mut names = HashMap::new();
    let result = each_line(&home.join(NAMES), None, |_, text| {
        if let Text::Whole(text) | Text::Open(text) = text
            && let Ok(Row { id, thread_name, updated_at }) = serde_json::from_str(text)
        {
            names.insert(ThreadId::from(id), (time(&updated_at).unwrap_or(0), thread_name));
        }
        ControlFlow::Continue(())
    });
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(names),
    }
}

/// Appends a name.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) fn append(home: &Path, thread: &ThreadId, name: &str, at_ms: i64) -> io::Result<()> {
    let row = Row { id: thread.to_string(), thread_name: name.to_owned(), updated_at: stamp(at_ms) };
    let mut line = serde_json::to_string(&row).expect("a row is made of texts");
    line.push('\n');
    let mut file = private::options().create(true).read(true).append(true).open(home.join(NAMES))?;
    // End a torn line first, so that it does not damage the new one.
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts() {
        let home = tempfile::tempdir().unwrap();
        let thread = ThreadId::from("t");
        assert!(read(home.path()).unwrap().is_empty());
        append(home.path(), &thread, "one", 1000).unwrap();
        append(home.path(), &thread, "two", 2000).unwrap();
        append(home.path(), &ThreadId::from("u"), "three", 3000).unwrap();
        let names = read(home.path()).unwrap();
        assert_eq!(names.len(), 2);
        assert_eq!(names[&thread], (2000, "two".to_owned()));

        std::fs::OpenOptions::new()
            .append(true)
            .open(home.path().join(NAMES))
            .unwrap()
            .write_all(b"{\"id\":\"t\",")
            .unwrap();
        append(home.path(), &thread, "four", 4000).unwrap();
        assert_eq!(read(home.path()).unwrap()[&thread], (4000, "four".to_owned()));
    }
}
