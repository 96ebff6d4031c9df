//! The client side of the protocol: questions of a server to the user during calls, folders, and notifications about its tools.
#![expect(deprecated, reason = "servers of the protocol versions before 2026 ask for folders and samples")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Url;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, ErrorData,
    FormElicitationCapability, Implementation, JsonObject, ListRootsResult, MetaObject, ProtocolVersion,
    RootsCapabilities, SamplingCapability, SamplingMessage, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use trace_runtime::host::{Answer, Elicitation, ElicitationAction as Done, Question};
use trace_runtime::settings::ApprovalPolicy;
use trace_runtime::tool::{ModelAccess, SideAnswer, ToolAgent};
use trace_runtime::{ItemId, TurnId};

use crate::config::Sampling;
use crate::progress::Progress;
use crate::roots::Roots;
use crate::sample::{MAX_SAMPLES_PER_TURN, Sample};

pub use crate::progress::MAX_EARLY_PROGRESS;

/// Most questions of one server that are open at the same time. Further ones are declined.
pub const MAX_OPEN_QUESTIONS: usize = 4;

/// Most bytes of the message of a question. A question with a longer one is refused.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// Most bytes of a form and of the metadata of a question, as JSON.
pub const MAX_FORM_BYTES: usize = 64 * 1024;

/// Most bytes of a URL that the user is asked to open.
pub const MAX_VISIT_BYTES: usize = 4 * 1024;

/// Prefixes of the metadata keys by which clients recognise the questions of this program. Questions of servers must not
/// have such keys.
const OWN_KEYS: [&str; 2] = ["codex_", "trace_"];

/// Metadata keys of the protocol itself. They are not passed on to clients.
const PROTOCOL_KEYS: [&str; 2] = ["progressToken", "io.modelcontextprotocol/"];

/// The code of the error that the protocol has for a question to the model that the user declined.
const SAMPLING_REJECTED: ErrorCode = ErrorCode(-1);

/// The client name that servers see.
const CLIENT_NAME: &str = "trace";

/// Connects the running calls of a server with its questions and its progress.
#[derive(Debug)]
pub(crate) struct CallRegistry {
    server: String,
    calls: Mutex<Vec<Arc<RunningCall>>>,
    /// Has one permit for each further question that may be open.
    room: Semaphore,
    /// Delivers progress reports to the calls.
    pub(crate) progress: Arc<Progress>,
    /// Is notified when the server says that its tools have changed.
    pub(crate) changed: Notify,
}

/// How often servers have asked the model in the newest turn of an agent.
#[derive(Debug, Default)]
struct Sampled(Mutex<Option<(TurnId, usize)>>);

impl Sampled {
    /// Counts a question to the model. Returns whether the turn may have it.
    fn count(&self, turn: &TurnId) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match &*counted {
            Some((of, count)) if of == turn => *count,
            _ => 0,
        };
        if before >= MAX_SAMPLES_PER_TURN {
            return false;
        }
        *counted = Some((turn.clone(), before + 1));
        true
    }
}

/// A running call.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub(crate) agent: ToolAgent,
    pub(crate) turn: TurnId,
    pub(crate) item: ItemId,
    pub(crate) policy: ApprovalPolicy,
    /// The model of the turn.
    pub(crate) model: ModelAccess,
    /// Is cancelled when the call has ended.
    pub(crate) cancelled: CancellationToken,
    /// Number of questions of the server that the user has not answered yet.
    pub(crate) questions: watch::Sender<usize>,
}

impl CallRegistry {
    pub(crate) fn new(server: &str) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            calls: Mutex::default(),
            room: Semaphore::new(MAX_OPEN_QUESTIONS),
            progress: Arc::default(),
            changed: Notify::new(),
        })
    }

    /// Registers a running call until the returned guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, call: &Arc<RunningCall>) -> Entry {
        self.lock().push(Arc::clone(call));
        Entry { registry: Arc::clone(self), call: Arc::clone(call) }
    }

    /// Returns the call that started last. The protocol does not say which call a question belongs to. With one call at
    /// a time, it is always this one.
    fn newest(&self) -> Option<Arc<RunningCall>> {
        self.lock().last().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<RunningCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the user a server's question. It is declined if no call is running, or if the approval policy says so.
    async fn elicit(&self, request: Elicitation, taken_back: CancellationToken) -> ElicitResult {
        let Some(call) = self.newest() else {
            tracing::info!(server = %self.server, "the server sent a question, but no call is running");
            return ElicitResult::new(ElicitationAction::Cancel);
        };
        if call.policy == ApprovalPolicy::Never {
            return ElicitResult::new(ElicitationAction::Decline);
        }
        let Ok(_room) = self.room.try_acquire() else {
            tracing::warn!(server = %self.server, "the server has too many open questions");
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let question = Question::Elicitation {
            turn: call.turn.clone(),
            item: call.item.clone(),
            server: self.server.clone(),
            request,
        };
        call.questions.send_modify(|open| *open += 1);
        let answer = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => None,
            () = taken_back.cancelled() => None,
            answer = call.agent.ask(question) => Some(answer),
        };
        call.questions.send_modify(|open| *open -= 1);
        match answer {
            None => ElicitResult::new(ElicitationAction::Cancel),
            Some(Answer::Elicitation { action: Done::Accept, content, meta }) => {
                let mut result = ElicitResult::new(ElicitationAction::Accept);
                result.content = content;
                result.meta = meta.and_then(|meta| serde_json::from_value::<MetaObject>(meta).ok());
                result
            }
            Some(Answer::Elicitation { action: Done::Cancel, .. }) => ElicitResult::new(ElicitationAction::Cancel),
            Some(_) => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

impl CallRegistry {
    /// Asks the model a server's question, if the user agrees. The question belongs to the call that started last.
    async fn sample(&self, request: &Sample, taken_back: CancellationToken) -> Result<SideAnswer, ErrorData> {
        let refused = |why: String| ErrorData::new(SAMPLING_REJECTED, why, None);
        let call = self.newest().ok_or_else(|| refused("the model can be asked during calls only".to_owned()))?;
        if call.policy == ApprovalPolicy::Never {
            return Err(refused("the user is not asked (approval policy `never`)".to_owned()));
        }
        let Ok(_room) = self.room.try_acquire() else {
            return Err(refused(format!("{MAX_OPEN_QUESTIONS} questions are open already")));
        };
        if !call.agent.extension::<Sampled>().count(&call.turn) {
            return Err(refused(format!("a turn asks the model at most {MAX_SAMPLES_PER_TURN} times for servers")));
        }
        let question = Question::Elicitation {
            turn: call.turn.clone(),
            item: call.item.clone(),
            server: self.server.clone(),
            request: request.shown(&self.server, call.model.name()),
        };
        call.questions.send_modify(|open| *open += 1);
        let answered = async {
            match call.agent.ask(question).await {
                Answer::Elicitation { action: Done::Accept, .. } => call
                    .model
                    .ask(&request.question)
                    .await
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None)),
                _ => Err(refused("the user declined".to_owned())),
            }
        };
        let answer = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(refused("the call has ended".to_owned())),
            () = taken_back.cancelled() => Err(refused("the question was taken back".to_owned())),
            answer = answered => answer,
        };
        call.questions.send_modify(|open| *open -= 1);
        answer
    }
}

/// A guard that keeps a call registered.
pub(crate) struct Entry {
    registry: Arc<CallRegistry>,
    call: Arc<RunningCall>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.registry.lock().retain(|call| !Arc::ptr_eq(call, &self.call));
        // The answers to the questions of this call are no longer needed.
        self.call.cancelled.cancel();
    }
}

/// The client end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) registry: Arc<CallRegistry>,
    /// The folders in which agents work, if the server may know them.
    pub(crate) roots: Option<Arc<Roots>>,
    pub(crate) sampling: Sampling,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        if self.sampling == Sampling::Ask {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        if self.roots.is_some() {
            capabilities.roots = Some(roots_capability());
        }
        ClientConfig::new(capabilities, Implementation::new(CLIENT_NAME, env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let value = serde_json::to_value(&request).unwrap_or_default();
        let request = elicitation(&value, &context.meta.0.0)?;
        Ok(self.registry.elicit(request, context.ct).await)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if self.sampling == Sampling::Off {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "sampling/createMessage", None));
        }
        let request = Sample::read(&params)?;
        let SideAnswer { text, model, is_cut } = self.registry.sample(&request, context.ct).await?;
        let reason = if is_cut {
            CreateMessageResult::STOP_REASON_END_MAX_TOKEN
        } else {
            CreateMessageResult::STOP_REASON_END_TURN
        };
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), model).with_stop_reason(reason))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        match &self.roots {
            Some(roots) => Ok(ListRootsResult::new(roots.listed())),
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "roots/list", None)),
        }
    }

    /// Handles forms that the protocol library cannot parse. A client may still understand them.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let elicitation = match (request.method.as_str(), &request.params) {
            ("elicitation/create", Some(params)) => elicitation(params, &context.meta.0.0)?,
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        let result = self.registry.elicit(elicitation, context.ct).await;
        Ok(CustomResult::new(serde_json::to_value(result).unwrap_or_default()))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.registry.changed.notify_one();
    }
}

/// Returns the capability to name folders, and to tell when they change.
fn roots_capability() -> RootsCapabilities {
    let mut capability = RootsCapabilities::default();
    capability.list_changed = Some(true);
    capability
}

/// Parses a question of a server. `along` has the metadata, which the protocol library may have taken out of the
/// parameters.
fn elicitation(params: &Value, along: &JsonObject) -> Result<Elicitation, ErrorData> {
    let refused = |why: &'static str| ErrorData::invalid_params(why, None);
    let text = |name: &str, most: usize| match params.get(name).and_then(Value::as_str) {
        Some(text) if text.len() > most => Err(refused("the question is too long")),
        text => Ok(text.map(str::to_owned)),
    };
    let no_question = || refused("the parameters are not an elicitation");
    let message = text("message", MAX_MESSAGE_BYTES)?.ok_or_else(no_question)?;
    let meta = meta(params.get("_meta"), along);
    let is_large = |value: Option<&Value>| value.is_some_and(|value| value.to_string().len() > MAX_FORM_BYTES);
    let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
    if is_large(schema) || is_large(meta.as_ref()) {
        return Err(refused("the question is too long"));
    }
    match params.get("mode").and_then(Value::as_str) {
        None | Some("form") => Ok(Elicitation::Form { message, schema: schema.ok_or_else(no_question)?.clone(), meta }),
        Some("url") => {
            let url = text("url", MAX_VISIT_BYTES)?.ok_or_else(no_question)?;
            let is_of_the_web = Url::parse(&url).is_ok_and(|url| ["http", "https"].contains(&url.scheme()));
            if !is_of_the_web {
                return Err(refused("the URL of an elicitation must begin with http:// or https://"));
            }
            let id = text("elicitationId", MAX_VISIT_BYTES)?.unwrap_or_default();
            Ok(Elicitation::Visit { message, url, id, meta })
        }
        Some(_) => Err(no_question()),
    }
}

/// Returns the metadata of a question for clients. Keys by which clients recognise this program's own questions are
/// removed, so that a server cannot imitate these.
fn meta(own: Option<&Value>, along: &JsonObject) -> Option<Value> {
    let own = own.and_then(Value::as_object);
    let both = along.iter().chain(own.into_iter().flatten());
    let kept = both.filter(|(name, _)| !OWN_KEYS.iter().chain(&PROTOCOL_KEYS).any(|known| name.starts_with(known)));
    let kept: JsonObject = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(params: &Value) -> Option<Elicitation> {
        elicitation(params, &JsonObject::new()).ok()
    }

    #[test]
    fn what_comes_along_reaches_clients_but_no_forged_approval() {
        let schema = json!({ "type": "object" });
        let along = json!({ "x": 1, "codex_approval_kind": "mcp_tool_call", "trace_sampling": 1, "progressToken": 7 });
        let params = json!({ "message": "m", "requestedSchema": schema, "_meta": { "y": 2, "codex_x": 1 } });
        let along = along.as_object().expect("an object");
        let expected = Elicitation::Form { message: "m".to_owned(), schema, meta: Some(json!({ "x": 1, "y": 2 })) };
        assert_eq!(elicitation(&params, along).expect("a form"), expected);
    }

    #[test]
    fn questions_have_bounds() {
        let form = |message: usize, title: usize| json!({ "message": "x".repeat(message), "requestedSchema": { "title": "x".repeat(title) } });
        assert!(read(&form(MAX_MESSAGE_BYTES, 9)).is_some() && read(&form(9, MAX_FORM_BYTES - 99)).is_some());
        assert!(read(&form(MAX_MESSAGE_BYTES + 1, 9)).is_none() && read(&form(9, MAX_FORM_BYTES)).is_none());
        let visit = |url: &str| read(&json!({ "mode": "url", "message": "m", "url": url, "elicitationId": "e" }));
        assert!(visit("http://a/b?c").is_some());
        for url in
            ["javascript:alert(1)", "file:///etc/passwd", "a", &format!("https://{}", "a".repeat(MAX_VISIT_BYTES))]
        {
            assert!(visit(url).is_none(), "{url}");
        }
    }

    #[test]
    fn forms_and_visits_are_read() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } } });
        let form = json!({ "message": "m", "requestedSchema": schema, "_meta": { "x": 1 } });
        let expected = Elicitation::Form { message: "m".to_owned(), schema, meta: Some(json!({ "x": 1 })) };
        assert_eq!(read(&form), Some(expected));
        let visit = json!({ "mode": "url", "message": "m", "url": "https://a", "elicitationId": "e" });
        let expected =
            Elicitation::Visit { message: "m".to_owned(), url: "https://a".to_owned(), id: "e".to_owned(), meta: None };
        assert_eq!(read(&visit), Some(expected));
        for wrong in [json!({}), json!({ "message": "m" }), json!({ "mode": "dance", "message": "m" })] {
            assert_eq!(read(&wrong), None);
        }
    }
}
