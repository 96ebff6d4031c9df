//! Commands and MCP servers must not see keys in the environment of the server, or keys that start-up files of
//! shells set again.
//!
//! Each attempt first runs in a shell of the test, where it must print keys. An attempt that prints none there would
//! prove nothing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::Place;

/// Prefix of the value of each key.
const HUSH: &str = "hush-";

/// Variables of the server that hold keys. They are recognised by well-known names, by the form of their names, or
/// because the configuration lists them.
const KEYS: [&str; 12] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "my_service_token",
    "SIGNING_PRIVATE_KEY_PEM",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "MODEL_ACCESS",
    "MODEL_HEADER",
    "TICKETS_ACCESS",
    "DOCS_ACCESS",
];

const CONFIG: &str = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n\
    [model_providers.mine]\nbase_url = 'http://127.0.0.1:9'\nenv_key = 'MODEL_ACCESS'\nenv_http_headers = { X = 'MODEL_HEADER' }\n\
    [mcp_servers.tickets]\nenabled = false\nurl = 'http://127.0.0.1:9'\nbearer_token_env_var = 'TICKETS_ACCESS'\n\
    [mcp_servers.docs]\nenabled = false\ncommand = 'docs'\nenv_vars = ['DOCS_ACCESS']\n";

/// The start-up files of a user.
const PROFILE: &str = "export PROFILE_TOKEN=hush-profile\nreadonly FIXED_SECRET=hush-fixed\nexport FIXED_SECRET\n\
    UNEXPORTED_API_KEY=hush-unexported\nset -a\nBASH_ENV=$HOME/nested\nENV=$HOME/nested\nset +a\nset_up() { echo set-up; }\n\
    export PROFILE_WAS_READ=yes\n";
const NESTED: &str = "export NESTED_TOKEN=hush-nested\n";

/// Lines for a shell of an agent, with further arguments of the tool call.
const LINES: &[(&str, &str, &str)] = &[
    ("all variables", "env", "{}"),
    ("a variable by its name", "printenv ANTHROPIC_API_KEY PROFILE_TOKEN", "{}"),
    ("variables of the shell", "set", "{}"),
    ("declarations", "declare -p; export -p", "{}"),
    ("a variable that is not exported", "echo \"$UNEXPORTED_API_KEY\"", "{}"),
    ("a variable that cannot be removed", "echo \"$FIXED_SECRET\"", "{}"),
    ("names by a prefix", "for name in ${!my_*} ${!PROFILE_*}; do echo \"${!name}\"; done", "{}"),
    ("the first environment of the shell", "cat /proc/self/environ | tr '\\0' '\\n'", "{}"),
    ("that of its parent", "cat /proc/$PPID/environ /proc/$$/environ | tr '\\0' '\\n'", "{}"),
    ("a shell in the shell", "bash -c env", "{}"),
    ("a script in the shell", "echo env > script; bash ./script", "{}"),
    ("another shell in the shell", "sh -c 'set'", "{}"),
    ("a program", "python3 -c 'import os; print(os.environ)'", "{}"),
    ("a program in place of the shell", "exec env", "{}"),
    ("the background", "(sleep 0; env) & wait", "{}"),
    ("a trap", "trap env EXIT", "{}"),
    ("a shell without start-up files", "env", r#"{"login":false}"#),
    ("another shell", "env; set", r#"{"shell":"/bin/sh"}"#),
    ("a terminal", "env", r#"{"tty":true}"#),
];

/// Arguments of commands of clients.
const WORDS: &[(&str, &[&str])] = &[
    ("a program alone", &["env"]),
    ("a login shell by its words", &["bash", "-lc", "env; set"]),
    ("its options apart", &["/bin/bash", "-l", "-c", "env; set", "name", "argument"]),
    ("its options at length", &["bash", "--login", "-o", "posix", "-c", "env; set"]),
    ("the system's shell", &["sh", "-lc", "env; set"]),
    ("a shell that reads no start-up files", &["bash", "-c", "env; set"]),
];

struct Conversation {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Conversation {
    fn start(place: &Place, config: &str) -> Self {
        for name in ["home", "work", "user"] {
            fs::create_dir_all(place.path(name)).expect("a folder");
        }
        fs::write(place.path("home/config.toml"), config).expect("writes");
        fs::write(place.path("user/.profile"), PROFILE).expect("writes");
        fs::write(place.path("user/nested"), NESTED).expect("writes");
        let mut command = place.command(&["serve", "--no-trace", "--provider", "scripted"]);
        with_keys(&mut command, place);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = server.stdin.take().expect("a pipe");
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut conversation = Self { server, input, output, requests: 0 };
        let client = json!({"name": "test", "version": "1"});
        let capabilities = json!({"experimentalApi": true});
        conversation.call("initialize", &json!({ "clientInfo": client, "capabilities": capabilities }));
        conversation
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = json!(self.requests);
        writeln!(self.input, "{}", json!({"id": id, "method": method, "params": params})).expect("it listens");
        let answer = self.hear(|message| message.get("id") == Some(&id));
        answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}")).clone()
    }

    fn hear(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("text"), 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if is_it(&message) {
                return message;
            }
        }
    }

    fn thread(&mut self) -> String {
        self.call("thread/start", &json!({}))["thread"]["id"].as_str().expect("an id").to_owned()
    }

    /// Makes an agent call a tool, and returns the output of the command.
    fn agent(&mut self, thread: &str, tool: &str, arguments: &Value) -> String {
        let script = json!([[{"call": tool, "args": arguments}], [{"say": "done"}]]);
        let input = json!([{"type": "text", "text": format!("RUN {script}")}]);
        self.call("turn/start", &json!({"threadId": thread, "input": input}));
        let printed = self.printed();
        self.hear(|message| message["method"] == "turn/completed");
        printed
    }

    /// Runs a command of the user in a thread, and returns its output.
    fn user(&mut self, thread: &str, line: &str) -> String {
        self.call("thread/shellCommand", &json!({"threadId": thread, "command": line}));
        let printed = self.printed();
        self.hear(|message| message["method"] == "turn/completed");
        printed
    }

    fn printed(&mut self) -> String {
        let is_end = |message: &Value| {
            message["method"] == "item/completed" && message["params"]["item"]["type"] == "commandExecution"
        };
        self.hear(is_end)["params"]["item"]["aggregatedOutput"].as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Gives a command the environment of a user with many keys.
fn with_keys(command: &mut Command, place: &Place) {
    for name in KEYS {
        command.env(name, format!("{HUSH}{name}"));
    }
    command
        .env("HOME", place.path("user"))
        .env("BASH_ENV", place.path("user/nested"))
        .env("ENV", place.path("user/nested"));
    command.env("PLAIN", "plain").current_dir(place.path("work"));
}

/// Runs a command with all keys, outside the server.
fn with_all(place: &Place, words: &[&str]) -> String {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    with_keys(&mut command, place);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn no_command_of_an_agent_sees_a_key() {
    let place = Place::new();
    let mut server = Conversation::start(&place, CONFIG);
    let thread = server.thread();
    let mut failures = Vec::new();
    let mut check = |name: &str, control: String, said: String| {
        if !control.contains(HUSH) {
            failures.push(format!("`{name}` proves nothing: {control}"));
        }
        if said.contains(HUSH) {
            failures.push(format!("`{name}` prints keys: {said}"));
        }
    };
    for (name, line, more) in LINES {
        let mut arguments: Value = serde_json::from_str(more).expect("JSON");
        arguments["cmd"] = json!(line);
        let option = if arguments["login"] == false { "-c" } else { "-lc" };
        let shell = arguments["shell"].as_str().unwrap_or("/bin/bash").to_owned();
        let control = with_all(&place, &[&shell, option, line]);
        check(name, control, server.agent(&thread, "exec_command", &arguments));
    }
    for (name, words) in WORDS {
        check(name, with_all(&place, words), server.agent(&thread, "shell", &json!({"command": words})));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_no_key_is_there_and_start_up_files_count() {
    let place = Place::new();
    let mut server = Conversation::start(&place, CONFIG);
    let thread = server.thread();
    let line = "echo \"$PLAIN $PROFILE_WAS_READ $0 $#\"; set_up";
    let said = server.agent(&thread, "exec_command", &json!({"cmd": line}));
    // If a variable cannot be removed, the functions of the start-up files are not available.
    assert!(said.starts_with("plain yes /bin/bash 0\n"), "{said}");
    fs::write(place.path("user/.profile"), PROFILE.replace("readonly ", "")).expect("writes");
    assert_eq!(server.agent(&thread, "exec_command", &json!({"cmd": line})), "plain yes /bin/bash 0\nset-up\n");
}

#[test]
fn no_command_of_a_client_sees_a_key() {
    let place = Place::new();
    let mut server = Conversation::start(&place, CONFIG);
    let thread = server.thread();
    for mode in ["workspaceWrite", "dangerFullAccess"] {
        for (name, words) in WORDS {
            let params = json!({"command": words, "sandboxPolicy": {"type": mode}});
            let said = server.call("command/exec", &params)["stdout"].to_string();
            assert!(said.contains("plain") && !said.contains(HUSH), "{name}, {mode}: {said}");
        }
    }
    for line in ["env", "set", "bash -c env", "echo \"$FIXED_SECRET\"", "declare -p"] {
        let said = server.user(&thread, line);
        assert!(!said.contains(HUSH), "{line}: {said}");
    }
    for (name, words) in WORDS {
        let cwd = place.path("work");
        server.call("process/spawn", &json!({"command": words, "processHandle": name, "cwd": cwd}));
        let said = server.hear(|message| message["method"] == "process/exited")["params"]["stdout"].to_string();
        assert!(said.contains("plain") && !said.contains(HUSH), "{name}: {said}");
    }
    // A variable that a client sets itself is kept.
    let given = json!({"command": ["bash", "-lc", "echo $GITHUB_TOKEN"], "env": {"GITHUB_TOKEN": "given"}});
    assert_eq!(server.call("command/exec", &given)["stdout"], "given\n");
}

#[test]
fn a_key_can_be_let_through() {
    let place = Place::new();
    let config = format!(
        "{CONFIG}[sandbox]\npass_variables = ['GITHUB_*', 'PROFILE_TOKEN', 'MODEL_ACCESS']\n\
         [shell_environment_policy]\nexclude = ['PLAIN']\nset = {{ EXTRA_TOKEN = 'extra' }}\n"
    );
    let mut server = Conversation::start(&place, &config);
    let thread = server.thread();
    let said = server.agent(&thread, "exec_command", &json!({"cmd": "env"}));
    for there in ["GITHUB_TOKEN=hush-", "PROFILE_TOKEN=hush-", "MODEL_ACCESS=hush-", "EXTRA_TOKEN=extra"] {
        assert!(said.contains(there), "{there}: {said}");
    }
    for gone in ["OPENAI_API_KEY", "MODEL_HEADER", "PLAIN", "BASH_ENV"] {
        assert!(!said.contains(gone), "{gone}: {said}");
    }
}

#[test]
fn start_up_files_that_a_command_could_have_left_are_not_read_outside() {
    let place = Place::new();
    // The user's home directory is the working folder, so a command could write to `.profile`.
    let config = format!("{CONFIG}[sandbox]\nbubblewrap = 'never'\n");
    let mut server = Conversation::start(&place, &config);
    let started = server.call("thread/start", &json!({"cwd": place.path("user")}));
    let thread = started["thread"]["id"].as_str().expect("an id").to_owned();
    let left = format!("echo ': > {}' >> ~/.profile", place.path("mark").display());
    server.agent(&thread, "exec_command", &json!({"cmd": left}));
    let is_left = fs::read_to_string(place.path("user/.profile")).expect("reads").contains("mark");
    assert_eq!(server.user(&thread, "echo \"$PLAIN\""), "plain\n");
    assert!(is_left && !place.path("mark").exists());
}

#[test]
fn a_configuration_that_is_a_link_is_as_closed_as_the_home() {
    for bubblewrap in ["auto", "never"] {
        let place = Place::new();
        for name in ["home", "work/dotfiles"] {
            fs::create_dir_all(place.path(name)).expect("a folder");
        }
        // Programs that manage dotfiles keep the files of a home directory in one folder.
        let kept = place.path("work/dotfiles/trace.toml");
        fs::write(&kept, "").expect("writes");
        std::os::unix::fs::symlink(&kept, place.path("home/config.toml")).expect("a link");
        let config = format!("{CONFIG}[sandbox]\nbubblewrap = '{bubblewrap}'\n");
        let mut server = Conversation::start(&place, &config);
        let thread = server.thread();
        let line = "cat dotfiles/trace.toml; echo '[mcp_servers.x]' >> dotfiles/trace.toml; echo x > new; \
                    mv new dotfiles/trace.toml; rm -f dotfiles/trace.toml; mv dotfiles was; echo done";
        let printed = server.agent(&thread, "exec_command", &json!({"cmd": line}));
        assert!(printed.contains("done") && !printed.contains("model_providers"), "{bubblewrap}: {printed}");
        assert_eq!(fs::read_to_string(place.path("home/config.toml")).ok(), Some(config), "{bubblewrap}: {printed}");
    }
}
