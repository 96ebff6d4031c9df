//! Measures what a relay adds to the latency of a message, and what it carries, with many streams at once.
//!
//!     cargo run --release -p trace-relay --example latency -- [STREAMS] [ROUNDS]
//!
//! A stand-in for a server echoes each message. Clients send messages directly to it and through a relay, one message
//! of each stream at a time. The relay has a runtime of its own with two threads, in the same process.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};
use trace_relay::devices::{Devices, DevicesFile, PairError};
use trace_relay::envelope::{FromServer, StreamKey, ToServer, server_message};
use trace_relay::relay::{INSTANCE_HEADER, MAX_STREAMS, Relay, RelayOptions};

/// Pause of a client between two messages.
const PAUSE: Duration = Duration::from_millis(1_000);

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::print_stdout, reason = "a measurement is for people")]
fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let streams: usize = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let file = DevicesFile::new(folder.path().join("devices.json"));
    let devices = streams.div_ceil(MAX_STREAMS);
    let tokens = file
        .update::<_, PairError>(|all| (0..devices).map(|number| device(all, number)).collect::<Result<Vec<_>, _>>())?;

    let relay_runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let options = RelayOptions {
        address: ([127, 0, 0, 1], 0).into(),
        tls: None,
        is_behind_proxy: false,
        devices: file.path().to_owned(),
    };
    let relay = relay_runtime.block_on(Relay::bind(&options))?;
    let address = relay.address();
    relay_runtime.spawn(relay.serve());

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let direct = listener.local_addr()?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(echo_directly(stream));
            }
        });
        for (server, _) in &tokens {
            tokio::spawn(echo_behind_relay(dial(address, "/server", server).await?));
        }
        let plain = measure(streams, rounds, |_| (direct, String::new())).await?;
        let relayed = measure(streams, rounds, |stream| (address, tokens[stream / MAX_STREAMS].1.clone())).await?;
        println!("{streams} streams, {rounds} messages each, one every {} ms", PAUSE.as_millis());
        println!("             median      p99");
        for (name, times) in [("direct", &plain), ("relayed", &relayed)] {
            println!("{name:<8} {:>7.3} ms {:>7.3} ms", milliseconds(times, 50), milliseconds(times, 99));
        }
        println!("added at the median: {:.3} ms", milliseconds(&relayed, 50) - milliseconds(&plain, 50));
        Ok(())
    })
}

fn device(devices: &mut Devices, number: usize) -> Result<(String, String), PairError> {
    let name = format!("d{number}");
    let server = devices.add(&name)?;
    let code = devices.pair(&[name], None, 0)?;
    Ok((server, devices.redeem(&code, None, "client", 0)?.token))
}

async fn dial(address: SocketAddr, path: &str, token: &str) -> Result<WebSocketStream<TcpStream>, Failure> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut request = format!("ws://{address}{path}").into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
    request.headers_mut().insert(INSTANCE_HEADER, "latency".parse()?);
    Ok(client_async(request, stream).await?.0)
}

async fn echo_directly(stream: TcpStream) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut socket = accept_async(stream).await?;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() {
            socket.send(message).await?;
        }
    }
    Ok(())
}

async fn echo_behind_relay(mut socket: WebSocketStream<TcpStream>) -> Result<(), Failure> {
    let mut seqs = std::collections::HashMap::<StreamKey, u64>::new();
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        if let (key, ToServer::Message { seq: Some(seq), message, .. }) = ToServer::decode(&text)? {
            let next = seqs.entry(key.clone()).or_default();
            *next += 1;
            let echo = server_message(&key, *next, message.get());
            socket.feed(Message::text(echo)).await?;
            socket.feed(Message::text(FromServer::Ack { seq }.encode(&key))).await?;
            socket.flush().await?;
        }
    }
    Ok(())
}

/// Returns the times of all messages, sorted.
async fn measure(
    streams: usize,
    rounds: usize,
    target: impl Fn(usize) -> (SocketAddr, String),
) -> Result<Vec<Duration>, Failure> {
    let mut clients = Vec::new();
    for stream in 0..streams {
        let (address, token) = target(stream);
        clients.push(dial(address, "/", &token).await?);
    }
    let begin = tokio::time::Instant::now() + PAUSE;
    let tasks = clients.into_iter().enumerate().map(|(number, mut socket)| {
        tokio::spawn(async move {
            let message = r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"latency","version":"1"}}}"#;
            let mut times = Vec::new();
            // The streams are spread over the pause.
            let offset = PAUSE * u32::try_from(number).unwrap_or(0) / u32::try_from(streams).unwrap_or(1);
            for round in 0..u32::try_from(rounds).unwrap_or(u32::MAX) {
                tokio::time::sleep_until(begin + offset + PAUSE * round).await;
                let start = Instant::now();
                socket.send(Message::text(message)).await?;
                while !socket.next().await.ok_or("the connection has ended")??.is_text() {}
                times.push(start.elapsed());
            }
            Ok::<_, Failure>(times)
        })
    });
    let mut all = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        all.extend(task.await??);
    }
    all.sort_unstable();
    Ok(all)
}

fn milliseconds(times: &[Duration], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1_000.0
}
