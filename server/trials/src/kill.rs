//! Kills a server at random moments of its work, restarts it, and checks what is lost.
//!
//! Everything that a client was told must exist after the restart: every thread of which the client saw a user message
//! is listed and can be resumed, every turn that had ended is unchanged, every turn that ran is `interrupted`, nothing
//! is in progress, and a new turn works. Every bundle can be reduced. Equal seeds kill the server after equal times;
//! how far the server gets by then may differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::client::Client;
use crate::model::{Asked, End, Model, Part, Reply};
use crate::server::{Home, Running, ServerCommand};

/// Number of kills after which a server gets a new home.
pub const KILLS_PER_HOME: usize = 10;

/// Number of threads that are started before each kill.
const NEW_THREADS: usize = 2;

/// Number of existing threads that also run a turn.
const OLD_THREADS: usize = 1;

/// Most findings of one kind that are reported in full.
const EXAMPLES: usize = 3;

/// Prompt of a turn with one message.
const SHORT: &str = "please answer";

/// Prompt of a turn with several steps.
const LONG: &str = "please work";

/// Answer of the model in a short turn.
const SHORT_ANSWER: &str = "as you say";

const KEPT: &[&str] = &["item/completed", "turn/completed"];

/// Parameters of the trial.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How often the server is killed.
    pub moments: usize,
    /// Seed of the random moments.
    pub seed: u64,
    /// Longest time that the server works before it is killed.
    pub longest: Duration,
    /// The program `trace`, which reduces bundles. Without it, bundles are not checked.
    pub trace: Option<PathBuf>,
    /// The Codex CLI, which must accept bundles after a repair. Without it, this is not checked.
    pub peer: Option<PathBuf>,
}

/// Result of the trial.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// How often the server was killed.
    pub kills: usize,
    /// Number of threads that were checked.
    pub threads: usize,
    /// Number of turns that had ended, and were checked.
    pub turns_ended: usize,
    /// Number of turns that ran when the server was killed.
    pub turns_cut: usize,
    /// Number of bundles that were reduced.
    pub bundles: usize,
    /// Kinds of findings and their numbers.
    pub findings: BTreeMap<String, usize>,
    /// Some findings in full.
    pub examples: Vec<String>,
}

impl Report {
    fn find(&mut self, what: &str, example: &str) {
        let count = self.findings.entry(what.to_owned()).or_default();
        *count += 1;
        if *count <= EXAMPLES {
            self.examples.push(format!("{what}: {example}"));
        }
    }

    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} kills; {} threads, {} ended turns, {} cut turns and {} bundles were looked at\n",
            self.kills, self.threads, self.turns_ended, self.turns_cut, self.bundles
        );
        if self.findings.is_empty() {
            text.push_str("nothing is lost\n");
        }
        for (what, count) in &self.findings {
            text.push_str(&format!("{count} times: {what}\n"));
        }
        for example in &self.examples {
            text.push_str(&format!("  {example}\n"));
        }
        text
    }
}

/// What a client was told about a thread.
#[derive(Debug, Clone, Default)]
struct Told {
    /// Turns by id.
    turns: BTreeMap<String, Turn>,
    /// Name of the thread.
    name: Option<String>,
    /// Another name that the thread may have, because the server was killed before it confirmed the change.
    name_asked: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Turn {
    /// Status with which the turn ended. `None` if it had not ended.
    status: Option<String>,
    /// Completed items: their types, and the texts of messages.
    items: Vec<(String, String)>,
}

/// Runs the trial.
///
/// # Errors
///
/// Returns an error if the server does not start, or refuses a request for a reason other than the kill.
pub async fn run(command: &ServerCommand, plan: &Plan) -> anyhow::Result<Report> {
    let model = Model::start(play).await?;
    let mut random = Random(plan.seed);
    let mut report = Report::default();
    while report.kills < plan.moments {
        let home = Home::new(&model.url(), "")?;
        let mut told = BTreeMap::new();
        let mut judged = BTreeSet::new();
        let mut server = command.listen(&home).await?;
        for _ in 0..KILLS_PER_HOME.min(plan.moments - report.kills) {
            let touched = work_and_kill(server, &mut told, &mut random, plan.longest).await?;
            report.kills += 1;
            judge_bundles(&home, plan, &mut judged, &mut report).await?;
            server = command.listen(&home).await?;
            look(&server, &mut told, &touched, &mut report).await?;
        }
        server.end().await?;
        // A server that ends properly completes its bundles, so check all of them again.
        judged.clear();
        judge_bundles(&home, plan, &mut judged, &mut report).await?;
    }
    Ok(report)
}

/// Answers as the model: short turns are one message, long turns are texts in small pieces and commands that print for
/// a while.
fn play(asked: &Asked) -> Reply {
    let slowly = |text: &str| Part::Say { text: text.repeat(8), pieces: 16, gap: Duration::from_millis(8) };
    match asked.prompt("please") {
        Some((prompt, step @ 0..3)) if prompt.contains(LONG) => {
            let command = format!("for i in 1 2 3 4 5; do echo step {step} line $i; sleep 0.03; done");
            Reply::Stream(vec![slowly(&format!("this is step {step} ")), Part::shell(&command)], End::Completed)
        }
        Some((prompt, _)) if prompt.contains(LONG) => Reply::Stream(vec![slowly("that was all ")], End::Completed),
        _ => Reply::say(SHORT_ANSWER),
    }
}

/// Makes the server work on several threads, and kills it after a random time. Returns the ids of these threads.
async fn work_and_kill(
    server: Running,
    told: &mut BTreeMap<String, Told>,
    random: &mut Random,
    longest: Duration,
) -> anyhow::Result<Vec<String>> {
    let old: Vec<String> = {
        let ids: Vec<&String> = told.keys().collect();
        (0..OLD_THREADS.min(ids.len())).map(|_| ids[random.below(ids.len())].clone()).collect()
    };
    let mut workers = Vec::new();
    for thread in old.iter().cloned().map(Some).chain((0..NEW_THREADS).map(|_| None)) {
        let url = server.url.clone();
        workers.push(tokio::spawn(async move { work(&url, thread).await }));
    }
    let share = random.below(1_000_001) as f64 / 1_000_000.0;
    tokio::time::sleep(longest.mul_f64(share)).await;
    server.kill().await?;
    let mut touched = Vec::new();
    for worker in workers {
        let (thread, news) = worker.await?;
        if let Some(thread) = thread {
            let known = told.entry(thread.clone()).or_default();
            known.turns.extend(news.turns);
            known.name = news.name.or(known.name.take());
            known.name_asked = news.name_asked.or(known.name_asked.take());
            touched.push(thread);
        }
    }
    Ok(touched)
}

/// Runs turns until the connection breaks. Returns what the client was told by then.
async fn work(url: &str, thread: Option<String>) -> (Option<String>, Told) {
    let mut told = Told::default();
    let Ok(mut client) = Client::connect(url, KEPT).await else { return (None, told) };
    let thread = match thread {
        Some(thread) => match client.call("thread/resume", json!({"threadId": thread, "excludeTurns": true})).await {
            Ok(_) => thread,
            Err(_) => return (None, told),
        },
        None => match client.start_thread().await {
            Ok(thread) => thread,
            Err(_) => return (None, told),
        },
    };
    for (number, prompt) in [SHORT, LONG, LONG, LONG].iter().cycle().enumerate() {
        // A response that never arrived promises nothing, so only notifications that arrived are compared later.
        let asked = client.start_turn(&thread, prompt).await;
        let ended = read_turn(&mut client, &thread, &mut told).await;
        if asked.is_err() || !ended {
            break;
        }
        let name = format!("after {number}");
        told.name_asked = Some(name.clone());
        if let Ok(Ok(_)) = client.ask("thread/name/set", json!({"threadId": thread, "name": name})).await {
            told.name = Some(name);
        }
    }
    while let Some(note) = client.note().await {
        keep(&note.method, &note.params, &thread, &mut told);
    }
    let materialised = !told.turns.is_empty();
    (materialised.then_some(thread), told)
}

/// Reads notifications until a turn ends. Returns false if the connection breaks first.
async fn read_turn(client: &mut Client, thread: &str, told: &mut Told) -> bool {
    while let Some(note) = client.note().await {
        keep(&note.method, &note.params, thread, told);
        if note.method == "turn/completed" && note.params["threadId"] == *thread {
            return true;
        }
    }
    false
}

fn keep(method: &str, params: &Value, thread: &str, told: &mut Told) {
    if params["threadId"] != *thread {
        return;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if method == "item/completed" {
        let item = &params["item"];
        let turn = told.turns.entry(text(&params["turnId"])).or_default();
        turn.items.push((text(&item["type"]), text(&item["text"])));
    } else if let Some(turn) = told.turns.get_mut(&text(&params["turn"]["id"])) {
        turn.status = Some(text(&params["turn"]["status"]));
    }
}

/// Compares what a restarted server has with what the client was told, and runs one more turn on every thread in
/// `touched`.
async fn look(
    server: &Running,
    told: &mut BTreeMap<String, Told>,
    touched: &[String],
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut client = Client::connect(&server.url, KEPT).await?;
    let listed = listed(&client).await?;
    for thread in told.keys() {
        if !listed.contains(thread) {
            report.find("a thread is not listed", thread);
        }
    }
    for thread in touched {
        report.threads += 1;
        let known = told.entry(thread.clone()).or_default();
        let resumed = match client.ask("thread/resume", json!({"threadId": thread})).await? {
            Ok(resumed) => resumed,
            Err(refused) => {
                report.find("a thread does not resume", &format!("{thread}: {}", refused.message));
                continue;
            }
        };
        compare(thread, known, &resumed["thread"], report);
        let turn = client.run_turn(thread, SHORT).await?;
        if turn["status"] != "completed" {
            report.find("a new turn does not work", &format!("{thread}: {turn}"));
        }
        let id = turn["id"].as_str().unwrap_or_default().to_owned();
        let items =
            vec![("userMessage".to_owned(), String::new()), ("agentMessage".to_owned(), SHORT_ANSWER.to_owned())];
        known.turns.insert(id, Turn { status: turn["status"].as_str().map(str::to_owned), items });
    }
    client.close().await;
    Ok(())
}

/// Returns the ids of all listed threads.
async fn listed(client: &Client) -> anyhow::Result<BTreeSet<String>> {
    let (mut ids, mut cursor) = (BTreeSet::new(), Value::Null);
    loop {
        let page = client.call("thread/list", json!({"limit": 100, "cursor": cursor})).await?;
        let rows = page["data"].as_array().context("a list without data")?;
        ids.extend(rows.iter().filter_map(|row| Some(row["id"].as_str()?.to_owned())));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return Ok(ids);
        }
    }
}

fn compare(thread: &str, known: &mut Told, found: &Value, report: &mut Report) {
    let empty = Vec::new();
    let turns = found["turns"].as_array().unwrap_or(&empty);
    for turn in turns.iter().filter(|turn| turn["status"] == "inProgress") {
        report.find("a turn is in progress after the restart", &format!("{thread} {}", turn["id"]));
    }
    let name = found["name"].as_str();
    if known.name.is_some() && name != known.name.as_deref() && name != known.name_asked.as_deref() {
        report.find("a name is lost", &format!("{thread}: {name:?} for {:?}", known.name));
    }
    for (id, turn) in &mut known.turns {
        let place = format!("{thread} {id}");
        let stored = turns.iter().find(|stored| stored["id"] == **id);
        match (&turn.status, stored) {
            (Some(_), None) => report.find("a turn that ended is lost", &place),
            (None, None) => report.find("a turn that ran is lost", &place),
            (Some(status), Some(stored)) => {
                report.turns_ended += 1;
                if stored["status"] != **status {
                    report.find(
                        "a turn that ended has another status",
                        &format!("{place}: {} for {status}", stored["status"]),
                    );
                }
                let kept = items(stored);
                let lost: Vec<&(String, String)> = turn.items.iter().filter(|item| !kept.contains(item)).collect();
                if !lost.is_empty() {
                    report.find("items of a turn that ended are lost", &format!("{place}: {lost:?}"));
                }
            }
            (None, Some(stored)) => {
                report.turns_cut += 1;
                if stored["status"] != "interrupted" {
                    report.find("a turn that ran is not interrupted", &format!("{place}: {}", stored["status"]));
                }
                turn.status = stored["status"].as_str().map(str::to_owned);
                turn.items = items(stored);
            }
        }
    }
}

fn items(turn: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = turn["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().map(|item| (text(&item["type"]), text(&item["text"]))).collect()
}

/// Reduces every bundle that is not in `judged`.
async fn judge_bundles(
    home: &Home,
    plan: &Plan,
    judged: &mut BTreeSet<PathBuf>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Some(trace) = &plan.trace else { return Ok(()) };
    for bundle in home.recorded()? {
        if !judged.insert(bundle.clone()) {
            continue;
        }
        report.bundles += 1;
        if let Err(error) = succeeds(Command::new(trace).arg("reduce").arg(&bundle).args(["-o", "-"])).await {
            report.find("a bundle does not reduce", &format!("{}: {error:#}", bundle.display()));
        }
        if let Some(peer) = &plan.peer
            && let Err(error) = accepted_by_peer(trace, peer, &bundle).await
        {
            report.find("the peer refuses a repaired bundle", &format!("{}: {error:#}", bundle.display()));
        }
    }
    Ok(())
}

/// Repairs a copy of a bundle, and reduces it with the peer, which reads directories only.
async fn accepted_by_peer(trace: &Path, peer: &Path, bundle: &Path) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let is_file = bundle.is_file();
    let directory = place.path().join("bundle");
    let copy = if is_file { directory.with_extension("trace") } else { directory.clone() };
    succeeds(Command::new("cp").arg("-r").arg(bundle).arg(&copy)).await?;
    succeeds(Command::new(trace).args(["check", "--repair"]).arg(&copy)).await?;
    if is_file {
        succeeds(Command::new(trace).arg("unpack").arg(&copy).arg("-o").arg(&directory)).await?;
    }
    let state = place.path().join("state.json");
    succeeds(Command::new(peer).args(["debug", "trace-reduce"]).arg(&directory).arg("-o").arg(state)).await
}

async fn succeeds(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().await?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// A random number generator with a seed.
struct Random(u64);

impl Random {
    /// Returns a number below `limit`, which must not be zero.
    fn below(&mut self, limit: usize) -> usize {
        // The SplitMix64 algorithm.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(status: Option<&str>, items: &[(&str, &str)]) -> Turn {
        let items = items.iter().map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned())).collect();
        Turn { status: status.map(str::to_owned), items }
    }

    fn told(first: Turn, second: Turn) -> Told {
        Told { turns: BTreeMap::from([("a".to_owned(), first), ("b".to_owned(), second)]), ..Told::default() }
    }

    fn findings(known: &mut Told, turns: &Value) -> Vec<String> {
        let mut report = Report::default();
        compare("t", known, &json!({"turns": turns}), &mut report);
        report.findings.into_keys().collect()
    }

    #[test]
    fn what_is_as_it_was_gives_no_finding() {
        let mut known = told(turn(Some("completed"), &[("agentMessage", "x")]), turn(None, &[("userMessage", "")]));
        let stored = json!([
            {"id": "a", "status": "completed", "items": [{"type": "userMessage"}, {"type": "agentMessage", "text": "x"}]},
            {"id": "b", "status": "interrupted", "items": [{"type": "userMessage"}]},
        ]);
        assert!(findings(&mut known, &stored).is_empty());
        assert_eq!(known.turns["b"].status.as_deref(), Some("interrupted"));
    }

    #[test]
    fn every_loss_is_found() {
        let known = || told(turn(Some("completed"), &[("agentMessage", "x")]), turn(None, &[]));
        assert_eq!(findings(&mut known(), &json!([])), ["a turn that ended is lost", "a turn that ran is lost"]);
        let stored =
            json!([{"id": "a", "status": "failed", "items": []}, {"id": "b", "status": "inProgress", "items": []}]);
        let expected = [
            "a turn is in progress after the restart",
            "a turn that ended has another status",
            "a turn that ran is not interrupted",
            "items of a turn that ended are lost",
        ];
        assert_eq!(findings(&mut known(), &stored), expected);
    }

    #[test]
    fn equal_seeds_give_equal_moments() {
        let numbers = |seed| {
            let mut random = Random(seed);
            (0..20).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(7).iter().all(|number| *number < 10));
    }
}
