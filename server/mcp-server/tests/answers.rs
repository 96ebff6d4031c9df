//! Every question to sessions of every kind: each answer has at most its limit of bytes, and its pages come to an end.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use trace_explain::Session;
use trace_mcp_server::answer::{MAX_ANSWER_BYTES, Redactor};
use trace_mcp_server::{Entry, Library, MAX_COMPLETIONS, Problem, Rows, Service, Summary, serve_stdio};
use trace_query::{Builder, Limits, Query, TakeAnswer, Value as Cell};
use trace_samples::bench::{Shape, generate};

/// Most pages of an answer in these tests.
const MAX_PAGES: usize = 400;

/// Bundles in a folder, and those that were opened.
struct Folder(PathBuf, Mutex<HashMap<PathBuf, Arc<Session>>>);

impl Library for Folder {
    fn entries(&self) -> Result<Vec<Entry>, Problem> {
        let entries = std::fs::read_dir(&self.0).map_err(Problem::new)?;
        let mut entries: Vec<Entry> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let started_unix_ms = Some(id.len() as i64);
                Entry { id, other_ids: Vec::new(), path, agent: "trace", started_unix_ms }
            })
            .collect();
        // The order is not the library's to make.
        entries.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(entries)
    }

    fn summaries(&self, entries: &[Entry]) -> Vec<Summary> {
        let text = "\u{202e}\u{7}\"prompt\"\n".repeat(100);
        let summary =
            Summary { prompt: Some(text.clone()), cwd: Some(text), ended_unix_ms: Some(1), ..Summary::default() };
        entries.iter().map(|_| summary.clone()).collect()
    }

    fn open(&self, entry: &Entry) -> Result<Arc<Session>, Problem> {
        let mut opened = self.1.lock().expect("no panic");
        if let Some(session) = opened.get(&entry.path) {
            return Ok(Arc::clone(session));
        }
        let session = Session::open(&entry.path).map(Arc::new).map_err(Problem::new)?;
        opened.insert(entry.path.clone(), Arc::clone(&session));
        Ok(session)
    }

    fn moment(&self, _: &str) -> Result<i64, Problem> {
        Ok(0)
    }

    fn rows<'a>(&'a self, sql: &'a str, entries: &'a [Entry], limit: u64) -> Rows<'a> {
        Box::pin(std::future::ready(rows(sql, entries, limit)))
    }
}

/// Takes rows as JSON.
#[derive(Default)]
struct Json {
    columns: Vec<String>,
    rows: Vec<String>,
}

impl TakeAnswer for Json {
    fn columns(&mut self, names: &[String]) -> std::io::Result<()> {
        self.columns = names.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[Cell<'_>]) -> std::io::Result<()> {
        let value = |value: &Cell<'_>| match value {
            Cell::Null => Value::Null,
            Cell::Integer(number) => json!(number),
            Cell::Real(number) => json!(number),
            Cell::Text(text) | Cell::Blob(text) => json!(String::from_utf8_lossy(text)),
        };
        let row: Map<String, Value> = self.columns.iter().cloned().zip(values.iter().map(value)).collect();
        self.rows.push(Value::Object(row).to_string());
        Ok(())
    }
}

fn rows(sql: &str, entries: &[Entry], limit: u64) -> Result<Vec<String>, Problem> {
    let query = Query::new(sql).map_err(Problem::new)?;
    let mut builder = Builder::in_memory(&query).map_err(Problem::new)?;
    for entry in entries {
        builder.add(&entry.id, Session::open(&entry.path).map_err(Problem::new)?).map_err(Problem::new)?;
    }
    let mut json = Json::default();
    let limits = Limits { time: None, rows: Some(limit), memory: None };
    builder.finish().map_err(Problem::new)?.ask(&query, &limits, &mut json).map_err(Problem::new)?;
    Ok(json.rows)
}

/// A client of a server in this process.
struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    id: i64,
}

impl Client {
    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let text = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).to_string();
        self.input.write_all(format!("{text}\n").as_bytes()).await.expect("it is read");
        let line = self.output.next_line().await.expect("a line").expect("no end");
        let response: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(response["id"], self.id, "{response}");
        response
    }

    /// Calls a tool until its last page, and returns the results.
    async fn pages(&mut self, tool: &str, mut arguments: Value) -> Vec<Value> {
        let mut pages = Vec::new();
        loop {
            let params = json!({"name": tool, "arguments": arguments});
            let result = self.request("tools/call", params).await["result"].take();
            let bytes = serde_json::to_string(&result).expect("is written").len();
            assert!(bytes <= MAX_ANSWER_BYTES, "{tool} {arguments}: {bytes} bytes");
            assert!(pages.len() < MAX_PAGES, "{tool} {arguments}: the pages do not end");
            let cursor = result["structuredContent"]["cursor"].clone();
            pages.push(result);
            match cursor {
                Value::Null => return pages,
                cursor => arguments["cursor"] = cursor,
            }
        }
    }

    /// Calls a tool that has to answer.
    async fn answered(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let pages = self.pages(tool, arguments.clone()).await;
        for page in &pages {
            assert_eq!(page["isError"], false, "{tool} {arguments}: {page}");
        }
        pages
    }
}

/// Runs a test with a client of a server whose library is a folder.
fn with_client<F: Future<Output = ()>>(folder: &Path, redactor: Redactor, test: impl FnOnce(Client) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Arc::new(Service::new(Arc::new(Folder(folder.to_owned(), Mutex::default())), redactor, "test"));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = split(theirs);
        let server = tokio::spawn(serve_stdio(service, input, output));
        let (output, input) = split(ours);
        let mut client = Client { input, output: BufReader::new(output).lines(), id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.request("initialize", hello).await;
        test(client).await;
        server.await.expect("no panic").expect("it ends");
    });
}

/// Asks everything about a session.
async fn ask_everything(client: &mut Client, session: &str) {
    client.answered("overview", json!({"session": session})).await;
    let verdicts = client.answered("postmortem", json!({"session": session, "all": true})).await;
    for verdict in
        verdicts.iter().flat_map(|page| page["structuredContent"]["turns"].as_array().into_iter().flatten()).take(5)
    {
        let object = &verdict["root_cause"]["object"];
        if object.is_string() {
            // An object that has no text is told of.
            client.pages("why", json!({"session": session, "object": object})).await;
        }
    }
    client.answered("audit", json!({"session": session, "all": true})).await;
    client.answered("why", json!({"session": session, "text": "e"})).await;
    client.answered("grep", json!({"session": session, "pattern": "a.*e", "limit": 50})).await;
    client.answered("query", json!({"session": session, "sql": "SELECT * FROM turns"})).await;
    client.answered("query", json!({"session": session, "sql": "SELECT * FROM items LIMIT 40"})).await;
    let pages = client.answered("context", json!({"session": session})).await;
    let items: Vec<u64> = pages
        .iter()
        .flat_map(|page| page["structuredContent"]["items"].as_array().into_iter().flatten())
        .map(|item| item["index"].as_u64().expect("an index"))
        .collect();
    assert_eq!(items, (0..items.len() as u64).collect::<Vec<_>>(), "each item once, in order");
    for item in items.into_iter().rev().take(3) {
        let pages = client.answered("context", json!({"session": session, "item": item})).await;
        let text: usize =
            pages.iter().map(|page| page["structuredContent"]["text"].as_str().expect("a text").len()).sum();
        assert_eq!(pages[0]["structuredContent"]["item"]["text_bytes"], text, "the whole text");
    }
}

#[test]
fn answers_about_large_and_hostile_sessions_have_their_limit() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    trace_samples::hostile::record(&at("hostile")).expect("a sample");
    trace_samples::scenes::one_agent(&at("one-agent")).expect("a sample");
    generate(&at("steps"), &Shape::steps(24)).expect("a sample");
    generate(&at("agents"), &Shape::fleet(60, 2)).expect("a sample");
    with_client(folder.path(), Redactor::NONE, |mut client| async move {
        let listed = client.answered("sessions", json!({})).await;
        assert_eq!(listed[0]["structuredContent"]["recorded"], 4);
        for session in ["hostile", "one-agent", "steps", "agents"] {
            ask_everything(&mut client, session).await;
        }
        client.answered("grep", json!({"pattern": "[Tt]he lamp", "since": "7d"})).await;
    });
}

#[test]
fn an_audit_tells_claims_and_acts_with_their_evidence() {
    let folder = tempfile::tempdir().expect("a directory");
    trace_samples::scenes::untrue(&folder.path().join("untrue")).expect("a sample");
    trace_samples::scenes::honest(&folder.path().join("honest")).expect("a sample");
    with_client(folder.path(), Redactor::NONE, |mut client| async move {
        let pages = client.answered("audit", json!({"session": "untrue"})).await;
        let findings: Vec<&Value> = pages
            .iter()
            .flat_map(|page| page["structuredContent"]["findings"].as_array().into_iter().flatten())
            .collect();
        assert!(pages.len() > 1 && findings.len() == 14, "{} findings on {} pages", findings.len(), pages.len());
        assert_eq!(pages[0]["structuredContent"]["counts"], json!({"high": 7, "medium": 6, "low": 1}));
        let stale = findings.iter().find(|finding| finding["kind"] == "stale_check").expect("a stale check");
        assert_eq!(stale["claim"]["text"], "All 12 tests pass.");
        assert_eq!(stale["evidence"][0]["relation"], "changed_after");
        let text = pages[0]["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("stale_check (medium) /root: said that tests pass; wick.py was changed"), "{text}");
        let high = client.answered("audit", json!({"session": "untrue", "severity": "high"})).await;
        assert_eq!(high[0]["structuredContent"]["counts"], json!({"high": 7, "medium": 0, "low": 0}));
        let wrong = client.pages("audit", json!({"session": "untrue", "severity": "huge"})).await;
        assert_eq!(wrong[0]["isError"], true);
        let none = client.answered("audit", json!({"session": "honest"})).await;
        assert_eq!(none[0]["structuredContent"]["findings"], json!([]));
        let overview = client.answered("overview", json!({"session": "honest"})).await;
        assert_eq!(overview[0]["structuredContent"]["totals"]["findings"], json!({"high": 0, "medium": 0, "low": 0}));
    });
}

#[test]
fn answers_without_secrets_have_their_limit() {
    let folder = tempfile::tempdir().expect("a directory");
    trace_samples::scenes::one_agent(&folder.path().join("one-agent")).expect("a sample");
    let redactor = Redactor::with(trace_recorder::redact::Rules::default());
    with_client(folder.path(), redactor, |mut client| async move { ask_everything(&mut client, "one-agent").await });
}

#[test]
fn requests_before_the_end_of_the_input_are_answered() {
    let folder = tempfile::tempdir().expect("a directory");
    trace_samples::scenes::one_agent(&folder.path().join("one-agent")).expect("a sample");
    with_client(folder.path(), Redactor::NONE, |mut client| async move {
        let request = |id: i64, tool: &str| {
            let params = json!({"name": tool, "arguments": {"session": "latest"}});
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
        };
        // More questions than are answered at the same time.
        let tools = ["overview", "postmortem", "audit", "context", "overview", "postmortem"];
        let requests: String = (10..).zip(tools).map(|(id, tool)| request(id, tool)).collect();
        client.input.write_all(requests.as_bytes()).await.expect("it is read");
        client.input.shutdown().await.expect("the input ends");
        let mut answered = Vec::new();
        while let Some(line) = client.output.next_line().await.expect("a line") {
            let response: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(response["result"]["isError"], false, "{response}");
            answered.push(response["id"].as_i64().expect("a number"));
        }
        answered.sort_unstable();
        assert_eq!(answered, (10..16).collect::<Vec<i64>>());
    });
}

#[test]
fn arguments_of_prompts_and_resources_are_completed() {
    let folder = tempfile::tempdir().expect("a directory");
    trace_samples::scenes::one_agent(&folder.path().join("one-agent")).expect("a sample");
    for number in 0..MAX_COMPLETIONS {
        std::fs::create_dir(folder.path().join(format!("more-{number}"))).expect("a directory");
    }
    with_client(folder.path(), Redactor::NONE, |mut client| async move {
        let mut complete = async |reference: Value, name: &str, value: &str| {
            let argument = json!({"name": name, "value": value});
            client.request("completion/complete", json!({"ref": reference, "argument": argument})).await
        };
        let prompt = || json!({"type": "ref/prompt", "name": "diagnose"});
        let resource = |uri: &str| json!({"type": "ref/resource", "uri": uri});
        let values = |response: &Value| response["result"]["completion"]["values"].clone();
        assert_eq!(values(&complete(prompt(), "session", "la").await), json!(["latest"]));
        assert_eq!(values(&complete(resource("trace://session/{id}/page"), "id", "one").await), json!(["one-agent"]));
        assert_eq!(values(&complete(resource("trace://schema/{table}"), "table", "tur").await), json!(["turns"]));
        let all = complete(prompt(), "session", "").await["result"]["completion"].take();
        assert_eq!(all["values"].as_array().map(Vec::len), Some(MAX_COMPLETIONS));
        assert_eq!((&all["total"], &all["hasMore"]), (&json!(MAX_COMPLETIONS + 2), &json!(true)));
        for (reference, name) in [
            (prompt(), "other"),
            (json!({"type": "ref/prompt", "name": "nothing"}), "session"),
            (resource("file:///etc/passwd"), "x"),
            (json!({"type": "ref/tool", "name": "grep"}), "pattern"),
            (Value::Null, "x"),
        ] {
            assert_eq!(complete(reference, name, "").await["error"]["code"], -32_602);
        }
    });
}

#[test]
fn a_list_goes_on_where_it_ended_although_sessions_were_added() {
    let folder = tempfile::tempdir().expect("a directory");
    let add = |name: &str| trace_samples::scenes::one_agent(&folder.path().join(name)).expect("a sample");
    // Longer names are newer.
    ["1234", "12345", "123456", "1234567"].into_iter().for_each(add);
    with_client(folder.path(), Redactor::NONE, |mut client| async move {
        let mut page = async |cursor: Value| {
            let params = json!({"name": "sessions", "arguments": {"limit": 2, "cursor": cursor}});
            let result = client.request("tools/call", params).await["result"].take();
            let ids = |session: &Value| session["session"].as_str().expect("an id").to_owned();
            let sessions = result["structuredContent"]["sessions"].as_array().expect("rows").iter().map(ids);
            (sessions.collect::<Vec<_>>(), result["structuredContent"]["cursor"].clone())
        };
        let (first, cursor) = page(Value::Null).await;
        assert_eq!(first, ["1234567", "123456"]);
        add("12345678");
        add("123");
        let (second, cursor) = page(cursor).await;
        assert_eq!(second, ["12345", "1234"]);
        let (third, cursor) = page(cursor).await;
        assert_eq!((third, cursor), (vec!["123".to_owned()], Value::Null));
    });
}
