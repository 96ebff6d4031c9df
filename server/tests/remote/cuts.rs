//! Connections that are cut: what each client hears is what it hears without cuts.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::client::Numbered;
use crate::proxy::{Cut, Proxy};
use crate::world::{Dialling, RunningRelay, TestDevices, script};

/// Which connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Server,
    Client(usize),
}

const CLIENTS: usize = 3;

/// Sessions that are played at the same time.
const AT_ONCE: usize = 12;

/// What the clients heard, and the number of frames on each line.
struct Played {
    heard: Vec<Vec<Value>>,
    frames: Vec<usize>,
}

/// Plays a session: three clients join a thread, one starts a turn, one steers it, and all hear it to its end.
async fn play(cut: Option<(Line, usize, Cut)>) -> Played {
    let devices = TestDevices::new();
    let tokens: Vec<String> = (0..CLIENTS).map(|number| devices.client(&format!("c{number}"))).collect();
    let relay = RunningRelay::start(&devices.path());
    let at = |line| cut.filter(|(cut, ..)| *cut == line).map(|(_, frame, how)| (frame, how));
    let to_server = Proxy::new(relay.address, at(Line::Server)).await;
    let mut dialling = Dialling::start(to_server.address, &devices.server_token);
    dialling.until(|_| true).await;
    let mut proxies = Vec::new();
    let mut clients = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let proxy = Proxy::new(relay.address, at(Line::Client(number))).await;
        clients.push(Numbered::new(proxy.address, token));
        proxies.push(proxy);
    }
    for (number, client) in clients.iter().enumerate() {
        client.initialize(&format!("c{number}")).await;
    }
    let started = clients[0].ask(2, "thread/start", &json!({})).await;
    let thread = started["thread"]["id"].as_str().expect("an id").to_owned();
    for client in &clients[1..] {
        client.until(|message| message["method"] == "thread/started").await;
        client.ask(2, "thread/resume", &json!({"threadId": thread})).await;
    }
    // The text is long enough for pieces, and comes in many messages besides.
    let long = "x".repeat(200 << 10);
    let steps = json!([[{"say": "streamed", "chunk": 4}, {"hold": "first"}, {"say": long, "chunk": 250_000}]]);
    clients[0].say(&json!({"id": 3, "method": "turn/start", "params": {"threadId": thread, "input": script(&steps)}}));
    for client in &clients {
        client.until(|message| message["method"] == "turn/started").await;
        client
            .until(|message| message["method"] == "item/agentMessage/delta" && message["params"]["delta"] == "amed")
            .await;
    }
    dialling.model.release("first");
    for client in &clients {
        client.until(|message| message["method"] == "turn/completed").await;
        let answer = client.ask(9, "thread/loaded/list", &json!({})).await;
        assert_eq!(answer["data"], json!([thread]));
    }
    let heard = clients.iter().map(|client| client.heard().iter().map(|message| dialling.plain(message)).collect());
    let heard = heard.collect();
    let frames = std::iter::once(&to_server).chain(&proxies).map(Proxy::frames).collect();
    if let Some((Line::Client(number), ..)) = cut {
        assert!(clients[number].connections() > 1, "nothing was cut: {cut:?}");
    }
    // The clients are still there, so that the ends of their streams are acknowledged.
    dialling.end().await;
    drop(clients);
    Played { heard, frames }
}

fn shown(heard: &[Value]) -> Vec<String> {
    let line = |message: &Value| {
        let text = message.to_string();
        text.chars().take(300).collect()
    };
    heard.iter().map(line).collect()
}

/// Plays the session once for each frame of a line, with a cut at that frame, and returns the number of sessions.
async fn cut_everywhere(line: Line, step: usize) -> usize {
    let whole = Arc::new(play(None).await);
    let again = play(None).await;
    for (first, second) in whole.heard.iter().zip(&again.heard) {
        assert_eq!(shown(first), shown(second), "the session is the same each time");
    }
    let frames = match line {
        Line::Server => whole.frames[0],
        Line::Client(number) => whole.frames[number + 1],
    };
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut sessions = Vec::new();
    // The last frames come after the session.
    for frame in (0..frames.saturating_sub(4)).step_by(step) {
        let how = [Cut::Before, Cut::Within, Cut::After][(frame / step) % 3];
        let (slots, whole) = (Arc::clone(&slots), Arc::clone(&whole));
        sessions.push(tokio::spawn(async move {
            let _slot = slots.acquire().await.expect("open");
            let played = play(Some((line, frame, how))).await;
            for (number, (heard, expected)) in played.heard.iter().zip(&whole.heard).enumerate() {
                assert_eq!(shown(heard), shown(expected), "client {number}, cut {how:?} frame {frame} of {line:?}");
            }
        }));
    }
    let count = sessions.len();
    for session in sessions {
        session.await.expect("nothing is lost or twice");
    }
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_of_the_servers_connection_loses_nothing() {
    assert!(cut_everywhere(Line::Server, 1).await > 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_of_a_clients_connection_loses_nothing() {
    assert!(cut_everywhere(Line::Client(0), 1).await > 20);
    assert!(cut_everywhere(Line::Client(1), 3).await > 10);
}
