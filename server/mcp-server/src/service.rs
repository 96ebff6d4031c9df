//! What all clients share: the tools, and what they are answered from.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::agents::{Agents, Host, Profile};
use crate::answer::Redactor;
use crate::arguments::Arguments;
use crate::client::Call;
use crate::definitions::{self, INSTRUCTIONS, Offer};
use crate::library::Library;
use crate::message::RpcError;
use crate::problem::Problem;
use crate::questions::{self, Asked};
use crate::{completions, prompts, resources};

/// Questions that are answered at the same time. Each uses all cores by itself.
pub const QUESTIONS_AT_ONCE: usize = 2;

/// A server for clients of the Model Context Protocol.
pub struct Service {
    offer: Offer,
    asked: Asked,
    questions: Arc<Semaphore>,
    agents: Option<Agents>,
    version: String,
}

impl Service {
    /// Makes a server that answers questions. `version` is what clients are told of the program.
    pub fn new(library: Arc<dyn Library>, redactor: Redactor, version: &str) -> Self {
        Self {
            offer: Offer::Questions,
            agents: None,
            asked: Asked { library, redactor },
            questions: Arc::new(Semaphore::new(QUESTIONS_AT_ONCE)),
            version: version.to_owned(),
        }
    }

    /// Runs agents, too.
    #[must_use]
    pub fn with_agents(mut self, host: Arc<dyn Host>, profile: Profile) -> Self {
        self.agents = Some(Agents::new(host, profile));
        self.offer = Offer::All;
        self
    }

    /// Answers no questions.
    #[must_use]
    pub fn without_questions(mut self) -> Self {
        self.offer = Offer::Agents;
        self
    }

    /// Returns the result of `initialize`.
    pub(crate) fn introduction(&self, version: &str) -> Value {
        let mut introduction = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities(),
            "serverInfo": {"name": "trace", "title": "trace", "version": self.version},
        });
        if self.offer.has_questions() {
            introduction["instructions"] = INSTRUCTIONS.into();
        }
        introduction
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({"tools": {"listChanged": false}, "resources": {}, "prompts": {}});
        if self.offer.has_questions() {
            capabilities["completions"] = json!({});
        }
        capabilities
    }

    /// Answers a request that runs no tool.
    pub(crate) async fn read(&self, method: &str, params: Map<String, Value>) -> Result<Value, RpcError> {
        match method {
            "tools/list" => {
                no_cursor(&params)?;
                Ok(json!({"tools": definitions::tools(self.offer)}))
            }
            "resources/list" => {
                no_cursor(&params)?;
                Ok(if self.offer.has_questions() { resources::list() } else { json!({"resources": []}) })
            }
            "resources/templates/list" => {
                no_cursor(&params)?;
                Ok(if self.offer.has_questions() { resources::templates() } else { json!({"resourceTemplates": []}) })
            }
            "resources/read" => {
                let uri = text(&params, "uri")?.to_owned();
                let asked = self.asked.clone();
                let read = tokio::task::spawn_blocking(move || resources::read(&*asked.library, &uri));
                read.await.unwrap_or_else(|_| Err(RpcError::busy("an internal error: this is a bug in trace")))
            }
            "completion/complete" if self.offer.has_questions() => {
                let asked = self.asked.clone();
                let completed = tokio::task::spawn_blocking(move || completions::complete(&*asked.library, &params));
                completed.await.unwrap_or_else(|_| Err(RpcError::busy("an internal error: this is a bug in trace")))
            }
            "prompts/list" => {
                no_cursor(&params)?;
                Ok(if self.offer.has_questions() { prompts::list() } else { json!({"prompts": []}) })
            }
            "prompts/get" => {
                let arguments = match params.get("arguments") {
                    Some(Value::Object(arguments)) => arguments.clone(),
                    None | Some(Value::Null) => Map::new(),
                    Some(_) => return Err(RpcError::invalid_params("`arguments` has to be an object")),
                };
                prompts::get(text(&params, "name")?, &arguments)
            }
            other => Err(RpcError::unknown_method(other)),
        }
    }

    /// Calls a tool. What goes wrong in the tool is a result with `isError`, which the model reads.
    pub(crate) async fn call_tool(&self, call: Call<'_>, mut params: Map<String, Value>) -> Result<Value, RpcError> {
        let tool = text(&params, "name")?.to_owned();
        let arguments = match params.remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(RpcError::invalid_params("`arguments` has to be an object")),
        };
        let Some(known) = definitions::properties(self.offer, &tool) else {
            let names: Vec<&str> =
                definitions::tools(self.offer).iter().filter_map(|definition| definition["name"].as_str()).collect();
            let unknown = Problem::new(format!("there is no tool {}", trace_text::quoted(&tool, 60)));
            return Ok(unknown.with_hint(format!("the tools are {}", names.join(", "))).result());
        };
        if let Some(agents) = self.agents.as_ref().filter(|_| definitions::runs_agents(&tool)) {
            // An agent ends its turn itself when the call is cancelled.
            return Ok(match Arguments::new(&tool, &arguments, known) {
                Ok(arguments) => agents.call(&call, arguments, params.get("_meta")).await,
                Err(problem) => problem.result(),
            });
        }
        let answer = async {
            let permit = Arc::clone(&self.questions).acquire_owned().await.map_err(Problem::new)?;
            questions::answer(self.asked.clone(), tool, arguments, known, permit).await
        };
        let answer = tokio::select! {
            () = call.cancelled.cancelled() => return Ok(Value::Null),
            answer = answer => answer,
        };
        Ok(answer.unwrap_or_else(|problem| problem.result()))
    }
}

fn text<'p>(params: &'p Map<String, Value>, name: &str) -> Result<&'p str, RpcError> {
    params
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| RpcError::invalid_params(format!("`{name}` has to be a text")))
}

/// Refuses a cursor of a list that has one page.
fn no_cursor(params: &Map<String, Value>) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(RpcError::invalid_params("the list has one page; leave out `cursor`")),
    }
}
