//! `trace fleet show`, `why` and `view` with the address of a session: what `trace` is started with.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::fixture::{repository, text, vary};

/// A folder with the program and, beside it, a `trace` that keeps what it is given.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn new(has_trace: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("trace-fleet");
        let built = env!("CARGO_BIN_EXE_trace-fleet");
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("the program");
        if has_trace {
            let kept = text(folder.path());
            let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{kept}/given'\nexit 7\n");
            let trace = folder.path().join("trace");
            fs::write(&trace, script).expect("writes");
            fs::set_permissions(&trace, fs::Permissions::from_mode(0o755)).expect("may run");
        }
        Self { folder, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str], options: &[(String, String)]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("TMPDIR", self.path("temporary"));
        fs::create_dir_all(self.path("temporary")).expect("a folder");
        for (name, value) in options {
            command.env(name.to_uppercase(), value);
        }
        command.output().expect("starts")
    }

    /// The arguments that `trace` was started with.
    fn given(&self) -> Vec<String> {
        let given = fs::read_to_string(self.path("given")).expect("it was started");
        given.lines().map(str::to_owned).collect()
    }
}

fn bundle(at: &Path) {
    vary(&repository().join("samples/one-agent"), at, 0);
}

#[test]
fn a_session_on_disk_is_opened_where_it_lies() {
    for (command, rest) in
        [("show", vec!["--json", "-v"]), ("why", vec!["--text", "permission denied"]), ("view", vec!["-o", "x.html"])]
    {
        let place = Place::new(true);
        let path = place.path("a session");
        bundle(&path);
        let url = format!("file://{}", text(&path).replace(' ', "%20"));
        for address in [text(&path), &url] {
            let output = place.run(&[&[command, address], rest.as_slice()].concat(), &[]);
            assert_eq!(output.status.code(), Some(7), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(place.given(), [&[command, text(&path)], rest.as_slice()].concat(), "{command}");
        }
    }
}

#[test]
fn a_session_in_object_storage_is_named_by_its_address() {
    let place = Place::new(true);
    let address = "s3://bucket/sessions/one.trace";
    let output = place.run(&["view", "--open", "--port", "8123", address, "--embed", "1M"], &[]);
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(place.given(), ["view", address, "--open", "--port", "8123", "--embed", "1M"]);
}

#[test]
fn what_is_missing_is_told() {
    let place = Place::new(false);
    let output = place.run(&["show", "/nowhere"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("trace cannot be started") && told.contains("hint: put `trace` beside `trace-fleet`"),
        "{told}"
    );
    let neither = place.run(&["view"], &[]);
    assert_eq!(neither.status.code(), Some(2), "{}", String::from_utf8_lossy(&neither.stderr));
    let no_lake = place.run(&["view", "--lake", text(&place.path("nothing"))], &[]);
    assert_eq!(no_lake.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&no_lake.stderr).contains("there is no lake at"));
    assert!(!place.path("nothing").exists(), "looking at a lake makes no folder");
}
