//! `trace prune`.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::support::{Place, Session};

/// Records a session that ended `days` before the test.
fn session(place: &Place, name: &str, days: u64) {
    let ago = SystemTime::now() - Duration::from_secs(days * 86_400 + 60);
    let started = ago.duration_since(SystemTime::UNIX_EPOCH).expect("after it").as_millis() as i64 - 2000;
    Session::begin(&place.path(name), started).end(RolloutStatus::Completed);
    age(&place.path(name), ago);
}

fn age(path: &Path, time: SystemTime) {
    for entry in fs::read_dir(path).expect("lists").map(|entry| entry.expect("an entry")) {
        if entry.file_type().expect("a kind").is_dir() {
            age(&entry.path(), time);
        } else if entry.file_type().expect("a kind").is_file() {
            let file = File::options().append(true).open(entry.path()).expect("opens");
            file.set_modified(time).expect("sets the time");
        }
    }
}

fn bundles() -> Place {
    let place = Place::new();
    for (name, days) in [("root/new", 1), ("root/below/old", 40), ("root/older", 50), ("root/oldest", 60)] {
        session(&place, name, days);
    }
    place
}

/// Runs the command, and replaces times in its output.
fn run(place: &Place, arguments: &[&str]) -> String {
    let shown = place.run(arguments).to_string();
    let is_moment = |line: &str| line.get(4..5) == Some("-") && line.get(13..14) == Some(":");
    let lines =
        shown.lines().map(|line| if is_moment(line) { format!("(time){}", &line[19..]) } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_deleted_without_being_asked_for() {
    let place = bundles();
    let before = place.names("root");
    assert_snapshot!(run(&place, &["prune", "root", "--keep-days", "45"]), @r#"
    LAST USED            SIZE   VERDICT  BUNDLE
    (time)  778 B  too old  root/oldest
    (time)  778 B  too old  root/older
    (time)  778 B  stays    root/below/old
    (time)  778 B  stays    root/new
    would delete 2 of 4 bundles, 1.6 kB of 3.1 kB
    --delete deletes them
    "#);
    assert_snapshot!(run(&place, &["prune", "root", "--max-size", "1.5k"]), @r#"
    LAST USED            SIZE   VERDICT   BUNDLE
    (time)  778 B  too much  root/oldest
    (time)  778 B  too much  root/older
    (time)  778 B  too much  root/below/old
    (time)  778 B  stays     root/new
    would delete 3 of 4 bundles, 2.3 kB of 3.1 kB
    --delete deletes them
    "#);
    assert_snapshot!(run(&place, &["prune", "root", "--max-size", "1k", "--keep-days", "8w"]), @r#"
    LAST USED            SIZE   VERDICT   BUNDLE
    (time)  778 B  too old   root/oldest
    (time)  778 B  too much  root/older
    (time)  778 B  too much  root/below/old
    (time)  778 B  stays     root/new
    would delete 3 of 4 bundles, 2.3 kB of 3.1 kB
    --delete deletes them
    "#);
    assert_snapshot!(run(&place, &["prune", "root", "--max-size", "1G"]), @r#"
    LAST USED            SIZE   VERDICT  BUNDLE
    (time)  778 B  stays    root/oldest
    (time)  778 B  stays    root/older
    (time)  778 B  stays    root/below/old
    (time)  778 B  stays    root/new
    would delete 0 of 4 bundles, 0 B of 3.1 kB
    "#);
    assert_eq!((place.names("root"), place.names("root/below")), (before, vec!["old".to_owned()]));
}

#[test]
fn what_is_asked_for_is_deleted() {
    let place = bundles();
    fs::create_dir(place.path("root/.pruned-half")).expect("creates");
    fs::write(place.path("root/.pruned-half/trace.jsonl"), "").expect("writes");
    // What a killed process left, and what somebody is writing.
    for (name, minutes) in [(".gone.trace.tmp", 11), (".written.trace.tmp", 1)] {
        let file = File::create(place.path("root").join(name)).expect("creates");
        file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).expect("is set");
    }
    fs::write(place.path("root/notes.txt"), "").expect("writes");
    fs::create_dir(place.path("root/no-bundle")).expect("creates");
    assert_snapshot!(run(&place, &["prune", "root", "--keep-days", "45", "--delete"]), @r#"
    LAST USED            SIZE   VERDICT  BUNDLE
    (time)  778 B  too old  root/oldest
    (time)  778 B  too old  root/older
    (time)  778 B  stays    root/below/old
    (time)  778 B  stays    root/new
    root/.gone.trace.tmp, left by an earlier run, is deleted
    root/.pruned-half, left by an earlier run, is deleted
    deleted 2 of 4 bundles, 1.6 kB of 3.1 kB
    "#);
    let unfinished = place.path("root/.written.trace.tmp");
    assert!(unfinished.exists(), "somebody may be writing it");
    fs::remove_file(unfinished).expect("removes");
    assert_eq!(place.names("root"), ["below", "new", "no-bundle", "notes.txt"]);
    let output = place.command(&["prune", "--keep-days", "0", "--delete"]).env("TRACE_ROOT", "root").output();
    assert!(output.expect("runs").status.success());
    assert_eq!(place.names("root"), ["below", "no-bundle", "notes.txt"]);
    assert_snapshot!(run(&place, &["prune", "root", "--keep-days", "0"]), @r#"
    no bundles below root
    would delete 0 of 0 bundles, 0 B of 0 B
    "#);
}

#[test]
fn what_must_not_go_stays() {
    let place = bundles();
    let lock = File::create(place.path("root/oldest/recorder.json")).expect("creates");
    lock.lock().expect("locks");
    lock.set_modified(SystemTime::now() - Duration::from_secs(86_400 * 60)).expect("sets the time");
    fs::write(place.path("root/older/diary.txt"), "mine").expect("writes");
    fs::write(place.path("root/new/payloads/7.json"), "{}").expect("writes");
    let arguments = ["prune", "root", "--keep-days", "0", "--delete"];
    assert_snapshot!(run(&place, &arguments), @r#"
    LAST USED            SIZE   VERDICT    BUNDLE
    (time)  778 B  protected  root/oldest     is being recorded
    (time)  778 B  protected  root/older      contains diary.txt, which belongs to no bundle
    (time)  778 B  too old    root/below/old
    (time)  780 B  protected  root/new        was written to a moment ago
    deleted 1 of 4 bundles, 778 B of 3.1 kB
    "#);
    assert_eq!(place.names("root"), ["below", "new", "older", "oldest"]);
    assert_snapshot!(run(&place, &["prune", "root", "--keep-days", "0", "--delete", "--force"]), @r#"
    LAST USED            SIZE   VERDICT    BUNDLE
    (time)  778 B  protected  root/oldest  is being recorded
    (time)  778 B  too old    root/older
    (time)  780 B  protected  root/new     was written to a moment ago
    deleted 1 of 3 bundles, 778 B of 2.3 kB
    "#);
    assert_eq!(place.names("root"), ["below", "new", "oldest"]);
}

#[test]
fn a_bundle_without_an_end_stays_for_a_day() {
    let place = Place::new();
    for (name, hours) in [("root/idle", 2), ("root/dead", 25)] {
        drop(Session::begin(&place.path(name), 1));
        age(&place.path(name), SystemTime::now() - Duration::from_secs(hours * 3600));
    }
    let shown = run(&place, &["prune", "root", "--keep-days", "0", "--delete"]);
    assert!(shown.contains("protected  root/idle  has no end; may go from "), "{shown}");
    assert_eq!(place.names("root"), ["idle"]);
    let json = place.run(&["prune", "root", "--keep-days", "0", "--delete", "--json"]);
    let outcome: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&outcome["bundles"][0]["protection"], &outcome["bytes_deleted"]), (&"no_end".into(), &0.into()));
    let shown = run(&place, &["prune", "root", "--keep-days", "0", "--delete", "--force"]);
    assert!(shown.contains("deleted 1 of 1 bundle"), "{shown}");
    assert!(place.names("root").is_empty());
}

#[test]
#[cfg(unix)]
fn a_link_that_is_named_is_told() {
    let place = bundles();
    std::os::unix::fs::symlink(place.path("root/oldest"), place.path("link")).expect("links");
    let shown = run(&place, &["prune", "link", "--keep-days", "0", "--delete", "--force"]);
    assert!(shown.contains("protected  link    is a symbolic link; name the bundle itself"), "{shown}");
    assert!(place.path("root/oldest").exists());
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    let place = bundles();
    session(&place, "elsewhere/bundle", 100);
    fs::write(place.path("elsewhere/precious"), "mine").expect("writes");
    std::os::unix::fs::symlink(place.path("elsewhere/bundle"), place.path("root/link")).expect("links");
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("root/oldest/payloads/link")).expect("links");
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("root/.pruned-link")).expect("links");
    assert_snapshot!(run(&place, &["prune", "root", "--keep-days", "45", "--delete"]), @r#"
    LAST USED            SIZE   VERDICT    BUNDLE
    (time)  778 B  protected  root/oldest     contains link, which belongs to no bundle
    (time)  778 B  too old    root/older
    (time)  778 B  stays      root/below/old
    (time)  778 B  stays      root/new
    deleted 1 of 4 bundles, 778 B of 3.1 kB
    "#);
    assert_eq!(
        run(&place, &["prune", "root", "--keep-days", "45", "--delete", "--force"]).matches("too old").count(),
        1
    );
    assert_eq!(place.names("root"), [".pruned-link", "below", "link", "new"]);
    assert_eq!(place.names("elsewhere"), ["bundle", "precious"]);
    assert_eq!(place.names("elsewhere/bundle"), ["manifest.json", "payloads", "trace.jsonl"]);
}

#[test]
fn json_has_the_decisions() {
    let place = bundles();
    let ran = place.run(&["prune", "root/older", "--keep-days", "45", "--json", "--delete"]);
    let mut outcome: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(outcome["bundles"][0]["last_used_unix_ms"].take().is_i64());
    assert_snapshot!(format!("{outcome:#}"), @r#"
    {
      "dry_run": false,
      "bytes": 778,
      "bytes_going": 778,
      "bytes_deleted": 778,
      "bundles": [
        {
          "bundle": "root/older",
          "last_used_unix_ms": null,
          "bytes": 778,
          "verdict": "too_old",
          "protection": null,
          "protection_message": null,
          "deleted": true,
          "problem": null
        }
      ],
      "leftovers": []
    }
    "#);
    assert!(!place.path("root/older").exists());
}

#[test]
fn rules_are_wanted() {
    let place = bundles();
    assert_snapshot!(place.run(&["prune", "root"]), @r#"
    --- stderr
    error: neither --keep-days nor --max-size is given
    hint: `trace prune FOLDER --keep-days 30` shows what is older than 30 days
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["prune", "--keep-days", "1"]), @r#"
    --- stderr
    error: no folder is given, TRACE_ROOT and CODEX_ROLLOUT_TRACE_ROOT are not set, and nothing was recorded in the server home
    hint: `trace prune FOLDER`, or set TRACE_ROOT to the folder that holds your bundles
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["prune", "root", "--keep-days", "soon"]), @r#"
    --- stderr
    error: invalid value 'soon' for '--keep-days <DAYS>': expected an age such as 30d, 12h or 2w; a plain number is days

    For more information, try '--help'.
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["prune", "root", "--max-size", "much"]), @r#"
    --- stderr
    error: invalid value 'much' for '--max-size <SIZE>': expected a size such as 500M, 2G or 1.5GiB

    For more information, try '--help'.
    --- exit code 2
    "#);
    assert_eq!(place.run(&["prune", "none", "--keep-days", "1"]).code, 1);
}
