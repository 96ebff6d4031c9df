//! A session in which every string attacks the programs that show it.
//!
//! Ids, names, paths, commands, outputs, errors, texts, kinds and file names contain markup, scripts, links, escape
//! sequences of terminals and diagrams, control characters, right-to-left text, and texts of 10 kB ([`IN_NAMES`],
//! [`IN_TEXTS`], [`WHOLE_IDS`]). The session still reduces to a rich graph, with children and their results, messages, a
//! fork, failures, a patch, an MCP tool, code and a compaction. The tests of everything that shows or exports sessions use
//! it.

mod attacks;
mod poison;

use std::io;
use std::path::Path;

use serde_json::json;
use trace_recorder::format::SchemaVersion;

use crate::session::{Cell, Child, Command, Failure, McpCall, Refusal, Session, Setup};
use crate::texts::Texts;

pub use self::attacks::{IN_NAMES, IN_TEXTS, LONG_BYTES, WHOLE_IDS, all_texts, long_word};

/// Records the session at `path`. It always writes the same bytes.
///
/// # Errors
///
/// Returns an I/O error if something cannot be written.
pub fn record(path: &Path) -> io::Result<()> {
    let (all, long) = (all_texts(), long_word());
    let setup = Setup {
        seed: 13,
        started_at_unix_ms: 1_772_443_800_000,
        schema: SchemaVersion::CURRENT,
        cwd: "/home/<b>dev</b>/\"project\"".to_owned(),
        model: "example-large".to_owned(),
        provider: "example".to_owned(),
        texts: Texts::short(),
    };
    let (mut session, root) = Session::create(path, setup)?;
    session.prompt(root, &all)?;
    session.think(root, &all);
    session.run(root, &[Command::new(all.as_str(), all.as_str()).takes(900), Command::new("false", &long).exits(1)])?;
    session.think(root, &long);
    let patched = session.patch(root, "src/<img src=x onerror=window.pwned=1>.rs", &all)?;
    let arguments = json!({ "<script>window.pwned=1</script>": { "__proto__": all }, "constructor": [&long] });
    let served = session.call_mcp(root, &McpCall::new("files", "read", arguments.clone(), &all))?;
    session.call_mcp(root, &McpCall::new("files", "write", arguments.clone(), "").reports(&all))?;
    let cell = Cell::new(&all, &all).runs(&[Command::new("ls -l", all.as_str())]);
    let code = session.run_cell(root, &cell)?;
    session.run_cell(root, &Cell::throws("throw new Error(document.cookie)", &all).after_printing(&long))?;
    let refused = session.refuse(root, &Refusal::unknown_tool(&long, &arguments))?;
    session.compact(root, &all)?;

    let child = |task_name: &str, nickname: &str, task: &str| Child {
        task_name: task_name.to_owned(),
        nickname: nickname.to_owned(),
        model: Some("example-small".to_owned()),
        task: task.to_owned(),
    };
    let children = session.spawn(
        root,
        &[
            child("script", "Ada", &all),
            child("image", &long, "Look at <img src=http://attacker.invalid/task.png>."),
            child("proto", "Curie", &long),
            child("failing", "Darwin", &all),
        ],
    )?;
    let &[script, image, proto, failing] = children.as_slice() else { unreachable!("four were asked for") };
    let fork = session.spawn_forked(root, &child("fork", "Euler", &all))?;
    let command = [Command::new("cargo test", all.as_str()).takes(3_000)];
    session.run_together(&[(script, &command), (image, &command), (proto, &command), (fork, &command)])?;
    session.send_message(root, script, &all)?;
    session.run(script, &[Command::new("rg -n pwned", long.as_str()).takes(400).exits(2)])?;
    session.send_message(script, image, &long)?;
    session.run(image, &command)?;
    let partial = session.fail_request_by(failing, &Failure::response_failed(&all).after_saying(&all))?;
    let unanswered = session.fail_request_by(failing, &Failure::other(&long))?;
    session.fail_turn_by(failing, &Failure::other(&all))?;
    let wait = session.begin_wait(root, 60_000)?;
    session.answer(script, &all)?;
    session.end_wait(wait)?;
    session.answer(image, &long)?;
    session.answer(proto, &all)?;
    session.answer(fork, "Done.")?;
    session.follow_up(root, script, &all)?;
    let stopped = session.begin_command(script, &Command::new("sleep 1000", all.as_str()))?;
    session.stop_agent(root, script, &json!("running"))?;
    session.interrupt_command(&stopped)?;
    session.kill_command(&stopped)?;
    session.answer(root, &all)?;

    let threads = |name: &str| {
        let path = format!("/root/{name}");
        session.turns().iter().find(|turn| turn.agent_path == path).map(|turn| turn.thread_id.clone())
    };
    // A target that a tool names must be a UUID. Spawns, messages and closes are recognized only with the real names of
    // their tools.
    let kept: Vec<String> = ["script", "image", "failing", "fork"].iter().filter_map(|name| threads(name)).collect();
    let mut whole: Vec<String> = threads("proto").into_iter().collect();
    whole.extend([session.latest_turn_id(script), patched, served, code, refused, partial, unanswered]);
    session.end()?;
    poison::poison(path, &kept, &whole)
}
