//! Parses the arguments of the command tools in all their variants.

use std::time::Duration;

use serde::Deserialize;

/// Default time that a model waits for a command.
pub const DEFAULT_YIELD: Duration = Duration::from_secs(10);

/// Shortest and longest time that a model waits for a command.
pub const YIELD_RANGE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// Default time that a model waits after writing to a command.
pub const DEFAULT_WRITE_YIELD: Duration = Duration::from_millis(250);

/// Shortest and longest time that a model waits for a command without writing to it.
pub const POLL_RANGE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(300));

/// Default timeout of a command that the model waits for to its end.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest timeout of a command that the model waits for to its end.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// Length of the longest text that is written to a command at once, in bytes.
pub const MAX_INPUT_BYTES: usize = 64 * 1024;

/// A request to run a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// The command.
    pub command: RequestedCommand,
    /// Working folder as written.
    pub workdir: Option<String>,
    /// How long to wait.
    pub wait: RequestedWait,
    /// Most tokens of output.
    pub max_output_tokens: Option<usize>,
    /// Whether the command runs on a terminal.
    pub tty: bool,
    /// Whether the command shall run outside of the sandbox.
    pub is_escalated: bool,
    /// Why the command shall run outside of the sandbox.
    pub justification: Option<String>,
    /// First words of commands that the user may accept permanently.
    pub prefix_rule: Option<Vec<String>>,
}

/// The command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedCommand {
    /// A shell line.
    Line {
        /// The line.
        line: String,
        /// Path of the shell; `None` for the user's shell.
        shell: Option<String>,
        /// Whether the shell reads the start-up files of its user.
        login: bool,
    },
    /// A program with its arguments.
    Words(Vec<String>),
}

/// How long to wait for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedWait {
    /// At most this long; then the command continues in the background.
    Yield(Duration),
    /// Until the command ends; it is killed if it takes longer than this.
    Timeout(Duration),
}

/// A request to write text to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRequest {
    /// Id of the command.
    pub session: u32,
    /// The text; may be empty.
    pub text: String,
    /// How long to wait afterwards.
    pub wait: Duration,
    /// Most tokens of output.
    pub max_output_tokens: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Permissions {
    UseDefault,
    RequireEscalated,
}

#[derive(Deserialize)]
struct ExecArguments {
    cmd: String,
    workdir: Option<String>,
    shell: Option<String>,
    login: Option<bool>,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
    tty: Option<bool>,
    sandbox_permissions: Option<Permissions>,
    justification: Option<String>,
    prefix_rule: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ShellArguments {
    command: Words,
    workdir: Option<String>,
    login: Option<bool>,
    #[serde(alias = "timeout")]
    timeout_ms: Option<u64>,
    max_output_tokens: Option<usize>,
    sandbox_permissions: Option<Permissions>,
    with_escalated_permissions: Option<bool>,
    justification: Option<String>,
    prefix_rule: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    Words(Vec<String>),
}

#[derive(Deserialize)]
struct WriteArguments {
    session_id: Session,
    chars: Option<String>,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Session {
    Number(u32),
    Text(String),
}

impl ExecRequest {
    /// Parses the arguments of `exec_command`.
    ///
    /// # Errors
    ///
    /// Returns a message for the model if the arguments are invalid.
    pub fn exec_command(arguments: &str) -> Result<Self, String> {
        let arguments: ExecArguments = read(arguments)?;
        let wait = bounded(arguments.yield_time_ms, DEFAULT_YIELD, YIELD_RANGE);
        let line = plain(arguments.cmd)?;
        Ok(Self {
            command: RequestedCommand::Line { line, shell: arguments.shell, login: arguments.login.unwrap_or(true) },
            workdir: arguments.workdir.filter(|folder| !folder.is_empty()),
            wait: RequestedWait::Yield(wait),
            max_output_tokens: arguments.max_output_tokens,
            tty: arguments.tty.unwrap_or(false),
            is_escalated: matches!(arguments.sandbox_permissions, Some(Permissions::RequireEscalated)),
            justification: arguments.justification,
            prefix_rule: arguments.prefix_rule,
        })
    }

    /// Parses the arguments of `shell` and `shell_command`.
    ///
    /// # Errors
    ///
    /// Returns a message for the model if the arguments are invalid.
    pub fn shell(arguments: &str) -> Result<Self, String> {
        let arguments: ShellArguments = read(arguments)?;
        let command = match arguments.command {
            Words::Line(line) => {
                RequestedCommand::Line { line: plain(line)?, shell: None, login: arguments.login.unwrap_or(true) }
            }
            Words::Words(words) if words.is_empty() => {
                return Err("the list `command` is empty; name a program".to_owned());
            }
            Words::Words(words) => RequestedCommand::Words(words.into_iter().map(plain).collect::<Result<_, _>>()?),
        };
        Ok(Self {
            command,
            workdir: arguments.workdir.filter(|folder| !folder.is_empty()),
            wait: RequestedWait::Timeout(bounded(arguments.timeout_ms, DEFAULT_TIMEOUT, (Duration::ZERO, MAX_TIMEOUT))),
            max_output_tokens: arguments.max_output_tokens,
            tty: false,
            is_escalated: arguments.with_escalated_permissions.unwrap_or(false)
                || matches!(arguments.sandbox_permissions, Some(Permissions::RequireEscalated)),
            justification: arguments.justification,
            prefix_rule: arguments.prefix_rule,
        })
    }
}

impl WriteRequest {
    /// Parses the arguments of `write_stdin`.
    ///
    /// # Errors
    ///
    /// Returns a message for the model if the arguments are invalid.
    pub fn new(arguments: &str) -> Result<Self, String> {
        let arguments: WriteArguments = read(arguments)?;
        let text = arguments.chars.unwrap_or_default();
        if text.len() > MAX_INPUT_BYTES {
            return Err(format!("`chars` has {} bytes, more than {MAX_INPUT_BYTES}; write it in parts", text.len()));
        }
        let session = match arguments.session_id {
            Session::Number(id) => id,
            Session::Text(id) => id.parse().map_err(|_| format!("unknown process id {id}"))?,
        };
        let wait = if text.is_empty() {
            bounded(arguments.yield_time_ms, POLL_RANGE.0, POLL_RANGE)
        } else {
            bounded(arguments.yield_time_ms, DEFAULT_WRITE_YIELD, YIELD_RANGE)
        };
        Ok(Self { session, text, wait, max_output_tokens: arguments.max_output_tokens })
    }
}

fn read<'a, T: Deserialize<'a>>(arguments: &'a str) -> Result<T, String> {
    serde_json::from_str(arguments).map_err(|error| format!("failed to parse function arguments: {error}"))
}

/// The system ends strings at a zero character, so the user would be shown another command than the one that runs.
fn plain(text: String) -> Result<String, String> {
    if text.contains('\0') { Err("the command holds a zero character".to_owned()) } else { Ok(text) }
}

fn bounded(asked_ms: Option<u64>, default: Duration, range: (Duration, Duration)) -> Duration {
    asked_ms.map_or(default, Duration::from_millis).clamp(range.0, range.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_all_spellings() {
        let request = ExecRequest::exec_command(r#"{"cmd":"ls"}"#).expect("arguments");
        assert_eq!(request.command, RequestedCommand::Line { line: "ls".to_owned(), shell: None, login: true });
        assert_eq!(
            (request.wait, request.tty, request.is_escalated),
            (RequestedWait::Yield(DEFAULT_YIELD), false, false)
        );
        let request = ExecRequest::exec_command(r#"{"cmd":"ls","sandbox_permissions":"require_escalated","justification":"why","login":false,"tty":true,"workdir":""}"#).expect("arguments");
        assert!(request.is_escalated && request.tty && request.workdir.is_none());
        let request = ExecRequest::shell(r#"{"command":["echo","a"],"timeout_ms":5}"#).expect("arguments");
        assert_eq!(request.command, RequestedCommand::Words(vec!["echo".to_owned(), "a".to_owned()]));
        assert_eq!(request.wait, RequestedWait::Timeout(Duration::from_millis(5)));
        let request =
            ExecRequest::shell(r#"{"command":"echo a","with_escalated_permissions":true}"#).expect("arguments");
        assert!(matches!(request.command, RequestedCommand::Line { .. }) && request.is_escalated);
        let write = WriteRequest::new(r#"{"session_id":"12345"}"#).expect("arguments");
        assert_eq!((write.session, write.text.as_str(), write.wait), (12345, "", POLL_RANGE.0));
    }

    #[test]
    fn times_are_bounded() {
        let wait = |ms: u64| {
            ExecRequest::exec_command(&format!(r#"{{"cmd":"ls","yield_time_ms":{ms}}}"#)).expect("arguments").wait
        };
        assert_eq!(
            [wait(0), wait(300), wait(u64::MAX)],
            [YIELD_RANGE.0, Duration::from_millis(300), YIELD_RANGE.1].map(RequestedWait::Yield)
        );
        let timeout =
            |ms: u64| ExecRequest::shell(&format!(r#"{{"command":"ls","timeout_ms":{ms}}}"#)).expect("arguments").wait;
        assert_eq!([timeout(0), timeout(u64::MAX)], [Duration::ZERO, MAX_TIMEOUT].map(RequestedWait::Timeout));
        let write = |chars: &str, ms: u64| {
            WriteRequest::new(&format!(r#"{{"session_id":1,"chars":"{chars}","yield_time_ms":{ms}}}"#))
                .expect("arguments")
                .wait
        };
        assert_eq!(
            [write("a", 0), write("a", u64::MAX), write("", 0), write("", u64::MAX)],
            [YIELD_RANGE.0, YIELD_RANGE.1, POLL_RANGE.0, POLL_RANGE.1]
        );
    }

    #[test]
    fn bad_arguments_are_told() {
        for (result, expected) in [
            (
                ExecRequest::exec_command("{not json").map(drop),
                "failed to parse function arguments: key must be a string",
            ),
            (ExecRequest::exec_command("{}").map(drop), "failed to parse function arguments: missing field `cmd`"),
            (ExecRequest::exec_command("{\"cmd\":\"a\\u0000b\"}").map(drop), "the command holds a zero character"),
            (ExecRequest::shell(r#"{"command":[]}"#).map(drop), "the list `command` is empty"),
            (WriteRequest::new(r#"{"session_id":"x"}"#).map(drop), "unknown process id x"),
            (
                WriteRequest::new(&format!(r#"{{"session_id":1,"chars":"{}"}}"#, "a".repeat(MAX_INPUT_BYTES + 1)))
                    .map(drop),
                "`chars` has 65537 bytes",
            ),
        ] {
            let error = result.expect_err("an error");
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
