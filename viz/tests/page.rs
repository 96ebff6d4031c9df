//! Runs the tests of the modules of all pages with Node, if it is installed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_modules_of_the_page_do_what_their_tests_say() {
    run("tests/page");
}

#[test]
fn the_modules_of_the_web_client_do_what_their_tests_say() {
    run("tests/client");
}

#[test]
fn the_modules_of_the_page_of_a_lake_do_what_their_tests_say() {
    run("tests/fleet");
}

fn run(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut tests: Vec<OsString> = fs::read_dir(&folder)
        .expect("lists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .map(Into::into)
        .collect();
    tests.sort();
    assert!(!tests.is_empty(), "there are tests");
    let Some(node) = trace_needs::node("the modules of the page are not tested") else { return };
    let output = Command::new(node).arg("--test").args(&tests).output().expect("node runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
