//! The clients of `samples/clients` against the built program, and the types for Python that one of them uses.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

use crate::{ONE_AT_A_TIME, TRACE, run};

/// Runs a client of `samples/clients` with a prompt whose command needs an approval, and answers with a line.
fn ask(client: &mut Command, answer: &str) -> String {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().expect("a directory");
    let script = r#"RUN [[{"say":"Let me look.","phase":"commentary"},{"call":"exec_command","args":{"cmd":"echo $((6*7))"}}],[{"say":"Done."}]]"#;
    let mut client = client
        .env("TRACE_HOME", place.path().join("home"))
        .env("HOME", place.path())
        .args(["--server", &format!("'{TRACE}' serve --provider scripted -c approval_policy=untrusted"), "--cwd"])
        .arg(place.path())
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client starts");
    client.stdin.take().expect("a pipe").write_all(answer.as_bytes()).expect("writes");
    let output = client.wait_with_output().expect("the client ends");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// Holds what a client prints against the turn that it ran.
fn check_sample_client(client: &dyn Fn() -> Command) {
    let allowed = ask(&mut client(), "y\n");
    for text in ["Let me look.\n? run `", "[completed, exit code 0]\n  42\n", "Done.\nturn completed\n"] {
        assert!(allowed.contains(text), "{text:?} is missing:\n{allowed}");
    }
    let declined = ask(&mut client(), "n\n");
    assert!(declined.contains("[declined, exit code "), "{declined}");
    assert!(!declined.contains("42"), "{declined}");
}

fn samples() -> PathBuf {
    trace_needs::repository().join("samples/clients")
}

#[test]
fn the_sample_client_in_python_works() {
    let what = "the sample client in Python is not run";
    let Some(python) = trace_needs::python(&["typing"], what) else { return };
    check_sample_client(&|| {
        let mut client = Command::new(&python);
        client.env("PYTHONDONTWRITEBYTECODE", "1").arg(samples().join("python/client.py"));
        client
    });
}

#[test]
fn types_for_python_are_those_of_the_schema() {
    let what = "types for Python are not made and checked";
    let Some(python) = trace_needs::python(&["mypy"], what) else { return };
    let docs = trace_needs::repository().join("docs/protocol");
    let mut generate = Command::new(&python);
    let made = generate.arg(docs.join("python/generate.py")).arg(docs.join("schema.stable.json")).output();
    let made = made.expect("Python starts");
    let kept = std::fs::read(docs.join("python/trace_protocol.py")).expect("reads");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(made.stdout == kept, "make docs/protocol/python/trace_protocol.py again, as its first line says");
    let cache = tempfile::tempdir().expect("a directory");
    let mut mypy = Command::new(&python);
    mypy.env("MYPYPATH", docs.join("python"));
    mypy.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache.path());
    run(mypy.args([docs.join("python"), samples().join("python/client.py")]));
}

#[test]
fn the_sample_client_in_typescript_works() {
    let what = "the sample client in TypeScript is not compiled and run";
    let Some(node) = trace_needs::node(what) else { return };
    let Some(modules) = trace_needs::node_modules(&["typescript", "@types/node"], what) else { return };
    let folder = tempfile::tempdir().expect("a directory");
    let compile = |options: &[&str]| {
        let mut compiler = Command::new(&node);
        compiler.arg(modules.join("typescript/bin/tsc")).arg("-p").arg(samples().join("typescript"));
        run(compiler.arg("--typeRoots").arg(modules.join("@types")).args(options));
    };
    compile(&[]);
    let folder_name = folder.path().to_str().expect("UTF-8");
    compile(&["--noEmit", "false", "--noCheck", "--noResolve", "--outDir", folder_name]);
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("writes");
    check_sample_client(&|| {
        let mut client = Command::new(&node);
        client.arg(folder.path().join("client.js"));
        client
    });
}
