//! Connections that are cut: what each client hears is what it hears without cuts.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use trace_relay::pieces::MAX_WHOLE_BYTES;

use crate::client::Numbered;
use crate::proxy::{Cut, From, Proxy};
use crate::world::{Dialling, RunningRelay, TestDevices, script};

/// Which connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Server,
    Client(usize),
}

const CLIENTS: usize = 3;

/// All lines, in the order of [`Played::frames`].
const LINES: [Line; 1 + CLIENTS] = [Line::Server, Line::Client(0), Line::Client(1), Line::Client(2)];

/// Sessions with cuts at random bytes.
const RANDOM_SESSIONS: usize = 24;

/// A line, the number of a frame or a connection on it, and where in it the line is cut.
type At = (Line, usize, Cut);

/// Where heads are cut: whose head, and after how many thousandths of its bytes.
const HEADS: [(From, usize); 8] = [
    (From::Client, 0),
    (From::Server, 0),
    (From::Client, 300),
    (From::Server, 300),
    (From::Client, 700),
    (From::Server, 700),
    (From::Client, 999),
    (From::Server, 999),
];

/// Sessions that are played at the same time.
const AT_ONCE: usize = 12;

/// What the clients heard, and the number of frames on each line.
struct Played {
    heard: Vec<Vec<Value>>,
    frames: Vec<usize>,
}

/// Plays a session: three clients join a thread, one starts a turn, one steers it, and all hear it to its end.
async fn play(cuts: &[At]) -> Played {
    let devices = TestDevices::new();
    let tokens: Vec<String> = (0..CLIENTS).map(|number| devices.client(&format!("c{number}"))).collect();
    let relay = RunningRelay::start(&devices.path());
    let at = |line| cuts.iter().filter(move |(cut, ..)| *cut == line).map(|(_, number, how)| (*number, *how));
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
    // The text is just long enough for pieces, and comes in many messages besides.
    let long = "x".repeat(MAX_WHOLE_BYTES + 1);
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
    for (number, proxy) in proxies.iter().enumerate() {
        let expected = at(Line::Client(number)).count();
        assert!(proxy.connections() > expected, "not everything was cut: {cuts:?}");
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

/// Plays sessions with cuts, and compares what each client hears with a session without. `choose` is given the number of
/// frames on each line, and returns the cuts of each session. Returns the number of sessions.
async fn cut(choose: impl FnOnce(&[usize]) -> Vec<Vec<At>>) -> usize {
    let whole = Arc::new(play(&[]).await);
    let again = play(&[]).await;
    for (first, second) in whole.heard.iter().zip(&again.heard) {
        assert_eq!(shown(first), shown(second), "the session is the same each time");
    }
    // The last frames come after the session.
    let frames: Vec<usize> = whole.frames.iter().map(|frames| frames.saturating_sub(4)).collect();
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut sessions = Vec::new();
    for cuts in choose(&frames) {
        let (slots, whole) = (Arc::clone(&slots), Arc::clone(&whole));
        sessions.push(tokio::spawn(async move {
            let _slot = slots.acquire().await.expect("open");
            let played = play(&cuts).await;
            for (number, (heard, expected)) in played.heard.iter().zip(&whole.heard).enumerate() {
                assert_eq!(shown(heard), shown(expected), "client {number}, cuts {cuts:?}");
            }
        }));
    }
    let count = sessions.len();
    for session in sessions {
        session.await.expect("nothing is lost or twice");
    }
    count
}

/// Returns where a frame is cut: all ways come in turn.
fn how(number: usize) -> Cut {
    [Cut::Before, Cut::Within(500), Cut::After][number % 3]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_of_the_servers_connection_loses_nothing() {
    let each = |frames: &[usize]| (0..frames[0]).map(|frame| vec![(Line::Server, frame, how(frame))]).collect();
    assert!(cut(each).await > 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_of_all_clients_connections_lose_nothing() {
    let each = |frames: &[usize]| {
        let most = frames[1..].iter().copied().max().unwrap_or_default();
        let cuts = |frame: usize| {
            // A line with fewer frames than another is cut at its last one.
            let at = |number: usize| {
                (Line::Client(number), frame.min(frames[number + 1].saturating_sub(1)), how(frame + number))
            };
            (0..CLIENTS).map(at).collect()
        };
        (0..most).map(cuts).collect()
    };
    assert!(cut(each).await > 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_within_the_heads_of_connections_lose_nothing() {
    let heads = |frames: &[usize]| {
        // Of the first connection of each line; and of the second one, after the first was cut in the middle of the session.
        let places = [0, 1].into_iter().flat_map(|connection| (0..HEADS.len()).map(move |place| (connection, place)));
        let cuts = |(connection, place): (usize, usize)| {
            LINES.iter().zip(frames).enumerate().flat_map(move |(number, (line, frames))| {
                let (sender, thousandths) = HEADS[(place + number) % HEADS.len()];
                let middle = (*line, frames / 2, how(place + number));
                let head = (*line, connection, Cut::Head(sender, thousandths));
                (connection > 0).then_some(middle).into_iter().chain([head])
            })
        };
        places.map(|place| cuts(place).collect()).collect()
    };
    assert_eq!(cut(heads).await, 2 * HEADS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_at_random_bytes_of_all_connections_lose_nothing() {
    let random = |frames: &[usize]| {
        // The same bytes each time.
        let mut state = 7_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).expect("31 bits") % limit.max(1)
        };
        let mut cuts = || {
            LINES.iter().zip(frames).map(|(line, frames)| (*line, below(*frames), Cut::Within(below(1_000)))).collect()
        };
        (0..RANDOM_SESSIONS).map(|_| cuts()).collect()
    };
    assert_eq!(cut(random).await, RANDOM_SESSIONS);
}
