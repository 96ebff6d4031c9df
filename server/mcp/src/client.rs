//! What a server may ask of us while it carries out calls: the user, and news of its tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Url;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    JsonObject, MetaObject, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use trace_runtime::Agent;
use trace_runtime::host::{Answer, Elicitation, ElicitationAction as Done, Question};
use trace_runtime::settings::ApprovalPolicy;
use trace_runtime::{ItemId, TurnId};

use crate::progress::Progress;

pub use crate::progress::MAX_EARLY_PROGRESS;

/// Most questions of one server that the user may be asked at the same time. Others are declined.
pub const MAX_OPEN_QUESTIONS: usize = 4;

/// Most bytes of what a server says with a question. A longer one is refused.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// Most bytes of a form, and of what else comes with a question, as JSON.
pub const MAX_FORM_BYTES: usize = 64 * 1024;

/// Most bytes of an address that a user is sent to.
pub const MAX_VISIT_BYTES: usize = 4 * 1024;

/// What keys begin with by which clients know our own questions. A server has none.
const OWN_KEYS: &str = "codex_";

/// What of the protocol's own comes with a question, which is nothing to clients.
const PROTOCOL_KEYS: [&str; 2] = ["progressToken", "io.modelcontextprotocol/"];

/// Our name, as servers hear it.
const CLIENT_NAME: &str = "trace";

/// Where calls that run and what their server asks meanwhile find each other.
#[derive(Debug)]
pub(crate) struct Desk {
    server: String,
    calls: Mutex<Vec<Arc<RunningCall>>>,
    /// How many questions the user may be asked more.
    room: Semaphore,
    /// Who hears of progress.
    pub(crate) progress: Arc<Progress>,
    /// Tells that the server has other tools now.
    pub(crate) changed: Notify,
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub(crate) agent: Agent,
    pub(crate) turn: TurnId,
    pub(crate) item: ItemId,
    pub(crate) policy: ApprovalPolicy,
    /// Tells that the call is over, however it ended.
    pub(crate) cancelled: CancellationToken,
    /// How many questions of the server the user has not answered yet.
    pub(crate) questions: watch::Sender<usize>,
}

impl Desk {
    pub(crate) fn new(server: &str) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            calls: Mutex::default(),
            room: Semaphore::new(MAX_OPEN_QUESTIONS),
            progress: Arc::default(),
            changed: Notify::new(),
        })
    }

    /// Notes that a call runs, until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, call: &Arc<RunningCall>) -> Entry {
        self.lock().push(Arc::clone(call));
        Entry { desk: Arc::clone(self), call: Arc::clone(call) }
    }

    /// Returns the call that began last. The protocol does not say which call a question belongs to; with one call at a time
    /// there is no doubt.
    fn newest(&self) -> Option<Arc<RunningCall>> {
        self.lock().last().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<RunningCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the user what a server wants of them. Nobody is asked without a call, or if the policy says so.
    async fn elicit(&self, request: Elicitation, taken_back: CancellationToken) -> ElicitResult {
        let Some(call) = self.newest() else {
            tracing::info!(server = %self.server, "the server asks the user for something, but no call runs");
            return ElicitResult::new(ElicitationAction::Cancel);
        };
        if call.policy == ApprovalPolicy::Never {
            return ElicitResult::new(ElicitationAction::Decline);
        }
        let Ok(_room) = self.room.try_acquire() else {
            tracing::warn!(server = %self.server, "the server asks the user for too much at the same time");
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

/// That a call runs.
pub(crate) struct Entry {
    desk: Arc<Desk>,
    call: Arc<RunningCall>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.desk.lock().retain(|call| !Arc::ptr_eq(call, &self.call));
        // Nobody waits for what its server asked.
        self.call.cancelled.cancel();
    }
}

/// Our end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Client(pub(crate) Arc<Desk>);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
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
        Ok(self.0.elicit(request, context.ct).await)
    }

    /// Forms that the protocol's library does not understand come here. A client may understand them all the same.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let elicitation = match (request.method.as_str(), &request.params) {
            ("elicitation/create", Some(params)) => elicitation(params, &context.meta.0.0)?,
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        let result = self.0.elicit(elicitation, context.ct).await;
        Ok(CustomResult::new(serde_json::to_value(result).unwrap_or_default()))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }
}

/// Reads what a server wants of the user. The protocol's library may have taken out what came along.
fn elicitation(params: &Value, along: &JsonObject) -> Result<Elicitation, ErrorData> {
    let refused = |why: &'static str| ErrorData::invalid_params(why, None);
    let text = |name: &str, most: usize| match params.get(name).and_then(Value::as_str) {
        Some(text) if text.len() > most => Err(refused("the question is too long")),
        text => Ok(text.map(str::to_owned)),
    };
    let no_question = || refused("this is no elicitation");
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
                return Err(refused("an address to visit begins with http:// or https://"));
            }
            let id = text("elicitationId", MAX_VISIT_BYTES)?.unwrap_or_default();
            Ok(Elicitation::Visit { message, url, id, meta })
        }
        Some(_) => Err(no_question()),
    }
}

/// Returns what came along with a question, as far as it is for clients. A server must not pass its questions off as ours.
fn meta(own: Option<&Value>, along: &JsonObject) -> Option<Value> {
    let own = own.and_then(Value::as_object);
    let both = along.iter().chain(own.into_iter().flatten());
    let kept = both
        .filter(|(name, _)| !name.starts_with(OWN_KEYS) && !PROTOCOL_KEYS.iter().any(|known| name.starts_with(known)));
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
        let along = json!({ "x": 1, "codex_approval_kind": "mcp_tool_call", "progressToken": 7 });
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
