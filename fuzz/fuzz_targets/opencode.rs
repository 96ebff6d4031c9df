//! Reads any bytes as a session of opencode: as the output of its export, and each line as a file of its store.
//!
//! The database has the same records as the store.
#![no_main]

mod imported;

use std::fs;

use libfuzzer_sys::fuzz_target;
use trace_import::SessionRef;

const SESSION: &str = "ses_1";

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a directory");
    let export = imported::write(folder.path(), "export-ses_1.json", data);
    imported::check(&SessionRef::file("opencode-export", &export));
    let storage = folder.path().join("storage");
    let mut lines = data.split(|byte| *byte == b'\n');
    let info = format!("session/global/{SESSION}.json");
    imported::write(&storage, &info, lines.next().unwrap_or_default());
    fs::create_dir_all(storage.join("message").join(SESSION)).expect("a folder");
    let mut message = 0;
    for (number, line) in lines.enumerate() {
        let is_message = line.windows(7).any(|bytes| bytes == b"\"role\":");
        if is_message {
            message = number;
            imported::write(&storage, &format!("message/{SESSION}/msg_{number:06}.json"), line);
        } else {
            imported::write(&storage, &format!("part/msg_{message:06}/prt_{number:06}.json"), line);
        }
    }
    for session in trace_import::sessions(&storage).unwrap_or_default() {
        imported::check(&session);
    }
});
