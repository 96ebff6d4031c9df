//! The recording of a session is the same for all wire formats.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_runtime::agent::NewAgent;
use trace_runtime::event::TurnOutcome;
use trace_runtime::id::ThreadId;
use trace_runtime::provider::Wire;
use trace_runtime::runtime::{AgentHost, Runtime, RuntimeOptions};
use trace_runtime::settings::Settings;
use trace_runtime::tool::{AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};

use super::script::{self, Reasoning, Said};
use crate::common::{FixedClock, Witness, check_laws, graph, request, settings};
use crate::service::{Act, Service, answer, stream_head};

/// Returns its arguments.
struct Parrot {
    namespace: Option<&'static str>,
    name: &'static str,
    specification: Value,
}

impl Tool for Parrot {
    fn specification(&self, _: &Settings) -> Option<Value> {
        Some(self.specification.clone())
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        (namespace, name) == (self.namespace, self.name)
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        CallDescription { kind: "other".to_owned(), label: call.name.clone(), input_preview: None }
    }

    fn call(&self, _: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let output = match call.input {
            ToolInput::Arguments(text) => json!(format!("arguments {text}")),
            ToolInput::Text(text) => json!([
                { "type": "input_text", "text": format!("text {text}") },
                { "type": "input_image", "image_url": "data:image/gif;base64,R0lGODlh" },
            ]),
        };
        Box::pin(async move { ToolOutcome { output, success: true, then: AfterCall::Continue } })
    }
}

fn tools() -> Vec<Arc<dyn Tool>> {
    let function = |name: &str| json!({ "type": "function", "name": name, "description": "d", "parameters": { "type": "object" } });
    let namespace = json!({ "type": "namespace", "name": "team", "description": "t", "tools": [function("ask")] });
    let custom = json!({ "type": "custom", "name": "patch", "description": "p", "format": { "type": "text" } });
    vec![
        Arc::new(Parrot { namespace: None, name: "echo", specification: function("echo") }),
        Arc::new(Parrot { namespace: Some("team"), name: "ask", specification: namespace }),
        Arc::new(Parrot { namespace: None, name: "patch", specification: custom }),
    ]
}

/// The responses of the service to the requests of the session, in order.
fn connections(wire: Wire, reasoning: Reasoning) -> Vec<Vec<Act>> {
    let whole = |said: &[Said]| vec![stream_head(), Act::Send(script::answer(wire, reasoning, said))];
    let broken = script::answer(wire, reasoning, &[Said::Say("never finished")]);
    let error = r#"{"type":"error","error":{"type":"api_error","message":"busy"}}"#;
    vec![
        whole(&[
            Said::Think("What is there? Grüße."),
            Said::Say("Let me look."),
            Said::Call("call_1", None, "echo", json!({ "a": [1, "ä"] })),
            Said::Call("call_2", Some("team"), "ask", json!({})),
            Said::Custom("call_3", "patch", "*** Begin Patch\n\"quoted\""),
            Said::Call("call_4", None, "no_such_tool", json!({ "b": null })),
        ]),
        whole(&[Said::Think("So that is it."), Said::Say("All done.")]),
        answer("500 Internal Server Error", "retry-after: 0\r\n", error),
        // The stream is cut off before any item is complete.
        vec![stream_head(), Act::Send(broken[..broken.len() / 3].to_vec())],
        whole(&[Said::Say("Here again.")]),
    ]
}

/// Plays the session and returns its graph and the requests to the service.
async fn session(wire: Wire, reasoning: Reasoning) -> (Value, Vec<Value>) {
    let mut service = Service::new(connections(wire, reasoning)).await;
    let provider = super::faults::provider(wire, &service.base_url, "");
    let directory = tempfile::tempdir().expect("a folder");
    let mut options = RuntimeOptions::new(vec![Arc::new(provider)], tools());
    options.clock = Arc::new(FixedClock);
    options.seed = 1;
    options.recording = Some(TraceRoot::new(directory.path(), WriterOptions::default()));
    let witness = Arc::new(Witness::default());
    let runtime = Runtime::new(options, Arc::clone(&witness) as Arc<dyn AgentHost>);
    let settings = Settings { provider: "test".to_owned(), ..settings() };
    let agent = runtime.start(NewAgent::new(ThreadId::new(), settings));
    for said in ["hello", "go on"] {
        let turn = agent.start_turn(request(said)).expect("a turn").turn;
        let outcome = witness.ended(&turn).await;
        assert!(matches!(outcome, TurnOutcome::Completed { .. }), "{outcome:?}");
    }
    agent.shutdown().await;
    check_laws(&witness.kinds(), &agent.history());
    let mut asked = Vec::new();
    for _ in 0..5 {
        let request = service.request().await;
        let (_, body) = request.split_once("\r\n\r\n").expect("a head");
        asked.push(serde_json::from_str(body).expect("JSON"));
    }
    (graph::state(&agent.recording().path().expect("a recording")), asked)
}

/// Returns a graph without what differs from run to run: ids and times.
fn without_names(state: &Value) -> String {
    let mut state = state.clone();
    strip(&mut state);
    let text = serde_json::to_string_pretty(&state).expect("JSON");
    // Ids are replaced by numbers in the order of their occurrence.
    let mut known: Vec<String> = Vec::new();
    let is_of_id = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let mut told = String::new();
    let mut rest = text.as_str();
    while let Some(begin) = rest.find(is_of_id) {
        told.push_str(&rest[..begin]);
        let end = rest[begin..].find(|letter| !is_of_id(letter)).map_or(rest.len(), |length| begin + length);
        let word = &rest[begin..end];
        let is_uuid = word.len() == 36 && [8, 13, 18, 23].iter().all(|at| word.as_bytes()[*at] == b'-');
        if is_uuid {
            let number = known.iter().position(|id| id == word).unwrap_or_else(|| {
                known.push(word.to_owned());
                known.len() - 1
            });
            told.push_str(&format!("id-{number}"));
        } else {
            told.push_str(word);
        }
        rest = &rest[end..];
    }
    told + rest
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                if name.ends_with("_ms") || name == "responses_item_id" {
                    *value = Value::Null;
                } else {
                    strip(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

#[tokio::test]
async fn a_session_over_chat_makes_the_graph_of_one_over_responses() {
    let (expected, _) = session(Wire::Responses, Reasoning::Open).await;
    let (state, asked) = session(Wire::Chat, Reasoning::Open).await;
    assert_eq!(without_names(&state), without_names(&expected));
    assert_eq!(state["inference_calls"].as_object().map(serde_json::Map::len), Some(5));
    let second = asked[1]["messages"].as_array().expect("messages");
    let roles: Vec<&str> = second.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "tool", "tool", "user"]);
    let calls = second[2]["tool_calls"].as_array().expect("calls");
    let names: Vec<&Value> = calls.iter().map(|call| &call["function"]["name"]).collect();
    assert_eq!(names, ["echo", "team__ask", "patch", "no_such_tool"]);
    assert_eq!(second[2]["reasoning_content"], "What is there? Grüße.");
    assert_eq!(second[3]["content"], "arguments {\"a\":[1,\"ä\"]}");
    assert_eq!(second[7]["content"][1]["image_url"]["url"], "data:image/gif;base64,R0lGODlh");
    assert_eq!(asked[2]["messages"][2].get("reasoning_content"), None, "reasoning of a turn that is over stays here");
    assert_eq!(asked[4], asked[3]);
}

#[tokio::test]
async fn a_session_over_anthropic_makes_the_graph_of_one_over_responses() {
    let (expected, _) = session(Wire::Responses, Reasoning::Summary).await;
    let (state, asked) = session(Wire::Anthropic, Reasoning::Summary).await;
    assert_eq!(without_names(&state), without_names(&expected));
    let second = asked[1]["messages"].as_array().expect("messages");
    let roles: Vec<&str> = second.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let kinds = |message: &Value| -> Vec<String> {
        let blocks = message["content"].as_array().expect("blocks").iter();
        blocks.map(|block| block["type"].as_str().expect("a type").to_owned()).collect()
    };
    assert_eq!(kinds(&second[1]), ["thinking", "text", "tool_use", "tool_use", "tool_use", "tool_use"]);
    let thinking = json!({ "type": "thinking", "thinking": "What is there? Grüße.", "signature": "c2VhbA==" });
    assert_eq!(second[1]["content"][0], thinking, "as it came");
    assert_eq!(kinds(&second[2]), ["tool_result", "tool_result", "tool_result", "tool_result"]);
    assert_eq!(second[2]["content"][2]["content"][1]["source"]["media_type"], "image/gif");
    assert_eq!(second[2]["content"][3]["cache_control"], json!({ "type": "ephemeral" }));
}
