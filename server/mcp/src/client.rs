//! What a server may ask of us while it carries out calls: the user, and news of its tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    MetaObject, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use trace_runtime::Agent;
use trace_runtime::host::{Answer, Elicitation, ElicitationAction as Done, Question};
use trace_runtime::settings::ApprovalPolicy;
use trace_runtime::{ItemId, TurnId};

use crate::progress::Progress;

pub use crate::progress::MAX_EARLY_PROGRESS;

/// Our name, as servers hear it.
const CLIENT_NAME: &str = "trace";

/// Where calls that run and what their server asks meanwhile find each other.
#[derive(Debug)]
pub(crate) struct Desk {
    server: String,
    calls: Mutex<Vec<Arc<RunningCall>>>,
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
    pub(crate) cancelled: CancellationToken,
    /// How many questions of the server the user has not answered yet.
    pub(crate) questions: watch::Sender<usize>,
}

impl Desk {
    pub(crate) fn new(server: &str) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            calls: Mutex::default(),
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
        let request = elicitation(&value).ok_or_else(|| ErrorData::invalid_params("this is no elicitation", None))?;
        Ok(self.0.elicit(request, context.ct).await)
    }

    /// Forms that the protocol's library does not understand come here. A client may understand them all the same.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let elicitation = match (request.method.as_str(), &request.params) {
            ("elicitation/create", Some(params)) => elicitation(params),
            _ => None,
        };
        let Some(elicitation) = elicitation else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        let result = self.0.elicit(elicitation, context.ct).await;
        Ok(CustomResult::new(serde_json::to_value(result).unwrap_or_default()))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }
}

/// Reads what a server wants of the user.
fn elicitation(params: &Value) -> Option<Elicitation> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let meta = params.get("_meta").filter(|meta| !meta.is_null()).cloned();
    let message = text("message")?;
    match params.get("mode").and_then(Value::as_str) {
        None | Some("form") => {
            let schema = params.get("requestedSchema").filter(|schema| schema.is_object())?.clone();
            Some(Elicitation::Form { message, schema, meta })
        }
        Some("url") => {
            let id = text("elicitationId").unwrap_or_default();
            Some(Elicitation::Visit { message, url: text("url")?, id, meta })
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_and_visits_are_read() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } } });
        let form = json!({ "message": "m", "requestedSchema": schema, "_meta": { "x": 1 } });
        let expected = Elicitation::Form { message: "m".to_owned(), schema, meta: Some(json!({ "x": 1 })) };
        assert_eq!(elicitation(&form), Some(expected));
        let visit = json!({ "mode": "url", "message": "m", "url": "https://a", "elicitationId": "e" });
        let expected =
            Elicitation::Visit { message: "m".to_owned(), url: "https://a".to_owned(), id: "e".to_owned(), meta: None };
        assert_eq!(elicitation(&visit), Some(expected));
        for wrong in [json!({}), json!({ "message": "m" }), json!({ "mode": "dance", "message": "m" })] {
            assert_eq!(elicitation(&wrong), None);
        }
    }
}
