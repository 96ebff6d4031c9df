//! Makes the texts that every request of a session repeats: the instructions and the descriptions of the tools.

use serde_json::{Value, json};

/// Approximate number of bytes per token in a request.
pub(crate) const BYTES_PER_TOKEN: usize = 4;

/// Instructions and tools.
#[derive(Debug, Clone)]
pub struct Texts {
    /// First message of every thread.
    pub instructions: String,
    /// Further messages before the first message of the user.
    pub guidance: Vec<String>,
    /// The `tools` of every request of the root agent.
    pub tools: Value,
    /// The `tools` of every request of other agents. They may lack the tools for spawning agents.
    pub child_tools: Value,
}

impl Texts {
    /// Returns minimal texts, for samples that people read.
    pub fn short() -> Self {
        let exec_command = tool("exec_command", "Runs a shell command and returns what it prints.", &[("cmd", "")]);
        let collaboration = collaboration(&[
            tool("spawn_agent", "Starts an agent on a task of its own.", &[("task_name", ""), ("message", "")]),
            tool("send_message", "Sends a note to an agent at work.", &[("target", ""), ("message", "")]),
            tool("followup_task", "Gives an idle agent another task.", &[("target", ""), ("message", "")]),
            tool("wait_agent", "Waits until a message arrives.", &[("timeout_ms", "")]),
        ]);
        Self {
            instructions: "You help people with the repository in the working directory. Look before you change \
                           anything, keep changes small, and say what you did."
                .to_owned(),
            guidance: vec!["Other agents may take parts of the work; their answers arrive as messages.".to_owned()],
            tools: json!([exec_command, collaboration]),
            child_tools: json!([exec_command]),
        }
    }

    /// Returns texts of the size that the Codex CLI sends: about 5 kB of instructions and 31 kB of tools, indented. The
    /// content is filler; only its size and its kind of characters matter.
    pub fn full() -> Self {
        let mut tools: Vec<Value> = FULL_TOOLS.iter().map(full_tool).collect();
        tools.push(collaboration(&COLLABORATION_TOOLS.map(|tool| full_tool(&tool))));
        Self {
            instructions: prose(11, 260),
            guidance: vec![prose(12, 2400), prose(13, 2150), prose(14, 320)],
            child_tools: Value::Array(tools.clone()),
            tools: Value::Array(tools),
        }
    }
}

/// Name of a tool, size of its description, and its parameters with the sizes of their descriptions, in bytes.
type FullTool = (&'static str, usize, &'static [(&'static str, usize)]);

const FULL_TOOLS: [FullTool; 13] = [
    ("exec", 3500, &[("source", 160)]),
    ("wait", 760, &[("cell_id", 60), ("max_tokens", 70), ("terminate", 70), ("yield_time_ms", 60)]),
    (
        "exec_command",
        1750,
        &[
            ("cmd", 60),
            ("justification", 90),
            ("login", 90),
            ("max_output_tokens", 90),
            ("prefix_rule", 120),
            ("sandbox_permissions", 110),
            ("shell", 70),
            ("tty", 80),
            ("workdir", 70),
            ("yield_time_ms", 90),
        ],
    ),
    ("write_stdin", 1150, &[("chars", 80), ("max_output_tokens", 90), ("session_id", 60), ("yield_time_ms", 90)]),
    ("apply_patch", 2400, &[("input", 120)]),
    ("list_resources", 520, &[("cursor", 90), ("server", 90)]),
    ("list_resource_templates", 620, &[("cursor", 90), ("server", 90)]),
    ("read_resource", 430, &[("server", 90), ("uri", 90)]),
    ("request_user_input", 1500, &[("questions", 220)]),
    ("view_image", 400, &[("path", 80)]),
    ("get_goal", 240, &[]),
    ("create_goal", 800, &[("objective", 160), ("token_budget", 90)]),
    ("update_goal", 2300, &[("status", 160)]),
];

const COLLABORATION_TOOLS: [FullTool; 6] = [
    ("spawn_agent", 2300, &[("task_name", 120), ("message", 120), ("fork_turns", 180)]),
    ("send_message", 420, &[("target", 80), ("message", 80)]),
    ("followup_task", 420, &[("target", 80), ("message", 80)]),
    ("wait_agent", 520, &[("timeout_ms", 120)]),
    ("list_agents", 180, &[("path_prefix", 120)]),
    ("interrupt_agent", 320, &[("target", 80)]),
];

fn full_tool((name, description, parameters): &FullTool) -> Value {
    let seed = name.len() * 31 + description;
    let described: Vec<(&str, String)> = parameters
        .iter()
        .enumerate()
        .map(|(index, &(parameter, bytes))| (parameter, prose(seed + index + 1, bytes)))
        .collect();
    let described: Vec<(&str, &str)> = described.iter().map(|(name, text)| (*name, text.as_str())).collect();
    tool(name, &prose(seed, *description), &described)
}

fn tool(name: &str, description: &str, parameters: &[(&str, &str)]) -> Value {
    let property = |text: &str| match text {
        "" => json!({ "type": "string" }),
        _ => json!({ "type": "string", "description": text }),
    };
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|&(parameter, text)| (parameter.to_owned(), property(text))).collect();
    json!({
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": parameters.first().map(|(parameter, _)| vec![parameter]).unwrap_or_default(),
        },
    })
}

fn collaboration(tools: &[Value]) -> Value {
    json!({
        "type": "namespace",
        "name": "collaboration",
        "description": "Tools for working with other agents.",
        "tools": tools,
    })
}

const SENTENCES: [&str; 16] = [
    "Read the file before you change it, and read it again afterwards.",
    "A path is taken relative to the working directory unless it starts with `/`.",
    "The output is cut in the middle when it is longer than the budget; ask for less at once.",
    "Give \"null\" for a value that you do not know, and never an invented one.",
    "A command that waits for input stays open until somebody writes to it.",
    "Prefer a small change that can be explained over a large one that cannot.",
    "When a test fails, say which one, what it expected and what it got.",
    "The result is JSON with the members `status`, `text` and, after an error, `reason`.",
    "Nothing is written outside of the workspace without a question first.",
    "Numbers are counted from 1, lines as well as columns.",
    "Two calls that do not depend on each other may be made at the same time.",
    "Stop as soon as the goal is reached; an unfinished list of ideas is not a goal.",
    "The time limit holds for the whole call, retries and pauses included.",
    "Use `rg` to search, for it knows which files do not matter.",
    "An agent that has finished keeps what it learnt and can be asked again.",
    "Quote what you rely on \u{2013} a log line, a type, a number \u{2013} instead of describing it.",
];

/// Returns a text of exactly `bytes` bytes that resembles a manual. Equal seeds give equal texts.
pub(crate) fn prose(seed: usize, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let mut at = seed;
    while text.len() < bytes {
        // All steps are odd, so they visit all 16 sentences. The seed selects the first sentence and the order.
        at += 2 * (seed % 5) + 3;
        text.push_str(SENTENCES[at % SENTENCES.len()]);
        text.push(if at.is_multiple_of(3) { '\n' } else { ' ' });
    }
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    text.truncate(end);
    text.extend(std::iter::repeat_n('.', bytes - end));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_has_the_size_that_was_asked_for() {
        for bytes in [0, 1, 66, 67, 1000] {
            for seed in 0..40 {
                assert_eq!(prose(seed, bytes).len(), bytes);
            }
        }
    }

    #[test]
    fn full_texts_have_the_size_of_real_ones() {
        let texts = Texts::full();
        let tools = serde_json::to_string_pretty(&texts.tools).expect("is JSON").len();
        assert!((29_000..33_000).contains(&tools), "{tools}");
    }
}
