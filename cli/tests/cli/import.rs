//! Sessions of other agents: every command reads them, and `trace import` makes bundles of them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Place;

/// A session of three agents that the Codex CLI stored; one of them fails.
const AGENTS: &str = "../samples/tests/import/fixtures/codex";

/// Id of its first thread.
const ID: &str = "01a20517-0d54-7e41-a528-ca5c72628276";

/// Returns a place with the sessions of a user of the Codex CLI, and the file of the root.
fn place() -> (Place, String) {
    let place = Place::new();
    let day = place.path("codex/sessions/2026/11/22");
    std::fs::create_dir_all(&day).expect("creates");
    let mut root = PathBuf::new();
    for entry in Path::new(AGENTS).read_dir().expect("lists").map(|entry| entry.expect("an entry")) {
        let target = day.join(entry.file_name());
        std::fs::copy(entry.path(), &target).expect("copies");
        if target.to_string_lossy().contains(ID) {
            root = target;
        }
    }
    let root = root.strip_prefix(place.path("")).expect("below").to_string_lossy().into_owned();
    (place, root)
}

/// Runs a command as that user, and returns what it prints, errors last.
fn run(place: &Place, arguments: &[&str]) -> String {
    let [out, errors] = run_apart(place, arguments);
    out + &errors
}

/// Runs a command as that user, and returns its output and its errors.
fn run_apart(place: &Place, arguments: &[&str]) -> [String; 2] {
    let mut command = place.command(arguments);
    command.env("CODEX_HOME", place.path("codex")).env("HOME", place.path("nowhere"));
    let output = command.output().expect("runs");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
}

#[test]
fn a_rollout_is_shown_like_a_bundle() {
    let (place, root) = place();
    let shown = run(&place, &["show", &root]);
    assert_snapshot!(shown);
    for name in [ID, "01a20517-0d54", "@last", "codex/sessions"] {
        let named = run(&place, &["show", name]);
        let path = |line: &str| line.starts_with("  bundle ");
        let rest = |text: &str| text.lines().filter(|line| !path(line)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rest(&named), rest(&shown), "{name}");
    }
    let told: Value = serde_json::from_str(&run(&place, &["show", "@last", "--json"])).expect("JSON");
    assert_eq!(told["import"]["sources"].as_array().map(Vec::len), Some(3));
}

#[test]
fn questions_are_answered_from_a_rollout() {
    let (place, root) = place();
    assert_snapshot!("postmortem", run(&place, &["postmortem", &root]));
    let found = run(&place, &["grep", "--count", "leaf 1", &root]);
    assert_eq!(found.trim_end(), "6");
    let rows = run(&place, &["query", &root, "SELECT count(*) AS turns FROM turns", "--csv"]);
    assert_eq!(rows, "\"turns\"\r\n\"3\"\r\n");
    let graph: Value = serde_json::from_str(&run_apart(&place, &["reduce", &root, "-o", "-"])[0]).expect("JSON");
    assert_eq!(graph["interaction_edges"].as_object().map(serde_json::Map::len), Some(4));
    // Nothing is written into the folders of the other agent.
    let refused = run(&place, &["reduce", &root]);
    assert!(refused.contains("is the session of another agent") && refused.contains("-o -"), "{refused}");
    assert_eq!(place.names("codex/sessions/2026/11/22").len(), 3);
}

#[test]
fn an_import_is_a_bundle() {
    let (place, root) = place();
    let told = run(&place, &["import", &root, "-o", "bundle"]);
    assert_snapshot!("imported", told);
    run(&place, &["import", ID, "-o", "packed.trace"]);
    run(&place, &["import", "codex", "-o", "all/"]);
    assert_eq!(place.names("all").len(), 1);
    let graph = |session: &str| run_apart(&place, &["reduce", session, "-o", "-"])[0].clone();
    let told = graph(&root);
    for bundle in ["bundle", "packed.trace", "all"] {
        assert_eq!(graph(bundle), told, "{bundle}");
    }
    let checked = run(&place, &["check", "bundle", "packed.trace"]);
    assert!(checked.contains("2 bundles, no errors"), "{checked}");
    let again = run(&place, &["import", &root, "-o", "bundle"]);
    assert!(again.starts_with("error"), "{again}");
}

#[test]
fn what_names_no_session_is_told() {
    let (place, _) = place();
    std::fs::write(place.path("notes.jsonl"), "{\"a\":1}\n").expect("writes");
    std::fs::create_dir(place.path("empty")).expect("creates");
    let told = ["notes.jsonl", "empty", "01a2ffff", "missing/file"]
        .map(|name| run(&place, &["import", name, "-o", "x"]) + &run(&place, &["show", name]));
    assert_snapshot!("not_sessions", told.join("\n"));
    // A second session makes the folder and the beginning of the id ambiguous.
    let first =
        place.path("codex/sessions/2026/11/22").read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    let first = first.into_iter().find(|path| path.to_string_lossy().contains(ID)).expect("the root");
    let other = place.path("codex/sessions/rollout-2026-11-23T00-00-00-01a20517-0d54-7e41-a528-000000000000.jsonl");
    std::fs::copy(first, other).expect("copies");
    for name in ["01a20517-0d54", "codex"] {
        let told = run(&place, &["show", name]);
        assert!(told.contains("names 2 sessions"), "{told}");
        assert!(told.contains("2026-11-22 21:08:46  Codex CLI  "), "{told}");
    }
}

#[test]
fn sessions_of_other_agents_are_listed() {
    let (place, _) = place();
    assert_snapshot!("listed", run(&place, &["ls"]));
    assert_eq!(run(&place, &["ls", "codex"]), run(&place, &["ls"]));
    let told: Value = serde_json::from_str(&run(&place, &["ls", "--json"])).expect("JSON");
    assert_eq!((&told[0]["id"], &told[0]["turns"], &told[0]["format"]), (&ID.into(), &3.into(), &"codex".into()));
    assert_eq!(told.as_array().map(Vec::len), Some(1), "files of children are no sessions of their own");
}

#[test]
fn a_session_is_followed_while_another_agent_writes_it() {
    let (place, root) = place();
    let events = |text: &str| {
        let value = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
        let mut events: Vec<_> = text
            .lines()
            .map(value)
            // Only the end of the files, and not of the session, shows these ends.
            .filter(|event| {
                !["agent_ended", "session_ended", "recording_completed"].map(Value::from).contains(&event["event"])
            })
            .map(|event| ["event", "agent_path", "detail", "status"].map(|member| event[member].to_string()).join(" "))
            .collect();
        events.sort();
        events
    };
    let arguments = ["tail", &root, "--json", "--from-start", "--no-follow"];
    let whole = events(&run_apart(&place, &arguments)[0]);
    assert!(whole.len() > 30 && whole.iter().any(|event| event.contains("spawned")));

    // The root grows line by line, as agents write, and the files of its children appear with the spawns.
    let growing = Place::new();
    let folder = growing.path("codex/sessions/2026/11/22");
    std::fs::create_dir_all(&folder).expect("creates");
    let text = place.read(&root);
    let (first, last) = text.split_at(text.match_indices('\n').nth(9).expect("lines").0 + 1);
    let path = growing.path(&root);
    std::fs::write(&path, first).expect("writes");
    let mut command = growing.command(&["tail", &root, "--json", "--from-start"]);
    let mut child = Ended(command.stdout(std::process::Stdio::piped()).spawn().expect("starts"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("piped")).lines();
    let mut shown = vec![lines.next().expect("a line").expect("reads")];
    for entry in Path::new(AGENTS).read_dir().expect("lists").map(|entry| entry.expect("an entry")) {
        if !entry.path().to_string_lossy().contains(ID) {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("copies");
        }
    }
    let (half, rest) = last.split_at(last.len() / 2);
    for part in [half, rest] {
        let mut file = std::fs::File::options().append(true).open(&path).expect("opens");
        std::io::Write::write_all(&mut file, part.as_bytes()).expect("writes");
        // The next part comes when something of this one was shown.
        shown.push(lines.next().expect("a line").expect("reads"));
    }
    while events(&shown.join("\n")).len() < whole.len() {
        shown.push(lines.next().expect("a line").expect("reads"));
    }
    assert_eq!(events(&shown.join("\n")), whole);
}

#[test]
fn an_object_leads_to_the_line_that_it_comes_from() {
    let (place, root) = place();
    let sql = "SELECT tool_call_id FROM tool_calls ORDER BY started_seq LIMIT 1";
    let rows: Value = serde_json::from_str(&run(&place, &["query", &root, sql, "--jsonl"])).expect("JSON");
    let id = rows["tool_call_id"].as_str().expect("an id");
    let object = format!("tool_call:{id}");
    let told: Value =
        serde_json::from_str(&run(&place, &["show", &root, "--object", &object, "--json"])).expect("JSON");
    let line = told["source"]["line"].as_u64().expect("a line") as usize;
    let file = told["source"]["file"].as_str().expect("a file");
    let text = place.read(file);
    let call_id = told["state"]["model_visible_call_id"].as_str().expect("an id");
    assert!(text.lines().nth(line - 1).expect("the line").contains(call_id), "{file}:{line}");
    assert_eq!(told["state"]["tool_call_id"], id);
    let shown = run(&place, &["show", &root, "--object", &object]);
    assert!(shown.contains(&format!("{file}:{line}\n")), "{shown}");

    // Every object has its line.
    let query =
        |sql: &str| serde_json::from_str::<Value>(&run(&place, &["query", &root, sql, "--json"])).expect("JSON");
    let origins = query("SELECT object_type, count(*) AS n FROM v_origins GROUP BY object_type");
    let types = [
        ("conversation_item", "items"),
        ("tool_call", "tool_calls"),
        ("codex_turn", "turns"),
        ("thread", "threads"),
        ("inference_call", "inference_calls"),
        ("interaction_edge", "edges"),
    ];
    for (kind, table) in types {
        let all = query(&format!("SELECT count(*) AS n FROM {table}"));
        let found = origins.as_array().into_iter().flatten().find(|row| row["object_type"] == kind).expect("a row");
        assert_eq!(found["n"], all[0]["n"], "{kind}");
    }
    assert!(query("SELECT code FROM import_notes").to_string().contains("request-rebuilt"));
    assert_eq!(query("SELECT imported_from FROM bundles")[0]["imported_from"], "codex");
    let context = run(&place, &["context", &root, "--last"]);
    assert!(context.contains("request-rebuilt"), "{context}");
    let missing = run(&place, &["show", &root, "--object", "tool_call:no"]);
    assert!(missing.starts_with("error: the session has no object tool_call:no"), "{missing}");
}

/// Two traces of OpenTelemetry in one file.
const STORE: &str = "../samples/tests/import/fixtures/otel/handoff.jsonl";

#[test]
fn recordings_are_named_by_their_ids_too() {
    let (place, root) = place();
    let id = "019cae19-0040-732f-83f2-827affe7f664";
    std::fs::create_dir_all(place.path("home/traces")).expect("creates");
    let recorded = format!("home/traces/trace-019cae19-0000-7000-8000-000000000000-{id}");
    let sample = Path::new(&crate::support::sample("three-children")).to_owned();
    copy(&sample, &place.path(&recorded));
    let overview = |name: &str| run(&place, &["show", name]).lines().next().map(str::to_owned);
    let shown = overview(&recorded);
    assert!(shown.as_deref().is_some_and(|line| line.contains(id)), "{shown:?}");
    for name in [id, "019cae19-0040", "@last"] {
        assert_eq!(overview(name), shown, "{name}");
    }
    // An import is a copy: it is neither the last session, nor does it make an id ambiguous.
    let imported = format!("home/traces/codex-rollout-{ID}");
    run(&place, &["import", &root, "-o", &imported]);
    assert_eq!(overview("@last"), shown);
    assert_eq!(overview(ID), overview(&root));
    std::fs::remove_dir_all(place.path("codex")).expect("removes");
    assert_eq!(overview(ID), overview(&imported));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("creates");
    for entry in from.read_dir().expect("lists").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copies");
        }
    }
}

#[test]
fn a_store_of_several_sessions_asks_for_one() {
    let (place, _) = place();
    let other = place.path("codex/other.jsonl");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(STORE), &other).expect("copies");
    let listed = run(&place, &["show", "codex"]);
    assert!(listed.contains("names 2 sessions") && listed.contains("--session ID"), "{listed}");
    let shown = run(&place, &["show", "codex", "--session", "01a20517-0d54"]);
    assert!(shown.contains(&format!("Session {ID} ")), "{shown}");
    let count = |arguments: &[&str]| run_apart(&place, arguments)[0].clone();
    let sql = "SELECT count(*) AS turns FROM turns";
    assert_eq!(count(&["query", "codex", "--session", ID, sql, "--csv"]), "\"turns\"\r\n\"3\"\r\n");
    assert_snapshot!(run(&place, &["show", "codex", "--session", "nothing"]), @r"
    error: codex has no session whose id begins with nothing
    hint: `trace ls codex` lists its sessions
    ");
    assert_snapshot!(run(&place, &["grep", "x", "codex", "codex", "--session", ID]), @r"
    error: --session chooses from one store, and 2 are named
    hint: STORE#ID names a session of a store among other arguments
    ");
}

#[test]
fn bundles_are_packed_and_redacted_without_an_import() {
    let (place, root) = place();
    for arguments in [
        &["pack", &root, "-o", "packed.trace"][..],
        &["pack", "codex", "-o", "all/"],
        &["redact", ID, "-o", "redacted"],
        &["redact", &root, "-o", "redacted.trace"],
    ] {
        let told = run(&place, arguments);
        assert!(!told.contains("error"), "{told}");
    }
    assert_eq!(place.names("all").len(), 1);
    let graph = |session: &str| run_apart(&place, &["reduce", session, "-o", "-"])[0].clone();
    let told = graph(&root);
    for bundle in ["packed.trace", "all", "redacted", "redacted.trace"] {
        assert_eq!(graph(bundle), told, "{bundle}");
    }
    let refused: Vec<String> = [
        &["pack", &root][..],
        &["pack", &root, "-o", "x.trace", "--delete-source"],
        &["check", "--repair", "-q", &root],
        &["unpack", &root],
        &["import", "redacted", "-o", "x"],
    ]
    .iter()
    .map(|arguments| run(&place, arguments))
    .collect();
    assert_snapshot!("refused", refused.join("\n"));
    // Nothing was written into the folders of the other agent, and an export goes into the current one.
    let exported = run(&place, &["export", ID]);
    assert!(exported.starts_with("wrote codex-rollout-2026-11-22T21-08-46-01a20517"), "{exported}");
    assert_eq!(place.names("codex/sessions/2026/11/22").len(), 3);
}

#[test]
fn a_query_answers_again_while_a_session_grows() {
    let (place, root) = place();
    let path = place.path(&root);
    let whole = std::fs::read_to_string(&path).expect("reads");
    let lines: Vec<&str> = whole.lines().collect();
    let (first_half, rest) = lines.split_at(lines.len() / 2);
    std::fs::write(&path, first_half.join("\n") + "\n").expect("writes");
    let sql = "SELECT count(*) FROM events";
    let mut command = place.command(&["query", &root, sql, "--jsonl", "--follow"]);
    let mut child = Ended(command.stdout(std::process::Stdio::piped()).spawn().expect("starts"));
    let mut answers = BufReader::new(child.0.stdout.take().expect("a pipe")).lines();
    let mut next = || answers.next().expect("an answer").expect("UTF-8");
    let first = next();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("opens");
    file.write_all((rest.join("\n") + "\n").as_bytes()).expect("writes");
    let now = run_apart(&place, &["query", &root, sql, "--jsonl"]);
    assert_ne!(first, now[0].trim_end());
    // An answer in between may be one for a part of what was added.
    while next() != now[0].trim_end() {}
}

/// A process that ends with the test, whatever becomes of it.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn shells_are_offered_sessions() {
    let (place, _) = place();
    let offered = |words: &[&str]| {
        let arguments: Vec<&str> = ["--", "trace"].iter().chain(words).copied().collect();
        let mut command = place.command(&arguments);
        command.env("CODEX_HOME", place.path("codex")).env("HOME", place.path("nowhere")).env("TRACE_COMPLETE", "fish");
        let output = command.output().expect("runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    // The files of children are no sessions.
    assert_eq!(offered(&["show", "01a2"]), format!("{ID}\tCodex CLI\n"));
    assert!(!place.path("cache/trace").exists(), "a completion writes nothing");
    run(&place, &["ls"]);
    let described = offered(&["show", "01a2"]);
    assert!(described.starts_with(&format!("{ID}\tCodex CLI 2026-11-22 21:08:46")), "{described}");
    let all = offered(&["query", ""]);
    assert!(all.starts_with("@last\t") && all.contains(ID) && all.contains("codex/"), "{all}");
    assert_eq!(offered(&["show", "$(x"]), "");
    assert!(offered(&["show", "--sess"]).starts_with("--session\t"));
}

#[test]
fn bash_is_offered_sessions_and_no_commands() {
    let (place, _) = place();
    let offered = |words: &[&str]| {
        let arguments: Vec<&str> = ["--", "trace"].iter().chain(words).copied().collect();
        let mut command = place.command(&arguments);
        command.env("CODEX_HOME", place.path("codex")).env("HOME", place.path("nowhere"));
        command.env("TRACE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        let output = command.output().expect("runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(offered(&["show", "01a2"]), ID);
    // Bash takes the @ for a word of its own.
    assert_eq!(offered(&["show", "@", "@l"]), "@last");
    // Bash would take such a name for a command. Without a session beside it, the name is left to Bash.
    std::fs::write(place.path("01a2 $(x)"), "").expect("writes");
    assert_eq!(offered(&["show", "01a2"]), ID);
    std::fs::write(place.path("zz $(x)"), "").expect("writes");
    assert_eq!(offered(&["show", "zz"]), "");
    let script = run(&place, &["completions", "bash"]);
    assert!(script.contains("-o default") && script.contains("2> /dev/null"), "{script}");
}

#[test]
fn the_cache_can_be_damaged_and_shared() {
    let (place, _) = place();
    let listed = run(&place, &["ls"]);
    let path = place.path("cache/trace/sessions.json");
    let kept = std::fs::read(&path).expect("a cache");
    for damaged in [&b""[..], b"{", &kept[..kept.len() / 2], b"\xff\xfe"] {
        std::fs::write(&path, damaged).expect("writes");
        assert_eq!(run(&place, &["ls"]), listed);
        assert_eq!(std::fs::read(&path).expect("a cache").len(), kept.len(), "it is written again");
    }
    let several: Vec<String> = std::thread::scope(|scope| {
        std::fs::remove_file(&path).expect("removes");
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&place, &["ls"]))).collect();
        threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
    });
    assert!(several.iter().all(|one| *one == listed));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().expect("a cache").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(place.names("cache/trace"), ["sessions.json"]);
}

#[test]
fn the_example_of_the_readme_is_real() {
    let place = Place::new();
    let told = run(&place, &["postmortem", &crate::support::sample("claude-code")]);
    assert_snapshot!("readme_example", told);
    let readme = std::fs::read_to_string(crate::support::sample("../README.md")).expect("reads");
    let shown = readme.split("$ trace postmortem 3d2d5660\n").nth(1).and_then(|rest| rest.split("...\n").next());
    assert!(shown.is_some_and(|shown| told.starts_with(shown)), "the README shows {shown:?}");
    let listed = run(&place, &["ls", &crate::support::sample("claude-code")]);
    assert!(readme.contains(&listed), "{listed}");
    // The failed command took its time between two records. It does not set the clock back.
    let timeline = run(&place, &["timeline", &crate::support::sample("claude-code")]);
    assert!(timeline.contains("took 52.6 s") && !timeline.contains("set back"), "{timeline}");
}
