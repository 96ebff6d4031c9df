//! Runs `tests/browser/page.mjs`, which opens the page of a lake in headless Chromium.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::fixture::{ask, batches_of, csv, ingest, open, repository, runtime, sessions, text, vary};

/// Renames the teams and prompts of a session to texts that attack the reader.
fn hostile(root: &Path) {
    let from = root.join("plain");
    vary(&repository().join("samples/one-agent"), &from, 1);
    for (number, team) in
        ["<img src=x onerror=alert(1)>", "x\u{202e}y", "{{constructor}}", "' OR 1=1 --"].iter().enumerate()
    {
        let to = root.join(format!("sessions/team={team}"));
        std::fs::create_dir_all(&to).expect("a folder");
        vary(&from, &to.join(format!("session-{number}")), 2 + number);
    }
}

#[test]
fn the_page_of_a_lake_works_in_a_browser() {
    let what = "the page of a lake is not opened in a browser";
    let (Some(node), Some(chromium)) = (trace_needs::node(what), trace_needs::browser(what)) else { return };
    let Some(modules) = trace_needs::node_modules(&["playwright-core", "axe-core"], what) else { return };
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    sessions(&folder.path().join("sessions"), 40);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &folder.path().join("sessions"), batches_of(20), runtime.handle());
    hostile(&folder.path().join("of-strangers"));
    let strange = open(&runtime, text(&folder.path().join("strange")));
    ingest(&strange, &folder.path().join("of-strangers/sessions"), batches_of(20), runtime.handle());
    let number = |sql: &str| -> u64 {
        let answer = csv(&ask(&lake, &runtime, sql));
        answer.lines().nth(1).and_then(|line| line.parse().ok()).expect("a number")
    };
    let counts = json!({
        "sessions": number("SELECT count(*) AS n FROM sessions"),
        "failures": number("SELECT count(*) AS n FROM failures"),
        "red": number("SELECT count(*) AS n FROM sessions WHERE team = 'red'"),
    });
    let setup = json!({
        "trace": env!("CARGO_BIN_EXE_trace-fleet"),
        "chromium": chromium,
        "modules": modules,
        "place": folder.path(),
        "bundles": {},
        "files": {},
        "lake": folder.path().join("lake"),
        "hostile": folder.path().join("strange"),
        "prices": repository().join("samples/prices.toml"),
        "answers": { "counts": counts },
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/page.mjs");
    let ran = Command::new(node)
        .arg("--test-reporter=spec")
        .arg(&script)
        .env("TRACE_BROWSER_TEST", setup.to_string())
        .env("TZ", "UTC")
        .env("NO_COLOR", "1")
        .output()
        .expect("runs node");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}:\n{told}\n{}", script.display(), String::from_utf8_lossy(&ran.stderr));
}
