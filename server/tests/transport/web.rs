//! Tests of the web client: who gets the page, the data and the socket.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use trace_server::transport::{Auth, AuthMode, AuthOptions, Listen, WebClient, WebToken, bind};

use crate::sockets::Client;
use crate::toy::{LONG, Server, list};

/// Sends a request with these headers only, and returns the status and the whole response. The response to an upgrade is
/// read as far as its head.
async fn ask(server: &Server, line: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    stream.write_all(format!("{line} HTTP/1.1\r\n{headers}\r\n").as_bytes()).await.expect("the server reads");
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let byte = timeout(LONG, stream.read_u8()).await.expect("it answers").expect("a response");
        answer.push(byte);
    }
    let answer = String::from_utf8(answer).expect("text").to_ascii_lowercase();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

async fn with_token() -> (Server, WebToken) {
    let token = WebToken::random().expect("random");
    (Server::web(None, Some(token.clone())).await, token)
}

/// Asks for an upgrade of `/web/ws` and returns the status.
async fn upgrade(server: &Server, host: &str, origin: Option<&str>, protocols: &str) -> (u16, String) {
    let mut headers = vec![
        ("Host", host),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("Sec-WebSocket-Protocol", protocols),
    ];
    headers.extend(origin.map(|origin| ("Origin", origin)));
    ask(server, "GET /web/ws", &headers).await
}

#[tokio::test]
async fn files_are_for_everybody_and_data_is_for_those_with_the_token() {
    let (server, token) = with_token().await;
    let host = server.address().to_string();
    let bearer = format!("Bearer {}", token.as_str());
    let other = format!("Bearer {}", "0".repeat(48));
    assert_eq!(ask(&server, "GET /web/", &[("Host", &host)]).await.0, 200);
    assert_eq!(ask(&server, "GET /web/data", &[("Host", &host)]).await.0, 401);
    assert_eq!(ask(&server, "GET /web/data", &[("Host", &host), ("Authorization", &other)]).await.0, 401);
    assert_eq!(ask(&server, "GET /web/data", &[("Host", &host), ("Authorization", &bearer)]).await.0, 200);
    assert_eq!(ask(&server, "GET /web/nothing", &[("Host", &host)]).await.0, 404);
    assert_eq!(ask(&server, "POST /web/", &[("Host", &host), ("Content-Length", "0")]).await.0, 405);
    for path in ["GET /web/", "GET /web/data", "GET /web/nothing", "POST /web/"] {
        let (_, head) = ask(&server, path, &[("Host", &host)]).await;
        for header in [
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(head.contains(header), "{path}: {header} is not in {head}");
        }
        assert!(!head.contains("set-cookie") && !head.contains("access-control"), "{head}");
    }
}

#[tokio::test]
async fn only_requests_to_an_own_name_and_without_an_origin_are_answered() {
    let (server, token) = with_token().await;
    let bearer = format!("Bearer {}", token.as_str());
    let port = server.address().port();
    for own in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "phone.example".to_owned()] {
        assert_eq!(ask(&server, "GET /web/data", &[("Host", &own), ("Authorization", &bearer)]).await.0, 200, "{own}");
        let origin = format!("http://{own}");
        let refused = ask(&server, "GET /web/", &[("Host", &own), ("Origin", &origin)]).await;
        assert_eq!(refused.0, 403, "even an own origin: {own}");
    }
    for other in [format!("evil.example:{port}"), "127.0.0.1".to_owned(), format!("[::1]:{port}")] {
        assert_eq!(
            ask(&server, "GET /web/data", &[("Host", &other), ("Authorization", &bearer)]).await.0,
            403,
            "{other}"
        );
    }
}

#[tokio::test]
async fn the_socket_needs_an_own_origin_and_the_token() {
    let (server, token) = with_token().await;
    let host = server.address().to_string();
    let origin = format!("http://{host}");
    let good = format!("trace.v2, trace.token.{}", token.as_str());
    let (status, head) = upgrade(&server, &host, Some(&origin), &good).await;
    assert_eq!(status, 101);
    assert!(head.contains("sec-websocket-protocol: trace.v2\r\n") && !head.contains(token.as_str()), "{head}");
    let wrong = format!("trace.v2, trace.token.{}", "0".repeat(48));
    let table = [
        (&*host, None, &*good, 403),
        (&*host, Some("null"), &*good, 403),
        (&*host, Some("http://evil.example"), &*good, 403),
        ("evil.example", Some("http://evil.example"), &*good, 403),
        (&*host, Some(&*origin), &*wrong, 401),
        (&*host, Some(&*origin), "trace.v2", 401),
    ];
    for (host, origin, protocols, wanted) in table {
        assert_eq!(upgrade(&server, host, origin, protocols).await.0, wanted, "{host} {origin:?} {protocols}");
    }
    // Programs connect as before, and pages nowhere else.
    assert_eq!(Client::tcp(&server).await.ask(&list("x")).await, json!({"id": "x", "result": {"data": []}}));
    assert_eq!(ask(&server, "GET /healthz", &[("Host", &host), ("Origin", &origin)]).await.0, 403);
}

#[tokio::test]
async fn the_page_speaks_the_protocol() {
    let (server, token) = with_token().await;
    let host = server.address().to_string();
    let stream = TcpStream::connect(server.address()).await.expect("the server listens");
    let mut request = format!("ws://{host}/web/ws").into_client_request().expect("a good URL");
    let value = |text: &str| HeaderValue::from_str(text).expect("a good value");
    request.headers_mut().insert("origin", value(&format!("http://{host}")));
    let protocols = format!("trace.v2, trace.token.{}", token.as_str());
    request.headers_mut().insert("sec-websocket-protocol", value(&protocols));
    let (socket, _) = client_async(request, stream).await.expect("it is let in");
    let mut page = Client(socket).introduced().await;
    assert_eq!(page.ask(&list(1)).await, json!({"id": 1, "result": {"data": []}}));
}

#[tokio::test]
async fn with_a_rule_for_tokens_the_page_shows_that_token() {
    let options = AuthOptions {
        mode: Some(AuthMode::CapabilityToken),
        // The digest of "secret".
        token_sha256: Some("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b".to_owned()),
        ..AuthOptions::default()
    };
    let server = Server::web(Auth::from_options(&options).expect("good options"), None).await;
    let host = server.address().to_string();
    let origin = format!("http://{host}");
    assert_eq!(upgrade(&server, &host, Some(&origin), "trace.v2, trace.token.secret").await.0, 101);
    assert_eq!(upgrade(&server, &host, Some(&origin), "trace.v2, trace.token64.c2VjcmV0").await.0, 101);
    assert_eq!(upgrade(&server, &host, Some(&origin), "trace.v2, trace.token.other").await.0, 401);
}

#[tokio::test]
async fn the_banner_has_the_address_of_the_page() {
    let web = |token| WebClient {
        open: axum::Router::new(),
        guarded: axum::Router::new(),
        token,
        auth: None,
        names: Vec::new(),
    };
    let token = WebToken::random().expect("random");
    let bound = bind(&Listen::WebSocket(([127, 0, 0, 1], 0).into()), None).await.expect("a free port");
    let address = bound.address().expect("an address");
    let bound = bound.with_web(web(Some(token.clone()))).expect("it listens on TCP");
    let url = format!("http://{address}/web/#token={}", token.as_str());
    assert_eq!(bound.banner().and_then(|banner| banner.web), Some(url));
    let refused = bind(&Listen::Off, None).await.expect("bound").with_web(web(None)).expect_err("refused");
    assert!(refused.to_string().contains("--listen ws://IP:PORT"), "{refused}");
}
