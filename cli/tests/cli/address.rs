//! Sessions at addresses in object storage, which another program reads.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use trace_recorder::pack::{ReadAt, lend};
use trace_recorder::write::{Form, NewSession, TraceRoot, WriterOptions};
use trace_samples::live::{LiveSession, ROOT_THREAD_ID, run};

use crate::support::{Place, Ran, sample};

/// Path of the file that the lender lends. If it is not set, the test of that name does nothing.
const LENT: &str = "TRACE_TEST_LENT";

/// A byte of the file: what has it cannot be read.
const BROKEN_BYTE: &str = "TRACE_TEST_BROKEN_BYTE";

const ADDRESS: &str = "s3://bucket/sessions/honest.trace";

/// A file, and the list of what is read of it.
#[derive(Debug)]
struct Lent {
    file: File,
    read: File,
    broken_byte: Option<u64>,
}

impl ReadAt for Lent {
    fn bytes(&self) -> u64 {
        self.file.metadata().expect("metadata").len()
    }

    fn modified(&self) -> Option<SystemTime> {
        self.file.metadata().expect("metadata").modified().ok()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let wanted = offset..offset + buffer.len() as u64;
        if self.broken_byte.is_some_and(|broken| wanted.contains(&broken)) {
            return Err(io::Error::other("the store is away"));
        }
        (&self.read).write_all(format!("{offset} {}\n", buffer.len()).as_bytes()).expect("writes");
        self.file.read_exact_at(buffer, offset)
    }
}

/// The lender of the other tests: they start this program so that it runs this test only, with pipes as files 3 and 4, since stdout
/// has what the harness of tests prints.
#[test]
fn lends_a_file_if_it_is_asked_to() {
    let Some(path) = std::env::var_os(LENT).map(std::path::PathBuf::from) else { return };
    let read = OpenOptions::new().append(true).create(true).open(path.with_extension("read")).expect("opens");
    let broken_byte = std::env::var(BROKEN_BYTE).ok().map(|byte| byte.parse().expect("a number"));
    let lent = Lent { file: File::open(&path).expect("opens"), read, broken_byte };
    let requests = File::open("/dev/fd/3").expect("opens");
    let answers = OpenOptions::new().write(true).open("/dev/fd/4").expect("opens");
    lend(Ok(&lent), requests, answers).expect("lends");
}

/// Puts a program `trace-fleet` on the PATH of a command.
fn with_fleet(place: &Place, mut command: Command, script: &str) -> Command {
    let program = place.path("bin/trace-fleet");
    fs::create_dir_all(place.path("bin")).expect("a folder");
    fs::write(&program, format!("#!/bin/sh\n{script}")).expect("writes");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("makes it a program");
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    command.env("PATH", path);
    command
}

/// Runs a command with a program `trace-fleet` that lends a file.
fn lending(place: &Place, file: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let tests = std::env::current_exe().expect("this program");
    let script = format!(
        "[ \"$1 $2\" = 'read {ADDRESS}' ] || exit 9\n\
         exec 3<&0 4>&1 >/dev/null\n\
         exec '{}' --exact address::lends_a_file_if_it_is_asked_to\n",
        tests.display()
    );
    let mut command = with_fleet(place, place.command(arguments), &script);
    command.env(LENT, file).envs(variables.iter().copied());
    Ran::from(command.output().expect("runs"))
}

/// Copies a packed sample.
fn packed(place: &Place) -> std::path::PathBuf {
    let file = place.path("honest.trace");
    fs::copy(sample("honest.trace"), &file).expect("copies");
    file
}

/// Returns the number of bytes that were read of a lent file.
fn bytes_read(file: &Path) -> u64 {
    let read = fs::read_to_string(file.with_extension("read")).expect("it was read");
    read.lines().map(|line| line.split(' ').next_back().and_then(|n| n.parse::<u64>().ok()).expect("a length")).sum()
}

#[test]
fn a_session_at_an_address_is_shown_like_a_file() {
    let place = Place::new();
    let file = packed(&place);
    let path = file.to_str().expect("a text");
    let commands: [&[&str]; 6] = [
        &["show"],
        &["show", "--json"],
        &["why", "--text", "nowhere to be found"],
        &["why", "--text", "test"],
        &["postmortem"],
        &["timeline", "--json"],
    ];
    for command in commands {
        let near = place.run(&[&command[..1], &[path], &command[1..]].concat());
        let far = lending(&place, &file, &[&command[..1], &[ADDRESS], &command[1..]].concat(), &[]);
        assert_eq!(far.to_string(), near.to_string().replace(path, ADDRESS), "{command:?}");
        assert_eq!(far.code, 0, "{command:?}: {far}");
        // Every block at most once, whatever is asked. The index and the footer are small.
        let (read, length) = (bytes_read(&file), fs::metadata(&file).expect("metadata").len());
        assert!(read > 0 && read <= length + length / 10, "{command:?}: {read} of {length} bytes");
        fs::remove_file(file.with_extension("read")).expect("deletes");
    }
    let page = lending(&place, &file, &["view", ADDRESS, "-o", "far.html"], &[]);
    assert_eq!(page.code, 0, "{page}");
    assert_eq!(place.run(&["view", path, "-o", "near.html"]).code, 0);
    assert!(place.read("far.html") == place.read("near.html"));
}

#[test]
fn a_store_that_fails_is_not_taken_for_damage() {
    let place = Place::new();
    let file = packed(&place);
    let path = file.to_str().expect("a text");
    let whole = place.run(&["show", path]).to_string().replace(path, ADDRESS);
    let length = fs::metadata(&file).expect("metadata").len();
    let mut failures = 0;
    for byte in (0..length).step_by(usize::try_from(length / 12).expect("few bytes")).chain([length - 1]) {
        let ran = lending(&place, &file, &["show", ADDRESS], &[(BROKEN_BYTE, &byte.to_string())]);
        if ran.code == 0 {
            // It did not need that byte.
            assert_eq!(ran.to_string(), whole, "byte {byte}");
            continue;
        }
        failures += 1;
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "byte {byte}: {ran}");
        assert!(ran.stderr.contains(ADDRESS) && ran.stderr.contains("the store is away"), "byte {byte}: {ran}");
    }
    assert!(failures > 8, "{failures} of 13");
}

#[test]
fn what_is_not_at_an_address_is_told() {
    let place = Place::new();
    let ran = |arguments: &[&str], script: &str| {
        let output = with_fleet(&place, place.command(arguments), script).output().expect("runs");
        Ran::from(output).to_string()
    };
    let refusing = "echo '{\"version\":1,\"error\":\"there is no object at s3://bucket/sessions/honest.trace\"}'\n";
    assert_snapshot!(ran(&["show", ADDRESS], refusing), @r"
    --- stderr
    error: s3://bucket/sessions/honest.trace cannot be read: there is no object at s3://bucket/sessions/honest.trace
    hint: an address is that of one session; `trace fleet view --lake URL` shows a lake
    --- exit code 1
    ");
    // An older program knows no such command, and one of another version says so.
    let older = ran(&["view", ADDRESS], "exit 2\n");
    let other = ran(&["why", ADDRESS, "--text", "a"], "echo '{\"version\":2,\"bytes\":7}'\n");
    assert_eq!(older, other);
    assert_snapshot!(older.replace(env!("CARGO_PKG_VERSION"), "[version]"), @r"
    --- stderr
    error: trace-fleet cannot read for this program
    hint: trace-fleet must be of the same version as trace, [version]
    --- exit code 1
    ");
    let mut command = place.command(&["show", ADDRESS]);
    let missing = Ran::from(command.env("PATH", place.path("nowhere")).output().expect("runs"));
    assert_snapshot!(missing, @r"
    --- stderr
    error: there is no program trace-fleet
    hint: `cargo build --release --manifest-path reducer/fleet/Cargo.toml` makes reducer/fleet/target/release/trace-fleet; put it beside trace or on the PATH
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["check", ADDRESS]), @r"
    --- stderr
    error: s3://bucket/sessions/honest.trace is an address, and this command reads files
    hint: `trace show`, `why`, `view`, `postmortem` and others that take one session read it where it lies
    --- exit code 1
    ");
}

#[test]
fn the_url_of_a_file_is_its_path() {
    let place = Place::new();
    fs::create_dir(place.path("a folder")).expect("a folder");
    let file = place.path("a folder/honest.trace");
    fs::copy(sample("honest.trace"), &file).expect("copies");
    let path = file.to_str().expect("a text");
    let url = format!("file://{}", path.replace(' ', "%20"));
    assert_eq!(place.run(&["show", &url]).to_string(), place.run(&["show", path]).to_string());
}

#[test]
fn a_growing_bundle_is_copied() {
    let place = Place::new();
    let options = WriterOptions { form: Form::Packed, ..WriterOptions::default() };
    let writer = TraceRoot::new(place.path("traces"), options).start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    let session = LiveSession {
        children: 1,
        steps: 3,
        output_bytes: 100,
        model_latency: Duration::ZERO,
        command_latency: Duration::ZERO,
    };
    run(&writer, &session, &|| ());
    writer.flush().expect("writes");
    let file = place.path("honest.trace");
    fs::copy(writer.path().expect("is enabled"), &file).expect("copies");
    let path = file.to_str().expect("a text");
    let far = lending(&place, &file, &["show", ADDRESS], &[]);
    assert_eq!(far.to_string(), place.run(&["show", path]).to_string().replace(path, ADDRESS));
    assert_eq!(far.code, 0, "{far}");
}
