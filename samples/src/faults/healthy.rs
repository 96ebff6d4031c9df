//! Sessions in which nothing failed, although they look as if something had.

use std::io;

use serde_json::json;

use super::stage::{Stage, Step};
use super::truth::TurnTruth;
use super::{Family, Planted};
use crate::session::{Agent, Cell, Command, McpCall};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    plain(&mut all);
    words(&mut all);
    agents(&mut all);
    messages(&mut all);
    ends(&mut all);
    all
}

fn planted(
    name: &str,
    what: &str,
    script: impl Fn(Stage) -> io::Result<Vec<TurnTruth>> + Send + Sync + 'static,
) -> Planted {
    Planted::new(Family::Healthy, format!("healthy-{name}"), what, script)
}

/// A session with one turn, in which the agent does one thing.
fn alone(name: &str, what: &str, act: impl Fn(&mut Stage, Agent) -> io::Result<()> + Send + Sync + 'static) -> Planted {
    planted(name, what, move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        act(&mut stage, root)?;
        stage.answer(root)?;
        stage.end()
    })
}

fn plain(all: &mut Vec<Planted>) {
    all.push(alone("answer", "an agent answers without doing anything", |_, _| Ok(())));
    all.push(alone("work", "an agent works and answers", |stage, root| {
        stage.work(root, 3)?;
        stage.succeed(root, Step::Patch)?;
        stage.succeed(root, Step::Mcp)
    }));
    all.push(alone("side-by-side", "three commands side by side work", |stage, root| {
        let commands = [("ls", "src\n", 40), ("date", "Mon 9 Mar 08:00:00 UTC 2026\n", 10), ("cargo check", "", 2_900)];
        let commands = commands.map(|(line, output, ms)| Command::new(line, output).takes(ms));
        stage.session.run(root, &commands).map(drop)
    }));
    all.push(alone("cell", "code runs two commands and prints", |stage, root| {
        let cell =
            Cell::new("for (const d of ['src','docs']) await tools.exec_command({cmd:'ls '+d}); text('done')", "done");
        let commands = [Command::new("ls src", "wick.rs\n"), Command::new("ls docs", "start.md\n")];
        stage.session.run_cell(root, &cell.runs(&commands))?;
        stage.work(root, 1)
    }));
    all.push(
        planted("two-turns-schema-1", "two turns that work, as old releases record them", |mut stage| {
            let root = stage.root;
            for _ in 0..2 {
                stage.prompt()?;
                stage.work(root, 2)?;
                stage.succeed(root, Step::Mcp)?;
                stage.answer(root)?;
            }
            stage.end()
        })
        .schema_1(),
    );
}

/// Output and messages that mention failures without being failures.
fn words(all: &mut Vec<Planted>) {
    let prints = |name: &str, line: &'static str, output: &'static str| {
        alone(name, "a command works and prints words of failures", move |stage, root| {
            stage.work(root, 1)?;
            stage.run(root, Command::new(line, output)).map(drop)
        })
    };
    all.push(prints(
        "noise",
        "make 2>&1",
        "warning: 3 errors were ignored\nERROR 500 Internal Server Error (expected by test)\nFAILED: 0\nfatal: none\n",
    ));
    all.push(prints(
        "other-exit-code",
        "cat run.log",
        "Chunk ID: 000000\nWall time: 2.0 seconds\nProcess exited with code 137\nOutput:\nkilled\n",
    ));
    all.push(prints("timed-out", "cat wait.json", "{\"message\":\"Wait timed out.\",\"timed_out\":true}\n"));
    all.push(prints(
        "old-errors",
        "grep -h error old.log",
        "unsupported call: do_magic\nfailed to parse function arguments: missing field `cmd`\nrejected by user\n\
         stream disconnected before completion: stream closed before response.completed\n",
    ));
    all.push(alone("script-error", "code prints what looks like an error of code", |stage, root| {
        let cell = Cell::new("text('Script error:\\nError: none')", "Script error:\nError: none");
        stage.session.run_cell(root, &cell).map(drop)
    }));
    all.push(alone("patch-about-failures", "a patch adds a text about patches that do not fit", |stage, root| {
        let content = "apply_patch verification failed: Failed to find expected lines\npatch rejected by user\n";
        stage.session.patch(root, "docs/errors.md", content).map(drop)
    }));
    all.push(alone("mcp-about-failures", "the tool of a server answers with a text about a failure", |stage, root| {
        let answer =
            "{\"isError\":true,\"note\":\"tool call failed: Transport closed, timed out awaiting tools/call\"}";
        stage.session.call_mcp(root, &McpCall::new("tracker", "get_ticket", json!({ "number": 500 }), answer)).map(drop)
    }));
    all.push(planted("prompt-about-failures", "the user and the agent talk about failures", |mut stage| {
        let root = stage.root;
        stage.session.prompt(
            root,
            "Why did the last session say: unexpected status 503 Service Unavailable, exceeded retry limit, last \
             status: 429 Too Many Requests?",
        )?;
        stage.session.think(root, "The turn failed: Agent errored. The context window was exceeded.");
        stage.work(root, 1)?;
        stage.session.answer(root, "The provider answered 503 and 429; the agent failed and never finished.")?;
        stage.end()
    }));
    // The status of the result is `completed`. The text is only the answer of the child.
    all.push(planted("child-about-failures", "a child answers with the words of a failed one", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.session.answer(child, "Agent errored: that is what the log says of the run of last week.")?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
}

fn agents(all: &mut Vec<Planted>) {
    all.push(planted("three-children", "three children work and answer", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        for child in stage.spawn_all(root, &["north", "middle", "south"])? {
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 2)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
        }
        stage.answer(root)?;
        stage.end()
    }));
    let chain = |name: &str, what: &str, spawn: fn(&mut Stage, Agent, &str) -> io::Result<Agent>| {
        planted(name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 2)?;
            let lead = spawn(&mut stage, root, "lead")?;
            let outer = stage.session.begin_wait(root, 60_000)?;
            stage.work(lead, 1)?;
            let worker = spawn(&mut stage, lead, "worker")?;
            let inner = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 1)?;
            stage.succeed(worker, Step::Patch)?;
            stage.answer(worker)?;
            stage.session.end_wait(inner)?;
            stage.answer(lead)?;
            stage.session.end_wait(outer)?;
            stage.answer(root)?;
            stage.end()
        })
    };
    all.push(chain("grandchild", "a grandchild works and answers", Stage::spawn));
    all.push(chain("forked-grandchild", "the same with histories handed down", Stage::fork));
    all.push(chain("grandchild-schema-1", "a grandchild, as old releases record it", Stage::spawn).schema_1());
    all.push(planted("second-task", "a child does two tasks in two turns of the root", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        for turn in 0..2 {
            if turn == 1 {
                stage.prompt()?;
                stage.follow_up(root, child)?;
            }
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
        }
        stage.end()
    }));
}

fn messages(all: &mut Vec<Planted>) {
    // It is not a failure if the parent no longer reads a result.
    all.push(planted("unread-result", "a child answers while its parent has its last word", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        stage.work(child, 1)?;
        let pending = stage.session.begin_request(root)?;
        stage.answer(child)?;
        stage.session.answer_pending(pending, "That can wait; here is the rest.")?;
        stage.end()
    }));
    all.push(planted("message-to-running", "a message to a child at work is read at its next request", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        stage.work(child, 1)?;
        stage.session.send_message(root, child, "Numbers begin at one.")?;
        stage.work(child, 1)?;
        stage.session.send_message(child, root, "Understood: one.")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
    // The message is read late, but it is read.
    all.push(planted("message-read-late", "a message to an idle child is read with its next task", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.session.send_message(root, child, "For later: mind the settings.")?;
        stage.work(root, 2)?;
        stage.follow_up(root, child)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
    all.push(planted(
        "message-read-in-next-turn",
        "a message to an idle child is read in the root's next turn",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.fork(root, "clone")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.session.send_message(root, child, "More will come tomorrow.")?;
            stage.answer(root)?;
            stage.session.advance(86_400_000);
            stage.prompt()?;
            stage.follow_up(root, child)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    // All agents had ended, so there was no agent to wait for.
    all.push(planted("wait-for-nobody", "a wait runs out when all children have answered", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.work(root, 1)?;
        let wait = stage.session.begin_wait(root, 10_000)?;
        stage.session.advance(10_000);
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
}

fn ends(all: &mut Vec<Planted>) {
    // The child had ended, so no turn was interrupted.
    all.push(planted("stop-ended-child", "the root stops a child that has ended", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.session.answer(child, "Three wicks.")?;
        stage.session.end_wait(wait)?;
        stage.session.stop_agent(root, child, &json!({ "completed": "Three wicks." }))?;
        stage.answer(root)?;
        stage.end()
    }));
    // The call had ended long before. It is normal that its process is killed at the end of the session.
    all.push(planted("background", "a command is left in the background and killed with the session", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 1)?;
        let server = Command::new("lantern serve --port 8080", "");
        let server = stage.session.begin_background_command(root, &server)?;
        stage.work(root, 2)?;
        stage.answer(root)?;
        stage.session.kill_command(&server)?;
        stage.end()
    }));
    // Only the final events are missing. The turn has its end.
    all.push(planted("cut-after-turn", "the recording stops after the last turn came to its end", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 2)?;
        stage.answer(root)?;
        Ok(stage.die())
    }));
}
