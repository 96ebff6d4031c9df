//! Helpers of the tests of stored threads.

use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use trace_protocol::thread::{SessionSource, ThreadHistoryMode};
use trace_protocol::turn::Turn;
use trace_runtime::event::{EventKind, TurnKind, TurnOutcome};
use trace_runtime::item::{CommandItem, CommandSource, Input, ItemKind, WorkStatus};
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy};
use trace_runtime::{Event, Item, Settings, ThreadId, TurnId};
use trace_server::store::{NewThread, Store, ThreadWriter};

/// Opens a store.
pub(crate) fn open(home: &Path) -> Store {
    Store::open(home, TimeZone::UTC).unwrap()
}

/// Settings that never ask for approvals.
fn settings(cwd: &Path) -> Settings {
    Settings {
        model: "scripted-1".into(),
        provider: "scripted".into(),
        effort: Some("low".into()),
        summary: None,
        service_tier: None,
        cwd: cwd.to_owned(),
        approval: ApprovalPolicy::Never,
        approvals_reviewer: None,
        sandbox: SandboxPolicy::FullAccess,
        base_instructions: None,
        developer_instructions: None,
        personality: None,
        mode: Mode::Default,
        mode_instructions: None,
    }
}

/// Parameters of a thread that a client creates.
pub(crate) fn new_thread(cwd: &Path, history_mode: ThreadHistoryMode) -> NewThread {
    let id = ThreadId::new();
    NewThread {
        session: id.clone(),
        id,
        created_at_ms: 1_795_344_783_000,
        settings: settings(cwd),
        originator: Some("store-test".into()),
        version: "0.1.0".into(),
        source: SessionSource::Vscode,
        thread_source: None,
        history_mode,
        forked_from: None,
        parent: None,
        agent_nickname: None,
        agent_role: None,
        agent_path: None,
        dynamic_tools: Vec::new(),
        git: None,
    }
}

/// Records a turn with a user message, a command, and an answer of the agent.
pub(crate) fn talk(writer: &ThreadWriter, cwd: &Path, number: i64, said: &str, answer: &str) -> TurnId {
    let turn = TurnId::new();
    let mut at_ms = 1_795_344_784_000 + number * 1000;
    let mut tell = |kind: EventKind| {
        writer.record(&Event { at_ms, kind }).unwrap();
        at_ms += 5;
    };
    tell(EventKind::TurnStarted {
        turn: turn.clone(),
        root_turn: turn.clone(),
        kind: TurnKind::Regular,
        context_window: None,
    });
    tell(EventKind::TurnContext { turn: turn.clone(), settings: settings(cwd).into() });
    let call = format!("call-{number}");
    let items = [
        (
            format!("user-{number}"),
            ItemKind::UserMessage {
                client_id: None,
                content: vec![Input::Text { text: said.into(), elements: Vec::new() }],
            },
            vec![message("user", "input_text", said)],
        ),
        (
            call.clone(),
            ItemKind::Command(CommandItem {
                command: "/bin/bash -lc 'echo hi'".into(),
                cwd: cwd.to_owned(),
                source: CommandSource::Agent,
                process_id: Some("1".into()),
                actions: Vec::new(),
                output: Some("hi\n".into()),
                exit_code: Some(0),
                duration_ms: Some(3),
                status: WorkStatus::Completed,
            }),
            vec![
                json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": call}),
                json!({"type": "function_call_output", "call_id": call, "output": "hi"}),
            ],
        ),
        (
            format!("agent-{number}"),
            ItemKind::AgentMessage { text: answer.into(), phase: None },
            vec![message("assistant", "output_text", answer)],
        ),
    ];
    for (id, kind, remembered) in items {
        let item = std::sync::Arc::new(Item { id: id.into(), kind });
        tell(EventKind::ItemStarted { turn: turn.clone(), item: item.clone() });
        tell(EventKind::ItemCompleted { turn: turn.clone(), item });
        for item in remembered {
            tell(EventKind::Remembered { item: item.into() });
        }
    }
    tell(EventKind::TurnEnded { turn: turn.clone(), outcome: TurnOutcome::Completed { last_message: None } });
    turn
}

fn message(role: &str, part: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]})
}

/// Returns the types and texts of the items that a client gets.
pub(crate) fn shown(turns: &[Turn]) -> Vec<String> {
    turns
        .iter()
        .flat_map(|turn| serde_json::to_value(&turn.items).unwrap().as_array().unwrap().clone())
        .map(|item| said(&item))
        .collect()
}

/// Returns the type and the text of an item.
pub(crate) fn said(item: &Value) -> String {
    let kind = item["type"].as_str().unwrap_or("?");
    let text = item["text"]
        .as_str()
        .or_else(|| item["command"].as_str())
        .or_else(|| item.pointer("/content/0/text").and_then(Value::as_str))
        .or_else(|| item["path"].as_str())
        .unwrap_or_default();
    format!("{kind}: {text}")
}
