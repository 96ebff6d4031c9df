//! `trace pack`, `trace unpack`, and packed bundles everywhere else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;

use crate::support::{Place, START, Session, tear, troubled, well};

fn bundles() -> Place {
    let place = Place::new();
    well(&place.path("root/well"), START);
    troubled(&place.path("root/below/troubled"));
    place
}

/// Returns the content of a directory.
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("lists") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below").to_owned();
            if path.is_dir() {
                found.insert(name, None);
                pending.push(path);
            } else {
                found.insert(name, Some(fs::read(&path).expect("reads")));
            }
        }
    }
    found
}

/// Runs a command, and replaces the sizes that depend on the version of the compressor.
fn run(place: &Place, arguments: &[&str]) -> String {
    let ran = place.run(arguments).to_string();
    ran.lines()
        .map(|line| {
            if line.contains(".trace") || line.ends_with("in all") { hide_sizes(line) } else { line.to_owned() + "\n" }
        })
        .collect()
}

fn hide_sizes(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // FILES BYTES UNIT PACKED UNIT RATIO FILE
    if words.len() >= 7 && words[0].chars().all(|c| c.is_ascii_digit()) {
        (words[3], words[5]) = ("_", "_");
        return words.join(" ") + "\n";
    }
    line.to_owned() + "\n"
}

#[test]
fn a_bundle_comes_back_as_it_was() {
    let place = bundles();
    let before = tree(&place.path("root/well"));
    assert_eq!(place.run(&["reduce", "root/well", "-q"]).code, 0);
    fs::create_dir(place.path("root/well/empty")).expect("creates");
    assert_snapshot!(run(&place, &["pack", "root/well"]), @r"
    FILES  BYTES   PACKED  RATIO  FILE
    4 3.0 kB _ B _ root/well.trace
    ");
    assert_snapshot!(run(&place, &["unpack", "root/well.trace", "-o", "copy"]), @"copy: 4 files, 3.0 kB");
    let mut after = tree(&place.path("copy"));
    assert_eq!(after.remove(Path::new("empty")), Some(None), "an empty directory comes back");
    assert!(after == before, "and everything else but state.json");
    assert_snapshot!(run(&place, &["unpack", "root/well.trace"]), @r"
    --- stderr
    error: root/well.trace: root/well exists already
    hint: -o names another place; an existing directory is never touched
    --- exit code 1
    ");
    assert_eq!(place.names("root"), ["below", "well", "well.trace"]);
}

#[test]
#[cfg(unix)]
fn what_is_written_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let place = bundles();
    assert_eq!(place.run(&["pack", "root/well", "-o", "one.trace", "-q"]).code, 0);
    assert_eq!(place.run(&["unpack", "one.trace", "-q"]).code, 0);
    let mode = |name: &str| fs::metadata(place.path(name)).expect("is there").permissions().mode() & 0o777;
    assert_eq!([mode("one.trace"), mode("one/manifest.json"), mode("one/payloads/1.json")], [0o600; 3]);
    assert_eq!([mode("one"), mode("one/payloads")], [0o700; 2]);
}

#[test]
fn a_folder_of_bundles_is_packed_once() {
    let place = bundles();
    assert_snapshot!(run(&place, &["pack", "root", "-o", "archive"]), @r"
    FILES  BYTES   PACKED  RATIO  FILE
    13 11 kB _ kB _ archive/troubled.trace
    4 3.0 kB _ B _ archive/well.trace
    17 14 kB _ kB _ in all
    ");
    assert_eq!(place.names("archive"), ["troubled.trace", "well.trace"]);
    assert_snapshot!(run(&place, &["pack", "root", "-o", "archive"]), @r"
    --- stderr
    error: root/below/troubled: archive/troubled.trace exists already
    hint: --force overwrites it; -o names another place
    error: root/well: archive/well.trace exists already
    --- exit code 1
    ");
    assert_eq!(place.run(&["pack", "root", "-o", "archive", "--force"]).code, 0);
    assert_snapshot!(run(&place, &["unpack", "archive", "-o", "again/"]), @r"
    again/troubled: 13 files, 11 kB
    again/well: 4 files, 3.0 kB
    ");
    assert!(tree(&place.path("again/troubled")) == tree(&place.path("root/below/troubled")));
    assert_snapshot!(run(&place, &["pack", "archive/well.trace"]), @r"
    --- stderr
    error: archive/well.trace is already packed
    --- exit code 1
    ");
}

#[test]
fn what_is_there_is_not_overwritten() {
    let place = bundles();
    fs::write(place.path("notes"), "mine").expect("writes");
    assert_snapshot!(run(&place, &["pack", "root/well", "-o", "notes", "--force"]), @r"
    --- stderr
    error: root/well: notes is not a packed bundle and is not overwritten
    --- exit code 1
    ");
    assert_eq!(place.read("notes"), "mine");
    assert_eq!(place.run(&["pack", "root/well", "-q"]).code, 0);
    let before = tree(&place.path("root"));
    assert_snapshot!(run(&place, &["reduce", "root/well", "-o", "root/well.trace"]), @r"
    --- stderr
    error: root/well.trace belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    ");
    assert!(tree(&place.path("root")) == before);
    assert_snapshot!(run(&place, &["pack", "root/well", "-o", "root/well/payloads/1.trace"]), @r"
    --- stderr
    error: root/well/payloads/1.trace would be inside the bundle that is packed
    hint: -o names another place
    --- exit code 1
    ");
    assert_snapshot!(run(&place, &["pack", "root/well", "root/below/troubled", "-o", "notes"]), @r"
    --- stderr
    error: -o notes is a file, but several bundles are to be packed
    hint: name a directory, or leave -o out
    --- exit code 2
    ");
    well(&place.path("other/well"), START);
    assert_snapshot!(run(&place, &["pack", "root", "other", "-o", "archive"]), @r"
    FILES  BYTES   PACKED  RATIO  FILE
    13 11 kB _ kB _ archive/troubled.trace
    4 3.0 kB _ B _ archive/root/well.trace
    4 3.0 kB _ B _ archive/other/well.trace
    21 17 kB _ kB _ in all
    ");
}

#[test]
fn the_source_is_deleted_only_when_it_is_safe() {
    let place = bundles();
    assert_eq!(place.run(&["reduce", "root/well", "-q"]).code, 0);
    let before = tree(&place.path("root/below/troubled"));
    assert_snapshot!(run(&place, &["pack", "--delete-source", "root"]), @r"
    FILES  BYTES   PACKED  RATIO  FILE
    13 11 kB _ kB _ root/below/troubled.trace
    4 3.0 kB _ B _ root/well.trace
    17 14 kB _ kB _ in all
    ");
    assert_eq!(place.names("root"), ["below", "well.trace"]);
    assert_eq!(place.names("root/below"), ["troubled.trace"]);
    assert_eq!(place.run(&["unpack", "root/below/troubled.trace", "-q"]).code, 0);
    assert!(tree(&place.path("root/below/troubled")) == before);
    // A bundle that cannot be packed is not deleted.
    fs::write(place.path("root/below/troubled/recorder.json"), "{}").expect("writes");
    let lock = File::open(place.path("root/below/troubled/recorder.json")).expect("opens");
    lock.lock().expect("locks");
    let arguments = ["pack", "--delete-source", "--force", "root/below/troubled"];
    assert_snapshot!(run(&place, &arguments), @r"
    --- stderr
    error: root/below/troubled is being recorded
    hint: pack it when its session has ended
    --- exit code 1
    ");
    // A process that another test is starting may still have inherited the open file.
    lock.unlock().expect("unlocks");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("manifest.json", place.path("root/below/troubled/link")).expect("links");
        assert_snapshot!(run(&place, &arguments), @r"
        --- stderr
        error: root/below/troubled/link is neither a plain file nor a directory
        hint: a bundle has only plain files; move this one away to pack the rest
        --- exit code 1
        ");
        fs::remove_file(place.path("root/below/troubled/link")).expect("removes");
    }
    fs::remove_file(place.path("root/below/troubled/recorder.json")).expect("removes");
    assert!(tree(&place.path("root/below/troubled")) == before);
    assert_eq!(place.run(&arguments).code, 0);
    assert_eq!(place.names("root/below"), ["troubled.trace"]);
}

#[test]
fn a_session_that_seems_to_go_on_is_not_deleted() {
    let place = Place::new();
    drop(Session::begin(&place.path("live"), START));
    let written = SystemTime::now() - Duration::from_secs(86_000);
    let log = place.path("live/trace.jsonl");
    File::open(&log).and_then(|log| log.set_modified(written)).expect("sets the time");
    let refused = run(&place, &["pack", "--delete-source", "live"]);
    assert!(refused.contains("error: live has no end and is not deleted before 20"), "{refused}");
    assert!(refused.contains("without --delete-source, the events so far are packed"), "{refused}");
    // A bundle whose log is empty or missing is not deleted either.
    fs::write(&log, "").expect("writes");
    assert!(run(&place, &["pack", "--delete-source", "live"]).contains("has no end"));
    fs::remove_file(&log).expect("removes");
    assert!(run(&place, &["pack", "--delete-source", "live"]).contains("has no end"));
    assert_eq!(place.names("."), ["live"]);
    assert_eq!(place.run(&["pack", "live", "-q"]).code, 0);
    fs::write(&log, "").expect("writes");
    File::open(&log).and_then(|log| log.set_modified(written - Duration::from_secs(1000))).expect("sets the time");
    assert_eq!(place.run(&["pack", "--delete-source", "--force", "live", "-q"]).code, 0);
    assert_eq!(place.names("."), ["live.trace"]);
}

#[test]
fn every_command_reads_packed_bundles() {
    let place = bundles();
    tear(&place.path("root/well"), 10);
    assert_eq!(place.run(&["reduce", "root", "-q"]).code, 0);
    for name in ["well", "below/troubled"] {
        let (directory, file) = (format!("root/{name}"), format!("root/{name}.trace"));
        let shown = place.run(&["show", "--json", &directory]).stdout;
        let state = place.read(&format!("{directory}/state.json"));
        assert_eq!(place.run(&["pack", "--delete-source", "-q", &directory]).code, 0);
        assert_eq!(place.run(&["show", "--json", &file]).stdout, shown.replace(&directory, &file));
        assert_eq!(place.run(&["reduce", "-q", &file, "-o", "-"]).stdout.trim_end(), state.trim_end());
    }
    assert_snapshot!(run(&place, &["reduce", "root/below"]), @r"
    root/below/troubled.state.json: 4 threads, 4 turns, 5 items, 2 tools, 0 edges, 1 note
    --- stderr
    note[message_undelivered] seq 24: agent_result from /root/b/c to /root/b never arrived
    ");
    let bundle = place.names("root/below");
    assert_eq!(bundle, ["troubled.state.json", "troubled.trace"]);
    assert_snapshot!(run(&place, &["ls", "root"]), @r"
    STARTED              STATUS     LOG     PAYLOADS  STATE  KIND    BUNDLE
    2025-01-02 03:04:05  failed     8.7 kB        11  fresh  packed  root/below/troubled.trace
    2025-01-02 03:04:05  completed  2.2 kB         2  -      packed  root/well.trace            its last line is incomplete
    ");
    let listed: serde_json::Value = serde_json::from_str(&place.run(&["ls", "--json", "root"]).stdout).expect("JSON");
    assert_eq!((&listed[0]["packed"], &listed[0]["payload_files"]), (&true.into(), &11.into()));
}

#[test]
fn damage_is_told_and_the_rest_is_read() {
    let place = bundles();
    assert_eq!(place.run(&["pack", "root/well", "-o", "one.trace", "-q"]).code, 0);
    let path = place.path("one.trace");
    let bytes = fs::read(&path).expect("reads");
    let packed = trace_recorder::pack::PackedBundle::open(&path).expect("opens");
    let in_payloads = packed.index_offset() as usize - 1;
    let mut damaged = bytes.clone();
    damaged[in_payloads] ^= 1;
    fs::write(&path, &damaged).expect("writes");
    let told = place.run(&["reduce", "one.trace", "-o", "one.json"]).to_string();
    assert!(told.contains("error[payload_invalid]") && told.contains("block 1 of one.trace"), "{told}");
    assert!(place.run(&["show", "one.trace"]).code == 0);
    let told = place.run(&["unpack", "one.trace"]);
    assert!(told.code == 1 && told.stderr.contains("error: block 1 of one.trace"), "{told}");
    assert_eq!(place.names("."), ["one.json", "one.trace", "root"], "nothing is left of it");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("writes");
    assert_snapshot!(run(&place, &["show", "one.trace"]), @r"
    --- stderr
    error: the end of one.trace is damaged: it does not end as a packed bundle does; it was cut, or something was appended; its index is lost
    --- exit code 1
    ");
    assert_snapshot!(run(&place, &["ls", "."]), @r"
    STARTED              STATUS      LOG     PAYLOADS  STATE  KIND    BUNDLE
    2025-01-02 03:04:05  failed      8.7 kB        11  -      -       ./root/below/troubled
    2025-01-02 03:04:05  completed   2.2 kB         2  -      -       ./root/well
                         unreadable                 0  -      packed  ./one.trace            the end of ./one.trace is damaged: it does not end as a packed bundle does; it was cut, or somethin…
    ");
    assert_snapshot!(run(&place, &["unpack", "one.trace", "root/well/manifest.json", "none"]), @r"
    --- stderr
    error: the end of one.trace is damaged: it does not end as a packed bundle does; it was cut, or something was appended; its index is lost
    error: root/well/manifest.json is not a packed bundle
    hint: `trace pack` makes packed bundles
    error: cannot read none: No such file or directory (os error 2)
    hint: `trace ls ROOT` lists the bundles below a folder
    --- exit code 1
    ");
    fs::write(&path, &bytes).expect("writes");
    assert_snapshot!(run(&place, &["unpack", "one.trace", "--max-size", "1kB"]), @r"
    --- stderr
    error: one.trace holds 3026 bytes, more than the 1000 that may be written
    hint: --max-size allows more
    --- exit code 1
    ");
}

#[test]
fn a_pack_that_is_there_is_compared_before_the_source_goes() {
    let place = bundles();
    assert_eq!(place.run(&["pack", "root/well", "-q"]).code, 0);
    let packed = fs::read(place.path("root/well.trace")).expect("reads");
    let before = tree(&place.path("root/well"));
    // The same paths with other content.
    fs::write(place.path("root/well/payloads/1.json"), "{}").expect("writes");
    let arguments = ["pack", "--delete-source", "root/well"];
    assert_snapshot!(run(&place, &arguments), @r"
    --- stderr
    error: root/well.trace exists already and has other content: root/well/payloads/1.json differs from its copy in the packed bundle
    hint: --force overwrites it, if it has no file that the bundle lacks; -o names another place
    --- exit code 1
    ");
    // A remnant of the bundle, as an interrupted deletion leaves it.
    fs::remove_file(place.path("root/well/payloads/1.json")).expect("removes");
    assert_snapshot!(run(&place, &["pack", "--delete-source", "--force", "root/well"]), @r"
    --- stderr
    error: root/well.trace contains payloads/1.json, which the bundle lacks
    hint: its content would be lost; -o names another place
    --- exit code 1
    ");
    assert!(fs::read(place.path("root/well.trace")).expect("reads") == packed);
    let payload = before[Path::new("payloads/1.json")].as_ref().expect("a file");
    fs::write(place.path("root/well/payloads/1.json"), payload).expect("writes");
    assert_eq!(place.run(&arguments).code, 0);
    assert_eq!(place.names("root"), ["below", "well.trace"]);
    assert!(fs::read(place.path("root/well.trace")).expect("reads") == packed);
    assert_eq!(place.run(&["unpack", "root/well.trace", "-q"]).code, 0);
    assert!(tree(&place.path("root/well")) == before);
}

#[test]
fn bundles_of_one_name_come_back_under_their_names() {
    let place = bundles();
    well(&place.path("root/other/well"), START);
    assert_eq!(place.run(&["pack", "root", "-o", "archive", "-q"]).code, 0);
    assert_snapshot!(run(&place, &["unpack", "archive", "-o", "undone"]), @r"
    undone/other/well: 4 files, 3.0 kB
    undone/root/well: 4 files, 3.0 kB
    undone/troubled: 13 files, 11 kB
    ");
    assert!(tree(&place.path("undone/other/well")) == tree(&place.path("root/other/well")));
}

#[test]
fn ages_survive() {
    let place = bundles();
    let log = place.path("root/well/trace.jsonl");
    let then = std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    File::options().write(true).open(&log).and_then(|log| log.set_modified(then)).expect("sets");
    assert_eq!(place.run(&["pack", "root/well", "-o", "one.trace", "-q"]).code, 0);
    assert_eq!(place.run(&["unpack", "one.trace", "-q"]).code, 0);
    for name in ["one.trace", "one/trace.jsonl", "one/payloads/1.json"] {
        let modified = fs::metadata(place.path(name)).and_then(|metadata| metadata.modified()).expect("is there");
        assert_eq!(modified, then, "{name}");
    }
}

#[test]
fn places_that_cannot_be_meant_are_refused() {
    let place = bundles();
    assert_snapshot!(run(&place, &["pack", "root", "-o", "-"]), @r"
    --- stderr
    error: the output cannot be stdout
    hint: -o ./- names a file or directory called -
    --- exit code 2
    ");
    assert_eq!(place.run(&["unpack", "root", "-o", "-"]).code, 2);
    assert_snapshot!(run(&place, &["pack", "root", "-o", "all.trace"]), @r"
    --- stderr
    error: -o all.trace names a file, but several bundles are to be packed
    hint: end the name with / if it is a directory
    --- exit code 2
    ");
    assert_eq!(place.run(&["pack", "none", "-o", "made/"]).code, 1);
    assert_eq!(place.run(&["unpack", "none.trace", "-o", "made/"]).code, 1);
    assert_eq!(place.names("."), ["root"], "nothing is made for nothing");
    assert_eq!(place.run(&["pack", "root/below", "-o", "new/one.trace", "-q"]).code, 0);
    assert!(place.path("new/one.trace").is_file());
    assert_snapshot!(run(&place, &["pack", "new"]), @"nothing to pack: 1 bundle found, all of them packed");
    assert_snapshot!(run(&place, &["unpack", "new/one"]), @r"
    --- stderr
    error: cannot read new/one: No such file or directory (os error 2)
    hint: new/one.trace exists
    --- exit code 1
    ");
}

#[test]
fn programs_read_what_became_of_each() {
    let place = bundles();
    fs::write(place.path("root/well.trace"), "mine").expect("writes");
    let ran = place.run(&["pack", "--json", "--delete-source", "root"]);
    assert_eq!(ran.code, 1);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let packed = fs::metadata(place.path("root/below/troubled.trace")).expect("is there").len();
    let expected = serde_json::json!([
        {
            "bundle": "root/below/troubled", "target": "root/below/troubled.trace", "files": 13,
            "bytes": told[0]["bytes"], "packed": packed, "deleted": true, "problem": null,
        },
        {
            "bundle": "root/well", "target": "root/well.trace", "files": null, "bytes": null, "packed": null,
            "deleted": false, "problem": "root/well.trace is not a packed bundle and is not overwritten",
        },
    ]);
    assert_eq!(told, expected);
    let ran = place.run(&["unpack", "--json", "root"]);
    let told_again: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let expected = serde_json::json!([{
        "file": "root/below/troubled.trace", "target": "root/below/troubled", "files": 13,
        "bytes": told[0]["bytes"], "problem": null,
    }]);
    assert_eq!((ran.code, told_again), (0, expected));
}

#[test]
fn a_bundle_on_its_way_out_is_whole_or_hidden() {
    let place = bundles();
    // An interrupted deletion leaves the bundle under its hidden name.
    assert_eq!(place.run(&["pack", "root/well", "-q"]).code, 0);
    fs::rename(place.path("root/well"), place.path("root/.pruned-well")).expect("renames");
    fs::remove_file(place.path("root/.pruned-well/payloads/1.json")).expect("removes");
    let listed: serde_json::Value = serde_json::from_str(&place.run(&["ls", "--json", "root"]).stdout).expect("JSON");
    let names: Vec<&str> =
        listed.as_array().expect("an array").iter().filter_map(|one| one["bundle"].as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains(&"root/well.trace") && names.contains(&"root/below/troubled"), "{names:?}");
}
