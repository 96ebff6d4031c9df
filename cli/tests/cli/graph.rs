//! `trace graph`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use trace_viz::diagram::View;

use crate::schema::assert_valid;
use crate::support::{Place, START, troubled, well};

fn place() -> Place {
    let place = Place::new();
    troubled(&place.path("bundle"));
    place
}

#[test]
fn a_recording_is_not_overwritten() {
    let place = place();
    let log = place.read("bundle/trace.jsonl");
    assert_snapshot!(place.run(&["graph", "bundle", "--format", "dot", "-o", "bundle/trace.jsonl"]), @r#"
    --- stderr
    error: bundle/trace.jsonl belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    "#);
    assert_eq!(place.read("bundle/trace.jsonl"), log);
}

#[test]
fn every_view_is_an_object_of_the_schema() {
    let place = place();
    for view in View::ALL.iter().map(|view| view.as_str()) {
        let ran = place.run(&["graph", "bundle", "--view", view, "--format", "json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{view}");
        assert_valid("graph", &ran.stdout);
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(answer["diagram"]["view"], view);
        let again = place.run(&["graph", "bundle", "--view", view, "--format", "json"]);
        assert_eq!(ran.stdout, again.stdout);
    }
}

#[test]
fn the_ending_tells_the_format() {
    let place = place();
    let begins = [("a.dot", "digraph"), ("a.GV", "digraph"), ("a.json", "{"), ("a.svg", "<"), ("a.mmd", "")];
    for (name, begin) in begins {
        let ran = place.run(&["graph", "bundle", "--layout", "own", "-o", name]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{name}");
        assert!(place.read(name).starts_with(begin), "{name}: {}", &place.read(name)[..80]);
    }
    let ran = place.run(&["graph", "bundle", "--layout", "own", "-o", "a.png"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(fs::read(place.path("a.png")).expect("reads").starts_with(b"\x89PNG\r\n"));
    let ran = place.run(&["graph", "bundle", "--format", "json", "-o", "b.dot"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(place.read("b.dot").starts_with('{'), "what is asked for goes before the ending");
    let ran = place.run(&["graph", "bundle", "-o", "-"]);
    assert!(ran.stdout.starts_with("digraph"), "{ran}");
}

#[test]
fn a_cause_as_json() {
    let ran = place().run(&["graph", "bundle", "--view", "causal", "--format", "json", "--turn", "turn-a"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let nodes = answer["diagram"]["nodes"].as_array().expect("an array");
    let labels: Vec<String> = nodes
        .iter()
        .map(|node| {
            let lines = node["label"].as_array().expect("an array").iter();
            lines.filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        })
        .collect();
    assert_snapshot!(labels.join("\n"), @"
    symptom | turn 1 | stream disconnected ⏎ before completion | +15.0 s
    root cause: provider_error | confidence: low | request to model-1 | stream disconnected ⏎ before completion | +14.0 s
    ");
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let place = place();
    well(&place.path("well"), START);
    let mut told = String::new();
    let lines: [&[&str]; 10] = [
        &["graph", "well", "--view", "causal"],
        &["graph", "bundle", "--view", "causal", "--thread", "/root/nobody"],
        &["graph", "bundle", "--view", "turns", "--turn", "turn-9"],
        &["graph", "bundle", "--turn", "turn-a"],
        &["graph", "bundle", "--collapse", "most"],
        &["graph", "bundle", "--collapse", "none,tools"],
        &["graph", "bundle", "--max-nodes", "0"],
        &["graph", "bundle", "-o", "picture"],
        &["graph", "bundle", "-o", "picture.bmp"],
        &["graph", "missing"],
    ];
    for line in lines {
        let ran = place.run(line);
        assert_eq!(ran.stdout, "");
        let error = ran.stderr.lines().take(2).collect::<Vec<_>>().join("\n");
        told.push_str(&format!("{}: {}\n{error}\n", line[2..].join(" "), ran.code));
    }
    assert_snapshot!(told, @r#"
    --view causal: 1
    error: no turn needs attention: nothing failed that was not made good
    hint: `trace postmortem --all` lists the outcome of each turn; --view agents draws the whole session
    --view causal --thread /root/nobody: 2
    error: the session has no thread "/root/nobody"
    hint: `trace show` lists the threads with their paths
    --view turns --turn turn-9: 2
    error: the session has no turn "turn-9"
    hint: `trace postmortem --all` lists the turns with their ids
    --turn turn-a: 2
    error: the view of agents shows no single turns
    hint: --view turns and --view calls take --turn
    --collapse most: 2
    error: invalid value 'most' for '--collapse <RULE>': the values are siblings, tools, depth=N and none

    --collapse none,tools: 2
    error: --collapse none cannot be combined with other values
    --max-nodes 0: 2
    error: invalid value '0' for '--max-nodes <N>': a picture has at least 1 node

    -o picture: 2
    error: the file name has no extension
    hint: --format names it: dot, svg, png, mermaid or json
    -o picture.bmp: 2
    error: no format has the extension .bmp
    hint: --format names it: dot, svg, png, mermaid or json
    : 1
    error: there is no file missing, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    "#);
}

#[test]
fn a_file_that_cannot_be_written_stays() {
    let place = place();
    fs::write(place.path("old.dot"), "old").expect("writes");
    let ran = place.run(&["graph", "missing", "-o", "old.dot"]);
    assert_eq!(ran.code, 1);
    assert_eq!(place.read("old.dot"), "old");
    fs::create_dir(place.path("folder.svg")).expect("creates");
    let ran = place.run(&["graph", "bundle", "-o", "folder.svg"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("is a directory"), "{ran}");
}

#[test]
fn a_program_in_the_folder_does_not_draw() {
    let place = place();
    let evil = "#!/bin/sh\n: > mark\n";
    for name in ["dot", "bin/dot"] {
        fs::create_dir_all(place.path("bin")).expect("a folder");
        fs::write(place.path(name), evil).expect("writes");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path(name), mode).expect("can be set");
    }
    let mut command = place.command(&["graph", "bundle", "-o", "a.svg"]);
    command.env("PATH", ".:bin::/usr/bin:/bin");
    assert!(command.output().expect("runs").status.success());
    assert!(place.read("a.svg").starts_with("<svg") && !place.path("mark").exists());
}
