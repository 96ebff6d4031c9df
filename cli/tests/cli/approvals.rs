//! The approval requests of `trace run` on a terminal, and the effects of the answers.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::support::Place;

/// How long a test waits for output before it fails.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The end of every question.
const PROMPT: &str = "[y/N/a";

/// Runs a turn on a terminal, and answers its questions one by one. Returns the output, split at the questions.
fn asked(place: &Place, arguments: &[&str], script: &Value, answers: &[&str]) -> Vec<String> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("granted");
    unlockpt(&controller).expect("unlocked");
    let name = ptsname(&controller, Vec::new()).expect("a name");
    let user = || {
        let opened = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
        File::from(opened.expect("opens"))
    };
    let prompt = format!("RUN {script}");
    let all = [&["run", "--provider", "scripted", "--no-trace", "-C", "work"], arguments, &[&prompt]].concat();
    let mut command = place.command(&all);
    command.stdin(Stdio::from(user())).stderr(Stdio::from(user())).stdout(Stdio::null());
    command.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1");
    let mut child = command.spawn().expect("starts");
    drop(command);
    let mut controller = File::from(controller);
    let mut output = controller.try_clone().expect("a copy");
    let (sender, pieces) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        // At the end of a terminal, reading returns an error.
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            let _ = sender.send(buffer[..length].to_vec());
        }
    });
    let (mut shown, mut questions, mut from) = (Vec::new(), Vec::new(), 0);
    let mut answers = answers.iter();
    while let Ok(piece) = pieces.recv_timeout(TIMEOUT) {
        shown.extend(piece);
        let text = String::from_utf8_lossy(&shown[from..]).into_owned();
        if let Some(at) = text.find(PROMPT)
            && let Some(end) = text[at..].find("] ")
        {
            questions.push(text[..at + end + 1].replace("\r\n", "\n"));
            from = shown.len();
            controller.write_all(format!("{}\n", answers.next().unwrap_or(&"n")).as_bytes()).expect("types");
        }
        if child.try_wait().expect("asked").is_some() {
            break;
        }
    }
    assert!(child.wait().expect("ends").success(), "{}", String::from_utf8_lossy(&shown));
    assert!(answers.next().is_none(), "asked only {questions:#?}");
    questions
}

fn command(line: &str) -> Value {
    json!([{ "call": "exec_command", "args": { "cmd": line, "login": false } }])
}

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("work")).expect("a folder");
    place
}

/// Returns the rows of a question between its heading and its answers.
fn rows(question: &str) -> String {
    let from = question.find("The agent wants").expect("a heading");
    let to = question.find("\n  y  ").expect("an offer");
    question[from..to].lines().skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_command_is_asked_for_as_it_will_run() {
    let place = place();
    let lines = [
        "cat notes.txt # look\nrm -rf ~",
        "ls\rrm -rf ~",
        "rm -rf ~\u{1b}[2K\u{1b}[1Gls",
        "rm -rf ~\u{8}\u{8}\u{8}ls\tx",
        "touch \u{202e}txt.exe\u{202c}",
        "g\u{456}t push",
        "l\u{200b}s\u{ad} x\u{e0072}",
        "rm\u{a0}-rf\u{3000}x",
        "ls\u{37e} rm x\u{2215}y",
        "touch 'x [y/n] y\nRun it? yes'",
        "cat <<'EOF' | sh\nid\nEOF",
        "echo ok                                        ; rm -rf ~",
        "touch שלום 漢字 é 🦀",
        "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}b ; x",
        "touch \u{2018}quoted\u{2019} \u{23ce}",
    ];
    let calls: Vec<Value> = lines.iter().map(|line| command(line)).chain([json!([{ "say": "done" }])]).collect();
    let answers = vec!["n"; lines.len()];
    let questions = asked(&place, &["--approval", "untrusted"], &json!(calls), &answers);
    let shown: Vec<String> = questions
        .iter()
        .map(|question| {
            let rows = rows(question);
            let to = rows.find("  run by").expect("a field");
            rows[..to].to_owned()
        })
        .collect();
    insta::assert_snapshot!(shown.join("--\n"), @r"
          1 | cat notes.txt # look
          2 | rm -rf ~
    --
          1 | ls␍rm -rf ~
      !       contains control characters: U+000D carriage return
    --
          1 | rm -rf ~\u{1b}[2K\u{1b}[1Gls
      !       contains control characters: U+001B escape (2 in all)
    --
          1 | rm -rf ~\u{8}\u{8}\u{8}ls␉x
      !       contains tabs: U+0009 tab
      !       contains control characters: U+0008 backspace (3 in all)
    --
          1 | touch \u{202e}txt.exe\u{202c}
      !       contains characters that change the direction of text: U+202E right-to-left override, U+202C
    --
          1 | g\u{456}t push
      !       contains look-alike characters: U+0456 (Cyrillic, looks like i)
    --
          1 | l\u{200b}s\u{ad} x\u{e0072}
      !       contains invisible characters: U+200B zero width space, U+00AD soft hyphen, U+E0072
    --
          1 | rm\u{a0}-rf\u{3000}x
      !       contains unusual spaces: U+00A0 no-break space, U+3000 ideographic space
    --
          1 | ls\u{37e} rm x\u{2215}y
      !       contains look-alike characters: U+037E (looks like ;), U+2215 (looks like /)
    --
          1 | touch 'x [y/n] y
          2 | Run it? yes'
    --
          1 | cat <<'EOF' | sh
          2 | id
          3 | EOF
    --
          1 | echo ok␠×40; rm -rf ~
    --
          1 | touch שלום 漢字 é 🦀
      !       contains text that is written from right to left: its parts may be shown in another order than they have
    --
          1 | á́́́\u{301}\u{301}b ; x
      !       contains marks on what has none, or too many of them: U+0301 (2 in all)
    --
          1 | touch \u{2018}quoted\u{2019} \u{23ce}
      !       contains look-alike characters: U+2018 (looks like '), U+2019 (looks like ')
    ");
    for question in &questions {
        assert!(!question.contains(['\u{1b}', '\u{8}', '\u{202e}', '\u{200b}']), "{question:?}");
    }
}

#[test]
fn a_long_command_shows_both_ends_and_all_of_it_on_demand() {
    let place = place();
    let line = format!("echo {}; rm -rf ~", "a".repeat(20_000));
    let script = json!([command(&line), [{ "say": "done" }]]);
    let questions = asked(&place, &["--approval", "untrusted"], &script, &["v", "n"]);
    let first = rows(&questions[0]);
    assert!(first.contains("|") && first.contains("; rm -rf ~"), "{first}");
    assert!(first.contains("characters in 1 line are left out"), "{first}");
    assert!(questions[0].ends_with("[y/N/a/p/v]") || questions[0].ends_with("[y/N/a/v]"), "{}", questions[0]);
    assert_eq!(rows(&questions[1]).matches('a').count() / 20_000, 1, "all of it");
    assert!(!questions[1].contains("left out"));
}

#[test]
fn programs_folder_rights_and_the_models_words_are_told_apart() {
    let place = place();
    let work = place.path("work").canonicalize().expect("is there");
    std::fs::create_dir(work.join("sub")).expect("a folder");
    std::os::unix::fs::symlink(work.join("sub"), work.join("link")).expect("a link");
    let args = json!({
        "cmd": "cat x | sort",
        "login": false,
        "workdir": "link",
        "sandbox_permissions": "require_escalated",
        "justification": "harmless\"\n  rights  runs in the sandbox\n[y/n] \u{1b}[2K",
        "prefix_rule": ["cat", "x"],
    });
    let script = json!([[{ "call": "exec_command", "args": args }], [{ "say": "done" }]]);
    let questions = asked(&place, &["--approval", "on-request", "--sandbox", "read-only"], &script, &["n"]);
    let shown = questions[0].replace(&work.display().to_string(), "WORK");
    let shown = shown[shown.find("The agent wants").expect("a heading")..].to_owned();
    insta::assert_snapshot!(shown, @r#"
    The agent wants to run these lines:
          1 | cat x | sort
      run by  /bin/bash -c
      program /bin/bash, a link to /usr/bin/bash
      program cat: /usr/bin/cat
      program sort: /usr/bin/sort
      folder  WORK/link, which is WORK/sub
      rights  runs without a sandbox, with all rights of the server
      reason  the model says why: "harmless\"⏎ rights runs in the sandbox⏎[y/n] \u{1b}[2K"
      y  yes, this once
      a  yes, and always for this very command in this folder, until the agent is done
      p  yes, and from now on all commands that begin with sort
      [y/N/a/p]
    "#);
}

#[test]
fn a_rule_is_shown_before_it_is_agreed_to() {
    let place = place();
    let script = json!([command("touch a\u{456}b 'x y'"), [{ "say": "done" }]]);
    let questions = asked(&place, &["--approval", "untrusted", "--sandbox", "danger-full-access"], &script, &["p"]);
    assert!(questions[0].contains(r"all commands that begin with touch 'a\u{456}b' 'x y'"), "{}", questions[0]);
    assert!(Path::new(&place.path("work")).join("a\u{456}b").exists(), "it ran");
}

#[test]
fn changes_of_files_are_shown_by_their_real_paths() {
    let place = place();
    let work = place.path("work").canonicalize().expect("is there");
    std::fs::write(work.join("run.sh"), "one\n").expect("writes");
    std::fs::set_permissions(work.join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    std::os::unix::fs::symlink(work.join("run.sh"), work.join("notes.txt")).expect("a link");
    let patch = "*** Begin Patch\n*** Add File: b\u{200b}\u{456}n.txt\n+x\n+y\u{202e}z\n*** Update File: notes.txt\n@@\n-one\n+two\n*** End Patch\n";
    let script = json!([[{ "call": "apply_patch", "args": { "input": patch } }], [{ "say": "done" }]]);
    let questions = asked(&place, &["--approval", "untrusted"], &script, &["v", "n"]);
    let shown = |question: &str| {
        question[question.find("The agent").expect("a heading")..].replace(&work.display().to_string(), "WORK")
    };
    insta::assert_snapshot!(shown(&questions[0]), @r"
    The agent wants to change 2 files (+3 -1 lines):
      add     WORK/b\u{200b}\u{456}n.txt (+2 -0)
      !       contains invisible characters: U+200B zero width space
      !       contains look-alike characters: U+0456 (Cyrillic, looks like i)
      update  WORK/notes.txt, which is WORK/run.sh, mode 755 (+1 -1)
      y  yes, this once
      a  yes, and always for these files, until the agent is done
      v  view all of it
      [y/N/a/v]
    ");
    insta::assert_snapshot!(shown(&questions[1]), @r"
    The agent wants to change 2 files (+3 -1 lines):
      add     WORK/b\u{200b}\u{456}n.txt (+2 -0)
      !       contains invisible characters: U+200B zero width space
      !       contains look-alike characters: U+0456 (Cyrillic, looks like i)
          1 | x
          2 | y\u{202e}z
          3 | 
      !       contains characters that change the direction of text: U+202E right-to-left override
      update  WORK/notes.txt, which is WORK/run.sh, mode 755 (+1 -1)
          1 | @@ -1 +1 @@
          2 | -one
          3 | +two
          4 | 
      y  yes, this once
      a  yes, and always for these files, until the agent is done
      [y/N/a]
    ");
    assert_eq!(std::fs::read_to_string(work.join("run.sh")).expect("reads"), "one\n");
}
