//! Compares the scripted provider with a stand-in service that plays the same scripts over HTTP.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::{Value, json};
use trace_runtime::provider::{
    Compaction, Endpoint, HttpProvider, ModelEvent, Origin, Provider, ProviderConfig, ProviderError, Request, Scripted,
};

/// A running stand-in.
struct StandIn {
    process: Child,
    base_url: String,
}

impl StandIn {
    fn start() -> Option<Self> {
        let mut command =
            trace_needs::scripted_model("the scripted provider is not compared with a service over HTTP")?;
        let mut process = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says where it listens");
        let base_url = line.trim().strip_prefix("listening ").expect("an address").to_owned();
        Some(Self { process, base_url })
    }

    fn endpoint(&self) -> Endpoint {
        let text = format!("[model_providers.p]\nbase_url = \"{}\"\nremote_compaction = true", self.base_url);
        let mut configs = ProviderConfig::read_all(&text, Path::new("config.toml")).expect("a configuration");
        configs.remove("p").expect("it is there").resolve(&|_| None).expect("it resolves")
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

/// Conversations with their names.
fn conversations() -> Vec<(&'static str, Vec<Value>)> {
    let said =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "RUN [[]]"}]});
    let called = json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "RUN [[]]"});
    let two = user(r#"go RUN [[{"say":"one"}],[{"say":"two"}]] end"#);
    let mut table: Vec<(&'static str, Vec<Value>)> = vec![
        ("no script", vec![user("hello")]),
        ("nothing", vec![]),
        ("first step", vec![said.clone(), two.clone()]),
        ("second step", vec![two.clone(), json!({"type": "reasoning", "summary": []}), called.clone(), output.clone()]),
        ("past the end", vec![two.clone(), called.clone(), output.clone(), said.clone(), user("and?")]),
        ("answers that touch are one", vec![two.clone(), said.clone(), said.clone()]),
        ("newest script", vec![two.clone(), said.clone(), user(r#"RUN [[{"say":"new"}]]"#)]),
        (
            "mail",
            vec![json!({"type": "agent_message", "author": "/root", "content": [
            {"type": "input_text", "text": "Message Type: NEW_TASK "},
            {"type": "encrypted_content", "encrypted_content": r#"RUN [[{"say":"mail"}]]"#}]})],
        ),
        (
            "developer's words are no script",
            vec![json!({"type": "message", "role": "developer", "content": "RUN [[]]"})],
        ),
    ];
    for (name, step) in [
        ("say", r#"[{"say":"hello, this is a text of more than twenty-four characters: äöü 🦀🦀"}]"#),
        ("say in pieces", r#"[{"say":"äöü🦀x","chunk":2,"gap":0.001,"phase":"commentary"}]"#),
        ("say nothing", r#"[{"say":""}]"#),
        ("think", r#"[{"think":"a thought of more than twenty-four characters"},{"say":"x"}]"#),
        (
            "calls",
            r#"[{"call":"f","args":{"cmd":"ls","n":[1,2.5,null,true],"text":"ä\"\\\n"}},{"call":"g","ns":"n"},{"call":"h","args":"{bad"}]"#,
        ),
        ("custom and search", r#"[{"custom":"patch","input":"*** Begin\n"},{"custom":"c"},{"search":"why"}]"#),
        ("tokens", r#"[{"say":"x"},{"tokens":1234567},{"sleep":0.001},{"unknown":1}]"#),
        ("items without ids between", r#"[{"tokens":1},{"say":"a"},{"tokens":2},{"say":"b"}]"#),
        ("empty", "[]"),
        ("400", r#"[{"status":400,"message":"no"}]"#),
        ("401", r#"[{"say":"x"},{"status":401}]"#),
        ("404", r#"[{"status":404,"code":"model_not_found"}]"#),
        ("429", r#"[{"status":429,"retry_after":7}]"#),
        ("429 with a fraction", r#"[{"status":429,"retry_after":"0.5"}]"#),
        ("quota", r#"[{"status":429,"code":"insufficient_quota"}]"#),
        ("500", r#"[{"status":500}]"#),
        ("503", r#"[{"status":503,"code":"server_is_overloaded","retry_after":2}]"#),
        ("drop", r#"[{"say":"x"},{"drop":true},{"sleep":30}]"#),
        ("failed", r#"[{"say":"x"},{"failed":"why"}]"#),
        ("failed for good", r#"[{"failed":"why","code":"context_length_exceeded"}]"#),
        ("failed with a pause", r#"[{"failed":"try again in 3s","code":"rate_limit_exceeded"}]"#),
        ("once", r#"[{"once":"k1","status":500},{"say":"x"}]"#),
        ("once again", r#"[{"once":"k1","status":500},{"say":"x"}]"#),
        ("last key counts", r#"[{"once":"k2"},{"once":"k1"},{"drop":true},{"say":"x"}]"#),
        ("first key is known now", r#"[{"once":"k2"},{"failed":"f"},{"say":"x"}]"#),
    ] {
        table.push((name, vec![user(&format!("please RUN [{step}]"))]));
    }
    table
}

async fn ask(provider: &impl Provider, items: &[Value]) -> Vec<Result<ModelEvent, ProviderError>> {
    let request = Request {
        body: Arc::new(json!({"model": "m", "input": items}).into()),
        headers: vec![],
        origin: Origin::default(),
    };
    let mut answer: Vec<_> = provider.stream(Arc::new(request)).collect().await;
    for error in answer.iter_mut().filter_map(|event| event.as_mut().err()) {
        // Only the origin differs.
        error.details = error.details.take().map(|details| match details.split_once(" from ") {
            Some((status, _)) => status.to_owned(),
            None => details,
        });
    }
    answer
}

#[tokio::test]
async fn scripts_mean_the_same_here_and_over_http() {
    let Some(stand_in) = StandIn::start() else { return };
    let (there, here) = (HttpProvider::new(stand_in.endpoint()), Scripted::new().with_compaction(Compaction::Remote));
    // Both start fresh and get the same requests, so that even the ids are equal.
    for (name, items) in conversations() {
        assert_eq!(ask(&here, &items).await, ask(&there, &items).await, "{name}");
    }
    let request = || {
        Arc::new(Request { body: Arc::new(json!({"input": []}).into()), headers: vec![], origin: Origin::default() })
    };
    let compact = async |provider: &dyn Provider| provider.compact(request()).expect("it can").await;
    assert_eq!(compact(&here).await, compact(&there).await);
}

#[tokio::test(start_paused = true)]
async fn the_scripts_of_the_documentation_can_be_played() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let document = std::fs::read_to_string(path).expect("the document is there");
    let scripts: Vec<&str> = document.lines().filter(|line| line.contains("RUN [[")).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    for script in scripts {
        let answer = ask(&Scripted::new(), &[user(script)]).await;
        let is_error = |event: &Result<ModelEvent, ProviderError>| matches!(event, Ok(ModelEvent::Text { delta, .. }) if delta.starts_with("script error") || delta == "no script");
        assert!(!answer.iter().any(is_error), "{script}: {answer:?}");
    }
}
