//! A proxy for WebSockets that cuts connections where a test wants it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Where the connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the frame.
    Before,
    /// Within the frame, after so many thousandths of its bytes.
    Within(usize),
    /// After the frame.
    After,
    /// Within the HTTP head of one side, after so many thousandths of its bytes. The number is that of the connection, not of a frame.
    Head(From, usize),
}

/// Who has sent a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum From {
    /// Whoever has connected to the proxy.
    Client,
    /// Whom the proxy connects to.
    Server,
}

/// What a hostile proxy passes on instead of a text. The number tells connections apart.
pub(crate) type Tamper = Arc<dyn Fn(usize, From, String) -> Vec<String> + Send + Sync>;

/// A proxy. It counts the frames of all its connections, in both directions.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    target: Mutex<SocketAddr>,
    frames: AtomicUsize,
    /// The numbers of frames or connections at which a connection is cut, once each.
    cuts: Vec<(usize, Cut)>,
    /// Cuts the connections of the moment.
    now: Mutex<CancellationToken>,
    /// Whether nothing is read any more.
    is_stalled: watch::Sender<bool>,
    tamper: Option<Tamper>,
    connections: AtomicUsize,
    cut_heads: AtomicUsize,
}

impl Proxy {
    pub(crate) async fn new(target: SocketAddr, cuts: impl IntoIterator<Item = (usize, Cut)>) -> Self {
        Self::with(target, cuts.into_iter().collect(), None).await
    }

    /// A proxy that changes what it passes on.
    pub(crate) async fn hostile(
        target: SocketAddr,
        tamper: impl Fn(usize, From, String) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self::with(target, Vec::new(), Some(Arc::new(tamper))).await
    }

    async fn with(target: SocketAddr, cuts: Vec<(usize, Cut)>, tamper: Option<Tamper>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            target: Mutex::new(target),
            frames: AtomicUsize::new(0),
            cuts,
            now: Mutex::default(),
            is_stalled: watch::Sender::new(false),
            tamper,
            connections: AtomicUsize::new(0),
            cut_heads: AtomicUsize::new(0),
        });
        let task = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(pass(stream, Arc::clone(&shared)));
                }
            }
        });
        Self { address, shared, task }
    }

    pub(crate) fn frames(&self) -> usize {
        self.shared.frames.load(Ordering::SeqCst)
    }

    pub(crate) fn set_target(&self, target: SocketAddr) {
        *self.shared.target.lock().expect("no panic") = target;
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns how many connections were cut within an HTTP head.
    pub(crate) fn cut_heads(&self) -> usize {
        self.shared.cut_heads.load(Ordering::SeqCst)
    }

    /// Reads nothing more, and leaves the connections open.
    pub(crate) fn stall(&self) {
        self.shared.is_stalled.send_replace(true);
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        std::mem::take(&mut *self.shared.now.lock().expect("no panic")).cancel();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}

async fn pass(client: TcpStream, shared: Arc<Shared>) {
    let target = *shared.target.lock().expect("no panic");
    let now = shared.now.lock().expect("no panic").clone();
    let Ok(server) = TcpStream::connect(target).await else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("a socket");
    }
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    tokio::select! {
        _ = frames(client_reads, server_writes, &shared, (number, From::Client)) => {}
        _ = frames(server_reads, client_writes, &shared, (number, From::Server)) => {}
        () = now.cancelled() => {}
    }
}

/// Passes an HTTP head and then WebSocket frames.
async fn frames(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared,
    (connection, sender): (usize, From),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(from.read_u8().await?);
    }
    let is_head = |(at, cut): &(usize, Cut)| match cut {
        Cut::Head(of, thousandths) if (*at, *of) == (connection, sender) => Some(head.len() * thousandths / 1_000),
        _ => None,
    };
    if let Some(passed) = shared.cuts.iter().find_map(is_head) {
        shared.cut_heads.fetch_add(1, Ordering::SeqCst);
        to.write_all(&head[..passed]).await?;
        return to.flush().await;
    }
    to.write_all(&head).await?;
    let mut is_stalled = shared.is_stalled.subscribe();
    loop {
        let mut frame = vec![0; 2];
        is_stalled.wait_for(|is_stalled| !is_stalled).await.expect("the proxy is there");
        from.read_exact(&mut frame).await?;
        let length = match frame[1] & 0x7f {
            126 => {
                frame.resize(4, 0);
                from.read_exact(&mut frame[2..]).await?;
                usize::from(u16::from_be_bytes([frame[2], frame[3]]))
            }
            127 => {
                frame.resize(10, 0);
                from.read_exact(&mut frame[2..]).await?;
                usize::try_from(u64::from_be_bytes(frame[2..].try_into().expect("8 bytes"))).expect("a length")
            }
            length => usize::from(length),
        };
        let mask = if frame[1] & 0x80 == 0 { 0 } else { 4 };
        let rest = length + mask;
        let start = frame.len();
        frame.resize(start + rest, 0);
        from.read_exact(&mut frame[start..]).await?;
        if let Some(tamper) = &shared.tamper
            && frame[0] & 0xf == 1
        {
            let mut payload = frame.split_off(start + mask);
            let key = &frame[start..];
            payload.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= key.get(at % 4).copied().unwrap_or(0));
            for text in tamper(connection, sender, String::from_utf8(payload).expect("text")) {
                to.write_all(&text_frame(sender, &text)).await?;
            }
            continue;
        }
        let number = shared.frames.fetch_add(1, Ordering::SeqCst);
        let passed = shared.cuts.iter().filter(|(at, _)| *at == number).find_map(|(_, cut)| match cut {
            Cut::Before => Some(0),
            Cut::Within(thousandths) => Some(frame.len() * thousandths / 1_000),
            Cut::After => Some(frame.len()),
            Cut::Head(..) => None,
        });
        to.write_all(&frame[..passed.unwrap_or(frame.len())]).await?;
        if passed.is_some() {
            return to.flush().await;
        }
    }
}

/// Returns a frame with a text. Frames of clients have a mask, which may be zero.
fn text_frame(sender: From, text: &str) -> Vec<u8> {
    let mask = if sender == From::Client { 0x80 } else { 0 };
    let mut frame = vec![0x81, mask | 127];
    frame.extend(u64::try_from(text.len()).expect("a length").to_be_bytes());
    frame.extend_from_slice(if mask == 0 { &[] } else { &[0; 4] });
    frame.extend_from_slice(text.as_bytes());
    frame
}
