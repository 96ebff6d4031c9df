//! Tests of a client that uses only plain HTTP.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use trace_server::outbound::CloseReason;

use crate::toy::{LONG, Server, initialize, json, list, read_thread};

/// Sends a request. Returns the status, the headers in lower case, and the body.
async fn call(server: &Server, method: &str, path: &str, content: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}",
        content.len()
    );
    stream.write_all(format!("{head}\r\n\r\n{content}").as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    timeout(LONG, stream.read_to_string(&mut answer)).await.expect("it answers").expect("text");
    let (head, content) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, head.to_lowercase(), content.to_owned())
}

async fn create(server: &Server, first: &str) -> String {
    let (status, head, content) = call(server, "POST", "/bridge", first).await;
    assert_eq!(status, 201);
    let session = json(&content)["session"].as_str().expect("an id").to_owned();
    assert!(head.contains(&format!("location: /bridge/{session}")));
    format!("/bridge/{session}")
}

async fn post(server: &Server, session: &str, text: &str) -> u16 {
    call(server, "POST", session, text).await.0
}

/// A stream of server-sent events.
struct Events(BufReader<TcpStream>);

impl Events {
    async fn open(server: &Server, session: &str, last_seen: Option<u64>) -> Self {
        let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
        let header = last_seen.map(|number| format!("\r\nLast-Event-ID: {number}")).unwrap_or_default();
        // In HTTP/1.0, the body is not split into chunks.
        let head = format!("GET {session}/events HTTP/1.0\r\nHost: localhost{header}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        let mut events = Self(BufReader::new(stream));
        assert!(events.line().await.starts_with("HTTP/1.0 200"));
        let mut is_stream = false;
        loop {
            match events.line().await.to_lowercase().as_str() {
                "" => break,
                header => is_stream |= header == "content-type: text/event-stream",
            }
        }
        assert!(is_stream);
        events
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(LONG, self.0.read_line(&mut line)).await.expect("something comes").expect("text");
        line.trim_end().to_owned()
    }

    /// Returns the next event and its number, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<(u64, Value)> {
        let id = self.line().await;
        let number = id.strip_prefix("id: ")?.parse().expect("a number");
        let data = self.line().await;
        assert_eq!(self.line().await, "");
        Some((number, json(data.strip_prefix("data: ").expect("data"))))
    }

    async fn hear(&mut self) -> Value {
        self.next().await.expect("an event").1
    }
}

#[tokio::test]
async fn a_session_is_a_connection_like_any_other() {
    let server = Server::tcp(None).await;
    let session = create(&server, "").await;
    assert_eq!(post(&server, &session, &list(1)).await, 202);
    assert_eq!(post(&server, &session, "this is not json").await, 202, "it is dropped as everywhere");
    let mut events = Events::open(&server, &session, None).await;
    assert_eq!(events.hear().await["error"]["message"], "Not initialized");
    assert_eq!(post(&server, &session, &initialize()).await, 202);
    assert_eq!(events.next().await.expect("an answer").0, 2);
    assert_eq!(events.hear().await["method"], "warning");
    assert_eq!(post(&server, &session, &list("x")).await, 202);
    assert_eq!(events.hear().await, json!({"id": "x", "result": {"data": []}}));

    assert_eq!(call(&server, "DELETE", &session, "").await.0, 204);
    assert!(events.next().await.is_none());
    server.toy.until(|seen| seen.closed.len() == 1).await;
    assert_eq!(post(&server, &session, &list(1)).await, 404);
}

#[tokio::test]
async fn the_first_message_may_come_with_the_session() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    let mut events = Events::open(&server, &session, None).await;
    assert_eq!(events.hear().await["result"]["userAgent"], "test/1.0.0");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_client_at_its_limit_of_sessions_can_still_open_a_websocket() {
    use trace_server::transport::MAX_SESSIONS_PER_PEER;

    let server = Server::tcp(None).await;
    let first = create(&server, "").await;
    for _ in 1..MAX_SESSIONS_PER_PEER {
        create(&server, "").await;
    }
    let (status, head, content) = call(&server, "POST", "/bridge", "").await;
    assert_eq!(status, 503);
    assert!(head.contains("retry-after: 1") && content.starts_with("too many sessions"), "{content}");
    crate::sockets::Client::tcp(&server).await;
    assert_eq!(call(&server, "DELETE", &first, "").await.0, 204);
    server.toy.until(|seen| !seen.closed.is_empty()).await;
    create(&server, "").await;
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let server = Server::tcp(None).await;
    let session = create(&server, "").await;
    let table = [
        ("GET", "/bridge".to_owned(), 405),
        ("PUT", session.clone(), 405),
        ("POST", format!("{session}/events"), 405),
        ("POST", "/bridge/00000000000000000000000000000000".to_owned(), 404),
        ("GET", "/bridge/0/events".to_owned(), 404),
        ("DELETE", "/bridge/0".to_owned(), 404),
        ("GET", format!("{session}/x"), 404),
        ("POST", "/bridges".to_owned(), 400),
    ];
    for (method, path, expected) in table {
        assert_eq!(call(&server, method, &path, "").await.0, expected, "{method} {path}");
    }
    let head = format!("GET {session}/events HTTP/1.1\r\nLast-Event-ID: x");
    assert_eq!(crate::sockets::http(&server, &head).await.0, 400);
}

#[tokio::test]
async fn a_reconnecting_client_misses_nothing() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    let mut first = Events::open(&server, &session, None).await;
    first.hear().await;
    first.hear().await;
    for number in 3..6_u64 {
        server.toy.broadcast(&number.to_string());
        assert_eq!(first.next().await.expect("an event").0, number);
    }
    // The first stream is still open.
    let mut second = Events::open(&server, &session, Some(3)).await;
    for number in 4..6_u64 {
        let (id, event) = second.next().await.expect("an event");
        assert_eq!((id, event["params"]["message"].as_str()), (number, Some(number.to_string().as_str())));
    }
    assert!(first.next().await.is_none(), "it is over");
    server.toy.broadcast("6");
    assert_eq!(second.next().await.expect("an event").0, 6);
    drop(second);
    server.toy.broadcast("7");
    let mut third = Events::open(&server, &session, Some(6)).await;
    assert_eq!(third.next().await.expect("an event").0, 7);
}

#[tokio::test]
async fn a_session_ends_if_missed_events_were_dropped() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    let seen = server.toy.until(|seen| seen.initialized.len() == 1).await;
    let mut events = Events::open(&server, &session, Some(99)).await;
    assert!(events.next().await.is_none());
    server.toy.until(|seen| seen.closed.len() == 1).await;
    assert_eq!(seen.initialized[0].end_reason(), Some(CloseReason::Abandoned));
}

#[tokio::test]
async fn too_many_waiting_messages_are_refused_with_retry() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    // The responses are not read, so at some point no more messages are accepted.
    let mut stream = BufReader::new(TcpStream::connect(server.address()).await.expect("the server listens"));
    let text = read_thread(1, "t");
    let head = format!("POST {session} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    let mut accepted = 0_usize;
    loop {
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        let mut length = 0;
        let mut line = String::new();
        let mut status = String::new();
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).await.expect("text");
            if status.is_empty() {
                status = line.clone();
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a number");
            }
        }
        stream.read_exact(&mut vec![0; length]).await.expect("the content");
        if status.contains(" 429 ") {
            break;
        }
        assert!(status.contains(" 202 "), "{status}");
        accepted += 1;
        assert!(accepted < 10_000, "nothing is limited");
    }
    server.toy.release("t", usize::MAX >> 4);
    let mut events = Events::open(&server, &session, None).await;
    for _ in 0..accepted + 2 {
        events.hear().await;
    }
}

#[tokio::test]
async fn streams_end_with_the_server() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    let mut events = Events::open(&server, &session, None).await;
    events.hear().await;
    events.hear().await;
    server.shutdown.signal();
    server.toy.until(|seen| seen.is_draining).await;
    assert_eq!(post(&server, &session, &list(1)).await, 202, "an existing session still works");
    assert_eq!(events.hear().await["id"], 1);
    server.toy.finish();
    assert!(events.next().await.is_none());
    server.ended().await;
}

#[tokio::test]
async fn memory_of_a_stalled_stream_is_freed_after_the_session() {
    let server = Server::tcp(None).await;
    let session = create(&server, &initialize()).await;
    let _stalled = Events::open(&server, &session, None).await;
    let connection = server.toy.until(|seen| seen.initialized.len() == 1).await.initialized.remove(0);
    // The messages are larger than the buffers of the sockets.
    let filling = crate::toy::warning(&"x".repeat(1 << 20));
    for _ in 0..40 {
        connection.notify(&filling);
    }
    let last = crate::toy::warning("the last one");
    connection.notify(&last);
    let held = std::sync::Arc::downgrade(last.text());
    drop((last, connection));
    assert_eq!(call(&server, "DELETE", &session, "").await.0, 204);
    let freed = async {
        while held.upgrade().is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, freed).await.expect("the memory is freed");
    assert_eq!(call(&server, "GET", &format!("{session}/events"), "").await.0, 404);
}
