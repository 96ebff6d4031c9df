//! Measures what a relay adds to the latency of a message, and what it carries, with many streams at once.
//!
//!     cargo run --release -p trace-relay --example latency -- [STREAMS] [ROUNDS]
//!
//! A stand-in for a server echoes each message. Clients send messages directly to it and through a relay, one message
//! of each stream at a time. The relay has a runtime of its own with two threads, in the same process. At last, the same
//! streams are sealed: both ends seal and open each message.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};
use trace_relay::devices::{Devices, DevicesFile, PairError};
use trace_relay::envelope::{FromServer, StreamKey, ToServer, server_message};
use trace_relay::relay::{INSTANCE_HEADER, MAX_STREAMS, Relay, RelayOptions};
use trace_relay::seal::{Channel, ClientAgreement, KeyPair, SealingCode, ServerAgreement, is_sealed};

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
        let sealed =
            measure_sealed(streams, rounds, |stream| (address, tokens[stream / MAX_STREAMS].1.clone())).await?;
        println!("{streams} streams, {rounds} messages each, one every {} ms", PAUSE.as_millis());
        println!("             median      p99");
        for (name, times) in [("direct", &plain), ("relayed", &relayed), ("sealed", &sealed)] {
            println!("{name:<8} {:>7.3} ms {:>7.3} ms", milliseconds(times, 50), milliseconds(times, 99));
        }
        println!("added by the relay at the median: {:.3} ms", milliseconds(&relayed, 50) - milliseconds(&plain, 50));
        println!("sealed to not sealed at the median: {:.2}", milliseconds(&sealed, 50) / milliseconds(&relayed, 50));
        println!("processor time to seal and open, per direction:");
        let (mut client, mut server) = agree()?;
        for bytes in [100, 1_000, 10_000, 100_000, 1_000_000] {
            let text = "x".repeat(bytes);
            let rounds = (20_000_000 / bytes).clamp(20, 20_000);
            let start = Instant::now();
            for _ in 0..rounds {
                server.open(&client.seal(&text)?)?;
            }
            let each = start.elapsed() / u32::try_from(rounds)?;
            println!("{bytes:>9} bytes {:>9.1} us", each.as_secs_f64() * 1e6);
        }
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

/// The keys of the stand-in for a server, and of all clients.
static KEYS: LazyLock<[KeyPair; 2]> =
    LazyLock::new(|| [(); 2].map(|()| KeyPair::generate().expect("the system has random numbers")));

/// The code of all clients.
static CODE: LazyLock<SealingCode> = LazyLock::new(|| SealingCode::random().expect("the system has random numbers"));

/// The stand-in's end of a stream.
enum Echo {
    Agreeing(Box<ServerAgreement>),
    Sealed(Channel),
}

/// Returns both ends of a sealed stream.
fn agree() -> Result<(Channel, Channel), Failure> {
    let secret = CODE.secret();
    let (client, first) = ClientAgreement::begin(&KEYS[1], &secret)?;
    let (mut server, _) = ServerAgreement::begin(&KEYS[0], &first)?;
    let (at_client, _, last) = client.finish(&server.answer()?, None)?;
    Ok((at_client, server.finish(&secret, &last)?.0))
}

async fn echo_behind_relay(mut socket: WebSocketStream<TcpStream>) -> Result<(), Failure> {
    let mut seqs = std::collections::HashMap::<StreamKey, u64>::new();
    let mut ends = std::collections::HashMap::<StreamKey, Echo>::new();
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        if let (key, ToServer::Message { seq: Some(seq), message, .. }) = ToServer::decode(&text)? {
            let echo = if is_sealed(message.get()) {
                match ends.remove(&key) {
                    None => {
                        let (mut agreement, _) = ServerAgreement::begin(&KEYS[0], message.get())?;
                        let answer = agreement.answer()?;
                        ends.insert(key.clone(), Echo::Agreeing(Box::new(agreement)));
                        Some(answer)
                    }
                    Some(Echo::Agreeing(agreement)) => {
                        let (channel, _) = agreement.finish(&CODE.secret(), message.get())?;
                        ends.insert(key.clone(), Echo::Sealed(channel));
                        None
                    }
                    Some(Echo::Sealed(mut channel)) => {
                        let text = channel.open(message.get())?;
                        let echo = channel.seal(&text)?;
                        ends.insert(key.clone(), Echo::Sealed(channel));
                        Some(echo)
                    }
                }
            } else {
                Some(message.get().to_owned())
            };
            if let Some(echo) = echo {
                let next = seqs.entry(key.clone()).or_default();
                *next += 1;
                socket.feed(Message::text(server_message(&key, *next, &echo))).await?;
            }
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
        clients.push((dial(address, "/", &token).await?, None));
    }
    times(clients, rounds).await
}

/// Returns the times of all messages of sealed streams, sorted.
async fn measure_sealed(
    streams: usize,
    rounds: usize,
    target: impl Fn(usize) -> (SocketAddr, String),
) -> Result<Vec<Duration>, Failure> {
    let mut clients = Vec::new();
    for stream in 0..streams {
        let (address, token) = target(stream);
        let mut socket = dial(address, "/", &token).await?;
        let (agreement, first) = ClientAgreement::begin(&KEYS[1], &CODE.secret())?;
        socket.send(Message::text(first)).await?;
        let (channel, _, last) = agreement.finish(&hear(&mut socket).await?, None)?;
        socket.send(Message::text(last)).await?;
        clients.push((socket, Some(channel)));
    }
    times(clients, rounds).await
}

/// Returns the next text.
async fn hear(socket: &mut WebSocketStream<TcpStream>) -> Result<String, Failure> {
    loop {
        if let Message::Text(text) = socket.next().await.ok_or("the connection has ended")?? {
            return Ok(text.as_str().to_owned());
        }
    }
}

async fn times(
    clients: Vec<(WebSocketStream<TcpStream>, Option<Channel>)>,
    rounds: usize,
) -> Result<Vec<Duration>, Failure> {
    let streams = clients.len();
    let begin = tokio::time::Instant::now() + PAUSE;
    let tasks = clients.into_iter().enumerate().map(|(number, (mut socket, mut channel))| {
        tokio::spawn(async move {
            let message = r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"latency","version":"1"}}}"#;
            let mut times = Vec::new();
            // The streams are spread over the pause.
            let offset = PAUSE * u32::try_from(number).unwrap_or(0) / u32::try_from(streams).unwrap_or(1);
            for round in 0..u32::try_from(rounds).unwrap_or(u32::MAX) {
                tokio::time::sleep_until(begin + offset + PAUSE * round).await;
                let start = Instant::now();
                let text = match &mut channel {
                    Some(channel) => channel.seal(message)?,
                    None => message.to_owned(),
                };
                socket.send(Message::text(text)).await?;
                let echo = hear(&mut socket).await?;
                if let Some(channel) = &mut channel {
                    channel.open(&echo)?;
                }
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
