//! Tests which findings a check has for each kind of damage, and how a repair changes the bundle.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::json;
use tempfile::TempDir;
use trace_recorder::Bundle;
use trace_recorder::check::{Change, MAX_GAP_EVENTS, RepairError, check, preview_repair, repair};
use trace_recorder::format::event::{
    AgentResultObserved, InferenceStarted, ProtocolEventObserved, RecordingCompleted, RolloutEnded, RolloutStarted,
    ThreadStarted, ToolCallStarted,
};
use trace_recorder::format::{EventPayload, Manifest, PayloadKind, Requester, RolloutStatus, ToolKind, ToolSummary};
use trace_recorder::log::parse_lines;
use trace_recorder::pack::{DEFAULT_LEVEL, Source, pack};
use trace_recorder::parts::BACKUP_PREFIX;
use trace_recorder::write::{BundleAppender, Context, GAP_EVENT, Gap, GapReason};

/// A small bundle in its own directory.
struct Place {
    _root: TempDir,
    bundle: PathBuf,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = root.path().join("bundle");
        let mut writer =
            BundleAppender::create(&bundle, &Manifest::new("trace", "rollout", "root", 1000)).expect("creates");
        let mut at = 0;
        let mut event = |writer: &mut BundleAppender, payload: EventPayload<'_>| {
            at += 1000;
            writer.event(at, Context::turn("root", "turn"), payload).expect("appends");
        };
        let (trace_id, root_thread_id) = ("trace".into(), "root".into());
        event(&mut writer, EventPayload::RolloutStarted(RolloutStarted { trace_id, root_thread_id }));
        let metadata = writer.payload(PayloadKind::SessionMetadata, &json!({})).expect("writes");
        event(
            &mut writer,
            EventPayload::ThreadStarted(ThreadStarted {
                thread_id: "root".into(),
                agent_path: "/root".into(),
                metadata_payload: Some(metadata),
            }),
        );
        let request = writer.payload(PayloadKind::InferenceRequest, &json!({ "input": ["é"] })).expect("writes");
        event(
            &mut writer,
            EventPayload::InferenceStarted(InferenceStarted {
                inference_call_id: "call".into(),
                thread_id: "root".into(),
                codex_turn_id: "turn".into(),
                model: "model".into(),
                provider_name: "provider".into(),
                request_payload: request,
            }),
        );
        let observed = writer.payload(PayloadKind::ProtocolEvent, &json!({})).expect("writes");
        event(
            &mut writer,
            EventPayload::ProtocolEventObserved(ProtocolEventObserved {
                event_type: "warning".into(),
                event_payload: observed,
            }),
        );
        let invocation = writer.payload(PayloadKind::ToolInvocation, &json!({})).expect("writes");
        event(
            &mut writer,
            EventPayload::ToolCallStarted(ToolCallStarted {
                tool_call_id: "tool".into(),
                model_visible_call_id: None,
                code_mode_runtime_tool_id: None,
                requester: Requester::Model,
                kind: ToolKind::SpawnAgent,
                summary: ToolSummary::Generic { label: "spawn".into(), input_preview: None, output_preview: None },
                invocation_payload: Some(invocation),
            }),
        );
        event(
            &mut writer,
            EventPayload::AgentResultObserved(AgentResultObserved {
                edge_id: "edge".into(),
                child_thread_id: "child".into(),
                child_codex_turn_id: "turn".into(),
                parent_thread_id: "root".into(),
                message: "message".into(),
                carried_payload: None,
            }),
        );
        event(&mut writer, EventPayload::RolloutEnded(RolloutEnded { status: RolloutStatus::Completed }));
        event(&mut writer, EventPayload::RecordingCompleted(RecordingCompleted {}));
        Self { _root: root, bundle }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bundle.join(name)
    }

    fn lines(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("trace.jsonl")).expect("reads");
        log.lines().map(str::to_owned).collect()
    }

    fn write_lines(&self, lines: &[String]) {
        fs::write(self.path("trace.jsonl"), lines.join("\n") + "\n").expect("writes");
    }

    /// Changes the lines of the log.
    fn edit(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut lines = self.lines();
        change(&mut lines);
        self.write_lines(&lines);
    }

    /// Returns the gap events with their sequence numbers.
    fn gaps(&self) -> Vec<(u64, Gap)> {
        let bundle = Bundle::open(&self.bundle).expect("opens");
        let lines: Vec<_> = bundle.log().expect("a log").lines().collect();
        let mut gaps = Vec::new();
        for event in parse_lines(&lines).into_iter().filter_map(|line| line.event.ok().flatten()) {
            match &event.payload {
                EventPayload::ProtocolEventObserved(observed) if observed.event_type == GAP_EVENT => {
                    let text = fs::read(self.path(&observed.event_payload.path)).expect("reads");
                    gaps.push((event.seq, serde_json::from_slice(&text).expect("a gap")));
                }
                _ => {}
            }
        }
        gaps
    }

    fn findings(&self) -> String {
        let report = check(&Bundle::open(&self.bundle).expect("opens"));
        let mut text = String::new();
        for finding in &report.findings {
            writeln!(text, "{finding}").expect("writes");
        }
        text
    }

    /// Repairs the bundle. Checks that a second repair changes nothing and that no errors or warnings are left. Returns the
    /// changes.
    fn repair(&self) -> String {
        let before = snapshot(&self.bundle);
        let preview = preview_repair(&self.bundle).expect("can be repaired");
        assert_eq!(snapshot(&self.bundle), before, "a preview changes nothing");
        let repaired = repair(&self.bundle).expect("repairs");
        assert_eq!(repaired.changes, preview);
        let after = snapshot(&self.bundle);
        assert!(repair(&self.bundle).expect("repairs").changes.is_empty(), "a second repair changes nothing");
        assert_eq!(snapshot(&self.bundle), after);
        assert!(!after.iter().any(|(name, _)| name.ends_with(".tmp") || name == "recorder.json"), "{after:?}");
        if let Some(backup) = &repaired.backup {
            // The copies equal the files before the repair.
            for (name, bytes) in snapshot(backup) {
                assert!(before.contains(&(name.clone(), bytes)), "{name}");
            }
        }
        // Every file of before the repair is unchanged or has a copy.
        for (name, bytes) in before.iter().filter(|(name, _)| !name.ends_with(".tmp")) {
            let copy = repaired.backup.as_ref().and_then(|backup| fs::read(backup.join(name)).ok());
            let kept = fs::read(self.path(name)).ok();
            assert!(copy.as_ref() == Some(bytes) || kept.as_ref() == Some(bytes), "{name}");
        }
        let mut text = String::new();
        for change in &repaired.changes {
            writeln!(text, "{}: {change}", change.code()).expect("writes");
        }
        let left: String = self.findings().lines().filter(|line| !line.starts_with("note")).collect();
        assert_eq!(left, "");
        text
    }
}

/// Returns the gap that a repair records for missing events.
fn gap(after_seq: u64, lost_events: u64) -> Gap {
    Gap { reason: GapReason::Repaired, after_seq, dropped_bodies: 0, dropped_bytes: 0, lost_events }
}

/// Returns the files of a directory, without the copies of a repair.
fn snapshot(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for part in ["", "payloads"] {
        let Ok(entries) = fs::read_dir(directory.join(part)) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry")) {
            if entry.path().is_file() {
                let name = Path::new(part).join(entry.file_name()).to_string_lossy().into_owned();
                found.push((name, fs::read(entry.path()).expect("reads")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_sound_bundle_is_not_touched() {
    let place = Place::new();
    assert_eq!(place.findings(), "");
    let modified = fs::metadata(&place.bundle).and_then(|metadata| metadata.modified()).expect("a time");
    assert_eq!(place.repair(), "");
    let after = fs::metadata(&place.bundle).and_then(|metadata| metadata.modified()).expect("a time");
    assert_eq!(modified, after);
}

#[test]
fn what_is_looked_at_is_counted() {
    let place = Place::new();
    let counts = check(&Bundle::open(&place.bundle).expect("opens")).counts;
    assert_eq!((counts.lines, counts.events, counts.references, counts.payload_files), (8, 8, 4, 4));
    assert_eq!((counts.payload_bytes, counts.files, counts.clock_span), (35, 3, Some((1000, 8000))));
    assert_eq!(counts.largest_payload.expect("one").path, "payloads/2.json");
}

#[test]
fn a_torn_tail() {
    let place = Place::new();
    let log = fs::read(place.path("trace.jsonl")).expect("reads");
    fs::write(place.path("trace.jsonl"), &log[..log.len() - 9]).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    error[torn_tail] line 8: the last line breaks off after 151 bytes; its event is lost
    note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
    "#);
    assert_snapshot!(place.repair(), @r#"
    tail_cut: line 8, which breaks off after 151 bytes, is cut off
    "#);
    assert_eq!(fs::read(place.path("before-repair-1/trace.jsonl")).expect("reads"), log[..log.len() - 9]);
}

#[test]
fn a_tail_without_its_line_feed() {
    let place = Place::new();
    let log = fs::read(place.path("trace.jsonl")).expect("reads");
    fs::write(place.path("trace.jsonl"), &log[..log.len() - 1]).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    warning[unterminated_tail] line 8 seq 8: the last line has no line feed; an event after it would run into it
    "#);
    assert_snapshot!(place.repair(), @r#"
    tail_ended: line 8 gets its line feed
    "#);
    assert_eq!(fs::read(place.path("trace.jsonl")).expect("reads"), log);
}

#[test]
fn lines_that_are_no_events() {
    let place = Place::new();
    let log = fs::read(place.path("trace.jsonl")).expect("reads");
    let first = log.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    let damaged = [&log[..first], b"\xff\xfe\n\0\0\0\n[]\n\n", &log[first..]].concat();
    fs::write(place.path("trace.jsonl"), damaged).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    error[invalid_line] line 2: invalid UTF-8 at byte 0 of the line
    error[invalid_line] line 3: not an event: expected value at line 1 column 1
    error[invalid_line] line 4: not an event: invalid length 0, expected struct Envelope with 7 elements at line 1 column 2
    "#);
    assert_snapshot!(place.repair(), @r#"
    line_removed: line 2, which is not an event, is removed
    line_removed: line 3, which is not an event, is removed
    line_removed: line 4, which is not an event, is removed
    "#);
    // No sequence number is missing, so no event is lost and no gap event is added.
    assert_eq!(place.gaps(), []);
    // A blank line is not damage, but it disappears because the log is rewritten.
    assert_eq!(fs::read(place.path("trace.jsonl")).expect("reads"), log);
}

#[test]
fn a_missing_event_and_one_too_many() {
    let place = Place::new();
    place.edit(|lines| {
        lines.remove(3);
        let line = lines[4].clone();
        lines.insert(4, line);
    });
    assert_snapshot!(place.findings(), @r#"
    error[seq_gap] line 4 seq 5: event 4 is missing
    error[seq_repeated] line 6 seq 6: two events have this number
    note[payload_orphan] payloads/3.json: no event refers to the payload
    "#);
    assert_snapshot!(place.repair(), @r#"
    repeated_event_removed: line 6, which repeats an event, is removed
    gap_recorded: event 4, which reports what is lost after event 3 (1 event), is added with payloads/5.json
    "#);
    assert!(place.lines()[6].contains("\"seq\":7"));
    assert_snapshot!(place.lines()[3], @r#"
    {"schema_version":2,"seq":4,"wall_time_unix_ms":3000,"rollout_id":"rollout","thread_id":null,"codex_turn_id":null,"payload":{"type":"protocol_event_observed","event_type":"trace_gap","event_payload":{"raw_payload_id":"raw_payload:5","kind":{"type":"protocol_event"},"path":"payloads/5.json"}}}
    "#);
    assert_eq!(place.gaps(), [(4, gap(3, 1))]);
}

#[test]
fn what_is_missing_is_told_where_it_is() {
    let place = Place::new();
    place.edit(|lines| {
        lines[6] = "garbage".to_owned();
        lines.drain(3..5);
        lines.remove(0);
    });
    assert_snapshot!(place.repair(), @r#"
    line_removed: line 4, which is not an event, is removed
    gap_recorded: event 1, which reports what is lost after event 0 (1 event), is added with payloads/5.json
    gap_recorded: event 4, which reports what is lost after event 3 (2 events), is added with payloads/6.json
    gap_recorded: event 6, which reports what is lost after event 5 (1 event), is added with payloads/7.json
    events_renumbered: 2 events get new numbers
    "#);
    assert_eq!(place.gaps(), [(1, gap(0, 1)), (4, gap(3, 2)), (6, gap(5, 1))]);

    // The last lines are lost, and no event follows them.
    let place = Place::new();
    place.edit(|lines| {
        lines.truncate(5);
        lines.extend(["garbage".to_owned(), "more".to_owned()]);
    });
    place.repair();
    assert_eq!(place.gaps(), [(6, gap(5, 2))]);

    // An incomplete last line was never acknowledged, and no event may follow the end of a recording. So there is no gap
    // event.
    for tail in ["{\"seq\":9,", "\0\0\0", "garbage\n"] {
        let place = Place::new();
        place.edit(|lines| lines.truncate(8 - usize::from(!tail.ends_with('\n'))));
        let log = fs::read_to_string(place.path("trace.jsonl")).expect("reads");
        fs::write(place.path("trace.jsonl"), log.clone() + tail).expect("writes");
        place.repair();
        assert_eq!(fs::read_to_string(place.path("trace.jsonl")).expect("reads"), log);
    }
}

#[test]
fn a_log_full_of_holes_gets_no_more_events_than_it_may() {
    let place = Place::new();
    let holes = 3 * MAX_GAP_EVENTS as u64;
    place.edit(|lines| {
        let observed = lines[3].clone();
        let numbered = |hole: u64| observed.replace("\"seq\":4", &format!("\"seq\":{}", 4 + 2 * hole));
        lines.truncate(4);
        lines.extend((1..=holes).map(numbered));
    });
    place.repair();
    let gaps = place.gaps();
    assert_eq!(gaps.len(), MAX_GAP_EVENTS);
    assert_eq!(gaps[0], (5, gap(4, 1)));
    let own = MAX_GAP_EVENTS as u64 - 1;
    let after = 4 + 2 * own;
    assert_eq!(gaps[MAX_GAP_EVENTS - 1], (after + holes - own, gap(after, holes - own)));
}

#[test]
fn what_is_missing_from_a_bundle_of_schema_1_is_told() {
    let place = Place::new();
    let manifest = fs::read_to_string(place.path("manifest.json")).expect("reads").replace(": 2,", ": 1,");
    fs::write(place.path("manifest.json"), manifest).expect("writes");
    place.edit(|lines| {
        for line in lines.iter_mut() {
            *line = line.replace("\"schema_version\":2", "\"schema_version\":1");
        }
        lines.pop();
        lines[3] = "garbage".to_owned();
    });
    fs::write(place.path("payloads/2.json"), "{").expect("writes");
    assert_snapshot!(place.repair(), @r#"
    line_removed: line 4, which is not an event, is removed
    payload_replaced: an empty document replaces payloads/2.json: the payload is not a JSON document: EOF while parsing an object at line 1 column 1
    gap_recorded: event 4, which reports what is lost after event 3 (1 event), is added with payloads/5.json
    gap_recorded: event 8, which reports what is lost after event 2 (1 payload), is added with payloads/6.json
    "#);
    let payloads = Gap { dropped_bodies: 1, dropped_bytes: 1, ..gap(2, 0) };
    assert_eq!(place.gaps(), [(4, gap(3, 1)), (8, payloads)]);
}

#[test]
fn what_is_missing_is_told_whenever_a_repair_is_cut_off() {
    let place = Place::new();
    place.edit(|lines| drop(lines.remove(3)));
    fs::write(place.path("payloads/2.json"), "{").expect("writes");
    let log = fs::read(place.path("trace.jsonl")).expect("reads");
    place.repair();
    let stand_in = fs::read(place.path("payloads/2.json")).expect("reads");

    // Interrupted before the log was replaced: the new payloads exist, but no event refers to them.
    fs::write(place.path("trace.jsonl"), log).expect("writes");
    fs::write(place.path("payloads/2.json"), "{").expect("writes");
    place.repair();
    let payloads = Gap { dropped_bodies: 1, dropped_bytes: 1, ..gap(2, 0) };
    assert_eq!(place.gaps(), [(4, gap(3, 1)), (8, payloads.clone())]);

    // Interrupted before the payload was replaced: the loss is reported twice, which is better than never.
    fs::write(place.path("payloads/2.json"), "{").expect("writes");
    place.repair();
    assert_eq!(place.gaps(), [(4, gap(3, 1)), (8, payloads.clone()), (9, payloads)]);
    assert_eq!(fs::read(place.path("payloads/2.json")).expect("reads"), stand_in);
}

#[test]
fn events_in_another_order() {
    let place = Place::new();
    let lines = place.lines();
    place.edit(|lines| lines.swap(2, 4));
    assert_snapshot!(place.findings(), @r#"
    error[seq_out_of_order] line 4 seq 4: the event stands after event 5
    error[seq_out_of_order] line 5 seq 3: the event stands after event 4
    "#);
    assert_snapshot!(place.repair(), @r#"
    events_sorted: the events are sorted by their numbers
    "#);
    assert_eq!(place.lines(), lines);
}

#[test]
fn two_events_of_one_number() {
    let place = Place::new();
    place.edit(|lines| lines[4] = lines[4].replace("\"seq\":5", "\"seq\":4"));
    assert_snapshot!(place.findings(), @r#"
    error[seq_repeated] line 5 seq 4: two events have this number
    error[seq_gap] line 6 seq 6: event 5 is missing
    "#);
    assert_snapshot!(place.repair(), @r#"
    events_renumbered: 1 event gets a new number
    "#);
}

#[test]
fn events_behind_the_end_of_another_rollout_and_of_another_schema() {
    let place = Place::new();
    place.edit(|lines| {
        lines.push(lines[3].replace("\"seq\":4", "\"seq\":9"));
        lines[1] = lines[1].replace("\"rollout_id\":\"rollout\"", "\"rollout_id\":\"other\"");
        lines[2] = lines[2].replace("\"schema_version\":2", "\"schema_version\":1");
    });
    assert_snapshot!(place.findings(), @r#"
    error[other_rollout] line 2 seq 2: an event of rollout other
    error[schema_differs] line 3 seq 3: an event of schema 1 in a bundle of schema 2
    error[after_recording_completed] line 9: the log continues after the recorder closed it
    "#);
    assert_snapshot!(place.repair(), @r#"
    schema_set: line 3 gets the schema number of the bundle
    foreign_event_removed: line 2, of another rollout, is removed
    late_event_removed: line 9, after the end of the recording, is removed
    gap_recorded: event 2, which reports what is lost after event 1 (1 event), is added with payloads/5.json
    "#);
}

#[test]
fn events_that_all_give_another_schema_than_the_manifest() {
    let place = Place::new();
    place.edit(|lines| {
        for line in lines.iter_mut() {
            *line = line.replace("\"schema_version\":2", "\"schema_version\":1");
        }
    });
    assert_eq!(place.findings().matches("error[schema_differs]").count(), 8);
    assert!(
        preview_repair(&place.bundle).expect("can be repaired").is_empty(),
        "nothing shows which of the two is wrong"
    );
}

#[test]
fn events_and_values_of_later_releases_stay() {
    let place = Place::new();
    place.edit(|lines| {
        lines[3] = lines[3].replace("protocol_event_observed", "later_event");
        lines[4] = lines[4].replace("\"type\":\"spawn_agent\"", "\"type\":\"teleport\"");
        lines[5] = lines[5].replace("\"edge_id\"", "\"later\":1,\"edge_id\"");
    });
    assert_snapshot!(place.findings(), @r#"
    error[unknown_event] line 4 seq 4: the event `later_event` is not known to this version
    error[unknown_value] line 5 seq 5: tool_call_started has an unknown tool kind `teleport`
    note[unknown_fields]: `agent_result_observed` events have a field that this version does not know (1 in all)
    note[payload_orphan] payloads/3.json: no event refers to the payload
    "#);
    assert!(preview_repair(&place.bundle).expect("can be repaired").is_empty());
}

#[test]
fn payloads_that_are_gone_broken_or_elsewhere() {
    let place = Place::new();
    fs::remove_file(place.path("payloads/1.json")).expect("removes");
    fs::write(place.path("payloads/2.json"), "{\"input\":[").expect("writes");
    fs::write(place.path("payloads/4.json"), "").expect("writes");
    fs::write(place.path("payloads/9.json"), "half a pa").expect("writes");
    place.edit(|lines| lines[3] = lines[3].replace("payloads/3.json", "../secret.json"));
    assert_snapshot!(place.findings(), @r#"
    warning[payload_path_unusual] line 4 seq 4 ../secret.json: a recorder writes payloads/<number>.json
    error[payload_missing] line 2 seq 2 payloads/1.json: the payload file is missing
    error[payload_not_json] line 3 seq 3 payloads/2.json: the payload is not a JSON document: EOF while parsing a list at line 1 column 10
    error[payload_outside_bundle] line 4 seq 4 ../secret.json: the payload path leads out of the bundle and is not followed
    error[payload_empty] line 5 seq 5 payloads/4.json: the payload file is empty
    note[payload_orphan] payloads/3.json: no event refers to the payload
    note[payload_orphan] payloads/9.json: no event refers to the payload, and the payload is not a JSON document: expected value at line 1 column 1
    "#);
    assert_snapshot!(place.repair(), @r#"
    reference_cleared: line 2 no longer refers to payloads/1.json: the payload file is missing
    payload_replaced: an empty document, payloads/10.json, replaces ../secret.json: the payload path leads out of the bundle and is not followed
    payload_replaced: an empty document replaces payloads/2.json: the payload is not a JSON document: EOF while parsing a list at line 1 column 10
    payload_replaced: an empty document replaces payloads/4.json: the payload file is empty
    gap_recorded: event 8, which reports what is lost after event 1 (4 payloads), is added with payloads/11.json
    events_renumbered: 1 event gets a new number
    "#);
    assert_eq!(place.gaps(), [(8, Gap { dropped_bodies: 4, dropped_bytes: 10, ..gap(1, 0) })]);
    let text = |name: &str| fs::read_to_string(place.path(name)).expect("reads");
    assert_snapshot!(text("payloads/2.json"), @r#"
    {"trace_dropped":{"bytes":10,"reason":"not_json"},"input":[]}
    "#);
    assert_snapshot!(text("payloads/4.json"), @r#"
    {"trace_dropped":{"bytes":0,"reason":"not_json"},"tool_name":"spawn_agent","tool_namespace":null,"payload":{"type":"function","arguments":"{\"message\":\"(the message of this call is lost)\"}"}}
    "#);
    assert_snapshot!(text("payloads/10.json"), @r#"
    {"trace_dropped":{"bytes":null,"reason":"missing"}}
    "#);
    assert_eq!(text("before-repair-1/payloads/2.json"), "{\"input\":[");
    assert!(place.lines()[1].contains("\"metadata_payload\":null"));
    assert_snapshot!(place.findings(), @r#"
    note[payload_dropped] line 3 seq 3 payloads/2.json: its content was dropped; only its shape is left
    note[payload_dropped] line 4 seq 4 payloads/10.json: its content was dropped; only its shape is left
    note[payload_dropped] line 5 seq 5 payloads/4.json: its content was dropped; only its shape is left
    note[payload_orphan] payloads/3.json: no event refers to the payload
    note[payload_orphan] payloads/9.json: no event refers to the payload, and the payload is not a JSON document: expected value at line 1 column 1
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    "#);
}

#[test]
fn ids_and_paths_that_are_used_twice() {
    let place = Place::new();
    fs::rename(place.path("payloads/4.json"), place.path("payloads/four.json")).expect("renames");
    place.edit(|lines| {
        lines[3] = lines[3].replace("payloads/3.json", "payloads/2.json");
        lines[4] = lines[4].replace("raw_payload:4", "raw_payload:2").replace("payloads/4.json", "payloads/four.json");
    });
    assert_snapshot!(place.findings(), @r#"
    warning[payload_shared] line 4 seq 4 payloads/2.json: raw_payload:3 refers to the same file as raw_payload:2
    warning[payload_id_reused] line 5 seq 5 payloads/four.json: raw_payload:2 referred to payloads/2.json before
    warning[payload_path_unusual] line 5 seq 5 payloads/four.json: a recorder writes payloads/<number>.json
    note[payload_orphan] payloads/3.json: no event refers to the payload
    "#);
}

#[test]
fn a_manifest_that_is_lost_broken_or_wrong() {
    let place = Place::new();
    let manifest = fs::read(place.path("manifest.json")).expect("reads");
    let text = String::from_utf8(manifest.clone()).expect("UTF-8");
    fs::remove_file(place.path("manifest.json")).expect("removes");
    assert_snapshot!(place.findings(), @r#"
    error[manifest_missing] manifest.json: the manifest is missing; the log can replace it
    "#);
    assert_snapshot!(place.repair(), @r#"
    manifest_rebuilt: the manifest is rebuilt
    "#);
    assert_eq!(fs::read(place.path("manifest.json")).expect("reads"), manifest);

    let without_a_field = text.replace("\"payloads_dir\"", "\"payloads_dir_\"").replace(": 1000,", ": 777,");
    fs::write(place.path("manifest.json"), without_a_field).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    error[manifest_invalid] manifest.json: the manifest cannot be read: missing field `payloads_dir` at line 9 column 1
    "#);
    assert_snapshot!(place.repair(), @r#"
    manifest_rebuilt: the manifest is rebuilt
    "#);
    // The values that could still be read are kept.
    assert!(fs::read_to_string(place.path("manifest.json")).expect("reads").contains("777"));

    let of_another_rollout = text.replace("\"rollout\"", "\"other\"");
    fs::write(place.path("manifest.json"), of_another_rollout).expect("writes");
    assert_eq!(place.findings().lines().filter(|line| line.starts_with("error[other_rollout]")).count(), 8);
    assert_snapshot!(place.repair(), @r#"
    manifest_rebuilt: the manifest is rebuilt
    "#);
    assert_eq!(fs::read(place.path("manifest.json")).expect("reads"), manifest);

    let odd = text.replace("trace.jsonl", "log").replace("\"trace\"", "\"trail\"");
    fs::write(place.path("manifest.json"), odd).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    warning[manifest_names] manifest.json: `raw_event_log` is `log`, but readers use `trace.jsonl`
    warning[manifest_disagrees] line 1 seq 1: the first event gives the session other ids than the manifest; readers use those of the event
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    note[earlier_repair] before-repair-2: has copies of what a repair changed
    "#);
}

#[test]
fn a_manifest_of_any_size_is_not_read_whole() {
    let place = Place::new();
    let manifest = fs::File::create(place.path("manifest.json")).expect("creates");
    manifest.set_len(1 << 40).expect("a sparse file");
    let changes = preview_repair(&place.bundle).expect("can be repaired");
    assert_eq!(changes.iter().map(Change::code).collect::<Vec<_>>(), ["manifest_rebuilt"]);
}

#[test]
fn a_schema_that_nobody_knows() {
    let place = Place::new();
    let text = fs::read_to_string(place.path("manifest.json")).expect("reads").replace(": 2,", ": 9,");
    fs::write(place.path("manifest.json"), text).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    error[unknown_schema] manifest.json: schema 9 is unknown; the known schemas are 1 and 2
    "#);
    assert!(matches!(repair(&place.bundle), Err(RepairError::UnknownSchema { .. })));
}

#[test]
fn a_log_that_is_missing_or_empty() {
    let place = Place::new();
    fs::remove_file(place.path("trace.jsonl")).expect("removes");
    fs::remove_dir_all(place.path("payloads")).expect("removes");
    assert_snapshot!(place.findings(), @r#"
    error[log_unreadable] trace.jsonl: the event log cannot be read: No such file or directory (os error 2)
    warning[payload_directory_missing] payloads: the payload directory is missing
    "#);
    assert_snapshot!(place.repair(), @r#"
    log_created: an empty log is created
    payload_directory_created: the payload directory is created
    "#);
}

#[test]
fn a_clock_that_was_set() {
    let place = Place::new();
    place.edit(|lines| {
        lines[3] = lines[3].replace("\"wall_time_unix_ms\":4000", "\"wall_time_unix_ms\":-400000");
        lines[6] = lines[6].replace("\"wall_time_unix_ms\":7000", "\"wall_time_unix_ms\":99000000000");
    });
    assert_snapshot!(place.findings(), @r#"
    warning[clock_backward] line 4 seq 4: the clock went back by 403000 ms; durations around it are wrong
    note[clock_forward] line 7 seq 7: 98999994000 ms passed since the event before
    warning[clock_backward] line 8 seq 8: the clock went back by 98999992000 ms; durations around it are wrong
    "#);
}

#[test]
fn schema_1_is_looser() {
    let place = Place::new();
    let manifest = fs::read_to_string(place.path("manifest.json")).expect("reads").replace(": 2,", ": 1,");
    fs::write(place.path("manifest.json"), manifest).expect("writes");
    place.edit(|lines| {
        for line in lines.iter_mut() {
            *line = line.replace("\"schema_version\":2", "\"schema_version\":1");
        }
        lines.pop();
        lines[5] = lines[5].replace("\"seq\":6", "\"seq\":60");
        lines[6] = lines[6].replace("\"rollout_id\":\"rollout\"", "\"rollout_id\":\"other\"");
    });
    assert_snapshot!(place.findings(), @r#"
    warning[loose_envelope] line 7 seq 7: an event of another schema or rollout, which readers of schema 1 ignore
    warning[loose_envelope] line 6 seq 60: event 6 was expected here; readers of schema 1 ignore this
    warning[loose_envelope] line 7 seq 7: event 61 was expected here; readers of schema 1 ignore this
    "#);
    assert!(preview_repair(&place.bundle).expect("can be repaired").is_empty());
}

#[test]
fn what_the_recorder_says_of_itself() {
    let place = Place::new();
    let file = place.path("recorder.json");
    fs::write(&file, r#"{"pid":7,"opened_at_unix_ms":1}"#).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    warning[recorder_died] recorder.json: the recorder, process 7, died while it recorded
    "#);
    assert_snapshot!(place.repair(), @r#"
    recorder_file_removed: recorder.json of a recorder that died is removed
    "#);
    fs::write(&file, "").expect("writes");
    assert_snapshot!(place.findings(), @r#"
    warning[recorder_file_invalid] recorder.json: the recorder's file cannot be read: EOF while parsing a value at line 1 column 0
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    "#);
    assert_snapshot!(place.repair(), @r#"
    recorder_file_removed: recorder.json of a recorder that died is removed
    "#);
    assert!(place.path(&format!("{BACKUP_PREFIX}2/recorder.json")).is_file());

    let stopped = r#"{"pid":7,"opened_at_unix_ms":1,"stopped":{"after_seq":8,"at_unix_ms":5,"lost_events":1,"reason":"disk full"}}"#;
    fs::write(&file, stopped).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    warning[recorder_stopped] recorder.json: the recorder stopped after event 8, and 1 event is lost: disk full
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    note[earlier_repair] before-repair-2: has copies of what a repair changed
    "#);
    assert!(repair(&place.bundle).expect("repairs").changes.is_empty(), "the file is kept: only it says what is lost");

    let lock = fs::File::open(&file).expect("opens");
    lock.lock().expect("locks");
    let log = fs::read(place.path("trace.jsonl")).expect("reads");
    fs::write(place.path("trace.jsonl"), &log[..log.len() - 9]).expect("writes");
    assert_snapshot!(place.findings(), @r#"
    note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
    note[being_recorded] recorder.json: a recorder is at work on the bundle; an incomplete last line is not damage
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    note[earlier_repair] before-repair-2: has copies of what a repair changed
    "#);
    assert!(matches!(preview_repair(&place.bundle), Err(RepairError::BeingRecorded { .. })));
    assert!(matches!(repair(&place.bundle), Err(RepairError::BeingRecorded { .. })));
}

#[test]
fn a_packed_bundle_is_checked_like_its_directory() {
    let place = Place::new();
    fs::create_dir_all(place.path("before-repair-1/payloads")).expect("creates");
    fs::write(place.path("before-repair-1/trace.jsonl"), "old").expect("writes");
    fs::write(place.path("diary.txt"), "mine").expect("writes");
    fs::write(place.path("recorder.json"), r#"{"pid":7,"opened_at_unix_ms":1}"#).expect("writes");
    let source = Source::list(&place.bundle).expect("lists");
    let packed = place.bundle.with_extension("trace");
    let file = fs::File::create(&packed).expect("creates");
    pack(&source, file, DEFAULT_LEVEL).expect("packs");
    let report = check(&Bundle::open(&packed).expect("opens"));
    let told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_snapshot!(told.join("\n"), @r#"
    warning[recorder_died] recorder.json: the recorder, process 7, died while it recorded
    note[earlier_repair] before-repair-1: has copies of what a repair changed
    note[unknown_file] diary.txt: does not belong to a bundle
    "#);
    assert_eq!(told.join("\n"), place.findings().trim_end());
    assert_eq!(report.counts.files, 6);
    assert!(matches!(preview_repair(&packed), Err(RepairError::NotADirectory { .. })));
    assert!(matches!(repair(&packed), Err(RepairError::NotADirectory { .. })));
}

#[test]
fn a_repair_that_was_cut_off_is_finished_by_the_next() {
    let place = Place::new();
    place.edit(|lines| lines.insert(1, "garbage".to_owned()));
    fs::create_dir(place.path(".before-repair-1.tmp")).expect("creates");
    fs::write(place.path(".before-repair-1.tmp/trace.jsonl"), "half").expect("writes");
    fs::write(place.path(".trace.jsonl.tmp"), "half").expect("writes");
    assert_snapshot!(place.findings(), @r#"
    error[invalid_line] line 2: not an event: expected value at line 1 column 1
    note[leftover_file] .before-repair-1.tmp: left behind by a program that died
    note[leftover_file] .trace.jsonl.tmp: left behind by a program that died
    "#);
    place.repair();
    assert!(!place.path(".before-repair-1.tmp").exists());
}

#[test]
#[cfg(unix)]
fn what_else_lies_there_and_who_may_read_it() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    fs::write(place.path("notes.txt"), "").expect("writes");
    fs::write(place.path(".state.json.abc.tmp"), "").expect("writes");
    fs::create_dir(place.path("before-repair-3")).expect("creates");
    fs::set_permissions(place.path("notes.txt"), fs::Permissions::from_mode(0o600)).expect("sets");
    fs::set_permissions(place.path(".state.json.abc.tmp"), fs::Permissions::from_mode(0o600)).expect("sets");
    fs::set_permissions(place.path("before-repair-3"), fs::Permissions::from_mode(0o700)).expect("sets");
    fs::set_permissions(place.path("manifest.json"), fs::Permissions::from_mode(0o640)).expect("sets");
    assert_eq!(place.findings().matches("readable_by_others").count(), 0, "others cannot enter the directory");
    fs::set_permissions(&place.bundle, fs::Permissions::from_mode(0o755)).expect("sets");
    std::os::unix::fs::symlink("/", place.path("state.json")).expect("links");
    assert_snapshot!(place.findings(), @r#"
    note[leftover_file] .state.json.abc.tmp: left behind by a program that died
    note[earlier_repair] before-repair-3: has copies of what a repair changed
    note[unknown_file] notes.txt: does not belong to a bundle
    note[unknown_file] state.json: a symlink does not belong to a bundle
    note[readable_by_others] manifest.json: other users may read it, and it has what the session saw
    note[readable_by_others] state.json: other users may read it, and it has what the session saw
    "#);
}

#[test]
#[cfg(unix)]
fn a_repair_never_follows_a_link() {
    let outer = tempfile::tempdir().expect("a directory");
    let place = Place::new();
    fs::rename(place.path("payloads"), outer.path().join("payloads")).expect("renames");
    std::os::unix::fs::symlink(outer.path().join("payloads"), place.path("payloads")).expect("links");
    assert!(matches!(repair(&place.bundle), Err(RepairError::Odd { .. })));
    assert_eq!(fs::read_dir(outer.path().join("payloads")).expect("lists").count(), 4);
}

#[test]
fn a_flood_of_damage_is_bounded() {
    let place = Place::new();
    place.edit(|lines| lines.extend(std::iter::repeat_n("x".to_owned(), 5000)));
    let report = check(&Bundle::open(&place.bundle).expect("opens"));
    assert_eq!(report.findings.iter().count(), trace_recorder::severity::MAX_PER_CODE);
    assert_eq!(report.findings.count_of(trace_recorder::Severity::Error), 5000);
    let changes = repair(&place.bundle).expect("repairs").changes;
    assert_eq!((changes.iter().count(), changes.total()), (trace_recorder::severity::MAX_PER_CODE, 5000));
    assert_eq!(place.findings().lines().filter(|line| line.starts_with("error")).count(), 0);
}
