//! The two tools that run agents: `codex` starts a thread, `codex-reply` goes on with one. Their names, arguments and results are
//! those of the MCP server that the Codex CLI had.
//!
//! A call is a client of the app-server in this process, as `trace run` is one: it starts or resumes a thread, starts a turn, and ends
//! with it. Approvals become elicitations.

mod approval;
mod changes;
mod event;
mod title;
mod turn;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};
use trace_protocol::Experimental;
use trace_protocol::item::UserInput;
use trace_protocol::methods::method;
use trace_protocol::thread::{ThreadResumeParams, ThreadStartParams};
use trace_protocol::turn::TurnStartParams;
use trace_server::ingress::ConnectionOpener;
use trace_server::outbound::OutboundPolicy;
use trace_server::transport::in_process::{self, CallError, ClientHandle};

use crate::arguments::Arguments;
use crate::client::Call;
use crate::problem::Problem;

/// The app-server that agents run in.
#[derive(Debug, Clone)]
pub struct Running {
    /// Connects clients to it.
    pub opener: ConnectionOpener,
    /// Whether its configuration says when to ask for approval.
    pub has_approval_policy: bool,
}

/// What starts the app-server.
pub type Starting<'a> = Pin<Box<dyn Future<Output = Result<Running, Problem>> + Send + 'a>>;

/// Starts the app-server when the first agent is asked for. A client that only asks questions needs none.
pub trait Host: Send + Sync + 'static {
    /// Returns the app-server, which the first call starts.
    fn running(&self) -> Starting<'_>;
}

/// Which clients get `codex/event` notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Those that name `codex/event` among their experimental capabilities.
    Standard,
    /// All.
    Codex,
}

/// Runs agents for clients.
pub(crate) struct Agents {
    host: Arc<dyn Host>,
    profile: Profile,
}

impl Agents {
    pub(crate) fn new(host: Arc<dyn Host>, profile: Profile) -> Self {
        Self { host, profile }
    }

    /// Calls one of the tools. `meta` is the `_meta` of the request.
    pub(crate) async fn call(&self, call: &Call<'_>, arguments: Arguments<'_>, meta: Option<&Value>) -> Value {
        match self.run(call, arguments, meta).await {
            Ok(result) => result,
            Err(problem) => problem.result(),
        }
    }

    async fn run(&self, call: &Call<'_>, arguments: Arguments<'_>, meta: Option<&Value>) -> Result<Value, Problem> {
        let prompt = arguments.required("prompt")?;
        if prompt.trim().is_empty() {
            return Err(Problem::new("`prompt` is empty"));
        }
        let can_ask = call.client.capability("elicitation").is_some();
        let opened = Opened::of(arguments)?;
        let running = self.host.running().await?;
        let (server, events) = in_process::connect(&running.opener, OutboundPolicy::Wait);
        let version = env!("CARGO_PKG_VERSION");
        server.initialize("trace-mcp", version, Experimental::Enabled).await.map_err(refused)?;
        // Nobody could answer the questions of a client that cannot be asked.
        let may_ask = can_ask || running.has_approval_policy;
        let thread = opened.thread(&server, may_ask).await?;
        let input = vec![UserInput::Text { text: prompt.to_owned(), text_elements: Vec::new() }];
        let params = TurnStartParams { thread_id: thread.clone(), input, ..TurnStartParams::default() };
        let turn = server.call::<method::TurnStart>(&params).await.map_err(refused)?.turn.id;
        let wants_events = || {
            let experimental = call.client.capability("experimental");
            experimental.is_some_and(|experimental| experimental.get("codex/event").is_some())
        };
        let turn = turn::Turn {
            call,
            server,
            thread,
            turn,
            has_events: self.profile == Profile::Codex || wants_events(),
            progress_token: meta.and_then(|meta| meta.get("progressToken")).filter(|token| is_token(token)).cloned(),
            progress: 0,
            changes: std::collections::HashMap::new(),
            message: String::new(),
            questions: tokio::task::JoinSet::new(),
        };
        turn.follow(events).await
    }
}

fn is_token(token: &Value) -> bool {
    token.is_string() || token.is_number()
}

/// The thread that a call is about.
enum Opened {
    New(Box<ThreadStartParams>),
    Stored(String),
}

impl Opened {
    fn of(arguments: Arguments<'_>) -> Result<Self, Problem> {
        let given = arguments.all();
        if arguments.tool() == "codex-reply" {
            let id = arguments.text("threadId")?.or(arguments.text("conversationId")?);
            let id = id.ok_or_else(|| {
                Problem::new("`codex-reply` needs the argument `threadId`").with_hint("results of `codex` have it")
            })?;
            return Ok(Self::Stored(id.to_owned()));
        }
        let mut params = Map::new();
        for (name, member) in [
            ("model", "model"),
            ("cwd", "cwd"),
            ("base-instructions", "baseInstructions"),
            ("developer-instructions", "developerInstructions"),
        ] {
            if let Some(text) = arguments.text(name)? {
                params.insert(member.to_owned(), text.into());
            }
        }
        if let Some(cwd) = arguments.text("cwd")?
            && !std::path::Path::new(cwd).is_dir()
        {
            return Err(Problem::new(format!("`cwd` is not a folder: {}", trace_text::quoted(cwd, 200))));
        }
        let sandboxes = ["read-only", "workspace-write", "danger-full-access"];
        if let Some(sandbox) = arguments.one_of("sandbox", &sandboxes)? {
            params.insert("sandbox".to_owned(), sandbox.into());
        }
        if let Some(policy) = arguments.one_of("approval-policy", &["untrusted", "on-request", "never"])? {
            params.insert("approvalPolicy".to_owned(), policy.into());
        }
        let mut config = match given.get("config") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(config)) => config.clone(),
            Some(_) => return Err(Problem::new("`config` of `codex` has to be an object")),
        };
        if let Some(prompt) = arguments.text("compact-prompt")? {
            config.insert("compact_prompt".to_owned(), prompt.into());
        }
        if !config.is_empty() {
            params.insert("config".to_owned(), config.into());
        }
        let params = serde_json::from_value(params.into()).map_err(Problem::new)?;
        Ok(Self::New(Box::new(params)))
    }

    /// Starts or resumes the thread, and returns its id.
    async fn thread(self, server: &ClientHandle, may_ask: bool) -> Result<String, Problem> {
        match self {
            Self::New(mut params) => {
                if !may_ask && params.approval_policy.is_none() {
                    params.approval_policy = Some(trace_protocol::settings::AskForApproval::Never);
                }
                Ok(server.call::<method::ThreadStart>(&params).await.map_err(refused)?.thread.id)
            }
            Self::Stored(id) => {
                let params = ThreadResumeParams { thread_id: id.clone(), ..ThreadResumeParams::default() };
                let resumed = server.call::<method::ThreadResume>(&params).await.map_err(|error| {
                    Problem::new(format!("the thread {} cannot be resumed: {error}", trace_text::quoted(&id, 80)))
                        .with_hint("`threadId` is one of a result of `codex`, or of a thread that is stored in the server home")
                })?;
                Ok(resumed.thread.id)
            }
        }
    }
}

fn refused(error: CallError) -> Problem {
    Problem::new(error)
}
