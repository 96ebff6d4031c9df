//! The page of a lake: what its server answers, to whom, and how much.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;
use trace_explain::prices::Prices;
use trace_fleet::lake::Lake;
use trace_fleet_page::{
    Board, By, MAX_GROUPS, MAX_LISTED, MAX_POINTS, MAX_SERIES, MAX_VALUE_BYTES, PAGE_LIMITS, router, source,
};
use trace_serve::{MAX_ADDRESS_BYTES, Server, Token};

use crate::fixture::{ask, batches_of, csv, ingest, open, repository, runtime, sessions, text};

/// The server of the page of a lake.
struct Page {
    address: SocketAddr,
    token: String,
    lake: Lake,
    runtime: Runtime,
    folder: tempfile::TempDir,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    fn serve(count: usize, prices: Option<Prices>) -> Self {
        let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
        let source_folder = folder.path().join("sessions");
        sessions(&source_folder, count);
        let lake = open(&runtime, text(&folder.path().join("lake")));
        ingest(&lake, &source_folder, batches_of(7), runtime.handle());
        let board = runtime.block_on(Board::open(lake.clone(), prices, PAGE_LIMITS)).expect("a lake");
        let board = Arc::new(board);
        let of_sessions = source(Arc::clone(&board), Vec::new(), runtime.handle().clone());
        let token = Token::random().expect("random");
        let server = runtime.block_on(Server::bind_fleet(router(board), of_sessions, 0, token)).expect("binds");
        let url = server.url();
        runtime.spawn(server.run(std::future::pending()));
        let (address, token) =
            url.strip_prefix("http://").and_then(|url| url.split_once("/#token=")).expect("an address");
        Self { address: address.parse().expect("an address"), token: token.to_owned(), lake, runtime, folder }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("connects");
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        self.send("GET", path, &[("Host", &self.address.to_string()), ("Authorization", &bearer)])
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(&format!("/data/{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }

    fn number(&self, sql: &str) -> u64 {
        let answer = csv(&ask(&self.lake, &self.runtime, sql));
        answer.lines().nth(1).and_then(|line| line.parse().ok()).expect("a number")
    }
}

/// Days that have all sessions of the fixture.
const ALL: &str = "since=2020-01-01&until=2030-01-01";

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn sum(chart: &Value) -> f64 {
    let series = chart["series"].as_array().expect("series");
    series.iter().flat_map(|it| it["values"].as_array().expect("values")).map(|it| it.as_f64().expect("a number")).sum()
}

#[test]
fn answers_are_those_of_the_tables() {
    let page = Page::serve(20, None);
    let lake = page.json("lake.json");
    assert_eq!((lake["sessions"].as_u64(), &lake["currency"]), (Some(20), &Value::Null));
    let of = |of: &str| page.json(&format!("chart.json?of={of}&{ALL}"));
    assert_eq!(sum(&of("sessions")), 20.0);
    assert_eq!(sum(&of("failures")), page.number("SELECT count(*) AS n FROM failures") as f64);
    let tokens = page.number("SELECT sum(input_tokens + output_tokens) AS n FROM inference_calls");
    assert_eq!((sum(&of("costs")), of("costs")["unit"].as_str()), (tokens as f64, Some("tokens")));
    for by in By::ALL {
        let groups = page.json(&format!("groups.json?by={}&{ALL}", by.as_str()));
        assert_eq!(groups["rows"].as_array().map(Vec::is_empty), Some(by == By::Finding), "{groups}");
    }
    let red = page.json(&format!("sessions.json?team=red&{ALL}&limit=3&order=failures"));
    assert_eq!(red["total"].as_u64(), Some(page.number("SELECT count(*) AS n FROM sessions WHERE team = 'red'")));
    assert_eq!(red["rows"].as_array().map(Vec::len), Some(3));
    let failures: Vec<_> = red["rows"].as_array().expect("rows").iter().map(|row| row["failures"].as_u64()).collect();
    assert!(failures.is_sorted_by(|one, other| one >= other), "{failures:?}");
    // A category narrows everything to sessions that have such a failure.
    let category = page.json(&format!("groups.json?by=category&{ALL}"))["rows"][0].clone();
    let narrowed = format!("category={}&{ALL}", category["category"].as_str().expect("a category"));
    assert_eq!(
        sum(&page.json(&format!("chart.json?of=failures&{narrowed}"))),
        category["failures"].as_f64().expect("a number")
    );
    assert_eq!(page.json(&format!("sessions.json?{narrowed}"))["total"], category["sessions"]);
    assert_eq!(
        sum(&page.json(&format!("chart.json?of=sessions&{narrowed}"))),
        category["sessions"].as_f64().expect("a number")
    );
    // The points of a chart are the sessions of their days.
    let chart = page.json(&format!("chart.json?of=sessions&{}", "since=2026-03-01&until=2026-03-31"));
    for (at, start) in chart["starts"].as_array().expect("days").iter().enumerate() {
        let day = start.as_str().expect("a day");
        let listed = page.json(&format!("sessions.json?since={day}&until={day}"))["total"].as_f64();
        let series = chart["series"].as_array().expect("series");
        let in_chart: f64 = series.iter().filter_map(|it| it["values"][at].as_f64()).sum();
        assert_eq!(listed, Some(in_chart), "{day}");
    }
    let values = page.json("values.json");
    assert_eq!(values["team"]["values"], serde_json::json!(["blue", "red"]));
}

#[test]
fn money_is_in_charts_groups_and_lists() {
    let table = std::fs::read_to_string(repository().join("samples/prices.toml")).expect("a table");
    let page = Page::serve(8, Some(Prices::parse(&table).expect("prices")));
    assert_eq!(page.json("lake.json")["currency"].as_str(), Some("EUR"));
    let chart = page.json(&format!("chart.json?of=costs&{ALL}"));
    assert_eq!(chart["unit"].as_str(), Some("money"));
    let of_rows = |rows: &Value| -> f64 {
        rows["rows"].as_array().expect("rows").iter().filter_map(|row| row["money"].as_f64()).sum()
    };
    assert!(sum(&chart) > 0.0);
    for path in ["groups.json?by=model", "groups.json?by=team", "groups.json?by=version", "sessions.json?limit=100"] {
        let rows = page.json(&format!("{path}&{ALL}"));
        assert!((of_rows(&rows) - sum(&chart)).abs() < 0.01, "{path}: {} {}", of_rows(&rows), sum(&chart));
    }
}

#[test]
fn no_answer_is_longer_than_its_limit() {
    let page = Page::serve(110, None);
    for range in [
        "",
        "since=0001-01-01&until=9999-12-31",
        "since=2026-01-01&until=2026-04-30",
        "since=2026-01-02&until=2026-05-02",
    ] {
        let chart = page.json(&format!("chart.json?of=failures&{range}"));
        let points = chart["starts"].as_array().map(Vec::len).expect("days");
        assert!((1..=MAX_POINTS as usize).contains(&points), "{range}: {points}");
        let series = chart["series"].as_array().expect("series");
        assert!(series.len() <= MAX_SERIES + 1, "{range}");
        assert!(series.iter().all(|it| it["values"].as_array().map(Vec::len) == Some(points)), "{range}");
    }
    let listed = page.json(&format!("sessions.json?limit=1000000&{ALL}"));
    assert_eq!((listed["rows"].as_array().map(Vec::len), listed["total"].as_u64()), (Some(MAX_LISTED), Some(110)));
    let rest = page.json(&format!("sessions.json?limit=100&offset=100&{ALL}"));
    assert_eq!(rest["rows"].as_array().map(Vec::len), Some(10));
    // Each session has a repository of its own.
    let many = page.folder.path().join("many");
    for number in 0..=MAX_GROUPS {
        let session = page
            .folder
            .path()
            .join(format!("sessions/team={}/session-{number:04}", if number % 3 == 0 { "red" } else { "blue" }));
        let to = many.join(format!("repository=r{number}/team=green"));
        std::fs::create_dir_all(&to).expect("a folder");
        std::fs::rename(session, to.join(format!("many-{number}"))).expect("moves");
    }
    ingest(&page.lake, &many, batches_of(100), page.runtime.handle());
    assert_eq!(
        page.json(&format!("sessions.json?{ALL}"))["total"].as_u64(),
        Some(110),
        "a page stays with its version"
    );
    assert_eq!(page.json("lake.json")["sessions"].as_u64(), Some(161), "and is asked to look for a newer one");
    let groups = page.json(&format!("groups.json?by=repository&team=green&{ALL}"));
    assert_eq!((groups["rows"].as_array().map(Vec::len), groups["is_cut"].as_bool()), (Some(MAX_GROUPS), Some(true)));
}

#[test]
fn only_who_knows_the_token_gets_data_and_nobody_writes() {
    let page = Page::serve(3, None);
    let host = page.address.to_string();
    let bearer = format!("Bearer {}", page.token);
    let own = csv(&ask(&page.lake, &page.runtime, "SELECT day, address FROM sessions ORDER BY address LIMIT 1"));
    let (day, address) = own.lines().nth(1).and_then(|line| line.split_once(',')).expect("a session");
    let structure = format!("/session/{day}-{}/structure.json", hex(address));
    for path in
        ["/data/lake.json", "/data/values.json", "/data/chart.json?of=sessions", "/data/sessions.json", &structure]
    {
        assert_eq!(page.get(path).status, 200, "{path}");
        let wrong = format!("Bearer {}", "0".repeat(page.token.len()));
        let in_path = format!("/{}{path}", page.token);
        for headers in [vec![], vec![("Authorization", wrong.as_str())], vec![("Cookie", page.token.as_str())]] {
            let answer = page.send("GET", path, &[vec![("Host", host.as_str())], headers].concat());
            assert_eq!(answer.status, 401, "{path}");
            assert!(!answer.body.contains("sessions") && answer.body.len() < 200, "{}", answer.body);
        }
        assert_eq!(page.send("GET", &in_path, &[("Host", &host)]).status, 404);
        for other in ["evil.example", "127.0.0.1:1"] {
            assert_eq!(page.send("GET", path, &[("Host", other), ("Authorization", &bearer)]).status, 403, "{other}");
        }
        let foreign = [("Host", host.as_str()), ("Authorization", &bearer), ("Origin", "http://evil.example")];
        assert_eq!(page.send("GET", path, &foreign).status, 403);
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let answer =
                page.send(method, path, &[("Host", &host), ("Authorization", &bearer), ("Content-Length", "0")]);
            assert_eq!(answer.status, 405, "{method} {path}");
        }
    }
    // The files of the page have no secret, and allow nothing but themselves.
    for path in ["/", "/fleet.js", "/fleet.css", &format!("/session/{day}-{}/", hex(address))] {
        let answer = page.send("GET", path, &[("Host", &host)]);
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains(&page.token) && !answer.body.contains("session-0000"), "{path}");
        assert!(
            answer.head.contains("cache-control: no-store") && answer.head.contains("referrer-policy: no-referrer"),
            "{path}"
        );
    }
    let shell = page.send("GET", "/", &[("Host", &host)]).head;
    assert!(
        shell.contains("content-security-policy: default-src 'none'") && shell.contains("frame-ancestors 'none'"),
        "{shell}"
    );
}

#[test]
fn a_session_opens_only_if_the_lake_has_it() {
    let page = Page::serve(3, None);
    let own = csv(&ask(&page.lake, &page.runtime, "SELECT day, address FROM sessions ORDER BY address"));
    for line in own.lines().skip(1) {
        let (day, address) = line.split_once(',').expect("two columns");
        let answer = page.get(&format!("/session/{day}-{}/structure.json", hex(address)));
        assert_eq!(answer.status, 200, "{address}: {}", answer.body);
        assert!(answer.body.contains("\"threads\""), "{address}");
        let other_day = page.get(&format!("/session/1999-01-01-{}/structure.json", hex(address)));
        assert_eq!(other_day.status, 404, "{address}");
    }
    let outside = page.folder.path().join("outside");
    crate::fixture::vary(&repository().join("samples/one-agent"), &outside, 0);
    let quoted = "x' OR '1' = '1";
    for other in [text(&outside), "/etc/passwd", "../../etc/passwd", quoted, "s3://bucket/x.trace"] {
        for day in ["2026-03-02", "", "' OR 1 = 1 --"] {
            let answer = page.get(&format!("/session/{}-{}/structure.json", day.replace(' ', "%20"), hex(other)));
            assert_eq!(answer.status, 404, "{day} {other}: {}", answer.body);
        }
    }
    let long = hex(&"x".repeat(MAX_ADDRESS_BYTES + 1));
    assert_eq!(page.get(&format!("/session/2026-03-02-{long}/structure.json")).status, 404);
}

#[test]
fn a_session_that_is_gone_says_so() {
    let page = Page::serve(1, None);
    let own = csv(&ask(&page.lake, &page.runtime, "SELECT day, address FROM sessions"));
    let (day, address) = own.lines().nth(1).and_then(|line| line.split_once(',')).expect("a session");
    std::fs::rename(address, page.folder.path().join("gone")).expect("moves");
    let answer = page.get(&format!("/session/{day}-{}/structure.json", hex(address)));
    assert_eq!(answer.status, 500);
    assert!(answer.body.contains("moved or deleted, or lies on another machine"), "{}", answer.body);
}

#[test]
fn odd_requests_are_refused_with_a_reason() {
    let page = Page::serve(2, None);
    let long = format!("sessions.json?team={}", "x".repeat(MAX_VALUE_BYTES + 1));
    for path in [
        "chart.json",
        "chart.json?of=nothing",
        "chart.json?of=sessions&since=yesterday",
        "chart.json?of=sessions&since=99999-01-01",
        "groups.json?by=address",
        "groups.json?by=category&where=1",
        "sessions.json?order=address",
        "sessions.json?limit=-1",
        "sessions.json?limit=x",
        &long,
    ] {
        let answer = page.get(&format!("/data/{path}"));
        assert_eq!(answer.status, 400, "{path}: {}", answer.body);
        assert!(!answer.body.is_empty() && answer.body.len() < 300, "{path}");
    }
    for path in ["/data/", "/data/../etc/passwd", "/data/lake.json/x", "/nothing"] {
        assert_eq!(page.get(path).status, 404, "{path}");
    }
    // Values are no SQL.
    let hostile = page.json(&format!("sessions.json?team=x%27%20OR%20%271%27%3D%271&{ALL}"));
    assert_eq!(hostile["total"].as_u64(), Some(0));
    assert_eq!(page.json(&format!("sessions.json?{ALL}"))["total"].as_u64(), Some(2), "it still answers");
}
