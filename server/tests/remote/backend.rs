//! A stand-in for a relay that speaks the peer's envelopes, and a server that dials it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderMap;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};
use trace_relay::pieces::{MAX_WHOLE_BYTES, SERVER_PIECE_BYTES};
use trace_server::transport::MAX_UNACKNOWLEDGED;

use crate::client::LONG;
use crate::world::{Dialling, script};

struct Backend {
    listener: TcpListener,
    socket: Option<WebSocketStream<TcpStream>>,
    headers: HeaderMap,
    cursor: u64,
}

impl Backend {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self { listener, socket: None, headers: HeaderMap::new(), cursor: 0 }
    }

    /// Waits until the server dials.
    async fn accept(&mut self) {
        let (stream, _) = timeout(LONG, self.listener.accept()).await.expect("it dials").expect("a connection");
        let headers = Arc::new(Mutex::new(HeaderMap::new()));
        let seen = Arc::clone(&headers);
        #[expect(clippy::result_large_err, reason = "the library wants it so")]
        let look = move |request: &Request, response: Response| {
            assert_eq!(request.uri().path(), "/server");
            *seen.lock().expect("no panic") = request.headers().clone();
            Ok(response)
        };
        self.socket = Some(accept_hdr_async(stream, look).await.expect("an upgrade"));
        self.headers = headers.lock().expect("no panic").clone();
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    fn cut(&mut self) {
        self.socket = None;
    }

    async fn send(&mut self, envelope: &Value) {
        let socket = self.socket.as_mut().expect("a connection");
        socket.send(Message::text(envelope.to_string())).await.expect("the server reads");
    }

    /// Sends a message of a client, with the next cursor.
    async fn say(&mut self, stream: &str, seq: u64, message: &Value) {
        self.cursor += 1;
        let cursor = format!("cur-{}", self.cursor);
        let envelope = json!({"type": "client_message", "client_id": "client", "stream_id": stream, "seq_id": seq,
            "cursor": cursor, "message": message, "env_id": "env"});
        self.send(&envelope).await;
    }

    async fn begin(&mut self, stream: &str) {
        self.say(stream, 1, &initialize()).await;
    }

    async fn control(&mut self, kind: &str, stream: &str) {
        self.send(&json!({"type": kind, "client_id": "client", "stream_id": stream})).await;
    }

    async fn ack(&mut self, stream: &str, seq: u64) {
        self.send(&json!({"type": "ack", "client_id": "client", "stream_id": stream, "seq_id": seq})).await;
    }

    /// Returns the next envelope that is not an acknowledgement.
    async fn hear(&mut self) -> Value {
        loop {
            let envelope = self.next().await;
            if envelope["type"] != "ack" {
                return envelope;
            }
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            let socket = self.socket.as_mut().expect("a connection");
            match timeout(LONG, socket.next()).await.expect("something comes").expect("a frame").expect("a frame") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("an envelope was expected, not {other:?}"),
            }
        }
    }

    /// Returns the next envelope of a stream that has the answer to a request.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let envelope = self.hear().await;
            if envelope["message"]["id"] == id {
                return envelope;
            }
        }
    }

    /// Asserts that the server sends nothing: what is asked for next comes next.
    async fn is_silent(&mut self) {
        self.control("ping", "nobody").await;
        let envelope = self.hear().await;
        assert_eq!((&envelope["type"], &envelope["stream_id"]), (&json!("pong"), &json!("nobody")));
    }
}

fn initialize() -> Value {
    json!({"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}})
}

fn list(id: u64) -> Value {
    json!({"id": id, "method": "thread/loaded/list", "params": {}})
}

async fn connected() -> (Backend, Dialling) {
    let mut backend = Backend::new().await;
    let dialling = Dialling::start(backend.listener.local_addr().expect("an address"), "token");
    backend.accept().await;
    (backend, dialling)
}

/// Begins a stream, and takes what it begins with. Returns the last number.
async fn begun(backend: &mut Backend, stream: &str) -> u64 {
    backend.begin(stream).await;
    let answer = backend.hear().await;
    assert_eq!((&answer["type"], &answer["seq_id"]), (&json!("server_message"), &json!(1)));
    assert!(answer["message"]["result"]["userAgent"].is_string(), "{answer}");
    backend.control("ping", stream).await;
    loop {
        let envelope = backend.hear().await;
        if envelope["type"] == "pong" {
            let seq = envelope["seq_id"].as_u64().expect("a pong takes a number");
            backend.ack(stream, seq).await;
            return seq;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_says_who_it_is() {
    let (mut backend, dialling) = connected().await;
    assert_eq!(backend.header("authorization"), Some("Bearer token"));
    assert_eq!(backend.header("x-codex-protocol-version"), Some("3"));
    assert!(STANDARD.decode(backend.header("x-codex-name").expect("a name")).is_ok());
    assert!(backend.header("x-codex-server-id").is_some() && backend.header("x-codex-installation-id").is_some());
    assert_eq!(backend.header("x-codex-subscribe-cursor"), None);
    let instance = backend.header("x-trace-instance").map(str::to_owned);
    let installation = backend.header("x-codex-installation-id").map(str::to_owned);
    begun(&mut backend, "s").await;
    backend.cut();
    backend.accept().await;
    assert_eq!(backend.header("x-codex-subscribe-cursor"), Some("cur-1"), "the last one that was handled");
    assert_eq!(backend.header("x-trace-instance").map(str::to_owned), instance);
    assert_eq!(backend.header("x-codex-installation-id").map(str::to_owned), installation);
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_begins_with_initialize_and_ends_when_the_client_has_left() {
    let (mut backend, dialling) = connected().await;
    backend.say("s", 1, &list(1)).await;
    backend.is_silent().await;
    begun(&mut backend, "s").await;
    assert_eq!(dialling.server.opener().connections(), 1);
    backend.control("client_closed", "s").await;
    backend.say("s", 3, &list(3)).await;
    backend.is_silent().await;
    backend.control("ping", "s").await;
    let pong = backend.hear().await;
    assert_eq!(pong, json!({"type": "pong", "client_id": "client", "stream_id": "s", "status": "unknown"}));
    timeout(LONG, async {
        while dialling.server.opener().connections() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
    .expect("the connection ends");
    // What is not an envelope ends nothing.
    for text in ["{", "[]", r#"{"type":"news","client_id":"c"}"#] {
        backend.socket.as_mut().expect("a connection").send(Message::text(text)).await.expect("it reads");
    }
    begun(&mut backend, "s").await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn initialize_on_a_stream_that_exists_begins_it_again() {
    let (mut backend, dialling) = connected().await;
    let last = begun(&mut backend, "s").await;
    backend.say("s", 2, &initialize()).await;
    let answer = backend.answer(0).await;
    assert!(answer["message"]["result"].is_object(), "{answer}");
    assert_eq!(answer["seq_id"], last + 1, "the numbers go on");
    timeout(LONG, async {
        while dialling.server.opener().connections() != 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
    .expect("the first connection is closed");
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_twice_is_answered_once() {
    let (mut backend, dialling) = connected().await;
    begun(&mut backend, "s").await;
    for seq in [2, 2, 1, 3] {
        backend.say("s", seq, &list(10 + seq)).await;
    }
    // Requests of one client may be answered in any order.
    let mut answered = [backend.hear().await, backend.hear().await].map(|envelope| envelope["message"]["id"].as_u64());
    answered.sort_unstable();
    assert_eq!(answered, [Some(12), Some(13)]);
    backend.is_silent().await;
    // The server says what it has handled.
    backend.say("s", 4, &list(14)).await;
    loop {
        let envelope = backend.next().await;
        if envelope["type"] == "ack" && envelope["seq_id"] == 4 {
            break;
        }
    }
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_acknowledged_comes_again_before_anything_new() {
    let (mut backend, dialling) = connected().await;
    let first = begun(&mut backend, "s").await;
    let mut sent = Vec::new();
    for number in 2..8 {
        backend.say("s", number, &list(number)).await;
        sent.push(backend.answer(number).await);
    }
    assert_eq!(sent[0]["seq_id"], first + 1);
    backend.ack("s", first + 2).await;
    // The acknowledgement has been read when a later ping is answered.
    backend.is_silent().await;
    backend.cut();
    backend.accept().await;
    backend.say("s", 8, &list(8)).await;
    for expected in &sent[2..] {
        assert_eq!(backend.hear().await, *expected);
    }
    assert_eq!(backend.hear().await["message"]["id"], 8);
    backend.is_silent().await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_so_many_envelopes_wait_and_only_in_their_own_stream() {
    let (mut backend, dialling) = connected().await;
    let first = begun(&mut backend, "s").await;
    let window = u64::try_from(MAX_UNACKNOWLEDGED).expect("small");
    // The server handles a limited number of requests at a time, so they are sent one after the other at first.
    let mut heard = Vec::new();
    for number in 2..402 {
        backend.say("s", number, &list(number)).await;
        if heard.len() < MAX_UNACKNOWLEDGED {
            heard.push(backend.answer(number).await);
        } else {
            // Requests are taken without room for the answers, which wait.
            while backend.next().await["seq_id"] != number {}
        }
    }
    backend.is_silent().await;
    begun(&mut backend, "other").await;
    backend.ack("s", first + 100).await;
    for _ in 0..100 {
        heard.push(backend.hear().await);
    }
    backend.is_silent().await;
    backend.ack("s", first + window + 100).await;
    while heard.len() < 400 {
        heard.push(backend.hear().await);
        backend.ack("s", first + u64::try_from(heard.len()).expect("small")).await;
    }
    let seqs: Vec<_> = heard.iter().map(|envelope| envelope["seq_id"].as_u64().expect("a number")).collect();
    assert_eq!(seqs, (first + 1..first + 401).collect::<Vec<_>>());
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_messages_come_and_go_in_pieces() {
    let (mut backend, dialling) = connected().await;
    let first = begun(&mut backend, "s").await;
    // An answer that repeats a long id is long.
    let id = "i".repeat(300 << 10);
    let message = json!({"id": id, "method": "thread/loaded/list", "params": {}}).to_string();
    let bytes = message.as_bytes();
    let count = bytes.len().div_ceil(100_000);
    for (segment, piece) in bytes.chunks(100_000).enumerate() {
        let envelope = json!({"type": "client_message_chunk", "client_id": "client", "stream_id": "s", "seq_id": 2,
            "cursor": format!("piece-{segment}"), "segment_id": segment, "segment_count": count,
            "message_size_bytes": bytes.len(), "message_chunk_base64": STANDARD.encode(piece)});
        backend.send(&envelope).await;
        // A piece that comes twice is dropped.
        backend.send(&envelope).await;
    }
    let mut pieces = vec![backend.hear().await];
    let count = pieces[0]["segment_count"].as_u64().expect("a number");
    while pieces.len() < usize::try_from(count).expect("small") {
        pieces.push(backend.hear().await);
    }
    let mut whole = Vec::new();
    for (segment, piece) in pieces.iter().enumerate() {
        assert_eq!(piece["type"], "server_message_chunk");
        assert_eq!((&piece["seq_id"], &piece["segment_id"]), (&json!(first + 1), &json!(segment)));
        assert!(piece.to_string().len() <= MAX_WHOLE_BYTES);
        let bytes = STANDARD.decode(piece["message_chunk_base64"].as_str().expect("text")).expect("base64");
        assert!(bytes.len() <= SERVER_PIECE_BYTES);
        whole.extend(bytes);
    }
    assert_eq!(pieces[0]["message_size_bytes"], whole.len());
    let answer: Value = serde_json::from_slice(&whole).expect("JSON");
    assert!(answer["id"] == id.as_str() && answer["result"].is_object());
    // Without an acknowledgement of the last piece, all of them come again.
    backend
        .send(&json!({"type": "ack", "client_id": "client", "stream_id": "s", "seq_id": first + 1, "segment_id": 0}))
        .await;
    backend.is_silent().await;
    backend.cut();
    backend.accept().await;
    assert_eq!(backend.header("x-codex-subscribe-cursor"), Some("piece-3"));
    for expected in &pieces {
        assert_eq!(backend.hear().await, *expected);
    }
    backend.send(&json!({"type": "ack", "client_id": "client", "stream_id": "s", "seq_id": first + 1, "segment_id": count - 1})).await;
    backend.is_silent().await;
    backend.cut();
    backend.accept().await;
    backend.is_silent().await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_cannot_be_put_together_ends_its_stream_and_no_other() {
    let (mut backend, dialling) = connected().await;
    begun(&mut backend, "other").await;
    let piece = |stream: &str, seq: u64, segment: u64, content: &str| {
        json!({"type": "client_message_chunk", "client_id": "client", "stream_id": stream, "seq_id": seq,
            "segment_id": segment, "segment_count": 3, "message_size_bytes": 9, "message_chunk_base64": content})
    };
    for (number, (pieces, why)) in [
        (vec![(0, "YWFh"), (2, "YWFh")], "piece 2 came instead of piece 1"),
        (vec![(0, "!")], "a piece is not base64"),
        (vec![(0, "YWFh"), (1, "YWFh"), (2, "YWFhYQ==")], "does not fit into its message"),
    ]
    .into_iter()
    .enumerate()
    {
        let stream = format!("s{number}");
        begun(&mut backend, &stream).await;
        for (segment, content) in pieces {
            backend.send(&piece(&stream, 2, segment, content)).await;
        }
        let told = backend.hear().await;
        assert_eq!((&told["type"], &told["stream_id"]), (&json!("server_message"), &json!(stream)));
        let message = told["message"]["error"]["message"].as_str().expect("a reason");
        assert!(told["message"]["id"].is_null() && message.contains(why), "{told}");
        let end = backend.hear().await;
        assert_eq!(
            (&end["type"], &end["status"], &end["stream_id"]),
            (&json!("pong"), &json!("unknown"), &json!(stream))
        );
    }
    // Of a stream that is not there, nobody can be told more.
    backend.send(&piece("nobody", 1, 1, "YWFh")).await;
    let end = backend.hear().await;
    assert_eq!(
        (&end["type"], &end["status"], &end["stream_id"]),
        (&json!("pong"), &json!("unknown"), &json!("nobody"))
    );
    backend.say("other", 2, &list(2)).await;
    assert!(backend.answer(2).await["message"]["result"].is_object());
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_end_with_the_server_after_their_messages() {
    let (mut backend, dialling) = connected().await;
    let last = begun(&mut backend, "s").await;
    backend.say("s", 2, &json!({"id": 2, "method": "thread/start", "params": {}})).await;
    let thread = backend.answer(2).await["message"]["result"]["thread"]["id"].clone();
    let params = json!({"threadId": thread, "input": script(&json!([[{"say": "hello"}]]))});
    backend.say("s", 3, &json!({"id": 3, "method": "turn/start", "params": params})).await;
    loop {
        if backend.hear().await["message"]["method"] == "turn/completed" {
            break;
        }
    }
    let ending = tokio::spawn(dialling.end());
    let end = loop {
        let envelope = backend.hear().await;
        if envelope["type"] == "pong" {
            break envelope;
        }
    };
    assert_eq!(end["status"], "unknown");
    let seq = end["seq_id"].as_u64().expect("the end has a number");
    assert!(seq > last);
    backend.ack("s", seq).await;
    let socket = backend.socket.as_mut().expect("a connection");
    let frame = timeout(LONG, socket.next()).await.expect("it closes").expect("a frame").expect("a frame");
    let Message::Close(Some(frame)) = frame else { panic!("{frame:?}") };
    assert_eq!(u16::from(frame.code), 1001);
    timeout(LONG, ending).await.expect("it ends").expect("without a panic");
}
