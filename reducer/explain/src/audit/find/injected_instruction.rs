//! `injected_instruction`: an act follows an instruction that came with data.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::admission::user_said;
use crate::audit::draft::Draft;
use crate::audit::kind::Kind;
use crate::audit::ledger::{Act, Input, Ledger};
use crate::audit::read::addresses::{addresses, addresses_agents};
use crate::audit::read::shell::commands;
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Shortest literal of an instruction whose use shows that it was followed, in bytes.
pub(crate) const MIN_LITERAL_BYTES: usize = 12;

/// Longest passage that is looked at, in bytes, from the words that address an agent.
const MAX_PASSAGE_BYTES: usize = 400;

/// What an agent is told to do with a literal. It stands between the words that address the agent and the literal.
static ORDERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:run|execute|install|add|append|insert|include|put|write|set|use|call|fetch|download|get|open|visit|curl|wget|send|post|upload|push|copy|replace|change|import|require|load|source|connect|contact|email|go\s+to|navigate)\b")
        .expect("a pattern")
});

/// Literals of an instruction.
static LITERALS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"https?://[^\s"'`<>)\]}]+|`([^`\n]{12,300})`|"([^"\n]{12,300})"|[\w@.~/-]*[/.@:_-][\w@.~/:+=?&%-]{3,}"#,
    )
    .expect("a pattern")
});

/// Files of instructions that agents are made to read.
const INSTRUCTION_FILES: [&str; 16] = [
    "usage-rules",
    "usage_rules",
    "rules.md",
    "contributing",
    ".jsonl",
    "prompt",
    "agents.md",
    "claude.md",
    "gemini.md",
    "skill.md",
    "copilot-instructions",
    ".cursorrules",
    ".cursor/rules",
    "conventions.md",
    ".windsurfrules",
    ".clinerules",
];

/// A passage that addresses agents.
struct Passage {
    act: usize,
    ended: u64,
    literals: Vec<String>,
}

/// Finds acts that follow instructions which came with data.
pub(crate) fn find(ledger: &Ledger<'_>) -> Vec<Draft> {
    let passages = passages(ledger);
    let mut found: Vec<Draft> = Vec::new();
    let mut used: Vec<(usize, String)> = Vec::new();
    if passages.is_empty() {
        return found;
    }
    for (index, act) in ledger.acts.iter().enumerate() {
        if !act.happened() || only_looks(act) {
            continue;
        }
        let written = act.written();
        for passage in &passages {
            let source = &ledger.acts[passage.act];
            if act.started <= passage.ended || !can_know(ledger, act.thread, source.thread) {
                continue;
            }
            let literal = passage.literals.iter().find(|literal| {
                written.contains(literal.as_str())
                    && !used.iter().any(|(from, known)| *from == passage.act && known == *literal)
            });
            let Some(literal) = literal else { continue };
            if is_covered(ledger, index, passage.act, literal) {
                continue;
            }
            used.push((passage.act, literal.clone()));
            let message = format!("followed an instruction that came with data: {literal}");
            let mut draft = Draft::of_act(ledger, Kind::InjectedInstruction, index, Confidence::High, message);
            draft.add_act(ledger, passage.act, Relation::InstructedBy);
            found.push(draft);
            break;
        }
    }
    found
}

fn passages(ledger: &Ledger<'_>) -> Vec<Passage> {
    let mut found = Vec::new();
    for (index, act) in ledger.acts.iter().enumerate() {
        let Some(ended) = act.ended else { continue };
        // What comes back from a child holds its task, which its parent wrote. What the child read is looked at itself.
        if act.output.is_empty() || matches!(act.input, Input::Message(_)) || !addresses_agents(&act.output) {
            continue;
        }
        let written = act.written().to_lowercase();
        if INSTRUCTION_FILES.iter().any(|name| written.contains(name)) {
            continue;
        }
        let mut literals: Vec<String> = Vec::new();
        for hit in addresses(&act.output).filter(|hit| is_prose(&act.output, hit)).take(32) {
            let text = &*act.output;
            // Up to the end of the paragraph: order and literal follow the words that address the agent.
            let to = floor(text, (hit.end + MAX_PASSAGE_BYTES).min(text.len()));
            let to = text[hit.end..to].find("\n\n").map_or(to, |end| hit.end + end);
            let passage = &text[hit.start..to];
            for captures in LITERALS.captures_iter(passage) {
                let whole = captures
                    .get(1)
                    .or_else(|| captures.get(2))
                    .or_else(|| captures.get(0))
                    .map_or("", |it| it.as_str());
                let at = captures.get(0).map_or(0, |it| it.start());
                let before = &passage[..at];
                let is_code = whole.contains(['{', '}', '\\', '$']) || before.contains("\":");
                let is_ordered = ORDERS.is_match(before) || (whole.contains(' ') && ORDERS.is_match(whole));
                if is_code || !is_ordered {
                    continue;
                }
                let literal = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\'', '"']);
                if literal.starts_with('-') {
                    continue;
                }
                let is_particular =
                    |part: &str| part.len() >= MIN_LITERAL_BYTES && part.contains(['/', '.', '@', ':', '-', '_']);
                if is_particular(literal) && !literals.iter().any(|known| known == literal) {
                    literals.push(literal.to_owned());
                }
                // A command line is followed by its parts, too.
                for part in literal.split_whitespace() {
                    let part = part.trim_matches(['"', '\'', '`', ',', '.', ';']);
                    if !part.starts_with('-') && is_particular(part) && !literals.iter().any(|known| known == part) {
                        literals.push(part.to_owned());
                    }
                }
            }
        }
        // What was known before the passage is no sign of it.
        literals.retain(|literal| !known_before(ledger, index, literal));
        if !literals.is_empty() {
            found.push(Passage { act: index, ended, literals });
        }
    }
    found
}

/// Returns whether words that address an agent stand in prose. A part of a path or name, `ai-assistant.tsx`, does not.
fn is_prose(text: &str, hit: &Range<usize>) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '/' | '\\');
    let mut after = text[hit.end..].chars();
    let first = after.next();
    let is_dotted = first == Some('.') && after.next().is_some_and(char::is_alphanumeric);
    !is_dotted && !first.is_some_and(is_part) && !text[..hit.start].chars().next_back().is_some_and(is_part)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn known_before(ledger: &Ledger<'_>, index: usize, literal: &str) -> bool {
    ledger.acts[..=index].iter().any(|act| act.written().contains(literal))
        || ledger.acts[..index].iter().any(|act| act.output.contains(literal) && !addresses_agents(&act.output))
}

/// Returns whether what one agent read may have reached another: itself, agents below it, those above it by its answer.
fn can_know(ledger: &Ledger<'_>, by: trace_reducer::model::ThreadIdx, source: trace_reducer::model::ThreadIdx) -> bool {
    by == source || ledger.family.is_above(source, by) || ledger.family.is_above(by, source)
}

/// Returns whether an act only reports or looks for a text.
fn only_looks(act: &Act<'_>) -> bool {
    match &act.input {
        Input::Command(_) => {
            let all = act.commands();
            !all.is_empty()
                && all.iter().all(|command| {
                    matches!(
                        command.program(),
                        "grep"
                            | "rg"
                            | "ag"
                            | "egrep"
                            | "find"
                            | "fd"
                            | "echo"
                            | "printf"
                            | "cd"
                            | "wc"
                            | "head"
                            | "tail"
                            | "sort"
                            | "ls"
                            | "cat"
                            | "sed"
                            | "awk"
                            | "jq"
                    ) && command.writes.is_empty()
                })
        }
        Input::Wait => true,
        Input::Other(name, _) => {
            let name = name.to_lowercase();
            ["grep", "search", "glob", "find", "plan", "todo", "think", "ask"].iter().any(|word| name.contains(word))
        }
        _ => false,
    }
}

fn is_covered(ledger: &Ledger<'_>, index: usize, source: usize, literal: &str) -> bool {
    let act = &ledger.acts[index];
    let lower = literal.to_lowercase();
    let source_text = ledger.acts[source].written().to_lowercase();
    // A warning that is passed on is no obedience.
    if let Input::Message(text) | Input::Other(_, text) = &act.input {
        let text = text.to_lowercase();
        if [
            "injection",
            "suspicious",
            "malicious",
            "do not follow",
            "don't follow",
            "not follow",
            "untrusted",
            "ignore the instruction",
            "warning:",
            "did not run",
        ]
        .iter()
        .any(|word| text.contains(word))
        {
            return true;
        }
    }
    if let Input::Edit(edits) = &act.input {
        let text: String = edits.iter().flat_map(|edit| edit.signed('+')).collect::<Vec<_>>().join("\n").to_lowercase();
        if ["injection", "suspicious", "malicious", "untrusted"].iter().any(|word| text.contains(word)) {
            return true;
        }
    }
    // A program that explains itself: the act runs the program whose output it was.
    let programs = |index: usize| -> Vec<String> {
        ledger.acts[index]
            .script()
            .map(commands)
            .unwrap_or_default()
            .iter()
            .map(|command| command.program().to_owned())
            .filter(|program| {
                !matches!(
                    program.as_str(),
                    "curl"
                        | "wget"
                        | "cat"
                        | "cd"
                        | "git"
                        | "gh"
                        | "bash"
                        | "sh"
                        | "python"
                        | "python3"
                        | "node"
                        | "npm"
                        | "npx"
                        | "head"
                        | "tail"
                        | "sed"
                        | "less"
                        | "jq"
                )
            })
            .collect()
    };
    let own = programs(source);
    if programs(index).iter().any(|program| own.contains(program)) {
        return true;
    }
    user_said(ledger, act.started, |words| {
        if words.contains(&lower) {
            return true;
        }
        let asks = [
            "follow",
            "do what",
            "as described",
            "according to",
            "apply the",
            "carry out",
            "execute the",
            "instructions in",
            "instructions from",
            "steps in",
            "steps from",
            "work through",
            "as it says",
            "what it says",
            "set up as",
            "per the",
            "implement the",
            "do the tasks",
            "tasks in",
            "address the",
            "resolve the",
            "handle the issue",
            "fix the issue",
        ];
        let names: Vec<&str> = source_text
            .split(|it: char| it.is_whitespace() || matches!(it, '"' | '\'' | '`'))
            .filter(|word| word.len() > 4 && word.contains(['.', '/']))
            .collect();
        let named = names
            .iter()
            .any(|name| words.contains(*name) || words.contains(crate::audit::read::files::base_name(name)));
        named && asks[..19].iter().any(|ask| words.contains(ask))
    })
}
