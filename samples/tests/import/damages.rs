//! Random damages of the files of agents: an answer comes each time, and a line that is lost is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trace_import::SessionRef;

/// Damages of each format.
const DAMAGES: u64 = 400;

/// Longest time that an answer may take. The sessions are small, and the machine may be busy.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Damages bytes in one of the ways in which files are damaged.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.below(256) as u8,
        3 => {
            let end = (at + 1 + random.below(200)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 => {
            let end = (at + random.below(2000)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        5 => {
            let junk: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
            bytes.splice(at..at, junk);
        }
        6 => {
            let part = bytes[at..(at + random.below(500)).min(bytes.len())].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ => {
            for _ in 0..random.below(20) {
                let at = random.below(bytes.len());
                bytes[at] = b"{}[]\",:\\\n 0"[random.below(11)];
            }
        }
    }
}

/// Returns the files below a folder, by their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().expect("lists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Copies a folder to a place where its files may be changed.
fn copied(from: &Path) -> TempDir {
    let to = tempfile::tempdir().expect("a folder");
    for file in files(from) {
        let target = to.path().join(file.strip_prefix(from).expect("below"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::write(target, fs::read(file).expect("reads")).expect("writes");
    }
    to
}

/// Imports a session. Returns the codes of the import, or `None` if there is no session left.
fn codes(session: &SessionRef, what: &str) -> Option<Vec<String>> {
    let began = Instant::now();
    let _ = trace_import::sessions(&session.path);
    let summary = trace_import::summarize(session);
    let bundle = trace_import::open(session);
    assert!(began.elapsed() < MAX_TIME, "{what} took {:?}", began.elapsed());
    let bundle = bundle.ok()?;
    assert!(summary.is_ok(), "{what}: {summary:?}");
    let strict = trace_reducer::Options { strict: true, ..trace_reducer::Options::default() };
    trace_reducer::reduce(&bundle, strict).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    Some(bundle.import().expect("an import").notes.iter().map(|note| note.code.clone()).collect())
}

/// Codes that name a damage.
const NAMES: [&str; 3] = ["damaged-line", "damaged-store", "child-missing"];

fn is_named(codes: &[String]) -> bool {
    codes.iter().any(|code| NAMES.contains(&&**code))
}

/// Damages one file of a session again and again. `is_lost` tells whether the file lacks a record now that only the import can
/// name. Returns how many sessions could be read, and how many damages were named.
fn trials(folder: &Path, file: &Path, session: &SessionRef, seed: u64, is_lost: fn(&[u8]) -> bool) -> (usize, usize) {
    let whole = fs::read(file).expect("reads");
    let (mut read, mut named) = (0, 0);
    for trial in 0..DAMAGES {
        let mut random = Random(seed * 1_000_000 + trial);
        let mut bytes = whole.clone();
        for _ in 0..=random.below(2) {
            if !bytes.is_empty() {
                damage(&mut bytes, &mut random);
            }
        }
        fs::write(file, &bytes).expect("writes");
        let what = format!("{} trial {trial}", file.strip_prefix(folder).expect("below").display());
        let Some(codes) = codes(session, &what) else { continue };
        read += 1;
        let is_named = is_named(&codes);
        named += usize::from(is_named);
        assert!(is_named || !is_lost(&bytes), "{what}: a record is lost, and the import says only {codes:?}");
    }
    fs::write(file, whole).expect("writes");
    (read, named)
}

fn is_json(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    serde_json::from_str::<Box<serde_json::value::RawValue>>(&text).is_ok()
}

fn lacks_a_line(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| !line.trim_ascii().is_empty() && !is_json(line))
}

fn lacks_something(bytes: &[u8]) -> bool {
    !is_json(bytes)
}

/// Returns whether SQLite finds a database damaged. It has no checksums, so it does not see every changed byte.
fn is_inconsistent(bytes: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), bytes).expect("writes");
    let check = |path: &Path| -> rusqlite::Result<bool> {
        let connection = rusqlite::Connection::open(path)?;
        let mut statement = connection.prepare("PRAGMA integrity_check")?;
        let mut found = statement.query_map([], |row| row.get::<_, String>(0))?;
        found.next().map_or(Ok(false), |first| Ok(first? == "ok"))
    };
    !check(file.path()).unwrap_or(false)
}

fn recorded(name: &str) -> Option<TempDir> {
    let imports = trace_needs::imports("sessions of agents are not damaged")?;
    Some(copied(&imports.join(name)))
}

fn only(folder: &Path) -> SessionRef {
    let mut sessions = trace_import::sessions(folder).expect("searches");
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions.remove(0)
}

/// Damages the file of the root of each session, which is the first one of its folder.
fn damage_roots(names: &[&str], seed: u64) {
    for (name, seed) in names.iter().zip(seed..) {
        let Some(folder) = recorded(name) else { return };
        let session = trace_import::sessions(folder.path()).expect("searches").remove(0);
        let (read, named) = trials(folder.path(), &session.path, &session, seed, lacks_a_line);
        assert!(read > 300 && named > 200, "{name}: {read} {named}");
    }
}

#[test]
fn transcripts_of_claude_code() {
    damage_roots(&["claude-code-2.1.197/subagent-nested", "claude-code-1.0.128/subagent"], 20);
}

#[test]
fn rollouts_of_the_codex_cli() {
    damage_roots(&["codex/agents-failing", "codex-0.58.0/tool-failures"], 30);
}

#[test]
fn chats_of_gemini_cli() {
    for (seed, name) in ["subagent", "compaction"].into_iter().enumerate() {
        let Some(folder) = recorded(&format!("gemini-cli/{name}")) else { return };
        let session = only(folder.path());
        let (read, named) = trials(folder.path(), &session.path, &session, seed as u64, lacks_a_line);
        assert!(read > 300 && named > 200, "{name}: {read} {named}");
    }
    let Some(folder) = recorded("gemini-cli/subagent") else { return };
    let session = only(folder.path());
    let name = "43082151-1979-4989-8950-dc4fbada763b.jsonl";
    let child = files(folder.path()).into_iter().find(|file| file.ends_with(name));
    // A child whose first line is lost is a child that is missing.
    let (read, named) = trials(folder.path(), &child.expect("a child"), &session, 7, lacks_a_line);
    assert!(read == DAMAGES as usize && named > 200, "{read} {named}");
}

#[test]
fn telemetry_of_gemini_cli() {
    let Some(folder) = recorded("gemini-cli/resume") else { return };
    let session = only(folder.path());
    let id = trace_import::summarize(&session).expect("reads").id;
    let record = |at: u32| {
        serde_json::to_string_pretty(&serde_json::json!({"hrTime": [1, at], "attributes": {
            "session.id": id, "event.name": "gemini_cli.api_error", "status_code": 503, "role": "main",
            "event.timestamp": format!("2026-11-22T21:22:{at:02}.000Z"), "error.message": "overloaded", "duration": 10}}))
        .expect("is JSON")
    };
    let log: String = (10..50).map(|at| record(at) + "\n").collect();
    let path = folder.path().join("telemetry.log");
    fs::write(&path, log).expect("writes");
    let (read, named) = trials(folder.path(), &path, &session, 2, |_| false);
    assert!(read == DAMAGES as usize && named > 200, "{read} {named}");
}

#[test]
fn exports_of_opencode() {
    let Some(folder) = recorded("opencode/tools") else { return };
    fs::remove_file(folder.path().join("opencode.db")).expect("removes");
    let session = only(folder.path());
    let (read, named) = trials(folder.path(), &session.path, &session, 3, lacks_something);
    assert!(read > 300 && named > 200, "{read} {named}");
}

#[test]
fn stores_of_opencode() {
    let Some(folder) = recorded("opencode-1.0.185/subagent") else { return };
    let session = only(folder.path());
    let records: Vec<_> = files(folder.path())
        .into_iter()
        .filter(|file| file.components().any(|part| ["message", "part"].iter().any(|name| part.as_os_str() == *name)))
        .collect();
    // The damages are spread over the files.
    let whole: Vec<_> = records.iter().map(|file| fs::read(file).expect("reads")).collect();
    let (mut read, mut named) = (0, 0);
    for trial in 0..DAMAGES {
        let mut random = Random(4_000_000 + trial);
        let index = random.below(records.len());
        let mut bytes = whole[index].clone();
        damage(&mut bytes, &mut random);
        fs::write(&records[index], &bytes).expect("writes");
        let what = format!("{} trial {trial}", records[index].display());
        if let Some(codes) = codes(&session, &what) {
            read += 1;
            let is_named = codes.iter().any(|code| code == "damaged-line");
            named += usize::from(is_named);
            assert!(is_named || !lacks_something(&bytes), "{what}: {codes:?}");
        }
        fs::write(&records[index], &whole[index]).expect("writes");
    }
    assert!(read == DAMAGES as usize && named > 200, "{read} {named}");
}

#[test]
fn databases_of_opencode() {
    let Some(folder) = recorded("opencode/subagent") else { return };
    let path = folder.path().join("opencode.db");
    let id = trace_import::sessions(&path).expect("lists").remove(0).id;
    let session = SessionRef { format: "opencode", path: path.clone(), id };
    let (read, named) = trials(folder.path(), &path, &session, 5, is_inconsistent);
    assert!(read > 150 && named > 50, "{read} {named}");
    // Rows that are damaged, not the file.
    let whole = fs::read(&path).expect("reads");
    for trial in 0..DAMAGES {
        let mut random = Random(6_000_000 + trial);
        let connection = rusqlite::Connection::open(&path).expect("opens");
        let table = ["message", "part"][random.below(2)];
        let rows: Vec<(i64, String)> = connection
            .prepare(&format!("SELECT rowid, data FROM {table}"))
            .expect("reads")
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("reads")
            .map(|row| row.expect("a row"))
            .collect();
        let (row, data) = &rows[random.below(rows.len())];
        let mut bytes = data.clone().into_bytes();
        damage(&mut bytes, &mut random);
        let sql = format!("UPDATE {table} SET data = ?1 WHERE rowid = ?2");
        connection.execute(&sql, (String::from_utf8_lossy(&bytes), row)).expect("updates");
        drop(connection);
        let what = format!("{table} row {row} trial {trial}");
        let codes = codes(&session, &what).expect("the session is there");
        let is_named = codes.iter().any(|code| code == "damaged-line");
        assert!(is_named || !lacks_something(&bytes), "{what}: {codes:?}");
        fs::write(&path, &whole).expect("writes");
    }
}
