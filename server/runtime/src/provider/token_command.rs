//! Tokens that a program of the user prints.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::token::{BearerToken, TokenError, TokenSource};
use crate::sandbox::WritableFolderRegistry;
use crate::settings::SandboxPolicy;

/// How long the program may take.
pub const TOKEN_COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes that the program may print.
pub const TOKEN_COMMAND_BYTES_MAX: usize = 64 << 10;
/// How long a failure holds. Until then, the program is not started again.
pub const TOKEN_COMMAND_FAILURE_HOLDS: Duration = Duration::from_secs(10);
/// A token is renewed this long before its end, or when a third of its life is left if that is later.
pub const TOKEN_COMMAND_MARGIN: Duration = Duration::from_secs(60);

/// Runs a program that prints a token: the token alone, or a JSON object with `access_token`, and possibly `expires_in` in
/// seconds and `account_id`. The program is started when a token is needed, one at a time, in the root folder.
pub struct TokenCommand {
    program: PathBuf,
    arguments: Vec<String>,
    folders: Arc<WritableFolderRegistry>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Printed>,
    failed: Option<(Instant, TokenError)>,
    number: u64,
}

struct Printed {
    token: BearerToken,
    /// When it is renewed without being refused.
    renew_at: Option<Instant>,
}

impl TokenCommand {
    /// Returns a source that runs this program, which has an absolute path. It is not run if it is where confined commands may
    /// write, since it runs without a sandbox. `folders` are the folders that they may write to.
    pub fn new(program: PathBuf, arguments: Vec<String>, folders: Arc<WritableFolderRegistry>) -> Self {
        Self { program, arguments, folders, state: Mutex::default() }
    }

    /// Runs the program, unless it failed a moment ago.
    async fn run(&self, state: &mut State) -> Result<BearerToken, TokenError> {
        if let Some((at, error)) = &state.failed
            && at.elapsed() < TOKEN_COMMAND_FAILURE_HOLDS
        {
            return Err(error.clone());
        }
        let begun = Instant::now();
        let number = state.number + 1;
        match self.print().await.and_then(|text| parse(&text, number, begun)) {
            Ok(printed) => {
                let token = printed.token.clone();
                *state = State { token: Some(printed), failed: None, number };
                Ok(token)
            }
            Err(problem) => {
                let error = TokenError(format!("`auth_command` ({}) {problem}", self.program.display()));
                state.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Returns what the program prints.
    async fn print(&self) -> Result<String, String> {
        // Without a sandbox of its own to add, the set has the folders of all threads.
        let writable = self.folders.writable(Path::new("/"), &SandboxPolicy::FullAccess);
        if let Some(folder) = writable.on_the_way(&self.program, &[]) {
            let folder = folder.display();
            return Err(format!(
                "is not started: commands of agents can write to {folder}; keep the program elsewhere"
            ));
        }
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let ended = async {
            let mut bytes = Vec::new();
            let limit = TOKEN_COMMAND_BYTES_MAX as u64 + 1;
            stdout.take(limit).read_to_end(&mut bytes).await.map_err(|error| format!("cannot be read: {error}"))?;
            if bytes.len() > TOKEN_COMMAND_BYTES_MAX {
                return Err(format!("printed more than {TOKEN_COMMAND_BYTES_MAX} bytes"));
            }
            let status = child.wait().await.map_err(|error| format!("cannot be waited for: {error}"))?;
            if !status.success() {
                return Err(format!("ended with {status}; its messages are on stderr"));
            }
            String::from_utf8(bytes).map_err(|_| "printed something that is not UTF-8".to_owned())
        };
        let ended = timeout(TOKEN_COMMAND_TIMEOUT, ended).await;
        ended.unwrap_or_else(|_| Err(format!("was not done after {} s", TOKEN_COMMAND_TIMEOUT.as_secs())))
    }
}

/// Reads what the program printed. Errors do not repeat it.
fn parse(text: &str, number: u64, begun: Instant) -> Result<Printed, String> {
    let text = text.trim();
    if !text.starts_with('{') {
        if text.is_empty() {
            return Err("printed nothing".to_owned());
        }
        if text.contains(char::is_whitespace) {
            return Err("printed more than one word; print the token alone, or a JSON object".to_owned());
        }
        return Ok(Printed { token: BearerToken::new(text.to_owned(), None, number), renew_at: None });
    }
    let object: Value = serde_json::from_str(text).map_err(|_| "printed a JSON object that is not valid".to_owned())?;
    let word = |name: &str| object.get(name).and_then(Value::as_str).filter(|word| !word.is_empty()).map(str::to_owned);
    let token = word("access_token").ok_or("printed a JSON object without a text `access_token`")?;
    let life = match object.get("expires_in") {
        None | Some(Value::Null) => None,
        Some(seconds) => {
            let seconds = seconds.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            Some(seconds.ok_or("printed an `expires_in` that is not a number of seconds")?)
        }
    };
    let life = life.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let renew_at = life.and_then(|life| begun.checked_add(life.saturating_sub(TOKEN_COMMAND_MARGIN.min(life / 3))));
    Ok(Printed { token: BearerToken::new(token, word("account_id"), number), renew_at })
}

impl TokenSource for TokenCommand {
    fn current(&self) -> BoxFuture<'_, Result<BearerToken, TokenError>> {
        async {
            let mut state = self.state.lock().await;
            match &state.token {
                Some(printed) if printed.renew_at.is_none_or(|at| Instant::now() < at) => Ok(printed.token.clone()),
                _ => self.run(&mut state).await,
            }
        }
        .boxed()
    }

    fn renew(&self, refused: u64) -> BoxFuture<'_, Result<BearerToken, TokenError>> {
        async move {
            let mut state = self.state.lock().await;
            match &state.token {
                Some(printed) if printed.token.number() > refused => Ok(printed.token.clone()),
                _ => self.run(&mut state).await,
            }
        }
        .boxed()
    }
}

impl fmt::Debug for TokenCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TokenCommand").field("program", &self.program).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ClosedTemporary, Network};

    fn shell(line: &str) -> TokenCommand {
        TokenCommand::new(PathBuf::from("/bin/sh"), vec!["-c".to_owned(), line.to_owned()], Arc::default())
    }

    #[tokio::test]
    async fn a_token_is_printed_once_until_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let line = format!("echo x >> {0}; echo token-$(wc -l < {0})", log.display());
        let command = shell(&line);
        let first = command.current().await.expect("a token");
        assert_eq!(command.current().await.expect("a token"), first);
        assert_eq!((first.secret(), first.account()), ("token-1", None));
        let (one, two) = tokio::join!(command.renew(first.number()), command.renew(first.number()));
        assert_eq!(one.expect("a token").secret(), "token-2");
        assert_eq!(two.expect("a token").secret(), "token-2");
        assert_eq!(std::fs::read_to_string(log).expect("reads").lines().count(), 2);
        assert_eq!(format!("{first:?}"), "BearerToken(1)");
    }

    #[tokio::test]
    async fn failures_name_the_program_and_hold_for_a_while() {
        for (line, problem) in [
            ("exit 3", "ended with exit status: 3"),
            ("true", "printed nothing"),
            ("echo two words", "printed more than one word"),
            ("echo '{'", "a JSON object that is not valid"),
            ("echo '{\"access_token\": 3}'", "without a text `access_token`"),
            ("echo '{\"access_token\": \"a\", \"expires_in\": \"soon\"}'", "`expires_in` that is not a number"),
            ("head -c 70000 /dev/zero", "printed more than 65536 bytes"),
            ("printf '\\377'", "not UTF-8"),
        ] {
            let command = shell(line);
            let error = command.current().await.expect_err(line);
            assert!(error.0.contains("`auth_command` (/bin/sh)") && error.0.contains(problem), "{line}: {error}");
            assert_eq!(command.current().await.expect_err("it holds"), error);
        }
        let missing = TokenCommand::new(PathBuf::from("/no/such/program"), Vec::new(), Arc::default());
        assert!(missing.current().await.expect_err("there is none").0.contains("cannot be started"));
    }

    #[tokio::test]
    async fn a_program_that_commands_can_replace_is_not_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a path");
        let program = folder.join("token");
        std::fs::write(&program, "#!/bin/sh\necho secret\n").expect("writes");
        let folders = Arc::new(WritableFolderRegistry::new(None));
        let command = TokenCommand::new(program, Vec::new(), Arc::clone(&folders));
        let policy = SandboxPolicy::WorkspaceWrite {
            writable_roots: vec![folder.clone()],
            network: Network::Closed,
            closed: ClosedTemporary { tmpdir: true, slash_tmp: true },
        };
        let _ = folders.resolved_policy(Path::new("/"), &policy);
        let error = command.current().await.expect_err("it is not started");
        assert!(error.0.contains("is not started: commands of agents can write to"), "{error}");
    }

    #[test]
    fn a_token_is_renewed_before_its_end() {
        let now = Instant::now();
        let renewed_after = |seconds: &str| {
            let text = format!("{{\"access_token\": \"a\", \"account_id\": \"acc\", \"expires_in\": {seconds}}}");
            let printed = parse(&text, 1, now).expect("a token");
            assert_eq!(printed.token.account(), Some("acc"));
            printed.renew_at.map(|at| (at - now).as_secs())
        };
        assert_eq!(renewed_after("3600"), Some(3540));
        assert_eq!(renewed_after("90"), Some(60));
        assert_eq!(renewed_after("0"), Some(0));
        assert_eq!(renewed_after("null"), None);
        assert_eq!(renewed_after("1e300"), None);
    }
}
