//! Sealed streams: what a relay sees of them, and what becomes of them if it changes something.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use trace_protocol::Experimental;
use trace_relay::relay::StreamEnd;
use trace_relay::seal::clients::SealedClientsError;
use trace_server::outbound::OutboundPolicy;
use trace_server::transport::in_process::{Event, connect};
use trace_server::transport::{ConnectEvent, REMOTE_SILENCE_TIMEOUT, RemoteStatus, UNSEALED_CODE};

use crate::client::{LONG, Plain, open, refused};
use crate::proxy::{Cut, From, Proxy};
use crate::world::{Connecting, Dialling, RunningRelay, SealingKeys, TestDevices, script};

const SECRET: &str = "a word that nobody else may read";

/// A relay, a server behind it, and the keys of both ends.
struct World {
    relay: RunningRelay,
    devices: TestDevices,
    keys: SealingKeys,
    dialling: Dialling,
}

impl World {
    async fn new(is_required: bool) -> Self {
        let devices = TestDevices::new();
        let keys = SealingKeys::new();
        let relay = RunningRelay::start(&devices.path());
        let sealing = Some(keys.sealing(is_required));
        let mut dialling = Dialling::sealed(relay.address, &devices.server_token, sealing);
        dialling.until(|status| *status == RemoteStatus::Connected).await;
        Self { relay, devices, keys, dialling }
    }
}

/// Plays a session, and returns what the client heard.
async fn play(client: &mut Plain, dialling: &Dialling) -> Vec<Value> {
    let mut heard = Vec::new();
    client.initialize().await;
    let started = client.ask(2, "thread/start", &json!({})).await;
    let long = format!("{SECRET} ").repeat(8_000);
    let steps = json!([[{"say": SECRET, "chunk": 4}, {"say": long, "chunk": 250_000}]]);
    client
        .say(&json!({"id": 3, "method": "turn/start", "params": {"threadId": started["thread"]["id"], "input": script(&steps)}}))
        .await;
    loop {
        let message = client.hear().await.expect("the connection lasts");
        heard.push(dialling.plain(&message));
        if message["method"] == "turn/completed" {
            return heard;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sealed_session_is_the_same_and_the_relay_cannot_read_it() {
    let mut sessions = Vec::new();
    for how in ["without the program", "not sealed", "sealed"] {
        // What a server has done before shows in what clients hear.
        let world = World::new(false).await;
        let token = world.devices.client("phone");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let spy = Proxy::hostile(world.relay.address, {
            let seen = Arc::clone(&seen);
            move |_, _, text| {
                seen.lock().expect("no panic").push(text.clone());
                vec![text]
            }
        })
        .await;
        let keys = (how == "sealed").then(|| world.keys.client("phone"));
        let connecting = Connecting::start(spy.address, &token, keys).await;
        let (address, token) =
            if how.starts_with("without") { (spy.address, token.as_str()) } else { (connecting.address, "") };
        let mut client = Plain::new(address, token).await;
        sessions.push(play(&mut client, &world.dialling).await);
        let events = connecting.events.lock().expect("no panic").clone();
        let expected = match how {
            "sealed" => vec![ConnectEvent::Connected { is_sealed: true }],
            "not sealed" => vec![ConnectEvent::Connected { is_sealed: false }],
            _ => vec![],
        };
        assert_eq!(events, expected);
        drop(client);
        connecting.end().await;
        world.dialling.end().await;
        let seen = std::mem::take(&mut *seen.lock().expect("no panic"));
        assert_eq!(seen.iter().any(|text| text.contains(SECRET)), how != "sealed");
        for text in seen.iter().filter(|_| how == "sealed") {
            let frame: Value = serde_json::from_str(text).expect("JSON");
            let is_sealed = frame["message"]
                .as_object()
                .is_some_and(|message| message.len() == 1 && message.get("sealed").is_some_and(Value::is_string));
            assert!(is_sealed || frame.get("message").is_none(), "{text}");
            assert!(!text.contains("initialize"), "{text}");
        }
    }
    let shown =
        |session: &[Value]| session.iter().map(|message| message.to_string().chars().take(300).collect()).collect();
    let shown: Vec<Vec<String>> = sessions.iter().map(|session| shown(session)).collect();
    assert_eq!(shown[0], shown[1]);
    assert_eq!(shown[0], shown[2]);
    assert!(sessions[0] == sessions[2], "also what is not shown is the same");
}

/// What a hostile relay does to the sealed messages of a client's stream. Numbers count the messages of a direction,
/// from 1; the key agreement has two from the client and one from the server.
#[derive(Debug, Clone, Copy)]
enum Attack {
    Flip(From, u64),
    Cut(From, u64),
    Drop(From, u64),
    Repeat(From, u64),
    Swap(From, u64),
    Reflect(From, u64),
    /// A message in plain text in front of this one.
    Insert(From, u64),
    /// The message in plain text instead of this one.
    Replace(From, u64),
    /// The message with this number of an earlier stream of the same client.
    Earlier(From, u64),
}

/// The messages that a relay has seen, by connection, sender and number.
#[derive(Default)]
struct Seen {
    messages: HashMap<(usize, From, u64), Value>,
    counts: HashMap<(usize, From), u64>,
    sent: HashMap<(usize, From), u64>,
    held: Option<Value>,
}

impl Attack {
    fn target(self) -> (From, u64) {
        match self {
            Self::Flip(from, number)
            | Self::Cut(from, number)
            | Self::Drop(from, number)
            | Self::Repeat(from, number)
            | Self::Swap(from, number)
            | Self::Reflect(from, number)
            | Self::Insert(from, number)
            | Self::Replace(from, number)
            | Self::Earlier(from, number) => (from, number),
        }
    }

    /// Returns the frames instead of a frame. They have new numbers, so that nobody but the seal notices anything.
    fn apply(self, seen: &mut Seen, connection: usize, from: From, text: String) -> Vec<String> {
        if connection > 1 {
            // Somebody says goodbye to the relay.
            return vec![text];
        }
        let mut frame: Value = serde_json::from_str(&text).expect("JSON");
        let Some(message) = frame.get("message").cloned() else {
            // Acknowledgements of what was never sent would end the stream for another reason.
            if let Some(ack) = frame["ack"].as_u64() {
                let other = if from == From::Client { From::Server } else { From::Client };
                frame["ack"] = ack.min(seen.counts.get(&(connection, other)).copied().unwrap_or(0)).into();
            }
            return vec![frame.to_string()];
        };
        let count = seen.counts.entry((connection, from)).or_default();
        *count += 1;
        let number = *count;
        seen.messages.insert((connection, from, number), message.clone());
        let is_target = connection == 1 && self.target() == (from, number);
        let messages = if is_target {
            self.change(seen, connection, from, number, message)
        } else {
            match (seen.held.take(), self) {
                (Some(held), Self::Swap(target, _)) if target == from && connection == 1 => vec![message, held],
                (held, _) => {
                    seen.held = held;
                    vec![message]
                }
            }
        };
        let sent = seen.sent.entry((connection, from)).or_default();
        let first = *sent + 1;
        *sent += u64::try_from(messages.len()).expect("small");
        (first..).zip(messages).map(|(seq, message)| json!({"seq": seq, "message": message}).to_string()).collect()
    }

    fn change(self, seen: &mut Seen, connection: usize, from: From, number: u64, message: Value) -> Vec<Value> {
        let sealed = message["sealed"].as_str().expect("it is sealed").to_owned();
        let plain = match from {
            From::Client => json!({"id": 7, "method": "thread/start", "params": {}}),
            From::Server => json!({"method": "forged", "params": {}}),
        };
        match self {
            Self::Flip(..) => {
                let at = sealed.len() / 2;
                let other = if &sealed[at..=at] == "A" { "B" } else { "A" };
                vec![json!({"sealed": format!("{}{other}{}", &sealed[..at], &sealed[at + 1..])})]
            }
            Self::Cut(..) => vec![json!({"sealed": sealed[..(sealed.len() / 8) * 4]})],
            Self::Drop(..) => vec![],
            Self::Repeat(..) => vec![message.clone(), message],
            Self::Swap(..) => {
                seen.held = Some(message);
                vec![]
            }
            Self::Reflect(..) => {
                let other = if from == From::Client { From::Server } else { From::Client };
                vec![seen.messages[&(connection, other, 1)].clone()]
            }
            Self::Insert(..) => vec![plain, message],
            Self::Replace(..) => vec![plain],
            Self::Earlier(..) => vec![seen.messages[&(0, from, number)].clone()],
        }
    }
}

/// Plays a short session through a relay that attacks. Returns what the client heard, its close code, and whether it was
/// said to be connected.
async fn attacked(world: &World, token: &str, name: &str, attack: Attack) -> (Vec<Value>, u16, bool) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let hostile = Proxy::hostile(world.relay.address, move |connection, from, text| {
        attack.apply(&mut seen.lock().expect("no panic"), connection, from, text)
    })
    .await;
    let connecting = Connecting::start(hostile.address, token, Some(world.keys.client(name))).await;
    // The first stream is left alone.
    let mut first = Plain::new(connecting.address, "").await;
    first.initialize().await;
    for id in 2..6 {
        first.ask(id, "thread/loaded/list", &json!({})).await;
    }
    let mut client = Plain::new(connecting.address, "").await;
    let params = json!({"clientInfo": {"name": "plain", "version": "1"}, "capabilities": {"experimentalApi": true}});
    // The stream may end at any time.
    let first_message = json!({"id": 1, "method": "initialize", "params": params});
    let _ = client.0.send(Message::text(first_message.to_string())).await;
    let mut heard = Vec::new();
    let end = loop {
        match client.hear().await {
            Ok(message) => {
                if message["id"] == 1 {
                    for id in 2..10 {
                        let message = json!({"id": id, "method": "thread/loaded/list", "params": {}});
                        let _ = client.0.send(Message::text(message.to_string())).await;
                    }
                }
                heard.push(message);
            }
            Err(code) => break code,
        }
    };
    first.ask(9, "thread/loaded/list", &json!({})).await;
    drop((first, client));
    let is_connected = |event: &&ConnectEvent| matches!(event, ConnectEvent::Connected { .. });
    let connected = connecting.events.lock().expect("no panic").iter().filter(is_connected).count();
    connecting.end().await;
    (heard, end, connected > 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_that_changes_something_ends_the_stream_and_nothing_else() {
    let world = World::new(true).await;
    let token = world.devices.client("phone");
    let mut attacks = Vec::new();
    for from in [From::Client, From::Server] {
        // Messages of the key agreement, and later ones.
        let last = if from == From::Client { 2 } else { 1 };
        for number in 1..=last + 3 {
            attacks.extend([
                Attack::Flip(from, number),
                Attack::Cut(from, number),
                Attack::Repeat(from, number),
                Attack::Replace(from, number),
                Attack::Earlier(from, number),
            ]);
            // The relay itself wants a stream to begin with a key agreement.
            if number > 1 || from == From::Server {
                attacks.extend([Attack::Insert(from, number), Attack::Reflect(from, number)]);
            }
        }
    }
    // Where another message follows that does not wait for the one that is left out.
    for (from, number) in
        [(From::Client, 2), (From::Client, 5), (From::Client, 7), (From::Server, 3), (From::Server, 5)]
    {
        attacks.extend([Attack::Drop(from, number), Attack::Swap(from, number)]);
    }
    let mut count = 0;
    for (at, attack) in attacks.into_iter().enumerate() {
        let (heard, end, was_connected) = attacked(&world, &token, &format!("c{at}"), attack).await;
        assert_eq!(was_connected, !heard.is_empty(), "{attack:?}: only a message that was opened proves the server");
        let is_reason = |message: &Value| {
            message["id"].is_null()
                && message["error"]["message"].as_str().is_some_and(|why| why.contains("stream ends"))
        };
        for (number, message) in heard.iter().enumerate() {
            let is_answer = message.get("result").is_some() && message["id"].as_u64().is_some_and(|id| id < 10);
            let is_end = number + 1 == heard.len() && is_reason(message);
            assert!(
                is_answer || is_end || message.get("method").is_some_and(|method| method != "forged"),
                "{attack:?}: {message}"
            );
        }
        let ends = [UNSEALED_CODE, StreamEnd::ServerLeft.code(), StreamEnd::NotInitialize.code()];
        assert!(ends.contains(&end), "{attack:?}: {end}, {heard:?}");
        if end == StreamEnd::ServerLeft.code() {
            assert!(heard.last().is_some_and(is_reason), "{attack:?}: the server says why, sealed: {heard:?}");
        }
        count += 1;
    }
    assert!(count > 50, "{count}");
    world.dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_sealed_streams_only_refuses_others() {
    let world = World::new(true).await;
    let token = world.devices.client("phone");
    let mut plain = Plain::new(world.relay.address, &token).await;
    let params = json!({"clientInfo": {"name": "plain", "version": "1"}});
    plain.say(&json!({"id": "first", "method": "initialize", "params": params})).await;
    let answer = plain.hear().await.expect("an answer");
    assert_eq!(answer["id"], "first");
    assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("sealed streams only")), "{answer}");
    assert_eq!(plain.hear().await, Err(StreamEnd::ServerLeft.code()));
    // Nor does the program that could seal, without keys.
    let unsealed = Connecting::start(world.relay.address, &token, None).await;
    let mut client = Plain::new(unsealed.address, "").await;
    client.say(&json!({"id": 1, "method": "initialize", "params": params})).await;
    assert!(client.hear().await.expect("an answer").get("error").is_some());
    assert_eq!(client.hear().await, Err(StreamEnd::ServerLeft.code()));
    // Web pages cannot use it.
    assert_eq!(refused(unsealed.address, "/", &[("origin", "http://localhost")]).await.0, 403);
    assert!(open(unsealed.address, "/", &[]).await.is_ok());
    world.dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_good_for_one_client_until_it_is_revoked() {
    let world = World::new(true).await;
    let token = world.devices.client("phone");
    let end_of = async |keys| {
        let connecting = Connecting::start(world.relay.address, &token, Some(keys)).await;
        let mut client = Plain::new(connecting.address, "").await;
        let end = loop {
            if let Err(code) = client.hear().await {
                break code;
            }
        };
        let events = connecting.events.lock().expect("no panic").clone();
        (end, format!("{events:?}"))
    };
    let code = world.keys.code("phone");
    let connecting = Connecting::start(world.relay.address, &token, Some(world.keys.client_with("phone", &code))).await;
    let mut phone = Plain::new(connecting.address, "").await;
    phone.initialize().await;
    // Somebody who has seen the code comes too late.
    let (end, why) = end_of(world.keys.client_with("thief", &code)).await;
    assert!(end == UNSEALED_CODE && why.contains("belongs to another client"), "{end}: {why}");
    // A code of another server.
    let other = SealingKeys::new();
    other.code("x");
    let (end, why) = end_of(other.client("phone")).await;
    assert!(end == UNSEALED_CODE && why.contains("is not known here"), "{end}: {why}");
    phone.ask(2, "thread/loaded/list", &json!({})).await;
    world.keys.file.update::<_, SealedClientsError>(|clients| clients.revoke("phone")).expect("it is there");
    let message = phone.hear().await.expect("a reason");
    assert!(message["error"]["message"].as_str().is_some_and(|why| why.contains("was revoked")), "{message}");
    assert_eq!(phone.hear().await, Err(StreamEnd::ServerLeft.code()));
    let mut again = Plain::new(connecting.address, "").await;
    assert_eq!(again.hear().await, Err(UNSEALED_CODE));
    connecting.end().await;
    world.dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_that_is_away_does_not_keep_the_stream_of_a_revoked_client() {
    let World { relay, devices, keys, mut dialling } = World::new(true).await;
    let token = devices.client("phone");
    let connecting = Connecting::start(relay.address, &token, Some(keys.client("phone"))).await;
    let mut client = Plain::new(connecting.address, "").await;
    client.initialize().await;
    assert_eq!(dialling.server.opener().connections(), 1);
    relay.kill();
    dialling.until(|status| matches!(status, RemoteStatus::Disconnected(_))).await;
    keys.file.update::<_, SealedClientsError>(|clients| clients.revoke("phone")).expect("it was known");
    let has_ended = async {
        while dialling.server.opener().connections() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, has_ended).await.expect("it ends without the relay");
    drop(client);
    connecting.end().await;
    dialling.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_that_reads_nothing_does_not_keep_the_stream_of_a_revoked_client() {
    let devices = TestDevices::new();
    let keys = SealingKeys::new();
    let token = devices.client("phone");
    let relay = RunningRelay::start(&devices.path());
    let to_server = Proxy::new(relay.address, None).await;
    let mut dialling = Dialling::sealed(to_server.address, &devices.server_token, Some(keys.sealing(true)));
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    let connecting = Connecting::start(relay.address, &token, Some(keys.client("phone"))).await;
    let mut client = Plain::new(connecting.address, "").await;
    client.initialize().await;
    let started = client.ask(2, "thread/start", &json!({})).await;
    to_server.stall();
    // Another client brings more into the stream than the buffers of the sockets hold, so that the server waits for the relay to read.
    let (beside, mut events) = connect(dialling.server.opener(), OutboundPolicy::Wait);
    beside.initialize("beside", "1", Experimental::Enabled).await.expect("it is let in");
    let params = json!({"threadId": started["thread"]["id"], "excludeTurns": true});
    beside.request("thread/resume", &params).await.expect("it joins");
    for _ in 0..10 {
        let steps = json!([[{"say": "z".repeat(900_000), "chunk": 1_000_000}]]);
        let params = json!({"threadId": started["thread"]["id"], "input": script(&steps)});
        beside.request("turn/start", &params).await.expect("it begins");
        loop {
            match timeout(LONG, events.next()).await.expect("it ends") {
                Some(Event::Notification { method, .. }) if method == "turn/completed" => break,
                Some(_) => {}
                None => panic!("the client is cut"),
            }
        }
    }
    assert_eq!(dialling.server.opener().connections(), 2, "the stream ended by itself");
    keys.file.update::<_, SealedClientsError>(|clients| clients.revoke("phone")).expect("it was known");
    let has_ended = async {
        while dialling.server.opener().connections() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, has_ended).await.expect("it ends without the relay");
    dialling.until(|status| *status == RemoteStatus::Connected).await;
    assert_eq!(to_server.connections(), 1, "the stream ended with the connection to the relay");
    drop(client);
    connecting.end().await;
    // Neither does the end of the server wait for the relay.
    let begun = Instant::now();
    dialling.end().await;
    assert!(begun.elapsed() < REMOTE_SILENCE_TIMEOUT / 2, "it waited for {:?}", begun.elapsed());
}

/// A sealed client and its server, with a proxy between each of them and the relay.
struct Between {
    devices: TestDevices,
    /// Both ends read them again for each connection.
    keys: SealingKeys,
    relay: RunningRelay,
    to_server: Proxy,
    to_client: Proxy,
    dialling: Dialling,
    connecting: Connecting,
    client: Plain,
    /// Id of a thread that the client has started.
    thread: Value,
}

impl Between {
    /// Connects both through proxies that make these cuts.
    async fn new(cuts: &[(usize, Cut)]) -> Self {
        let devices = TestDevices::new();
        let keys = SealingKeys::new();
        let token = devices.client("phone");
        let relay = RunningRelay::start(&devices.path());
        let to_server = Proxy::new(relay.address, cuts.iter().copied()).await;
        let to_client = Proxy::new(relay.address, cuts.iter().copied()).await;
        let mut dialling = Dialling::sealed(to_server.address, &devices.server_token, Some(keys.sealing(true)));
        dialling.until(|status| *status == RemoteStatus::Connected).await;
        let connecting = Connecting::start(to_client.address, &token, Some(keys.client("phone"))).await;
        let mut client = Plain::new(connecting.address, "").await;
        client.initialize().await;
        let started = client.ask(2, "thread/start", &json!({})).await;
        let thread = started["thread"]["id"].clone();
        Self { devices, keys, relay, to_server, to_client, dialling, connecting, client, thread }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_within_the_heads_of_a_sealed_connection_lose_nothing() {
    for sender in [From::Client, From::Server] {
        for thousandths in [0, 500, 999] {
            // The first connection, and the one after the cut below.
            let heads = [0, 2].map(|connection| (connection, Cut::Head(sender, thousandths)));
            let Between {
                devices: _devices,
                keys: _keys,
                relay: _relay,
                to_server,
                to_client,
                dialling,
                connecting,
                mut client,
                thread,
            } = Between::new(&heads).await;
            let steps = json!([[{"say": "before"}, {"hold": "first"}, {"say": "after"}]]);
            client.ask(3, "turn/start", &json!({"threadId": thread, "input": script(&steps)})).await;
            to_server.cut();
            to_client.cut();
            dialling.model.release("first");
            let mut texts = Vec::new();
            loop {
                let message = client.hear().await.expect("the local connection lasts");
                if message["method"] == "item/completed"
                    && let Some(text) = message["params"]["item"]["text"].as_str()
                {
                    texts.push(text.to_owned());
                }
                if message["method"] == "turn/completed" {
                    break;
                }
            }
            assert_eq!(texts, ["before", "after"], "each message comes once");
            // A client that is faster than the server is refused by the relay and connects once more, so connections are not counted.
            assert_eq!((to_server.cut_heads(), to_client.cut_heads()), (2, 2), "all heads were cut");
            drop(client);
            connecting.end().await;
            dialling.end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sealed_stream_outlives_its_connections_and_the_relay() {
    let Between { devices, keys: _keys, relay, to_server, to_client, dialling, connecting, mut client, thread } =
        Between::new(&[]).await;
    let mut relay = Some(relay);
    for round in 0..6_u64 {
        let steps = json!([[{"say": "before"}, {"hold": "first"}, {"say": "after"}]]);
        client.ask(10 + round, "turn/start", &json!({"threadId": thread, "input": script(&steps)})).await;
        if round % 2 == 0 {
            relay.take().expect("it runs").kill();
            let next = RunningRelay::start(&devices.path());
            to_server.set_target(next.address);
            to_client.set_target(next.address);
            relay = Some(next);
        }
        to_server.cut();
        to_client.cut();
        dialling.model.release("first");
        client.say(&json!({"id": 20 + round, "method": "thread/loaded/list", "params": {}})).await;
        let (mut texts, mut has_answer, mut has_ended) = (Vec::new(), false, false);
        while !has_answer || !has_ended {
            let message = client.hear().await.expect("the local connection lasts");
            has_answer |= message["id"] == 20 + round;
            has_ended |= message["method"] == "turn/completed";
            if message["method"] == "item/completed"
                && let Some(text) = message["params"]["item"]["text"].as_str()
            {
                texts.push(text.to_owned());
            }
        }
        assert_eq!(texts, ["before", "after"], "each message comes once");
    }
    // What a client says before it leaves arrives, and its stream ends with it.
    let steps = json!([[{"hold": "last"}]]);
    client
        .say(&json!({"id": 30, "method": "turn/start", "params": {"threadId": thread, "input": script(&steps)}}))
        .await;
    client.say(&json!({"id": 31, "method": "thread/name/set", "params": {"threadId": thread, "name": "left"}})).await;
    client.0.close(None).await.expect("it closes");
    let mut next = Plain::new(connecting.address, "").await;
    next.initialize().await;
    let is_named = async {
        loop {
            let read = next.ask(2, "thread/read", &json!({"threadId": thread})).await;
            if read["thread"]["name"] == "left" && dialling.server.opener().connections() == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, is_named).await.expect("it arrives");
    dialling.model.release("last");
    drop(next);
    connecting.end().await;
    dialling.end().await;
}
