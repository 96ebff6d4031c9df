//! Recordings that are one file: every command reads one while it is recorded, and after its recorder died.

use std::path::PathBuf;
use std::time::Duration;

use trace_recorder::pack::is_growing;
use trace_recorder::write::{BundleWriter, Form, NewSession, NewThread, RawJson, TraceRoot, WriterOptions};
use trace_samples::live::{LiveSession, ROOT_THREAD_ID, run};

use crate::support::Place;

/// Records a tree of agents into `traces`, and returns the writer, which still records.
fn recorded(place: &Place) -> (BundleWriter, PathBuf) {
    let options = WriterOptions { form: Form::Packed, ..WriterOptions::default() };
    let writer = TraceRoot::new(place.path("traces"), options).start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    let session = LiveSession {
        children: 2,
        steps: 6,
        output_bytes: 700,
        model_latency: Duration::ZERO,
        command_latency: Duration::ZERO,
    };
    run(&writer, &session, &|| ());
    writer.flush().expect("writes");
    let path = writer.path().expect("is enabled").to_owned();
    (writer, path)
}

#[test]
fn every_command_reads_a_bundle_while_it_is_recorded() {
    let place = Place::new();
    let (writer, path) = recorded(&place);
    let file = path.to_str().expect("a text");
    let copy = place.directory_of(&path);
    let directory = copy.to_str().expect("a text");
    for arguments in [
        &["show"][..],
        &["postmortem"],
        &["timeline"],
        &["costs"],
        &["critical-path"],
        &["audit"],
        &["grep", "part"],
        &["context", "--last"],
        &["graph"],
        &["query", "@tool-times"],
        &["export", "--format", "atif"],
        &["tail", "--no-follow"],
        &["reduce"],
    ] {
        let on = |bundle: &str, out: &str| {
            let mut all = arguments.to_vec();
            match arguments[0] {
                "query" => all.insert(1, bundle),
                "reduce" | "export" => all.extend([bundle, "-o", out]),
                _ => all.push(bundle),
            }
            let ran = place.run(&all);
            assert!(ran.code < 2, "{arguments:?}: {ran}");
            let written = if all.contains(&out) { place.read(out) } else { String::new() };
            format!("{ran}{written}").replace(bundle, "BUNDLE").replace(out, "OUT")
        };
        let (live, unpacked) = (on(file, "live.json"), on(directory, "copy.json"));
        // A process still holds the lock of the file, which the copy of its `recorder.json` does not say.
        let without_recorder = |text: &str| -> Vec<String> {
            let is_of_recorder = |line: &&str| line.contains("record") || line.contains("BUNDLE");
            text.lines().filter(|line| !is_of_recorder(line)).map(str::to_owned).collect()
        };
        assert_eq!(without_recorder(&live), without_recorder(&unpacked), "{arguments:?}");
    }
    if let Some(theirs) = trace_needs::state_by_peer(&copy) {
        assert!(theirs == place.read("live.json"), "the Codex CLI reads what was unpacked while it is recorded");
    }
    let checked = place.run(&["check", file]);
    assert_eq!(checked.code, 0, "{checked}");
    let redacted = place.run(&["redact", file, "-o", "redacted.trace"]);
    assert!(redacted.code < 2 && place.path("redacted.trace").is_file(), "{redacted}");
    let listed = place.run(&["ls", "traces", "--json"]);
    assert!(
        listed.stdout.contains("\"packed\": true") && listed.stdout.contains("\"recording_complete\": false"),
        "{listed}"
    );
    drop(writer);
}

#[test]
fn a_recording_is_listed_as_running_while_a_recorder_holds_it() {
    let place = Place::new();
    let options = WriterOptions { form: Form::Packed, ..WriterOptions::default() };
    let writer = TraceRoot::new(place.path("traces"), options).start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    writer.start_thread(NewThread::new(ROOT_THREAD_ID, "/root"), None::<RawJson>);
    writer.flush().expect("writes");
    let status = || {
        let listed = place.run(&["ls", "traces"]);
        assert!(listed.stdout.contains("growing"), "{listed}");
        ["running", "no end"].into_iter().find(|status| listed.stdout.contains(status))
    };
    assert_eq!(status(), Some("running"));
    drop(writer);
    assert_eq!(status(), Some("no end"));
}

#[test]
fn a_recording_is_a_file_unless_it_should_be_a_directory() {
    let place = Place::new();
    let record = |root: &str, more: &[&str]| {
        let prompt = r#"RUN [[{"call": "exec_command", "args": {"cmd": "echo one"}}], [{"say": "hello"}]]"#;
        let rest = ["--provider", "scripted", "-a", "never", "-s", "danger-full-access", "--trace-root", root, prompt];
        let ran = place.run(&[&["run"], more, &rest].concat());
        assert_eq!(ran.code, 0, "{ran}");
        let names = place.names(root);
        let [name] = &names[..] else { panic!("{names:?}") };
        place.path(root).join(name)
    };
    let file = record("files", &[]);
    assert!(file.is_file() && !is_growing(&file).expect("reads"), "it is finished");
    assert!(file.extension().is_some_and(|extension| extension == "trace"));
    let directory = record("directories", &["-c", "recording.form=\"directory\""]);
    for bundle in [&file, &directory] {
        let shown = place.run(&["show", bundle.to_str().expect("a text")]);
        assert!(shown.stdout.contains("1 thread, 1 turn") && shown.stdout.contains("complete, schema 2"), "{shown}");
    }
    assert!(directory.join("manifest.json").is_file());
    // The Codex CLI reads the directory as it is, and the file when it is unpacked.
    for readable in [place.directory_of(&file), directory] {
        let reduced = place.run(&["reduce", readable.to_str().expect("a text"), "-o", "-"]);
        if let Some(theirs) = trace_needs::state_by_peer(&readable) {
            assert!(theirs.trim_end() == reduced.stdout.trim_end(), "{}", readable.display());
        }
    }
    let refused = place.run(&["run", "-c", "recording.form=\"tape\"", "hello"]);
    assert!(refused.code == 2 && refused.stderr.contains("recording.form"), "{refused}");
}

#[test]
fn a_file_that_is_recorded_is_not_changed() {
    let place = Place::new();
    let (writer, path) = recorded(&place);
    let file = path.to_str().expect("a text");
    for arguments in [&["check", "--repair", file][..], &["pack", file], &["pack", file, "-o", "other.trace"]] {
        let ran = place.run(arguments);
        assert!(ran.code == 1 && ran.to_string().contains("is being recorded"), "{arguments:?}: {ran}");
    }
    let pruned = place.run(&["prune", "traces", "--keep-days", "0", "--delete"]);
    assert!(path.exists() && is_growing(&path).expect("reads"), "{pruned}");
    writer.complete().expect("completes");
    assert!(!is_growing(&path).expect("reads"));
    let again = place.run(&["pack", file]);
    assert!(again.stderr.contains("is already packed"), "{again}");
}

#[test]
fn what_a_dead_recorder_left_is_finished_by_repair_and_by_pack() {
    for by in ["check", "pack", "elsewhere"] {
        let place = Place::new();
        let (writer, path) = recorded(&place);
        drop(writer);
        assert!(is_growing(&path).expect("reads"), "its recorder died");
        let file = path.to_str().expect("a text");
        let before = place.run(&["show", file]).stdout;
        let ran = match by {
            "check" => place.run(&["check", "--repair", file]),
            "pack" => place.run(&["pack", file]),
            _ => place.run(&["pack", file, "-o", "other.trace", "--delete-source"]),
        };
        assert_eq!(ran.code, 0, "{by}: {ran}");
        let finished = if by == "elsewhere" { place.path("other.trace") } else { path.clone() };
        assert_eq!(path.exists(), by != "elsewhere");
        assert!(!is_growing(&finished).expect("reads"), "{by}");
        let finished = finished.to_str().expect("a text");
        assert_eq!(place.run(&["show", finished]).stdout.replace(finished, file), before);
        let checked = place.run(&["check", finished]);
        assert_eq!(checked.code, 0, "{checked}");
    }
}
