//! Spans with the `gen_ai` conventions of OpenTelemetry.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

#[derive(Default)]
struct Spans {
    calls: Calls,
    seconds: u64,
    list: Vec<Value>,
    ids: u64,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let mut spans = Spans::default();
    for (number, steps) in plot.turns.iter().enumerate() {
        spans.agent(steps, number, None);
    }
    let line = json!({"resourceSpans": [{"resource": {"attributes": attributes(&[("service.name", json!("agent"))])},
        "scopeSpans": [{"scope": {"name": "agent"}, "spans": spans.list}]}]});
    let path = folder.join("traces.jsonl");
    fs::write(&path, format!("{line}\n")).expect("writes");
    path
}

fn attributes(list: &[(&str, Value)]) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Number(number) => json!({"intValue": number.to_string()}),
        other => json!({"stringValue": other}),
    };
    list.iter().map(|(key, text)| json!({"key": key, "value": value(text)})).collect()
}

impl Spans {
    fn tick(&mut self) -> u64 {
        self.seconds += 1;
        self.seconds
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("{:016x}", self.ids)
    }

    #[expect(clippy::too_many_arguments, reason = "each span has all of them")]
    fn span(
        &mut self,
        id: &str,
        parent: Option<&str>,
        trace: usize,
        name: &str,
        span: (u64, u64),
        list: &[(&str, Value)],
        error: Option<&str>,
    ) {
        let time = |seconds: u64| format!("{}000000000", 1_795_381_260 + seconds);
        let mut all = attributes(list);
        all.extend(attributes(&[("gen_ai.conversation.id", json!("conv-1"))]));
        let status = error.map_or(json!({}), |error| json!({"code": 2, "message": error}));
        let mut span = json!({"traceId": format!("{:032x}", trace + 1), "spanId": id, "name": name, "kind": 1,
            "startTimeUnixNano": time(span.0), "endTimeUnixNano": time(span.1), "attributes": all, "status": status});
        if let Some(parent) = parent {
            span["parentSpanId"] = json!(parent);
        }
        self.list.push(span);
    }

    fn chat(&mut self, parent: &str, trace: usize, input: &[Value], output: &Value, error: Option<&str>) {
        let (id, start, end) = (self.id(), self.tick(), self.tick());
        let mut list = vec![
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.provider.name", json!("example")),
            ("gen_ai.request.model", json!("m")),
            ("gen_ai.input.messages", json!(json!(input).to_string())),
        ];
        match error {
            Some(_) => list.push(("error.type", json!("429"))),
            None => list.extend([
                ("gen_ai.output.messages", json!(json!([output]).to_string())),
                ("gen_ai.usage.input_tokens", json!(10)),
                ("gen_ai.usage.output_tokens", json!(2)),
            ]),
        }
        self.span(&id, Some(parent), trace, "chat m", (start, end), &list, error);
    }

    /// Adds an agent's run, below the span of the tool that started it.
    fn agent(&mut self, steps: &[Step], trace: usize, parent: Option<&str>) -> bool {
        let (agent, start) = (self.id(), self.tick());
        let mut history = vec![json!({"role": "user", "parts": [{"type": "text", "content": "Please do it."}]})];
        let mut failed = None;
        for step in steps {
            let (call, name, result, error) = match step {
                Step::Say(text) => {
                    let output = json!({"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"});
                    self.chat(&agent, trace, &history, &output, None);
                    history.push(output);
                    continue;
                }
                Step::Refuse => {
                    let error = "Error code: 429 - Too Many Requests";
                    self.chat(&agent, trace, &history, &Value::Null, Some(error));
                    failed = Some(error);
                    continue;
                }
                // Spans are written when they end, so a call that runs has none.
                Step::Die => {
                    let _ = self.calls.next();
                    continue;
                }
                Step::Run(printed, 0) => (self.calls.next(), "shell", (*printed).to_owned(), None),
                Step::Run(printed, code) => {
                    (self.calls.next(), "shell", (*printed).to_owned(), Some(format!("exit code {code}")))
                }
                Step::Unknown => (
                    self.calls.next(),
                    "nope",
                    r#"Tool "nope" not found"#.to_owned(),
                    Some(r#"Tool "nope" not found"#.to_owned()),
                ),
                Step::Task(_) => (self.calls.next(), "helper", "Looked.".to_owned(), None),
            };
            let part = json!({"type": "tool_call", "id": call, "name": name, "arguments": {}});
            let output = json!({"role": "assistant", "parts": [part], "finish_reason": "tool_calls"});
            self.chat(&agent, trace, &history, &output, None);
            history.push(output);
            let (id, start) = (self.id(), self.tick());
            let mut error = error;
            if let Step::Task(steps) = step
                && self.agent(steps, trace, Some(&id))
            {
                error = Some("the agent failed".to_owned());
            }
            let end = self.tick();
            let mut list = vec![
                ("gen_ai.operation.name", json!("execute_tool")),
                ("gen_ai.tool.name", json!(name)),
                ("gen_ai.tool.call.id", json!(call)),
                ("gen_ai.tool.call.result", json!(result)),
            ];
            if error.is_some() {
                list.push(("error.type", json!("ToolError")));
            }
            self.span(&id, Some(&agent), trace, &format!("execute_tool {name}"), (start, end), &list, error.as_deref());
            history
                .push(json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": call, "result": result}]}));
        }
        let name = if parent.is_some() { "helper" } else { "main" };
        let list = [("gen_ai.operation.name", json!("invoke_agent")), ("gen_ai.agent.name", json!(name))];
        let end = self.tick();
        self.span(&agent, parent, trace, &format!("invoke_agent {name}"), (start, end), &list, failed);
        failed.is_some()
    }
}
