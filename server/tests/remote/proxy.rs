//! A proxy for WebSockets that cuts connections where a test wants it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Where the connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the frame.
    Before,
    /// In the middle of the frame.
    Within,
    /// After the frame.
    After,
}

/// A proxy. It counts the frames of all its connections, in both directions.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    target: Mutex<SocketAddr>,
    frames: AtomicUsize,
    /// The number of the frame at which the connection is cut, once.
    cut: Option<(usize, Cut)>,
    /// Cuts the connections of the moment.
    now: Mutex<CancellationToken>,
}

impl Proxy {
    pub(crate) async fn new(target: SocketAddr, cut: Option<(usize, Cut)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared =
            Arc::new(Shared { target: Mutex::new(target), frames: AtomicUsize::new(0), cut, now: Mutex::default() });
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
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    tokio::select! {
        _ = frames(client_reads, server_writes, &shared) => {}
        _ = frames(server_reads, client_writes, &shared) => {}
        () = now.cancelled() => {}
    }
}

/// Passes an HTTP head and then WebSocket frames.
async fn frames(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(from.read_u8().await?);
    }
    to.write_all(&head).await?;
    loop {
        let mut frame = vec![0; 2];
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
        let number = shared.frames.fetch_add(1, Ordering::SeqCst);
        match shared.cut {
            Some((at, cut)) if at == number => {
                let passed = match cut {
                    Cut::Before => 0,
                    Cut::Within => frame.len() / 2,
                    Cut::After => frame.len(),
                };
                to.write_all(&frame[..passed]).await?;
                to.flush().await?;
                return Ok(());
            }
            _ => to.write_all(&frame).await?,
        }
    }
}
