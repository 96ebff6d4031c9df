//! The trial of a broken model provider: breaks it in every known way, and compares what the client is told and what
//! the bundle says with the expected reports.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::client::Client;
use crate::model::{Asked, End, Model, Part, Reply};
use crate::numbers::table;
use crate::server::{Home, ServerCommand};

/// Settings of the provider's table in the configuration. A silent stream counts as broken after a second.
const PROVIDER: &str = r#"request_max_retries = 2
stream_max_retries = 2
stream_idle_timeout_ms = 1000
[model_providers.nobody]
name = "nobody"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
"#;

/// Seconds that the provider asks a client to wait.
const RETRY_AFTER_SECONDS: u64 = 2;

/// Timeout for the recorder to write the end of a turn.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// The category of a turn whose end is not in the bundle.
const UNWRITTEN: &str = "recording_truncated";

/// A turn without notifications for this time never ends by itself, since all timeouts together are shorter.
const NEVER: Duration = Duration::from_secs(20);

const KEPT: &[&str] = &["error", "turn/completed", "thread/status/changed"];

/// Returns the response of the provider for the number of earlier requests of the case.
type Answers = fn(u64) -> Reply;

/// A way in which the provider breaks.
struct Case {
    name: &'static str,
    reply: Answers,
    expected: Expected,
}

/// The expected result of a case.
struct Expected {
    status: &'static str,
    /// Whether errors announce a retry. `None` if both is correct.
    announced: Option<bool>,
    /// Least and most requests to the model.
    requests: (u64, u64),
    /// Accepted values of `codexErrorInfo`: a string, or the key of an object.
    info: &'static [&'static str],
    /// Accepted categories of the cause in the bundle.
    category: &'static [&'static str],
    /// Least duration of the turn.
    at_least: Duration,
}

/// Result of one case.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Name of the case.
    pub name: String,
    /// Status with which the turn ended.
    pub status: String,
    /// `codexErrorInfo` of the turn.
    pub info: Value,
    /// Message of the turn's error.
    pub message: String,
    /// Number of errors that announced a retry.
    pub announced: usize,
    /// Number of requests to the model.
    pub requests: u64,
    /// Duration of the turn in seconds.
    pub seconds: f64,
    /// Category of the cause in the bundle.
    pub category: Option<String>,
    /// Differences from the expected result.
    pub wrong: Vec<String>,
}

/// Result of the trial.
#[derive(Debug, Serialize)]
pub struct Report {
    /// One row for each case.
    pub rows: Vec<Row>,
}

impl Report {
    /// Returns whether no case differs from its expected result.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_empty())
    }

    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            vec![
                row.name.clone(),
                row.status.clone(),
                row.info.to_string(),
                row.announced.to_string(),
                row.requests.to_string(),
                format!("{:.1} s", row.seconds),
                row.category.clone().unwrap_or_default(),
                row.wrong.join("; "),
            ]
        });
        let head = ["case", "turn", "codexErrorInfo", "tries told", "requests", "took", "bundle", "wrong"];
        table(head, rows) + "\n"
    }
}

/// Values of `codexErrorInfo` for failures that can be described in several ways.
const STREAM_BROKEN: &[&str] =
    &["responseStreamDisconnected", "responseTooManyFailedAttempts", "responseStreamConnectionFailed", "other"];
const REFUSED: &[&str] = &[
    "responseTooManyFailedAttempts",
    "httpConnectionFailed",
    "responseStreamConnectionFailed",
    "other",
    "internalServerError",
];

fn half(end: End) -> Reply {
    Reply::Stream(vec![Part::Say { text: "half of it".to_owned(), pieces: 5, gap: Duration::from_millis(5) }], end)
}

fn refuse(status: u16) -> Reply {
    Reply::Refusal { status, retry_after: None, message: format!("the provider says {status}") }
}

fn garbage() -> Reply {
    Reply::Bytes(Bytes::from_static(
        b"event: response.created\ndata: {\"type\": \"response.created\", \"response\"\n\ndata: []\n\n\xff\xfe\n\n",
    ))
}

fn cases() -> Vec<Case> {
    let good = |requests, announced| Expected {
        status: "completed",
        announced,
        requests,
        info: &[],
        category: &[],
        at_least: Duration::ZERO,
    };
    let bad = |requests, announced, info, category| Expected {
        status: "failed",
        announced,
        requests,
        info,
        category,
        at_least: Duration::ZERO,
    };
    let case = |name, reply, expected| Case { name, reply, expected };
    vec![
        case("nothing is broken", |_| Reply::say("well"), good((1, 1), Some(false))),
        case(
            "401",
            |_| refuse(401),
            bad((1, 3), None, &["unauthorized", "httpConnectionFailed", "other"], &["auth_error"]),
        ),
        case("400", |_| refuse(400), bad((1, 1), Some(false), &["other", "badRequest"], &["provider_error"])),
        case(
            "429 with Retry-After, once",
            |number| match number {
                0 => Reply::Refusal { status: 429, retry_after: Some(RETRY_AFTER_SECONDS), message: "wait".to_owned() },
                _ => Reply::say("well"),
            },
            Expected { at_least: Duration::from_secs(RETRY_AFTER_SECONDS), ..good((2, 2), None) },
        ),
        case(
            "429, always",
            |_| refuse(429),
            bad(
                (1, 12),
                None,
                &["responseTooManyFailedAttempts", "usageLimitExceeded", "other", "serverOverloaded"],
                &["rate_limited"],
            ),
        ),
        case("500, once", |number| if number == 0 { refuse(500) } else { Reply::say("well") }, good((2, 2), None)),
        case("500, always", |_| refuse(500), bad((3, 12), None, REFUSED, &["provider_error"])),
        case(
            "silence",
            |_| Reply::Silence,
            bad((1, 12), None, STREAM_BROKEN, &["provider_error", "stream_interrupted"]),
        ),
        case(
            "silence in a stream",
            |_| half(End::Silence),
            bad((3, 3), Some(true), STREAM_BROKEN, &["stream_interrupted"]),
        ),
        case(
            "a stream that breaks off, once",
            |number| if number == 0 { half(End::Dropped) } else { Reply::say("well") },
            good((2, 2), Some(true)),
        ),
        case(
            "a stream that breaks off, always",
            |_| half(End::Dropped),
            bad((3, 3), Some(true), STREAM_BROKEN, &["stream_interrupted"]),
        ),
        case(
            "garbage, once",
            |number| if number == 0 { garbage() } else { Reply::say("well") },
            good((2, 2), Some(true)),
        ),
        case(
            "garbage, always",
            |_| garbage(),
            bad((3, 3), Some(true), STREAM_BROKEN, &["stream_interrupted", "provider_error", "model_error"]),
        ),
        case(
            "response.failed: quota",
            |_| half(End::Failed { code: "insufficient_quota".to_owned(), message: "the quota is used up".to_owned() }),
            bad((1, 1), Some(false), &["usageLimitExceeded"], &["rate_limited", "model_error", "provider_error"]),
        ),
        case(
            "response.failed: context",
            |_| half(End::Failed { code: "context_length_exceeded".to_owned(), message: "too long".to_owned() }),
            bad((1, 1), Some(false), &["contextWindowExceeded"], &["context_overflow"]),
        ),
        case(
            "response.failed: overloaded",
            |_| half(End::Failed { code: "server_is_overloaded".to_owned(), message: "busy".to_owned() }),
            bad((1, 12), None, &["serverOverloaded"], &["model_error", "rate_limited", "provider_error"]),
        ),
    ]
}

/// Runs the trial. `trace` is the program that finds the cause of a failure in a bundle. Without it, bundles are not
/// checked.
///
/// # Errors
///
/// Returns an error if the server does not start, or refuses a request that it must serve.
pub async fn run(command: &ServerCommand, trace: Option<&Path>) -> anyhow::Result<Report> {
    let cases = cases();
    let replies: Vec<(&'static str, Answers)> = cases.iter().map(|case| (case.name, case.reply)).collect();
    let counts: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
    let counted = Arc::clone(&counts);
    let model = Model::start(move |asked: &Asked| {
        let prompt = asked.prompt("case:").map(|(text, _)| text).unwrap_or_default();
        let Some((name, reply)) = replies.iter().find(|(name, _)| prompt.ends_with(&format!("case: {name}"))) else {
            return Reply::say("no case");
        };
        let mut counts = counted.lock().expect("no thread panics with the lock held");
        let count = counts.entry((*name).to_owned()).or_default();
        let number = *count;
        *count += 1;
        reply(number)
    })
    .await?;
    let home = Home::new(&model.url(), PROVIDER)?;
    let server = command.listen(&home).await?;
    let mut rows = Vec::new();
    for case in &cases {
        let mut client = Client::connect(&server.url, KEPT).await?;
        let thread = client.start_thread().await?;
        let (mut row, turn) = break_it(&mut client, &thread, &format!("case: {}", case.name), case.name).await?;
        row.requests =
            counts.lock().expect("no thread panics with the lock held").get(case.name).copied().unwrap_or_default();
        // A postmortem has no verdict on turns that completed.
        if let Some(trace) = trace.filter(|_| command.records() && row.status != "completed") {
            row.category = category(trace, &home, &thread, &turn).await?;
        }
        judge(&mut row, &case.expected, trace.is_some() && command.records());
        go_on(&mut client, &thread, &mut row).await?;
        rows.push(row);
    }
    rows.push(nobody_listens(&server.url).await?);
    server.end().await?;
    Ok(Report { rows })
}

/// Runs the turn that breaks. Returns its result and its id.
async fn break_it(client: &mut Client, thread: &str, prompt: &str, name: &str) -> anyhow::Result<(Row, String)> {
    let began = Instant::now();
    let turn = client.start_turn(thread, prompt).await?;
    let (mut announced, mut final_errors) = (0, Vec::new());
    let ended = loop {
        let Ok(note) = tokio::time::timeout(NEVER, client.note()).await else {
            client.call("turn/interrupt", json!({"threadId": thread, "turnId": turn})).await?;
            client.wait("turn/completed", |params| params["turn"]["id"] == *turn).await?;
            break json!({"status": "endless"});
        };
        let note = note.context("the connection closed")?;
        match note.method.as_str() {
            "error" if note.params["turnId"] == *turn && note.params["willRetry"] == true => announced += 1,
            "error" if note.params["turnId"] == *turn => final_errors.push(note.params["error"].clone()),
            "turn/completed" if note.params["turn"]["id"] == *turn => break note.params["turn"].clone(),
            _ => {}
        }
    };
    let status = ended["status"].as_str().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    if status == "failed" && final_errors != [ended["error"].clone()] {
        wrong.push(format!("told of {} final errors that are not the turn's", final_errors.len()));
    }
    let row = Row {
        name: name.to_owned(),
        status,
        info: ended["error"]["codexErrorInfo"].clone(),
        message: ended["error"]["message"].as_str().unwrap_or_default().to_owned(),
        announced,
        requests: 0,
        seconds: began.elapsed().as_secs_f64(),
        category: None,
        wrong,
    };
    Ok((row, turn))
}

fn judge(row: &mut Row, expected: &Expected, bundles: bool) {
    let mut wrong = Vec::new();
    if row.status != expected.status {
        wrong.push(format!("{} is wanted", expected.status));
    }
    if expected.announced.is_some_and(|announced| announced != (row.announced > 0)) {
        wrong.push(if row.announced == 0 { "tries are not told" } else { "tries are told" }.to_owned());
    }
    let (least, most) = expected.requests;
    if !(least..=most).contains(&row.requests) {
        wrong.push(format!("{least} to {most} requests are wanted"));
    }
    if row.seconds < expected.at_least.as_secs_f64() {
        wrong.push("it was asked to wait longer".to_owned());
    }
    let word = row.info.as_str().map(str::to_owned).or_else(|| row.info.as_object()?.keys().next().cloned());
    if !expected.info.is_empty() && !word.as_deref().is_some_and(|word| expected.info.contains(&word)) {
        wrong.push(format!("codexErrorInfo {} is wanted", expected.info.join(" or ")));
    }
    let category = row.category.as_deref();
    if bundles
        && !expected.category.is_empty()
        && !category.is_some_and(|category| expected.category.contains(&category))
    {
        wrong.push(format!("the bundle should say {}", expected.category.join(" or ")));
    }
    row.wrong.append(&mut wrong);
}

/// Checks that the thread can continue.
async fn go_on(client: &mut Client, thread: &str, row: &mut Row) -> anyhow::Result<()> {
    let read = client.call("thread/read", json!({"threadId": thread})).await?;
    let status = read["thread"]["status"]["type"].as_str().unwrap_or_default();
    let wanted = if row.status == "failed" { "systemError" } else { "idle" };
    if status != wanted {
        row.wrong.push(format!("the thread is {status}, not {wanted}"));
    }
    let turn = client.run_turn(thread, "and now case: nothing is broken").await?;
    if turn["status"] != "completed" {
        row.wrong.push(format!("the next turn is {}", turn["status"]));
    }
    Ok(())
}

/// Runs the case of a provider that does not exist.
async fn nobody_listens(url: &str) -> anyhow::Result<Row> {
    let mut client = Client::connect(url, KEPT).await?;
    let started = client.call("thread/start", json!({"modelProvider": "nobody"})).await?;
    let thread = started["thread"]["id"].as_str().context("a thread without an id")?.to_owned();
    let (mut row, _) = break_it(&mut client, &thread, "anybody there?", "nobody listens").await?;
    let expected = Expected {
        status: "failed",
        announced: None,
        requests: (0, 0),
        info: REFUSED,
        category: &[],
        at_least: Duration::ZERO,
    };
    judge(&mut row, &expected, false);
    Ok(row)
}

/// Returns the category of the cause of the turn's failure according to the thread's bundle. The recorder writes with a
/// delay, so this waits until the bundle contains the end of the turn.
async fn category(trace: &Path, home: &Home, thread: &str, turn: &str) -> anyhow::Result<Option<String>> {
    let begun = Instant::now();
    loop {
        let category = category_now(trace, home, thread, turn).await?;
        if category.as_deref() != Some(UNWRITTEN) || begun.elapsed() > WRITTEN_WITHIN {
            return Ok(category);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn category_now(trace: &Path, home: &Home, thread: &str, turn: &str) -> anyhow::Result<Option<String>> {
    // A turn that the bundle does not have yet has not been written, like one without an end.
    let unwritten = Some(UNWRITTEN.to_owned());
    let Some(bundle) = bundle_of(home, thread)? else { return Ok(unwritten) };
    let output = Command::new(trace).arg("postmortem").arg(&bundle).arg("--json").output().await?;
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("no postmortem of {}: {}", bundle.display(), String::from_utf8_lossy(&output.stderr))
    })?;
    let turns = answer["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(verdict) = turns.iter().find(|verdict| verdict["turn_id"] == *turn) else { return Ok(unwritten) };
    Ok(verdict["root_cause"]["category"].as_str().map(str::to_owned))
}

fn bundle_of(home: &Home, thread: &str) -> anyhow::Result<Option<PathBuf>> {
    // The name of a bundle, a directory or a file, ends with the id of its root thread.
    let name = |bundle: &PathBuf| bundle.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let end = format!("-{thread}");
    Ok(home.recorded()?.into_iter().find(|bundle| name(bundle).is_some_and(|name| name.ends_with(&end))))
}
