//! Sessions through a relay.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use trace_relay::devices::{CODE_SECONDS, MAX_WRONG_CODES};
use trace_relay::file::FileError;
use trace_relay::relay::{MAX_STREAMS, StreamEnd};
use trace_server::transport::RemoteStatus;

use crate::client::{LONG, Numbered, Plain, open, refused};
use crate::proxy::Proxy;
use crate::world::{DEVICE, Dialling, RunningRelay, TestDevices, script};

/// Sends a request for a token, and returns the status and the body.
async fn pair(relay: &RunningRelay, body: &Value) -> (u16, String) {
    let mut stream = TcpStream::connect(relay.address).await.expect("the relay listens");
    let body = body.to_string();
    let request = format!(
        "POST /pair HTTP/1.1\r\nHost: relay\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("the relay reads");
    let mut answer = String::new();
    timeout(LONG, stream.read_to_string(&mut answer)).await.expect("it answers").expect("text");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordinary_client_needs_nothing_but_its_token() {
    let devices = TestDevices::new();
    let relay = RunningRelay::start(&devices.path());
    let mut dialling = Dialling::start(relay.address, &devices.server_token);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    // The token comes from a code, as for everybody.
    let code = devices.file.update(|devices| devices.pair(&[DEVICE.to_owned()], None, now())).expect("a code");
    let (status, paired) = pair(&relay, &json!({"code": code, "name": "phone"})).await;
    assert_eq!(status, 200, "{paired}");
    let paired: Value = serde_json::from_str(&paired).expect("JSON");
    assert_eq!(paired["devices"], json!([DEVICE]));
    let token = paired["token"].as_str().expect("a token");
    assert_eq!(pair(&relay, &json!({"code": code})).await.0, 403, "a code is good once");

    let mut client = Plain::new(relay.address, token).await;
    client.initialize().await;
    let started = client.ask(2, "thread/start", &json!({})).await;
    let thread = &started["thread"]["id"];
    let long = "y".repeat(300 << 10);
    let steps = json!([[{"say": long, "chunk": 400_000}]]);
    client.ask(3, "turn/start", &json!({"threadId": thread, "input": script(&steps)})).await;
    loop {
        let message = client.hear().await.expect("the connection lasts");
        if message["method"] == "item/completed" && message["params"]["item"]["type"] == "agentMessage" {
            assert_eq!(message["params"]["item"]["text"], long, "pieces are put together");
        }
        if message["method"] == "turn/completed" {
            break;
        }
    }
    // A message that is long in the other direction is split, too.
    let refused = json!({"threadId": "p".repeat(400 << 10)});
    client.say(&json!({"id": 4, "method": "thread/read", "params": refused})).await;
    let answer = client.hear().await.expect("the connection lasts");
    assert!(answer["id"] == 4 && answer.get("error").is_some(), "{answer}");
    client.0.close(None).await.expect("it closes");
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_tokens_and_web_pages_are_refused() {
    let devices = TestDevices::new();
    let relay = RunningRelay::start(&devices.path());
    let token = devices.client("phone");
    let bearer = format!("Bearer {token}");
    let of_server = format!("Bearer {}", devices.server_token);
    for (path, headers, expected) in [
        ("/", vec![], 401),
        ("/", vec![("authorization", "Bearer wrong")], 401),
        ("/", vec![("authorization", of_server.as_str())], 401),
        ("/server", vec![("authorization", bearer.as_str())], 401),
        ("/server", vec![], 401),
        ("/", vec![("authorization", bearer.as_str()), ("authorization", bearer.as_str())], 401),
        ("/", vec![("authorization", bearer.as_str()), ("origin", "http://localhost")], 403),
        ("/d/other", vec![("authorization", bearer.as_str())], 403),
        ("/?stream=x", vec![("authorization", bearer.as_str())], 400),
        (&format!("/?stream=r{}", "0".repeat(32)), vec![("authorization", bearer.as_str())], 400),
    ] {
        assert_eq!(refused(relay.address, path, &headers).await.0, expected, "{path} {headers:?}");
    }
    let mut dialling = Dialling::start(relay.address, "wrong");
    dialling.until(|status| matches!(status, RemoteStatus::Unauthorized(why) if why.contains("401"))).await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_codes_end_the_code() {
    let devices = TestDevices::new();
    let relay = RunningRelay::start(&devices.path());
    let code = devices.file.update(|devices| devices.pair(&[DEVICE.to_owned()], None, now())).expect("a code");
    for _ in 0..MAX_WRONG_CODES {
        assert_eq!(pair(&relay, &json!({"code": "22222222"})).await.0, 403);
    }
    assert_eq!(pair(&relay, &json!({"code": code})).await.0, 403);
    let old = devices.file.update(|devices| devices.pair(&[DEVICE.to_owned()], None, now() - CODE_SECONDS));
    assert_eq!(pair(&relay, &json!({"code": old.expect("a code")})).await.0, 403);
    assert_eq!(pair(&relay, &json!({"code": "22222222", "name": "a/b"})).await.0, 403, "no code is valid");
    assert_eq!(pair(&relay, &json!([])).await.0, 400);
    assert_eq!(pair(&relay, &json!({"code": "x".repeat(5_000)})).await.0, 413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_client_and_a_revoked_server_are_ended_at_once() {
    let devices = TestDevices::new();
    let relay = RunningRelay::start(&devices.path());
    let (phone, tablet) = (devices.client("phone"), devices.client("tablet"));
    let mut dialling = Dialling::start(relay.address, &devices.server_token);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let mut plain = Plain::new(relay.address, &phone).await;
    plain.initialize().await;
    let numbered = Numbered::new(relay.address, &phone);
    numbered.initialize("numbered").await;
    let other = Numbered::new(relay.address, &tablet);
    other.initialize("other").await;
    devices.file.update(|devices| devices.revoke(DEVICE, Some("phone"))).expect("it is there");
    let end = loop {
        if let Err(code) = plain.hear().await {
            break code;
        }
    };
    assert_eq!((end, numbered.end().await), (StreamEnd::Revoked.code(), StreamEnd::Revoked.code()));
    other.ask(2, "thread/loaded/list", &json!({})).await;
    devices.file.update(|devices| devices.revoke(DEVICE, None)).expect("it is there");
    assert_eq!(other.end().await, StreamEnd::Revoked.code());
    dialling.until(|status| matches!(status, RemoteStatus::Unauthorized(_))).await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_several_devices_has_to_name_one() {
    let devices = TestDevices::new();
    let second = devices.file.update(|devices| devices.add("desktop")).expect("a device");
    let relay = RunningRelay::start(&devices.path());
    let both = [DEVICE.to_owned(), "desktop".to_owned()];
    let code = devices.file.update(|devices| devices.pair(&both, None, now())).expect("a code");
    let (_, paired) = pair(&relay, &json!({"code": code})).await;
    let paired: Value = serde_json::from_str(&paired).expect("JSON");
    let bearer = format!("Bearer {}", paired["token"].as_str().expect("a token"));
    let headers = [("authorization", bearer.as_str())];
    let (status, why) = refused(relay.address, "/", &headers).await;
    assert!(status == 400 && why.contains("/d/DEVICE: desktop, laptop"), "{why}");
    let mut dialling = Dialling::start(relay.address, &second);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let mut client = Plain(open(relay.address, "/d/desktop", &headers).await.expect("it is let in").0);
    client.initialize().await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_relay_loses_nothing_of_streams_that_are_resumed() {
    let devices = TestDevices::new();
    let token = devices.client("phone");
    let relay = RunningRelay::start(&devices.path());
    let to_server = Proxy::new(relay.address, None).await;
    let to_client = Proxy::new(relay.address, None).await;
    let mut dialling = Dialling::start(to_server.address, &devices.server_token);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let client = Numbered::new(to_client.address, &token);
    client.initialize("phone").await;
    let mut ordinary = Plain::new(to_client.address, &token).await;
    ordinary.initialize().await;
    let started = client.ask(2, "thread/start", &json!({})).await;
    let thread = started["thread"]["id"].clone();
    let mut relay = Some(relay);
    for round in 0..4_u64 {
        let steps = json!([[{"say": "before"}, {"hold": "first"}, {"say": "after"}]]);
        let input = json!({"threadId": thread, "input": script(&steps)});
        client.ask(10 + 2 * round, "turn/start", &input).await;
        if round % 2 == 0 {
            relay.take().expect("it runs").kill();
        } else {
            relay.take().expect("it runs").stop();
        }
        to_server.cut();
        to_client.cut();
        // The turn goes on without the relay, and the client speaks without it.
        dialling.model.release("first");
        client.say(&json!({"id": 11 + 2 * round, "method": "thread/loaded/list", "params": {}}));
        let next = RunningRelay::start(&devices.path());
        to_server.set_target(next.address);
        to_client.set_target(next.address);
        relay = Some(next);
        client.until(|message| message["id"] == 11 + 2 * round && message.get("method").is_none()).await;
        let ends = usize::try_from(round).expect("small") + 1;
        client.until_count("turn/completed", ends).await;
        let heard = client.heard();
        let answers: Vec<_> =
            heard.iter().filter(|message| message.get("result").is_some()).map(|message| &message["id"]).collect();
        assert_eq!(answers.len(), 2 + 2 * ends, "each request is answered once: {answers:?}");
        let items = heard.iter().filter(|message| message["method"] == "item/completed");
        let texts: Vec<_> = items.filter_map(|message| message["params"]["item"]["text"].as_str()).collect();
        assert_eq!(texts, ["before", "after"].repeat(ends), "each message comes once");
    }
    // An ordinary client has to connect again.
    let end = loop {
        if let Err(code) = ordinary.hear().await {
            break code;
        }
    };
    assert!(end == 1006 || end == 1001, "{end}");
    dialling.end().await;
    assert_eq!(client.end().await, StreamEnd::ServerLeft.code());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_process_does_not_continue_the_streams_of_another() {
    let devices = TestDevices::new();
    let token = devices.client("phone");
    let relay = RunningRelay::start(&devices.path());
    let mut first = Dialling::start(relay.address, &devices.server_token);
    first.until(|status| *status == RemoteStatus::Connected).await;
    let client = Numbered::new(relay.address, &token);
    client.initialize("phone").await;
    let mut second = Dialling::start(relay.address, &devices.server_token);
    first.until(|status| *status == RemoteStatus::Replaced).await;
    second.until(|status| *status == RemoteStatus::Connected).await;
    assert_eq!(client.end().await, StreamEnd::ServerLeft.code());
    let again = Numbered::new(relay.address, &token);
    again.initialize("phone").await;
    first.end().await;
    again.ask(2, "thread/loaded/list", &json!({})).await;
    second.end().await;
    assert_eq!(again.end().await, StreamEnd::ServerLeft.code());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_client_stops_nobody_else() {
    const TURNS: u64 = 12;
    let devices = TestDevices::new();
    let token = devices.client("phone");
    let relay = RunningRelay::start(&devices.path());
    let mut dialling = Dialling::start(relay.address, &devices.server_token);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let mut slow = Plain::new(relay.address, &token).await;
    slow.initialize().await;
    let quick = Numbered::new(relay.address, &token);
    quick.initialize("quick").await;
    let started = quick.ask(2, "thread/start", &json!({})).await;
    let thread = started["thread"]["id"].clone();
    slow.ask(2, "thread/resume", &json!({"threadId": thread})).await;
    // More than the sockets and the relay hold, and less than what ends the connection of a client.
    let text = "z".repeat(900 << 10);
    for turn in 0..TURNS {
        let steps = json!([[{"say": text, "chunk": 100_000}]]);
        quick.ask(3 + turn, "turn/start", &json!({"threadId": thread, "input": script(&steps)})).await;
        quick.until_count("turn/completed", 1 + usize::try_from(turn).expect("small")).await;
    }
    // The slow client reads at last, and has missed nothing.
    let (mut said, mut turns) = (0, 0);
    while turns < TURNS {
        let message = slow.hear().await.expect("the connection lasts");
        match message["method"].as_str() {
            Some("item/agentMessage/delta") => said += message["params"]["delta"].as_str().expect("text").len(),
            Some("turn/completed") => turns += 1,
            _ => {}
        }
    }
    assert_eq!(said, 12 * text.len());
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_has_a_limited_number_of_streams() {
    let devices = TestDevices::new();
    let bearer = format!("Bearer {}", devices.client("phone"));
    let relay = RunningRelay::start(&devices.path());
    let headers = [("authorization", bearer.as_str())];
    let mut clients = Vec::new();
    for _ in 0..MAX_STREAMS {
        clients.push(open(relay.address, "/", &headers).await.expect("it is let in"));
    }
    assert_eq!(refused(relay.address, "/", &headers).await.0, 503);
    drop(clients.pop());
    timeout(LONG, async {
        while refused(relay.address, "/", &headers).await.0 == 503 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("a client that left makes room");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_session_is_ended() {
    let devices = TestDevices::new();
    let token = devices.client("phone");
    let relay = RunningRelay::start(&devices.path());
    let mut dialling = Dialling::start(relay.address, &devices.server_token);
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let mut client = Plain::new(relay.address, &token).await;
    client.say(&json!({"id": 1, "method": "thread/start", "params": {}})).await;
    assert_eq!(client.hear().await, Err(StreamEnd::NotInitialize.code()));
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("sec-websocket-protocol", "trace.relay.v1")];
    let (socket, stream) = open(relay.address, "/", &headers).await.expect("it is let in");
    let mut client = Plain(socket);
    let greeting = client.hear().await.expect("a greeting");
    assert_eq!(greeting, json!({"method": "relay/stream", "params": {"stream": stream}}));
    client.say(&json!({"id": 1, "method": "initialize"})).await;
    assert_eq!(client.hear().await, Err(StreamEnd::BadFrame.code()));
    // A stream that was never there.
    let path = format!("/?stream=r{}&after=3", "0".repeat(32));
    let mut client = Plain(open(relay.address, &path, &headers).await.expect("it is let in").0);
    client.hear().await.expect("a greeting");
    assert_eq!(client.hear().await, Err(StreamEnd::ServerLeft.code()));
    dialling.end().await;
}

#[test]
fn a_devices_file_with_errors_is_told() {
    let devices = TestDevices::new();
    std::fs::write(devices.path(), "{").expect("writes");
    assert!(matches!(devices.file.read(), Err(FileError::Invalid { .. })));
}
