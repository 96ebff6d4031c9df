//! Exchanges threads with the app-server of the Codex CLI in both directions, with a scripted model in place of a
//! provider. The tests need the Codex CLI (`TRACE_PEER`).

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use trace_protocol::thread::ThreadHistoryMode;
use trace_runtime::ThreadId;

use crate::support::{new_thread, open, said, shown, talk};

/// A process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The app-server of the Codex CLI, with its own home.
struct Peer {
    _model: Running,
    _server: Running,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next_id: u64,
    waiting: VecDeque<Value>,
    log: PathBuf,
    home: PathBuf,
}

impl Peer {
    /// Starts the app-server. Returns `None` if the Codex CLI is not installed.
    fn start(home: &Path) -> Option<Self> {
        let what = "no thread goes to the Codex CLI and back";
        let program = trace_needs::peer(what)?;
        let mut scripted_model = trace_needs::scripted_model(what)?;
        let log = home.join("model.log");
        let mut model =
            Running(scripted_model.arg("--log").arg(&log).stdout(Stdio::piped()).spawn().expect("a scripted model"));
        let mut line = String::new();
        BufReader::new(model.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening ").expect("an address").to_owned();
        let config = format!(
            "model = \"scripted-1\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
             sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}\"\nwire_api = \"responses\"\n\
             supports_websockets = false\n"
        );
        fs::write(home.join("config.toml"), config).unwrap();
        let mut server = Running(
            Command::new(program)
                .args(["app-server", "--listen", "stdio://"])
                .env("CODEX_HOME", home)
                .env("HOME", home)
                .current_dir(home)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("the other program"),
        );
        let (to, from) = (server.0.stdin.take().unwrap(), BufReader::new(server.0.stdout.take().unwrap()));
        let mut peer = Self {
            _model: model,
            _server: server,
            to,
            from,
            next_id: 0,
            waiting: VecDeque::new(),
            log,
            home: home.to_owned(),
        };
        let client = json!({"name": "store-test", "version": "1"});
        peer.call("initialize", &json!({"clientInfo": client, "capabilities": {"experimentalApi": true}}));
        Some(peer)
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).unwrap() > 0, "the other program ended");
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        writeln!(self.to, "{}", json!({"id": id, "method": method, "params": params})).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.waiting.push_back(message);
        }
    }

    /// Runs a turn to its end.
    fn turn(&mut self, thread: &str, text: &str) {
        let input = json!([{"type": "text", "text": text}]);
        self.waiting.clear();
        self.call("turn/start", &json!({"threadId": thread, "input": input}));
        loop {
            let message = match self.waiting.pop_front() {
                Some(message) => message,
                None => self.receive(),
            };
            if message["method"] == "turn/completed" && message["params"]["threadId"] == thread {
                assert_eq!(message["params"]["turn"]["status"], "completed", "{message}");
                return;
            }
        }
    }

    /// Returns the last request to the model.
    fn sent(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap();
        let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        last["body"]["input"].to_string()
    }

    fn work(&self) -> PathBuf {
        self.home.clone()
    }
}

fn items(thread: &Value) -> Vec<String> {
    let turns = thread["turns"].as_array().unwrap();
    turns.iter().flat_map(|turn| turn["items"].as_array().unwrap()).map(said).collect()
}

#[test]
fn a_thread_continues_in_the_codex_cli() {
    for mode in [ThreadHistoryMode::Paginated, ThreadHistoryMode::Legacy] {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let cwd = store.home().to_owned();
        let thread = new_thread(&cwd, mode);
        let id = thread.id.clone();
        let writer = store.create(thread).unwrap();
        talk(&writer, &cwd, 1, "first question", "first answer");
        let second = talk(&writer, &cwd, 2, "second question", "second answer");
        talk(&writer, &cwd, 3, "third question", "third answer");
        writer.set_name("A name").unwrap();
        writer.revert(&second).unwrap();
        talk(&writer, &cwd, 4, "fourth question", "fourth answer");
        drop((writer, store));

        let Some(mut peer) = Peer::start(&cwd) else { return };
        let listed = peer.call("thread/list", &json!({}));
        assert_eq!(listed["data"][0]["id"], id.as_str(), "{listed}");
        let resumed = peer.call("thread/resume", &json!({"threadId": id.as_str()}));
        // Without its index, the Codex CLI loses the names of paginated threads, even of its own ones.
        if mode == ThreadHistoryMode::Legacy {
            assert_eq!(resumed["thread"]["name"], "A name");
        }
        assert_eq!(resumed["reasoningEffort"], "low");
        let expected = [
            "userMessage: first question",
            "commandExecution: /bin/bash -lc 'echo hi'",
            "agentMessage: first answer",
            "userMessage: fourth question",
            "commandExecution: /bin/bash -lc 'echo hi'",
            "agentMessage: fourth answer",
        ];
        // In legacy threads, the Codex CLI ignores commands.
        let is_seen = |item: &&&str| mode == ThreadHistoryMode::Paginated || !item.starts_with("command");
        let expected: Vec<&str> = expected.iter().filter(is_seen).copied().collect();
        assert_eq!(items(&resumed["thread"]), expected);
        peer.turn(id.as_str(), "RUN [[{\"say\": \"said there\"}]]");
        let sent = peer.sent();
        for (text, is_there) in
            [("first answer", true), ("second answer", false), ("third answer", false), ("fourth answer", true)]
        {
            assert_eq!(sent.contains(text), is_there, "{text} in {sent}");
        }
        drop(peer);

        // Now continue the thread with this program.
        let store = open(&cwd);
        let stored = store.load(&id).unwrap();
        let mut shown = shown(&stored.turns);
        assert_eq!(shown.pop().unwrap(), "agentMessage: said there");
        assert_eq!(shown.len(), 7);
        let writer = store.open_writer(&id).unwrap();
        talk(&writer, &cwd, 5, "fifth question", "fifth answer");
        assert_eq!(store.load(&id).unwrap().turns.len(), 4);
    }
}

#[test]
fn a_fork_continues_in_the_codex_cli() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let cwd = store.home().to_owned();
    let source = new_thread(&cwd, ThreadHistoryMode::Paginated);
    let id = source.id.clone();
    let writer = store.create(source).unwrap();
    let first = talk(&writer, &cwd, 1, "first question", "first answer");
    talk(&writer, &cwd, 2, "second question", "second answer");
    let point = trace_server::store::ForkPoint::Through(first);
    let (copy, _) = store.fork(&id, &point, new_thread(&cwd, ThreadHistoryMode::Paginated)).unwrap();
    let copied = copy.id().clone();
    drop((writer, copy));
    store.delete(&id).unwrap();
    drop(store);

    let Some(mut peer) = Peer::start(&cwd) else { return };
    let resumed = peer.call("thread/resume", &json!({"threadId": copied.as_str()}));
    assert_eq!(items(&resumed["thread"]).last().unwrap(), "agentMessage: first answer");
    peer.turn(copied.as_str(), "RUN [[{\"say\": \"said there\"}]]");
    let sent = peer.sent();
    assert!(sent.contains("first answer") && !sent.contains("second answer"), "{sent}");
}

#[test]
fn a_thread_of_the_codex_cli_continues_here() {
    for mode in ["paginated", "legacy"] {
        let home = tempfile::tempdir().unwrap();
        let Some(mut peer) = Peer::start(home.path()) else { return };
        let work = peer.work();
        let thread = peer.call("thread/start", &json!({"historyMode": mode, "cwd": work, "model": "scripted-2"}));
        let thread = thread["thread"]["id"].as_str().unwrap().to_owned();
        peer.turn(
            &thread,
            "one RUN [[{\"think\": \"thought\"}, {\"call\": \"exec_command\", \"args\": {\"cmd\": \"echo out\"}}], \
             [{\"say\": \"first answer\"}]]",
        );
        peer.turn(&thread, "two RUN [[{\"say\": \"second answer\"}]]");
        peer.call("thread/name/set", &json!({"threadId": thread, "name": "Named there"}));
        let copy = peer.call("thread/fork", &json!({"threadId": thread}));
        let copy = copy["thread"]["id"].as_str().unwrap().to_owned();
        peer.turn(&copy, "three RUN [[{\"say\": \"third answer\"}]]");
        let there = peer.call("thread/read", &json!({"threadId": thread, "includeTurns": true}));
        let copied = peer.call("thread/read", &json!({"threadId": copy, "includeTurns": true}));
        drop(peer);

        let store = open(home.path());
        let id = ThreadId::from(thread.as_str());
        let stored = store.load(&id).unwrap();
        let turns = serde_json::to_value(&stored.turns).unwrap();
        assert_eq!(turns, there["thread"]["turns"], "{mode}");
        assert_eq!(stored.settings.model.as_deref(), Some("scripted-2"));
        assert_eq!(stored.summary.name.as_deref(), Some("Named there"));
        assert!(stored.usage.unwrap().total.total > 0);
        assert_eq!(stored.damage, Default::default());
        let history = serde_json::to_string(&stored.history).unwrap();
        assert!(history.contains("first answer") && history.contains("second answer"));
        let stored_copy = store.load(&ThreadId::from(copy.as_str())).unwrap();
        assert_eq!(serde_json::to_value(&stored_copy.turns).unwrap(), copied["thread"]["turns"], "{mode}");
        let history = serde_json::to_string(&stored_copy.history).unwrap();
        assert!(history.contains("first answer") && history.contains("third answer"));

        let writer = store.open_writer(&id).unwrap();
        talk(&writer, &work, 9, "asked here", "said here");
        drop((writer, store));

        // Now continue the thread with the Codex CLI again.
        let mut peer = Peer::start(home.path()).unwrap();
        let resumed = peer.call("thread/resume", &json!({"threadId": thread}));
        assert_eq!(items(&resumed["thread"]).last().unwrap(), "agentMessage: said here");
        peer.turn(&thread, "RUN [[{\"say\": \"said there again\"}]]");
        let sent = peer.sent();
        assert!(sent.contains("first answer") && sent.contains("said here"), "{sent}");
    }
}
