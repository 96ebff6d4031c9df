//! `trace exec` with the scripted provider: command line, output, ends. The SDK and the comparison with the Codex CLI are in
//! `tests/clients`.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Place, Ran};

/// Returns a place whose folder `work` is a repository.
fn place() -> Place {
    let place = Place::new();
    // A folder of this name is all that makes a repository here.
    std::fs::create_dir_all(place.path("work/.git")).expect("a folder");
    place
}

/// The options of all runs.
const USUAL: &[&str] = &["exec", "--provider", "scripted", "-C", "work", "-s", "danger-full-access"];

fn exec(place: &Place, arguments: &[&str]) -> Ran {
    place.run(&[USUAL, arguments].concat())
}

fn script(steps: &Value) -> String {
    format!("go RUN {steps}")
}

/// Returns the events of a run. Each is valid for the schema.
fn events(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    lines
        .map(|line| {
            schema::assert_valid("exec", line);
            serde_json::from_str(line).expect("JSON")
        })
        .collect()
}

/// Returns the type of each event, with that of its item.
fn kinds(events: &[Value]) -> Vec<String> {
    let kind = |event: &Value| match event["item"]["type"].as_str() {
        Some(item) => format!("{} {item}", event["type"].as_str().expect("a type")),
        None => event["type"].as_str().expect("a type").to_owned(),
    };
    events.iter().map(kind).collect()
}

fn thread(events: &[Value]) -> String {
    events[0]["thread_id"].as_str().expect("an id").to_owned()
}

/// Returns the events of a run as lines without what differs from run to run.
fn lines(place: &Place, ran: &Ran) -> String {
    let found = events(ran);
    let work = place.path("work").canonicalize().expect("a path").to_string_lossy().into_owned();
    let mut text = String::new();
    for event in &found {
        let mut event = event.clone();
        if let Some(usage) = event.get_mut("usage").and_then(Value::as_object_mut) {
            usage.values_mut().for_each(|count| *count = json!("COUNT"));
        }
        text.push_str(&event.to_string().replace(&work, "WORK").replace(&thread(&found), "THREAD"));
        text.push('\n');
    }
    text
}

#[test]
fn events_are_one_object_a_line() {
    let place = place();
    let steps = json!([
        [{ "think": "hm" }, { "say": "first", "phase": "commentary" },
         { "call": "exec_command", "args": { "cmd": "echo out; exit 3" } }],
        [{ "custom": "apply_patch", "input": "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n" }],
        [{ "call": "update_plan", "args": { "plan": [{ "step": "act", "status": "completed" }] } }],
        [{ "say": "last" }],
    ]);
    let ran = exec(&place, &["--json", &script(&steps)]);
    assert_eq!(ran.code, 0, "{ran}");
    insta::assert_snapshot!(lines(&place, &ran));
    assert!(ran.stderr.contains("recorded in "), "{ran}");
}

#[test]
fn what_is_refused_is_told_without_a_beginning() {
    let place = place();
    let steps = json!([
        [{ "custom": "apply_patch", "input": "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n" }],
        [{ "custom": "apply_patch", "input": "*** Begin Patch\n*** Delete File: none.txt\n*** End Patch\n" }],
        [{ "custom": "apply_patch", "input": "no patch" }],
        [{ "call": "exec_command", "args": { "cmd": "id", "sandbox_permissions": "require_escalated", "justification": "j" } }],
    ]);
    let ran = place.run(&["exec", "--json", "--provider", "scripted", "-C", "work", &script(&steps)]);
    assert_eq!(ran.code, 0, "{ran}");
    insta::assert_snapshot!(lines(&place, &ran));
    assert!(!place.path("work/a.txt").exists());
}

#[test]
fn the_last_message_goes_to_stdout_and_to_a_file() {
    let place = place();
    let steps = json!([[{ "say": "first", "phase": "commentary" }, { "call": "exec_command", "args": { "cmd": "true" } }], [{ "say": "the end\n" }]]);
    let ran = exec(&place, &["-o", "last.txt", &script(&steps)]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "the end\n\n"), "{ran}");
    assert_eq!(place.read("last.txt"), "the end\n");
    assert!(ran.stderr.contains("first\n") && ran.stderr.contains("$ "), "{ran}");
    assert!(ran.stderr.contains("note: the thread is ") && ran.stderr.contains("note: recorded in "), "{ran}");

    let failed = exec(&place, &["-o", "none.txt", &script(&json!([[{ "status": 400, "message": "no good" }]]))]);
    assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{failed}");
    assert!(failed.stderr.contains("error: no good"), "{failed}");
    assert_eq!(place.read("none.txt"), "");
    let nowhere = exec(&place, &["-o", "no/such/folder/x", &script(&json!([[{ "say": "a" }]]))]);
    assert_eq!(nowhere.code, 1, "{nowhere}");
    assert!(nowhere.stderr.contains("cannot write no/such/folder/x"), "{nowhere}");
}

#[test]
fn a_turn_that_fails_has_exit_code_1() {
    let place = place();
    let ran = exec(&place, &["--json", &script(&json!([[{ "status": 400, "message": "no good" }]]))]);
    assert_eq!(ran.code, 1, "{ran}");
    let found = events(&ran);
    assert_eq!(kinds(&found), ["thread.started", "turn.started", "error", "turn.failed"]);
    assert_eq!(found[3]["error"], json!({ "message": "no good" }));
}

#[test]
fn threads_are_resumed_and_copied() {
    let place = place();
    let say = |text: &str| script(&json!([[{ "say": text }]]));
    let first = thread(&events(&exec(&place, &["--json", &say("one")])));
    let by_id = exec(&place, &["--json", "resume", &first, &say("two")]);
    assert_eq!(thread(&events(&by_id)), first);
    // Options stand on both sides of the subcommand.
    let newest = exec(&place, &["resume", "--last", &say("three"), "--json"]);
    assert_eq!(thread(&events(&newest)), first);
    let copied = exec(&place, &["--json", "fork", &first, &say("four")]);
    assert_ne!(thread(&events(&copied)), first);
    assert_eq!(
        kinds(&events(&copied)),
        ["thread.started", "turn.started", "item.completed agent_message", "turn.completed"]
    );
    let only_copied = exec(&place, &["--json", "fork", &first]);
    assert_eq!((only_copied.code, kinds(&events(&only_copied))), (0, vec!["thread.started".to_owned()]));

    std::fs::create_dir_all(place.path("other/.git")).expect("a folder");
    let other = |arguments: &[&str]| {
        place.run(&[&["exec", "--provider", "scripted", "-C", "other", "--json"], arguments].concat())
    };
    let none = other(&["resume", "--last", &say("five")]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""), "{none}");
    assert!(none.stderr.contains("is stored that could be resumed") && none.stderr.contains("--all"), "{none}");
    assert_eq!(other(&["resume", "--last", "--all", &say("six")]).code, 0);
    for (arguments, text) in [
        (vec!["resume", "nobody", "hi"], "no stored thread has the id or the name `nobody`"),
        (vec!["resume"], "no thread is named"),
        (vec!["resume", "--last", "--ephemeral", "hi"], "--ephemeral"),
    ] {
        let refused = exec(&place, &arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{refused}");
        assert!(refused.stderr.contains(text), "{refused}");
    }
}

#[test]
fn a_review_has_a_target() {
    let place = place();
    let ran = exec(&place, &["--json", "review", &script(&json!([[{ "say": "all is well" }]]))]);
    assert_eq!(ran.code, 0, "{ran}");
    let found = events(&ran);
    assert_eq!(kinds(&found), ["thread.started", "turn.started", "item.completed agent_message", "turn.completed"]);
    assert_eq!(found[2]["item"]["text"], "all is well");
    for targets in [vec!["--uncommitted"], vec!["--base", "main"], vec!["--commit", "abc", "--title", "t"]] {
        let ran = exec(&place, &[&["--json", "review"], &targets[..]].concat());
        assert_eq!(ran.code, 0, "{targets:?}: {ran}");
    }
    assert_eq!(exec(&place, &["review"]).code, 1);
    assert_eq!(exec(&place, &["review", "--uncommitted", "--base", "main"]).code, 2);
}

#[test]
fn the_prompt_comes_from_the_arguments_from_stdin_or_from_both() {
    let place = place();
    let fed = |arguments: &[&str], input: &str| {
        let mut command = place.command(&[USUAL, &["--json", "--ephemeral"], arguments].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        Ran::from(child.wait_with_output().expect("it ends"))
    };
    let say = script(&json!([[{ "say": "heard" }]]));
    for (arguments, input) in [(vec![], say.as_str()), (vec!["-"], say.as_str()), (vec!["look at"], say.as_str())] {
        let ran = fed(&arguments, input);
        let found = events(&ran);
        assert_eq!(found[2]["item"]["text"], "heard", "{arguments:?}: {ran}");
    }
    let empty = fed(&[], "\n");
    assert_eq!((empty.code, empty.stdout.as_str()), (1, ""), "{empty}");
    assert!(empty.stderr.contains("error: the prompt is empty"), "{empty}");
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let place = place();
    std::fs::write(place.path("broken.json"), "{").expect("writes");
    std::fs::create_dir(place.path("bare")).expect("a folder");
    std::fs::create_dir(place.path("home")).expect("a folder");
    std::fs::write(place.path("home/work.config.toml"), "model = 3").expect("writes");
    let refused = |arguments: &[&str], code: i32, text: &str| {
        let ran = place.run(&[&["exec", "--provider", "scripted"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains(text), "{arguments:?}: {ran}");
    };
    refused(&["-C", "bare", "hi"], 1, "is neither in a Git repository nor a trusted folder");
    refused(&["-C", "nowhere", "hi"], 1, "nowhere is not a folder");
    refused(&["-C", "work", "--output-schema", "broken.json", "hi"], 1, "the output schema broken.json is not JSON");
    refused(&["-C", "work", "--output-schema", "none.json", "hi"], 1, "cannot read the output schema none.json");
    refused(&["-C", "work", "--image", "none.png", "hi"], 1, "there is no image none.png");
    refused(&["-C", "work", "-c", "sandbox_mode=3", "hi"], 1, "sandbox_mode");
    refused(&["-C", "work", "-c", "approval_policy=untrusted", "hi"], 1, "nobody can be asked here");
    refused(&["-C", "work", "--strict-config", "-c", "modle=x", "hi"], 1, "`modle` is not a known key");
    refused(&["-C", "work", "-p", "none", "hi"], 1, "none.config.toml");
    refused(&["-C", "work", "-p", "work", "hi"], 1, "work.config.toml:1:9");
    refused(&["-C", "work", "-p", "../x", "hi"], 1, "`../x` is not the name of a profile");
    refused(&["-C", "work", "-s", "open", "hi"], 2, "invalid value");
    refused(&["-C", "work", "--yolo", "-s", "read-only", "hi"], 2, "cannot be used with");
}

#[test]
fn a_folder_is_trusted_by_the_configuration_or_by_an_option() {
    let place = Place::new();
    std::fs::create_dir(place.path("bare")).expect("a folder");
    let bare = place.path("bare");
    let say = script(&json!([[{ "say": "here" }]]));
    let run = |more: &[&str]| {
        place.run(&[&["exec", "--provider", "scripted", "--ephemeral", "-C", "bare"], more, &[&say]].concat()).code
    };
    assert_eq!(run(&[]), 1);
    assert_eq!(run(&["--skip-git-repo-check"]), 0);
    assert_eq!(run(&["--dangerously-bypass-approvals-and-sandbox"]), 0);
    let trusted = format!("projects={{ \"{}\" = {{ trust_level = \"trusted\" }} }}", bare.display());
    assert_eq!(run(&["-c", &trusted]), 0);
}

#[test]
fn settings_come_from_the_file_the_profile_and_the_options() {
    let place = place();
    std::fs::create_dir(place.path("home")).expect("a folder");
    std::fs::write(place.path("home/config.toml"), "modle = 1\nmodel_provider = \"scripted\"").expect("writes");
    std::fs::write(place.path("home/work.config.toml"), "modle2 = 1").expect("writes");
    let say = script(&json!([[{ "say": "here" }]]));
    let told = |more: &[&str]| {
        let ran = place.run(&[&["exec", "--ephemeral", "-C", "work"], more, &[&say]].concat());
        assert_eq!(ran.code, 0, "{ran}");
        let warnings = ran.stderr.lines().filter(|line| line.starts_with("warning: "));
        warnings.map(|line| line.split('`').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&[]), ["modle"]);
    assert_eq!(told(&["-p", "work"]), ["modle2", "modle"]);
    assert_eq!(told(&["--ignore-user-config", "--provider", "scripted"]), Vec::<String>::new());
    assert_eq!(told(&["--enable", "x", "--disable", "y", "-c", "modle3=1"]), ["modle3", "modle"]);
}
