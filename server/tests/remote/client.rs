//! Clients of a relay: one that numbers its messages and resumes its stream, and an ordinary one.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use trace_relay::relay::SUBPROTOCOL;
use trace_relay::stream::{Received, SendQueue};

/// Timeout of a test, which is longer than any test takes on a slow machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

pub(crate) type Socket = WebSocketStream<TcpStream>;

/// Opens a WebSocket.
pub(crate) async fn open(
    address: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, Option<String>), Error> {
    let stream = TcpStream::connect(address).await.map_err(Error::Io)?;
    stream.set_nodelay(true).map_err(Error::Io)?;
    let mut request = format!("ws://{address}{path}").into_client_request()?;
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().expect("a good value"));
    }
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let (socket, response) = client_async_with_config(request, stream, Some(config)).await?;
    let stream = response.headers().get("x-trace-stream").map(|value| value.to_str().expect("text").to_owned());
    Ok((socket, stream))
}

/// Returns the status with which an upgrade is refused.
pub(crate) async fn refused(address: SocketAddr, path: &str, headers: &[(&'static str, &str)]) -> (u16, String) {
    match open(address, path, headers).await {
        Err(Error::Http(response)) => {
            let body = String::from_utf8_lossy(response.body().as_deref().unwrap_or_default()).into_owned();
            (response.status().as_u16(), body)
        }
        Err(other) => panic!("an answer was expected, not {other}"),
        Ok(_) => (101, String::new()),
    }
}

/// A client that numbers its messages. It reconnects until it is dropped or its stream ends.
pub(crate) struct Numbered {
    state: Arc<Mutex<State>>,
    changed: watch::Sender<u64>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    stream: Option<String>,
    queue: Option<SendQueue<String>>,
    received: Received,
    heard: Vec<Value>,
    /// The close code with which the stream ended.
    ended: Option<u16>,
}

impl Numbered {
    pub(crate) fn new(address: SocketAddr, token: &str) -> Self {
        let state = Arc::new(Mutex::new(State { queue: Some(SendQueue::new(usize::MAX)), ..State::default() }));
        let changed = watch::Sender::new(0);
        let task = tokio::spawn({
            let (state, changed, token) = (Arc::clone(&state), changed.clone(), token.to_owned());
            async move {
                while state.lock().expect("no panic").ended.is_none() {
                    connect(address, &token, &state, &changed).await;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
        Self { state, changed, task }
    }

    pub(crate) fn say(&self, message: &Value) {
        let mut state = self.state.lock().expect("no panic");
        let queue = state.queue.as_mut().expect("a queue");
        let frame = json!({"seq": queue.next_seq(), "message": message}).to_string();
        queue.push([(frame, 0)]);
        drop(state);
        self.changed.send_modify(|changes| *changes += 1);
    }

    /// Waits until a message was heard, and returns it.
    pub(crate) async fn until(&self, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait(|state| state.heard.iter().find(|message| fits(message)).cloned()).await
    }

    /// Waits until a number of messages of a method were heard.
    pub(crate) async fn until_count(&self, method: &str, count: usize) {
        let heard = |state: &State| state.heard.iter().filter(|message| message["method"] == method).count();
        self.wait(|state| (heard(state) >= count).then_some(())).await;
    }

    /// Waits until the stream has ended, and returns the close code.
    pub(crate) async fn end(&self) -> u16 {
        self.wait(|state| state.ended).await
    }

    pub(crate) async fn ask(&self, id: u64, method: &str, params: &Value) -> Value {
        self.say(&json!({"id": id, "method": method, "params": params}));
        let answer = self.until(|message| message["id"] == id && message.get("method").is_none()).await;
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) async fn initialize(&self, name: &str) {
        let capabilities = json!({"experimentalApi": true});
        let params = json!({"clientInfo": {"name": name, "version": "1"}, "capabilities": capabilities});
        self.ask(1, "initialize", &params).await;
        self.say(&json!({"method": "initialized"}));
    }

    pub(crate) fn heard(&self) -> Vec<Value> {
        self.state.lock().expect("no panic").heard.clone()
    }

    async fn wait<T>(&self, mut find: impl FnMut(&State) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = find(&self.state.lock().expect("no panic")) {
                    return found;
                }
                changes.changed().await.expect("the client is there");
            }
        };
        match timeout(LONG, waiting).await {
            Ok(found) => found,
            Err(_) => {
                let state = self.state.lock().expect("no panic");
                panic!(
                    "it does not happen; {} were heard, ended: {:?}, last: {:?}",
                    state.heard.len(),
                    state.ended,
                    state.heard.last()
                )
            }
        }
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connect(address: SocketAddr, token: &str, state: &Mutex<State>, changed: &watch::Sender<u64>) {
    let bearer = format!("Bearer {token}");
    let (path, is_new) = {
        let state = state.lock().expect("no panic");
        match &state.stream {
            Some(stream) => (format!("/?stream={stream}&after={}", state.received.last()), false),
            None => ("/".to_owned(), true),
        }
    };
    let headers = [("authorization", bearer.as_str()), ("sec-websocket-protocol", SUBPROTOCOL)];
    let Ok((mut socket, stream)) = open(address, &path, &headers).await else { return };
    {
        let mut state = state.lock().expect("no panic");
        state.queue.as_mut().expect("a queue").reconnected();
        if is_new {
            state.stream = stream;
        }
    }
    let mut changes = changed.subscribe();
    loop {
        loop {
            let frame = state.lock().expect("no panic").queue.as_mut().and_then(|queue| queue.send_next().cloned());
            let Some(frame) = frame else { break };
            if socket.send(Message::text(frame)).await.is_err() {
                return;
            }
        }
        let frame = tokio::select! {
            frame = socket.next() => frame,
            _ = changes.changed() => continue,
        };
        match frame {
            Some(Ok(Message::Text(text))) => {
                let frame: Value = serde_json::from_str(&text).expect("JSON");
                let seq = {
                    let mut state = state.lock().expect("no panic");
                    if let Some(ack) = frame["ack"].as_u64() {
                        state.queue.as_mut().expect("a queue").ack(ack, None);
                        None
                    } else if let Some(seq) = frame["seq"].as_u64() {
                        if state.received.note(seq) {
                            state.heard.push(frame["message"].clone());
                        }
                        Some(seq)
                    } else {
                        assert_eq!(frame["method"], "relay/stream", "{frame}");
                        assert_eq!(frame["params"]["stream"].as_str(), state.stream.as_deref());
                        None
                    }
                };
                changed.send_modify(|changes| *changes += 1);
                if let Some(seq) = seq
                    && socket.send(Message::text(json!({"ack": seq}).to_string())).await.is_err()
                {
                    return;
                }
            }
            Some(Ok(Message::Close(frame))) => {
                let code = frame.map_or(1005, |frame| u16::from(frame.code));
                if code >= 4000 {
                    state.lock().expect("no panic").ended = Some(code);
                    changed.send_modify(|changes| *changes += 1);
                }
                return;
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

/// An ordinary client.
pub(crate) struct Plain(pub(crate) Socket);

impl Plain {
    pub(crate) async fn new(address: SocketAddr, token: &str) -> Self {
        let bearer = format!("Bearer {token}");
        Self(open(address, "/", &[("authorization", &bearer)]).await.expect("it is let in").0)
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.expect("the relay reads");
    }

    /// Returns the next message, or the close code.
    pub(crate) async fn hear(&mut self) -> Result<Value, u16> {
        loop {
            match timeout(LONG, self.0.next()).await.expect("something comes") {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).expect("JSON")),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.say(&json!({"id": id, "method": method, "params": params})).await;
        loop {
            let message = self.hear().await.expect("the connection lasts");
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("result").is_some(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    pub(crate) async fn initialize(&mut self) {
        let params =
            json!({"clientInfo": {"name": "plain", "version": "1"}, "capabilities": {"experimentalApi": true}});
        self.ask(1, "initialize", &params).await;
        self.say(&json!({"method": "initialized"})).await;
    }
}
