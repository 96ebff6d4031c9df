//! Only the clients that got a server request may answer it. Tested over every transport.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::mpsc;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use super::*;
use crate::transport::{Listen, Shutdown, bind, serve};

/// A client on some transport, with its outgoing and incoming messages.
struct Talk {
    say: mpsc::Sender<String>,
    hear: mpsc::Receiver<Value>,
    next_id: i64,
    /// Messages that came while another one was expected.
    heard: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    InProcess,
    WebSocket,
    Unix,
    Bridge,
}

const WAYS: [Way; 4] = [Way::InProcess, Way::WebSocket, Way::Unix, Way::Bridge];

/// A server that listens on all transports.
struct Open {
    _whole: TestServer,
    opener: crate::ingress::ConnectionOpener,
    tcp: SocketAddr,
    socket: PathBuf,
    thread: String,
    _home: tempfile::TempDir,
}

impl Open {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let server = TestServer::start(home.path()).await;
        let socket = home.path().join("s.sock");
        let opener = server.server.opener().clone();
        let tcp = bind(&Listen::WebSocket(([127, 0, 0, 1], 0).into()), None).await.unwrap();
        let address = tcp.address().unwrap();
        for bound in [tcp, bind(&Listen::Unix(socket.clone()), None).await.unwrap()] {
            let opener = opener.clone();
            tokio::spawn(async move { serve(bound, &opener, &Shutdown::new()).await });
        }
        let started = server.call("thread/start", json!({"approvalPolicy": "untrusted"})).await;
        let thread = started["thread"]["id"].as_str().unwrap().to_owned();
        server.call("thread/unsubscribe", json!({"threadId": thread})).await;
        Self { _whole: server, opener, tcp: address, socket, thread, _home: home }
    }

    async fn connect(&self, way: Way) -> Talk {
        let mut talk = match way {
            Way::InProcess => in_process(&self.opener),
            Way::WebSocket => websocket(TcpStream::connect(self.tcp).await.unwrap()).await,
            Way::Unix => websocket(UnixStream::connect(&self.socket).await.unwrap()).await,
            Way::Bridge => bridge(self.tcp).await,
        };
        let info = json!({"name": "test", "version": "1"});
        talk.call("initialize", json!({"clientInfo": info, "capabilities": {"experimentalApi": true}})).await;
        talk
    }

    /// Connects a client and subscribes it to the thread.
    async fn subscriber(&self, way: Way) -> Talk {
        let mut talk = self.connect(way).await;
        self.join(&mut talk).await;
        talk
    }

    async fn join(&self, talk: &mut Talk) {
        talk.call("thread/resume", json!({"threadId": self.thread})).await;
    }

    /// Makes the agent ask for an approval, and returns the id of the server request.
    async fn question(&self, talk: &mut Talk) -> Value {
        let script = json!([[{"call": "exec_command", "args": {"cmd": "echo yes > asked"}}], [{"say": "done"}]]);
        talk.call("turn/start", json!({"threadId": self.thread, "input": input(&script)})).await;
        talk.asked().await
    }
}

fn in_process(opener: &crate::ingress::ConnectionOpener) -> Talk {
    let (mut ingress, mut reader) = opener.open(crate::connection::TransportKind::InProcess, OutboundPolicy::SHARED);
    let (say, mut said) = mpsc::channel::<String>(64);
    let (told, hear) = mpsc::channel(1024);
    tokio::spawn(async move {
        while let Some(text) = said.recv().await {
            ingress.receive(&text).await;
        }
    });
    tokio::spawn(async move {
        while let Some(texts) = reader.next(usize::MAX).await {
            for text in texts {
                let _ = told.send(serde_json::from_str(&text).unwrap()).await;
            }
        }
    });
    Talk::new(say, hear)
}

async fn websocket(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Talk {
    let (socket, _) = client_async("ws://localhost/", stream).await.unwrap();
    let (mut sink, mut stream) = socket.split();
    let (say, mut said) = mpsc::channel::<String>(64);
    let (told, hear) = mpsc::channel(1024);
    tokio::spawn(async move {
        while let Some(text) = said.recv().await {
            let _ = sink.send(Message::text(text)).await;
        }
        let _ = sink.close().await;
    });
    tokio::spawn(async move {
        while let Some(Ok(message)) = stream.next().await {
            if let Message::Text(text) = message {
                let _ = told.send(serde_json::from_str(&text).unwrap()).await;
            }
        }
    });
    Talk::new(say, hear)
}

async fn post(address: SocketAddr, path: &str, content: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = content.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{content}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

async fn bridge(address: SocketAddr) -> Talk {
    let session: Value = serde_json::from_str(&post(address, "/bridge", "").await).unwrap();
    let path = format!("/bridge/{}", session["session"].as_str().unwrap());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path}/events HTTP/1.0\r\nHost: h\r\n\r\n").as_bytes()).await.unwrap();
    let (say, mut said) = mpsc::channel::<String>(64);
    let (told, hear) = mpsc::channel(1024);
    tokio::spawn(async move {
        while let Some(text) = said.recv().await {
            post(address, &path, &text).await;
        }
    });
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(data) = line.strip_prefix("data: ") {
                let _ = told.send(serde_json::from_str(data).unwrap()).await;
            }
        }
    });
    Talk::new(say, hear)
}

impl Talk {
    fn new(say: mpsc::Sender<String>, hear: mpsc::Receiver<Value>) -> Self {
        Self { say, hear, next_id: 0, heard: Vec::new() }
    }

    /// Returns the next matching message. It may have come before.
    async fn hear_that(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.heard.iter().position(&fits) {
            return self.heard.remove(place);
        }
        loop {
            let message = tokio::time::timeout(TIMEOUT, self.hear.recv()).await.unwrap().unwrap();
            if fits(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.say(&json!({"id": id, "method": method, "params": params})).await;
        let answer = self.hear_that(|message| message.get("method").is_none() && message["id"] == id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    async fn say(&mut self, message: &Value) {
        self.say.send(message.to_string()).await.unwrap();
    }

    async fn told(&mut self, method: &str) -> Value {
        self.hear_that(|message| message["method"] == method).await["params"].clone()
    }

    /// Returns the id of the next server request.
    async fn asked(&mut self) -> Value {
        self.hear_that(|message| message["method"] == "item/commandExecution/requestApproval").await["id"].clone()
    }

    async fn decide(&mut self, id: &Value, decision: &str) {
        self.say(&json!({"id": id, "result": {"decision": decision}})).await;
    }

    /// Waits until the client is told that its answer was dropped.
    async fn is_told_of_dropping(&mut self, id: &Value) {
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let expected = format!("the answer to request {id} was dropped");
        let fits = |message: &Value| {
            message["method"] == "warning"
                && message["params"]["message"].as_str().is_some_and(|text| text.starts_with(&expected))
        };
        self.hear_that(fits).await;
    }

    /// Returns the status of the command that needed the approval.
    async fn outcome(&mut self) -> Value {
        let fits = |message: &Value| {
            message["method"] == "item/completed" && message["params"]["item"]["type"] == "commandExecution"
        };
        let status = self.hear_that(fits).await["params"]["item"]["status"].clone();
        self.told("turn/completed").await;
        status
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_of_server_requests_cannot_be_guessed() {
    let open = Open::start().await;
    let mut owner = open.subscriber(Way::InProcess).await;
    let mut parts = HashSet::new();
    for _ in 0..4 {
        let id = open.question(&mut owner).await;
        let random = id.as_str().unwrap().split_once('-').unwrap().1;
        assert!(random.len() == 32 && u128::from_str_radix(random, 16).is_ok(), "{id}");
        assert!(parts.insert(random.to_owned()), "{id} came twice");
        owner.decide(&id, "decline").await;
        owner.told("turn/completed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_was_not_asked_cannot_answer() {
    for way in WAYS {
        let open = Open::start().await;
        let (mut owner, mut stranger) = (open.subscriber(way).await, open.connect(way).await);
        let id = open.question(&mut owner).await;
        stranger.decide(&id, "accept").await;
        stranger.is_told_of_dropping(&id).await;
        stranger.say(&json!({"id": id, "error": {"code": -1, "message": "no"}})).await;
        stranger.is_told_of_dropping(&id).await;
        owner.decide(&id, "decline").await;
        assert_eq!(owner.outcome().await, "declined", "{way:?}: the client that was asked can answer");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counting_up_ids_finds_no_server_request() {
    let open = Open::start().await;
    let (mut owner, mut stranger) = (open.subscriber(Way::WebSocket).await, open.subscriber(Way::WebSocket).await);
    let id = open.question(&mut owner).await;
    stranger.asked().await;
    let number: i64 = id.as_str().unwrap().split_once('-').unwrap().0.parse().unwrap();
    let mut guesses: Vec<Value> = (0..20).map(Value::from).collect();
    guesses.extend([
        json!(number),
        json!(number.to_string()),
        json!(format!("{number}-")),
        json!(format!("{number}-0")),
    ]);
    guesses.extend([json!(format!("{}", id.as_str().unwrap().to_uppercase())), json!(""), json!("-"), json!(i64::MIN)]);
    guesses.retain(|guess| *guess != id);
    for guess in &guesses {
        stranger.decide(guess, "accept").await;
        stranger.is_told_of_dropping(guess).await;
    }
    owner.decide(&id, "decline").await;
    assert_eq!(owner.outcome().await, "declined");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_answer_counts_and_later_ones_are_reported_as_dropped() {
    for way in WAYS {
        let open = Open::start().await;
        let (mut one, mut other) = (open.subscriber(way).await, open.subscriber(way).await);
        let id = open.question(&mut one).await;
        assert_eq!(other.asked().await, id, "both are asked the same");
        other.decide(&id, "decline").await;
        let resolved = one.told("serverRequest/resolved").await;
        assert_eq!(resolved["requestId"], id);
        one.decide(&id, "accept").await;
        one.is_told_of_dropping(&id).await;
        assert_eq!(one.outcome().await, "declined", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_subscriber_is_asked_and_may_answer() {
    for way in WAYS {
        let open = Open::start().await;
        let mut owner = open.subscriber(way).await;
        let id = open.question(&mut owner).await;
        let mut late = open.connect(way).await;
        late.decide(&id, "accept").await;
        late.is_told_of_dropping(&id).await;
        open.join(&mut late).await;
        assert_eq!(late.asked().await, id, "{way:?}");
        late.decide(&id, "decline").await;
        assert_eq!(owner.outcome().await, "declined", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unsubscribed_client_cannot_answer() {
    let open = Open::start().await;
    let (mut owner, mut other) = (open.subscriber(Way::Unix).await, open.subscriber(Way::Unix).await);
    let id = open.question(&mut owner).await;
    other.asked().await;
    other.call("thread/unsubscribe", json!({"threadId": open.thread})).await;
    other.decide(&id, "accept").await;
    other.is_told_of_dropping(&id).await;
    owner.decide(&id, "decline").await;
    assert_eq!(owner.outcome().await, "declined");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_after_an_interrupt_is_dropped() {
    let open = Open::start().await;
    let mut owner = open.subscriber(Way::WebSocket).await;
    let id = open.question(&mut owner).await;
    let read = owner.call("thread/read", json!({"threadId": open.thread, "includeTurns": true})).await;
    let turn = read["thread"]["turns"].as_array().unwrap().last().unwrap()["id"].clone();
    owner.call("turn/interrupt", json!({"threadId": open.thread, "turnId": turn})).await;
    owner.told("turn/completed").await;
    owner.decide(&id, "accept").await;
    owner.is_told_of_dropping(&id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_id_of_an_earlier_question_does_not_answer_a_later_one() {
    let open = Open::start().await;
    let mut owner = open.subscriber(Way::Bridge).await;
    let first = open.question(&mut owner).await;
    owner.decide(&first, "decline").await;
    owner.outcome().await;
    let second = open.question(&mut owner).await;
    let (number, random) =
        (second.as_str().unwrap().split_once('-').unwrap().0, first.as_str().unwrap().split_once('-').unwrap().1);
    for id in [first.clone(), json!(format!("{number}-{random}"))] {
        owner.decide(&id, "accept").await;
        owner.is_told_of_dropping(&id).await;
    }
    owner.decide(&second, "decline").await;
    assert_eq!(owner.outcome().await, "declined");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_request_outlives_its_client_and_another_client_cannot_answer() {
    let open = Open::start().await;
    let mut owner = open.subscriber(Way::WebSocket).await;
    let id = open.question(&mut owner).await;
    drop(owner);
    let mut next = open.connect(Way::WebSocket).await;
    next.decide(&id, "accept").await;
    next.is_told_of_dropping(&id).await;
    open.join(&mut next).await;
    assert_eq!(next.asked().await, id);
    next.decide(&id, "decline").await;
    assert_eq!(next.outcome().await, "declined");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_an_agent_go_to_subscribers_of_its_root() {
    let open = Open::start().await;
    let (mut owner, mut stranger) = (open.subscriber(Way::WebSocket).await, open.connect(Way::WebSocket).await);
    let task = json!([[{"call": "exec_command", "args": {"cmd": "echo yes > asked"}}], [{"say": "done"}]]);
    let spawn = json!([
        [{"call": "spawn_agent", "ns": "collaboration", "args": {"task_name": "a", "message": format!("RUN {task}")}}],
        [{"call": "wait_agent", "ns": "collaboration", "args": {}}],
        [{"say": "over"}]
    ]);
    owner.call("turn/start", json!({"threadId": open.thread, "input": input(&spawn)})).await;
    let id = owner.asked().await;
    stranger.decide(&id, "accept").await;
    stranger.is_told_of_dropping(&id).await;
    assert!(stranger.heard.iter().all(|message| message.get("id").is_none()), "it is asked nothing");
    owner.decide(&id, "decline").await;
    let declined = |message: &Value| message["params"]["item"]["status"] == "declined";
    owner.hear_that(declined).await;
}
