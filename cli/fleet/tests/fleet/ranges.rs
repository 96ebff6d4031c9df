//! Sessions in object storage that are read by ranges: how much is fetched, and what happens when ranges fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use trace_explain::Session;
use trace_fleet::remote::{CHUNK_BYTES, MAX_RANGE_BYTES, MAX_REMOTE_BYTES, RANGE_ATTEMPTS, RemoteFile, WHOLE_BYTES};
use trace_fleet::sessions::{open_address, open_remote};
use trace_needs::{Need, skip};
use trace_recorder::pack::{LendingError, Level, PackedBundle, PipedBytes, ReadAt, Source, pack};

use crate::faults::{FAULTS, Parts, Server};
use crate::fixture::{repository, runtime, text, vary};

/// Path of the program `trace`, which is of another workspace.
const TRACE: &str = "TRACE_PROGRAM";

/// Path of a packed session for which the commands of `trace` are measured, instead of one that is made.
const MEASURED: &str = "TRACE_MEASURED_SESSION";

/// Name of the session in the store.
const NAME: &str = "one.trace";

/// Address of the session.
const ADDRESS: &str = "s3://bucket/sessions/one.trace";

/// Returns text that compression makes a quarter smaller.
fn noise(bytes: usize, seed: u64) -> String {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"[(state >> 40) as usize % 64])
    };
    (0..bytes).map(|_| next()).collect()
}

/// A packed session on disk and in a store.
struct Stored {
    folder: tempfile::TempDir,
    runtime: Runtime,
    server: Server,
    content: Vec<u8>,
}

impl Stored {
    /// Makes a session whose commands print this much each.
    fn new(printed: usize) -> Self {
        Self::with_attachment(printed, 0)
    }

    /// Makes a session whose commands print this much each, and which has a file that no event refers to.
    fn with_attachment(printed: usize, attached: usize) -> Self {
        let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
        let server = Server::start(&folder.path().join("s3"), &runtime);
        let bundle = folder.path().join("bundle");
        vary(&repository().join("samples/one-agent"), &bundle, 0);
        for (number, entry) in fs::read_dir(bundle.join("payloads")).expect("lists").enumerate() {
            let path = entry.expect("an entry").path();
            let mut payload: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).expect("reads")).expect("JSON");
            let Some(output) = payload.get_mut("aggregated_output") else { continue };
            *output = noise(printed, 77 + number as u64).into();
            // The payloads are links.
            fs::remove_file(&path).expect("deletes");
            fs::write(&path, payload.to_string()).expect("writes");
        }
        if attached > 0 {
            fs::write(bundle.join("payloads/99.txt"), noise(attached, 5)).expect("writes");
        }
        let content = packed(&bundle, &folder.path().join(NAME));
        let stored = Self { folder, runtime, server, content };
        stored.upload(&stored.content);
        stored.server.take_seen();
        stored
    }

    fn upload(&self, content: &[u8]) {
        let store = self.server.store("sessions");
        self.runtime.block_on(store.write(NAME, content.to_vec())).expect("uploads");
    }

    fn remote(&self) -> Arc<RemoteFile> {
        let options = self.server.options();
        let opened = RemoteFile::at(ADDRESS, &options, self.runtime.handle().clone());
        Arc::new(self.runtime.block_on(opened).expect("opens"))
    }

    /// Reads the bytes at a place.
    fn read(&self, remote: &RemoteFile, offset: u64, length: usize) -> Result<(), String> {
        let mut buffer = vec![0; length];
        remote.read_exact_at(&mut buffer, offset).map_err(|error| error.to_string())?;
        assert!(buffer == self.content[offset as usize..][..length], "{length} bytes at {offset}");
        Ok(())
    }

    /// Returns the requests for the session, and the bytes of the answers.
    fn asked(&self) -> (usize, u64) {
        let seen = self.server.take_seen();
        assert!(seen.iter().all(|it| it.method == "GET" && it.path.ends_with(NAME)), "{seen:?}");
        (seen.len(), seen.iter().map(|it| it.bytes).sum())
    }

    fn bytes(&self) -> u64 {
        self.content.len() as u64
    }
}

/// Tells what a command fetched. `--nocapture` shows it.
#[expect(clippy::print_stdout, reason = "the figures of docs/fleet/design.md come from here")]
fn measured(what: &str, (requests, bytes): (usize, u64), stored: &Stored) {
    println!("{what}: {bytes} of {} bytes with {requests} requests", stored.bytes());
}

/// Opens and reduces the session.
fn opened(remote: &Arc<RemoteFile>) -> Result<Session, String> {
    let file: Arc<dyn ReadAt> = Arc::clone(remote) as _;
    open_remote(&file, Path::new(ADDRESS))
}

fn packed(bundle: &Path, to: &PathBuf) -> Vec<u8> {
    let source = Source::list(bundle).expect("a bundle");
    pack(&source, fs::File::create(to).expect("a file"), Level::new(1).expect("a level")).expect("packs");
    fs::read(to).expect("reads")
}

#[test]
fn a_session_is_fetched_once_and_with_few_requests() {
    let stored = Stored::new(3 << 20);
    let remote = stored.remote();
    assert!(stored.bytes() > 8 << 20, "{} bytes", stored.bytes());
    let session = opened(&remote).expect("opens");
    let (requests, bytes) = stored.asked();
    measured("opened", (requests, bytes), &stored);
    assert!(bytes <= stored.bytes(), "{bytes} of {}", stored.bytes());
    assert_eq!((remote.traffic().requests, remote.traffic().bytes), (requests as u64, bytes));
    // It doubles what it fetches up to the largest request, and begins with the first, the footer and the index.
    let largest = stored.bytes().div_ceil(MAX_RANGE_BYTES) + u64::from((MAX_RANGE_BYTES / CHUNK_BYTES).ilog2());
    assert!(requests as u64 <= 2 * largest + 3, "{requests} requests");
    // It is the session of the file, to the last payload.
    let near = open_address(text(&stored.folder.path().join(NAME)), &[], stored.runtime.handle()).expect("opens");
    assert_eq!(format!("{:?}", session.diagnostics()), format!("{:?}", near.diagnostics()));
    let ids = |session: &Session| -> Vec<_> {
        session.trace().payloads.iter().map(|(_, payload)| session.trace().text(payload.id).to_owned()).collect()
    };
    assert_eq!(ids(&session), ids(&near));
    for ((_, far), (_, own)) in session.trace().payloads.iter().zip(near.trace().payloads.iter()) {
        assert!(session.read_payload(far.id).expect("reads") == near.read_payload(own.id).expect("reads"));
    }
    let (_, more) = stored.asked();
    assert!(bytes + more <= stored.bytes(), "{bytes} and {more} of {}", stored.bytes());
    // Reading a second time fetches nothing.
    for (_, far) in session.trace().payloads.iter() {
        session.read_payload(far.id).expect("reads");
    }
    assert_eq!(stored.asked(), (0, 0));
}

#[test]
fn what_nobody_reads_is_not_fetched() {
    let stored = Stored::with_attachment(1 << 20, 24 << 20);
    let session = open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect("opens");
    let (requests, bytes) = stored.asked();
    measured("opened", (requests, bytes), &stored);
    assert!(bytes * 2 < stored.bytes(), "{bytes} of {} bytes", stored.bytes());
    let mut attached = Vec::new();
    session.bundle().payloads().read("payloads/99.txt", &mut attached).expect("reads");
    assert_eq!(attached, noise(24 << 20, 5).into_bytes());
    let (_, more) = stored.asked();
    assert!(bytes + more <= stored.bytes());
}

#[test]
fn a_small_session_comes_with_one_request_and_a_larger_one_does_not() {
    let stored = Stored::new(100);
    open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect("opens");
    assert_eq!(stored.asked(), (1, stored.bytes()));
    // The limit is that of the object, whatever is in it.
    for (length, first) in [(WHOLE_BYTES, WHOLE_BYTES), (WHOLE_BYTES + 1, WHOLE_BYTES)] {
        stored.upload(&vec![7; length as usize]);
        stored.server.take_seen();
        let remote = stored.remote();
        assert_eq!((remote.bytes(), stored.asked()), (length, (1, first)));
        let mut last = [0];
        remote.read_exact_at(&mut last, length - 1).expect("reads");
        assert_eq!((last, stored.asked()), ([7], if length > first { (1, 1) } else { (0, 0) }));
        remote.read_exact_at(&mut [0, 0], length - 1).expect_err("there is one byte");
    }
    // What is no session is told.
    let told = open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect_err("is none");
    assert_eq!(told, format!("{ADDRESS} is not a packed bundle"));
    stored.upload(&[]);
    let told = open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect_err("is none");
    assert_eq!(told, format!("{ADDRESS} is not a packed bundle"));
    let missing = "s3://bucket/sessions/two.trace";
    let told = open_address(missing, &stored.server.options(), stored.runtime.handle()).expect_err("is none");
    assert_eq!(told, format!("there is no object at {missing}"));
}

#[test]
fn an_object_that_is_replaced_is_told_and_never_mixed() {
    let stored = Stored::new(1 << 20);
    let told = format!("{ADDRESS} was replaced or deleted while it was read");
    // A store that ignores the condition: the ETag tells.
    let remote = stored.remote();
    let mut other = stored.content.clone();
    other[3 << 20] ^= 1;
    stored.upload(&other);
    assert_eq!(stored.read(&remote, 2 << 20, 10), Err(told.clone()));
    // What is there can be read, and nothing else, ever.
    stored.read(&remote, 0, WHOLE_BYTES as usize).expect("was fetched before");
    stored.upload(&stored.content);
    assert_eq!(stored.read(&remote, 2 << 20, 10), Err(told.clone()));
    let failed = opened(&remote).expect_err("is an error");
    assert!(failed.contains(&told), "{failed}");
    // A store that checks the condition.
    stored.server.answer_parts(Some(Parts::Refused));
    assert_eq!(stored.read(&stored.remote(), 2 << 20, 10), Err(told.clone()));
    stored.server.answer_parts(None);
    // An object that is deleted.
    let remote = stored.remote();
    stored.runtime.block_on(stored.server.store("sessions").delete(NAME)).expect("deletes");
    assert_eq!(stored.read(&remote, 2 << 20, 10), Err(told.clone()));
    // It is replaced while the session is reduced.
    stored.upload(&stored.content);
    let remote = stored.remote();
    stored.read(&remote, stored.bytes() - 10, 10).expect("the footer");
    stored.upload(&other);
    let failed = opened(&remote).expect_err("is an error");
    assert_eq!(failed, format!("{ADDRESS} cannot be read: {told}"));
}

#[test]
fn a_server_that_ignores_ranges_sends_everything_once() {
    let stored = Stored::new(1 << 20);
    stored.server.answer_parts(Some(Parts::Ignored));
    open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect("opens");
    let seen = stored.server.take_seen();
    let whole: Vec<(bool, u64)> = seen.iter().map(|it| (it.range.is_some(), it.bytes)).collect();
    // The answer to the first request is not what was asked for, so the connection is closed.
    assert_eq!(whole, [(true, stored.bytes()), (false, stored.bytes())]);
}

#[test]
fn ranges_that_are_cut_short_are_asked_for_again() {
    let stored = Stored::new(1 << 20);
    for short in 0..RANGE_ATTEMPTS as usize {
        stored.server.answer_parts(Some(Parts::Short(short)));
        let remote = stored.remote();
        stored.read(&remote, 2 << 20, 1 << 20).expect("reads");
        opened(&remote).expect("opens");
    }
    stored.server.answer_parts(Some(Parts::Short(0)));
    let remote = stored.remote();
    stored.server.answer_parts(Some(Parts::Short(usize::MAX)));
    stored.server.take_seen();
    let told = stored.read(&remote, 2 << 20, 10).expect_err("is always short");
    assert!(told.starts_with("the store answered with ") && told.ends_with(&format!("bytes of {ADDRESS}")), "{told}");
    assert_eq!(stored.server.take_seen().len(), RANGE_ATTEMPTS as usize);
}

#[test]
fn an_object_that_is_too_large_is_refused() {
    let stored = Stored::new(1 << 20);
    for (bytes, is_too_large) in [(MAX_REMOTE_BYTES, false), (MAX_REMOTE_BYTES + 1, true)] {
        stored.server.answer_parts(Some(Parts::Claimed(bytes)));
        let options = stored.server.options();
        let opened = RemoteFile::at(ADDRESS, &options, stored.runtime.handle().clone());
        let refused = stored.runtime.block_on(opened).map(|_| ()).map_err(|error| error.to_string());
        let told = format!("{ADDRESS} has {bytes} bytes; at most {MAX_REMOTE_BYTES} are read");
        assert_eq!(refused, if is_too_large { Err(told) } else { Ok(()) });
    }
}

#[test]
fn each_range_may_fail_once_or_be_slow() {
    let stored = Stored::new(1 << 20);
    open_address(ADDRESS, &stored.server.options(), stored.runtime.handle()).expect("opens");
    let (requests, _) = stored.asked();
    for number in 0..requests {
        for fault in FAULTS {
            stored.server.plan(number, fault);
            let opened = open_address(ADDRESS, &stored.server.options(), stored.runtime.handle());
            opened.unwrap_or_else(|error| panic!("{fault:?} at request {number}: {error}"));
        }
    }
}

#[test]
fn a_store_that_went_away_is_no_damage_and_not_asked_again_and_again() {
    let stored = Stored::new(2 << 20);
    let remote = stored.remote();
    stored.read(&remote, stored.bytes() - (1 << 20), 1 << 20).expect("footer and index");
    stored.server.break_path(Some(NAME));
    stored.server.take_seen();
    let started = Instant::now();
    let failed = opened(&remote).expect_err("is an error");
    assert!(failed.starts_with(&format!("{ADDRESS} cannot be read: cannot read {NAME}: ")), "{failed}");
    let asked = remote.traffic().requests;
    assert!(asked < 20, "{asked} requests");
    assert!(started.elapsed() < Duration::from_secs(60));
    // When it is back, the same file can be read.
    stored.server.break_path(None);
    while stored.read(&remote, 2 << 20, 1 << 20).is_err() {
        assert!(started.elapsed() < Duration::from_secs(120), "it stays away");
        std::thread::sleep(Duration::from_millis(200));
    }
    opened(&remote).expect("opens");
}

#[test]
fn readers_at_many_places_get_their_bytes() {
    let stored = Stored::new(3 << 20);
    let remote = stored.remote();
    std::thread::scope(|scope| {
        for reader in 0..8_u64 {
            let (stored, remote) = (&stored, &remote);
            scope.spawn(move || {
                let mut at = reader * stored.bytes() / 8;
                let end = (at + stored.bytes() / 4).min(stored.bytes());
                while at < end {
                    let length = (10_000 + 7_919 * reader).min(end - at);
                    stored.read(remote, at, length as usize).expect("reads");
                    at += length;
                }
            });
        }
    });
    let seen = stored.server.take_seen();
    assert_eq!(seen.iter().map(|it| it.bytes).sum::<u64>(), stored.bytes());
    // The number of ranges and their lengths depend on which reader comes first, because a range ends where another reader has begun.
    // `a_session_is_fetched_once_and_with_few_requests` counts the requests of a single reader.
    assert!(seen.iter().all(|it| it.bytes <= MAX_RANGE_BYTES), "{seen:?}");
}

#[test]
fn the_end_of_the_program_keeps_nobody_waiting() {
    let stored = Stored::new(1 << 20);
    let other = runtime();
    let options = stored.server.options();
    let opened = RemoteFile::at(ADDRESS, &options, other.handle().clone());
    let remote = other.block_on(opened).expect("opens");
    other.shutdown_background();
    let told = stored.read(&remote, 2 << 20, 10).expect_err("nobody fetches it");
    assert_eq!(told, format!("{ADDRESS} was not read to the end: the program ends"));
}

/// Starts the program that reads for `trace`.
fn lender(stored: &Stored, address: &str) -> (std::process::Child, Result<PipedBytes, LendingError>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    command.args(["read", address]).stdin(Stdio::piped()).stdout(Stdio::piped());
    for (name, value) in stored.server.options() {
        command.env(name.to_uppercase(), value);
    }
    let mut child = command.spawn().expect("starts");
    let bytes = PipedBytes::open(child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
    (child, bytes)
}

#[test]
fn the_program_lends_a_session_to_another() {
    let stored = Stored::new(2 << 20);
    let (mut child, bytes) = lender(&stored, ADDRESS);
    let bytes = Arc::new(bytes.expect("there are bytes"));
    assert_eq!(bytes.bytes(), stored.bytes());
    let mut copy = Vec::new();
    bytes.copy_to(&mut copy).expect("reads");
    assert!(copy == stored.content);
    assert_eq!(stored.asked().1, stored.bytes());
    PackedBundle::from_positioned(Arc::clone(&bytes) as _, Path::new(ADDRESS)).expect("a bundle");
    stored.upload(&[1; 100]);
    // It ends with its input.
    drop(bytes);
    assert!(child.wait().expect("ends").success());
    let (mut child, refused) = lender(&stored, "s3://bucket/sessions/none.trace");
    let refused = refused.expect_err("there is none").to_string();
    assert_eq!(refused, "there is no object at s3://bucket/sessions/none.trace");
    assert_eq!(child.wait().expect("ends").code(), Some(1));
    let (mut child, refused) = lender(&stored, "/etc/hostname");
    assert_eq!(
        refused.expect_err("is a path").to_string(),
        "/etc/hostname is no object of a store; a path names a file"
    );
    child.wait().expect("ends");
}

#[test]
fn commands_of_trace_fetch_no_more_than_the_session() {
    let Some(trace) = std::env::var_os(TRACE) else {
        return skip(Need::Programs, "commands of trace that read a session in a store: TRACE_PROGRAM names no trace");
    };
    let mut stored = Stored::new(3 << 20);
    if let Some(path) = std::env::var_os(MEASURED) {
        stored.content = fs::read(path).expect("reads");
        fs::write(stored.folder.path().join(NAME), &stored.content).expect("writes");
        stored.upload(&stored.content);
        stored.server.take_seen();
    }
    let fleet = stored.folder.path().join("bin");
    fs::create_dir(&fleet).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_trace-fleet"), fleet.join("trace-fleet")).expect("a link");
    let page = stored.folder.path().join("page.html");
    let near = stored.folder.path().join(NAME);
    let commands: [&[&str]; 6] = [
        &["show"],
        &["why", "--text", "nowhere to be found"],
        &["why", "--text", "test"],
        &["view", "-o", text(&page)],
        &["postmortem"],
        &["timeline"],
    ];
    for command in commands {
        let run = |session: &str| {
            let mut started = Command::new(&trace);
            let path = format!("{}:{}", text(&fleet), std::env::var("PATH").unwrap_or_default());
            started.arg(command[0]).arg(session).args(&command[1..]).env("PATH", path);
            started.envs(stored.server.options().into_iter().map(|(name, value)| (name.to_uppercase(), value)));
            let output = started.stdin(Stdio::null()).output().expect("starts");
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text")
        };
        let far = run(ADDRESS);
        let (requests, bytes) = stored.asked();
        measured(&command.join(" "), (requests, bytes), &stored);
        assert!(bytes <= stored.bytes(), "{command:?}: {bytes} of {}", stored.bytes());
        assert_eq!(far.replace(ADDRESS, text(&near)), run(text(&near)), "{command:?}");
    }
}
