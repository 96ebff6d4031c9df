//! Tests of clients on WebSockets, over TCP and over a unix socket.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{SinkExt as _, StreamExt as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use trace_server::connection::Delivery;
use trace_server::outbound::{CloseReason, MAX_QUEUED_BYTES};
use trace_server::transport::{Auth, AuthMode, AuthOptions, MAX_CONNECTIONS, MAX_MESSAGE_BYTES, proxy};

use crate::toy::{LONG, Pair, Server, initialize, json, list, read_thread};

/// A client on a WebSocket.
pub(crate) struct Client<S>(pub(crate) WebSocketStream<S>);

impl Client<TcpStream> {
    pub(crate) async fn tcp(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address()).await.expect("the server listens");
        Self::upgrade(stream, "/", &[]).await.expect("it is let in").introduced().await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) async fn upgrade(stream: S, path: &str, headers: &[(&'static str, &str)]) -> Result<Self, Error> {
        let mut request = format!("ws://localhost{path}").into_client_request().expect("a good URL");
        for (name, value) in headers {
            request.headers_mut().append(*name, HeaderValue::from_str(value).expect("a good value"));
        }
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = client_async_with_config(request, stream, Some(config)).await?;
        Ok(Self(socket))
    }

    pub(crate) async fn introduced(mut self) -> Self {
        self.say(&initialize()).await;
        assert!(self.hear().await.expect("an answer").get("result").is_some());
        assert_eq!(self.hear().await.expect("a greeting")["method"], "warning");
        self
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.expect("the server reads");
    }

    /// Returns the next frame, or `None` if the connection has ended.
    pub(crate) async fn frame(&mut self) -> Option<Message> {
        timeout(LONG, self.0.next()).await.expect("something comes").and_then(Result::ok)
    }

    /// Returns the next message, or `None` if the connection has ended.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        match self.frame().await? {
            Message::Text(text) => Some(json(&text)),
            Message::Close(_) => None,
            other => panic!("a text was expected, not {other:?}"),
        }
    }

    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        self.say(text).await;
        self.hear().await.expect("an answer")
    }
}

/// Sends a plain HTTP request, and returns the status and the rest of the response.
pub(crate) async fn http(server: &Server, head: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
    let request = format!("{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    timeout(LONG, stream.read_to_string(&mut answer)).await.expect("it answers").expect("text");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

fn status(refused: Result<Client<TcpStream>, Error>) -> u16 {
    match refused {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(other) => panic!("an answer was expected, not {other}"),
        Ok(_) => 101,
    }
}

async fn connect(server: &Server, headers: &[(&'static str, &str)]) -> u16 {
    let stream = TcpStream::connect(server.address()).await.expect("the server listens");
    status(Client::upgrade(stream, "/", headers).await)
}

#[tokio::test]
async fn messages_pass_in_both_directions_on_any_path() {
    let server = Server::tcp(None).await;
    for path in ["/", "/any/path?x=1", "/readyz", "/bridge"] {
        let stream = TcpStream::connect(server.address()).await.expect("the server listens");
        let mut client = Client::upgrade(stream, path, &[]).await.expect("it is let in").introduced().await;
        assert_eq!(client.ask(&list("x")).await, json!({"id": "x", "result": {"data": []}}));
    }
}

#[tokio::test]
async fn binary_frames_are_dropped_and_pings_answered() {
    let server = Server::tcp(None).await;
    let mut client = Client::tcp(&server).await;
    client.0.send(Message::binary(list(1))).await.expect("sent");
    client.0.send(Message::Ping("p".into())).await.expect("sent");
    client.0.send(Message::Pong("p".into())).await.expect("sent");
    assert_eq!(client.frame().await, Some(Message::Pong("p".into())));
    assert_eq!(client.ask(&list(2)).await["id"], 2);
}

#[tokio::test]
async fn long_messages_are_accepted_and_too_long_ones_end_the_connection() {
    let server = Server::tcp(None).await;
    let mut client = Client::tcp(&server).await;
    let with_text =
        |bytes| json!({"id": 1, "method": "thread/loaded/list", "params": {"x": "p".repeat(bytes)}}).to_string();
    assert_eq!(client.ask(&with_text(17 << 20)).await["id"], 1);
    // The server may close the connection before the whole message is written.
    let _ = client.0.send(Message::text(with_text(MAX_MESSAGE_BYTES))).await;
    while client.frame().await.is_some() {}
    server.toy.until(|seen| seen.closed.len() == 1).await;
}

#[tokio::test]
async fn health_checks_are_open_to_all_but_web_pages() {
    let server = Server::tcp(capability("t")).await;
    for path in ["readyz", "healthz"] {
        assert_eq!(http(&server, &format!("GET /{path} HTTP/1.1")).await.0, 200);
        assert_eq!(http(&server, &format!("HEAD /{path} HTTP/1.1")).await.0, 200);
        assert_eq!(http(&server, &format!("GET /{path} HTTP/1.1\r\nOrigin: null")).await.0, 403);
    }
    let server = Server::tcp(None).await;
    for path in ["/", "/other", "/readyz/x"] {
        assert_eq!(http(&server, &format!("GET {path} HTTP/1.1")).await.0, 400, "{path}");
    }
    assert_eq!(http(&server, "POST / HTTP/1.1\r\nContent-Length: 0").await.0, 400);
    assert_eq!(http(&server, "GET / HTTP/1.1\r\nOrigin: http://evil.example").await.0, 403);
    assert_eq!(http(&server, "POST /bridge HTTP/1.1\r\nContent-Length: 0\r\nOrigin: http://a").await.0, 403);
    assert_eq!(connect(&server, &[("Origin", "http://evil.example")]).await, 403);
    assert_eq!(connect(&server, &[]).await, 101);
}

#[tokio::test]
async fn connections_are_limited() {
    let server = Server::tcp(None).await;
    let mut others: Vec<_> = (0..MAX_CONNECTIONS).map(|_| Pair::bare(&server.opener)).collect();
    assert_eq!(connect(&server, &[]).await, 503);
    assert_eq!(http(&server, "POST /bridge HTTP/1.1\r\nContent-Length: 0").await.0, 503);
    others.pop();
    assert_eq!(connect(&server, &[]).await, 101);
}

fn capability(token: &str) -> Option<Auth> {
    let digest = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
    let mode = Some(AuthMode::CapabilityToken);
    Auth::from_options(&AuthOptions { mode, token_sha256: Some(digest), ..AuthOptions::default() })
        .expect("good options")
}

#[tokio::test]
async fn a_capability_token_lets_in() {
    let server = Server::tcp(capability("secret-token")).await;
    let table = [
        (None, 401),
        (Some("Bearer wrong"), 401),
        (Some("secret-token"), 401),
        (Some("Bearer secret-token"), 101),
        (Some("bearer  secret-token "), 101),
    ];
    for (token, expected) in table {
        let headers: Vec<_> = token.map(|token| ("Authorization", token)).into_iter().collect();
        assert_eq!(connect(&server, &headers).await, expected, "{token:?}");
    }
    let (status, answer) = http(&server, "POST /bridge HTTP/1.1\r\nContent-Length: 0").await;
    assert_eq!(status, 401);
    assert!(answer.to_lowercase().contains("www-authenticate: bearer"));
    assert!(answer.ends_with("a bearer token is required\n"));
    assert_eq!(connect(&server, &[("Authorization", "Bearer secret-token"), ("Origin", "x")]).await, 403);
}

#[tokio::test]
async fn a_signed_token_lets_in() {
    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{SECRET}\n")).expect("written");
    let options = AuthOptions {
        mode: Some(AuthMode::SignedBearerToken),
        shared_secret_file: Some(file.path().into()),
        issuer: Some("i".to_owned()),
        audience: Some("a".to_owned()),
        ..AuthOptions::default()
    };
    let server = Server::tcp(Auth::from_options(&options).expect("good options")).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let token = |claims: &Value, secret: &str| {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({"alg": "HS256", "typ": "JWT"})), part(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
        mac.update(signed.as_bytes());
        format!("Bearer {signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    };
    let good = json!({"exp": now + 300, "iss": "i", "aud": ["b", "a"]});
    let table = [
        (token(&good, SECRET), 101),
        (token(&good, &"x".repeat(32)), 401),
        (token(&json!({"exp": now - 300, "iss": "i", "aud": "a"}), SECRET), 401),
        (token(&json!({"exp": now + 300, "iss": "j", "aud": "a"}), SECRET), 401),
        ("Bearer junk".to_owned(), 401),
    ];
    for (token, expected) in table {
        assert_eq!(connect(&server, &[("Authorization", &token)]).await, expected, "{token}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected_without_delaying_others() {
    let server = Server::tcp(None).await;
    let mut good = Client::tcp(&server).await;
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4 << 10).expect("a small buffer");
    let stream = socket.connect(server.address()).await.expect("the server listens");
    let mut slow = Client::upgrade(stream, "/", &[]).await.expect("it is let in");
    slow.say(&initialize()).await;
    let seen = server.toy.until(|seen| seen.initialized.len() == 2).await;
    let slow_connection = &seen.initialized[1];

    let message = "x".repeat(1 << 20);
    let mut most_bytes = 0;
    let mut sent = 0;
    loop {
        let deliveries = server.toy.broadcast(&message);
        // Send the next message only after the other client has received this one.
        assert_eq!(good.hear().await.expect("it is served")["params"]["message"], message);
        most_bytes = most_bytes.max(slow_connection.backlog().bytes);
        sent += 1;
        assert!(sent < 4_096, "{most_bytes} bytes wait");
        if deliveries.get(1).is_none_or(|delivery| *delivery == Delivery::Ended) {
            break;
        }
    }
    assert!(most_bytes <= MAX_QUEUED_BYTES);
    assert_eq!(slow_connection.end_reason(), Some(CloseReason::TooSlow));
    assert_eq!(slow_connection.backlog().bytes, 0);
    server.toy.until(|seen| seen.closed.len() == 1).await;
    assert_eq!(good.ask(&list(1)).await["id"], 1);
    while slow.frame().await.is_some() {}
}

#[tokio::test]
async fn requests_of_a_client_that_does_not_read_are_not_accepted() {
    const REQUESTS: usize = 20_000;
    let server = Server::tcp(None).await;
    let client = Client::tcp(&server).await;
    let (mut to_server, mut from_server) = client.0.split();
    let writer = tokio::spawn(async move {
        for id in 0..REQUESTS {
            to_server.feed(Message::text(list(id))).await.expect("the server reads");
        }
        to_server.flush().await.expect("the server reads");
        to_server
    });
    let mut answers = 0;
    while answers < REQUESTS {
        let text =
            timeout(LONG, from_server.next()).await.expect("something comes").expect("it lasts").expect("a text");
        let answer = json(text.to_text().expect("a text"));
        assert!(answer.get("result").is_some() || answer["error"]["code"] == -32001, "{answer}");
        answers += 1;
    }
    drop(writer.await.expect("no panic"));
}

#[tokio::test]
async fn connections_leave_nothing_behind() {
    let server = Server::tcp(None).await;
    server.toy.release("t", usize::MAX >> 4);
    let clients = (0..60_usize).map(|number| {
        let (toy, address) = (server.toy.clone(), server.address());
        async move {
            let stream = TcpStream::connect(address).await.expect("the server listens");
            let mut client = Client::upgrade(stream, "/", &[]).await.expect("it is let in");
            client.say(&initialize()).await;
            for id in 0..number {
                client.say(&read_thread(id, "t")).await;
                toy.broadcast("noise");
            }
            match number % 4 {
                0 => drop(client.0.close(None).await),
                1 => drop(client),
                2 => {
                    // Leave in the middle of a frame.
                    let mut stream = client.0.into_inner();
                    stream.write_all(&[0x81, 0xfe]).await.expect("the server reads");
                }
                _ => {
                    let mut stream = client.0.into_inner();
                    stream.shutdown().await.expect("it is open");
                    let _ = stream.read_to_end(&mut Vec::new()).await;
                }
            }
        }
    });
    futures_util::future::join_all(clients).await;
    let toy = server.toy.clone();
    toy.until(|seen| seen.closed.len() == 60).await;
    assert_eq!(server.opener.connections(), 0);
    // Running requests continue to their end.
    timeout(LONG, async {
        while !toy.is_idle() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it ends");
}

#[tokio::test]
async fn a_unix_socket_is_a_websocket_for_its_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sock");
    let server = Server::unix(&path).await;
    let stream = UnixStream::connect(&path).await.expect("the server listens");
    let mut client = Client::upgrade(stream, "/", &[("Origin", "http://a")]).await.expect("pages are no matter here");
    client.say(&initialize()).await;
    let mut client = {
        assert!(client.hear().await.expect("an answer").get("result").is_some());
        client
    };
    client.hear().await.expect("a greeting");
    assert_eq!(client.ask(&list(1)).await["id"], 1);
    server.toy.finish();
    server.shutdown.signal();
    assert_eq!(client.hear().await, None);
    server.ended().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_proxy_passes_bytes_in_both_directions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sock");
    let nobody = proxy(tokio::io::empty(), tokio::io::sink(), &path).await.expect_err("nobody listens");
    assert!(nobody.to_string().contains("s.sock"));

    let server = Server::unix(&path).await;
    let (near, far) = tokio::io::duplex(1 << 10);
    let proxy = tokio::spawn(async move {
        let (input, output) = tokio::io::split(far);
        proxy(input, output, &path).await
    });
    let mut client = Client::upgrade(near, "/", &[]).await.expect("it is let in").introduced().await;
    assert_eq!(client.ask(&list(1)).await["id"], 1);
    client.0.close(None).await.expect("sent");
    while client.frame().await.is_some() {}
    timeout(LONG, proxy).await.expect("it ends").expect("no panic").expect("in good order");
    server.toy.until(|seen| seen.closed.len() == 1).await;
}
