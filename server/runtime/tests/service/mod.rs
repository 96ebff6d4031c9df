//! A test service that sends raw bytes: it answers requests in order and reports them.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A step on a connection after a request was read.
pub(crate) enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes repeatedly.
    Repeat(Vec<u8>, usize),
    /// Waits until the client closes the connection.
    Wait,
}

/// A listening service.
pub(crate) struct Service {
    /// Its URL with the path of an API.
    pub(crate) base_url: String,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Service {
    /// Starts a service that runs one list of steps per connection and then closes the connection.
    pub(crate) async fn new(connections: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has ports");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
        let (told, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for acts in connections {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                let Ok(request) = read_request(&mut stream).await else { continue };
                // The receiver may have been dropped.
                let _ = told.send(request);
                // The client may have closed the connection, as some tests intend.
                let _ = play(&mut stream, acts).await;
            }
        });
        Self { base_url, requests }
    }

    /// Returns the next request: head and body.
    pub(crate) async fn request(&mut self) -> String {
        self.requests.recv().await.expect("a request came")
    }
}

/// Reads a request.
pub(crate) async fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Ok(text);
        }
    }
}

async fn play(stream: &mut TcpStream, acts: Vec<Act>) -> io::Result<()> {
    for act in acts {
        match act {
            Act::Send(bytes) => stream.write_all(&bytes).await?,
            Act::Repeat(bytes, times) => {
                for _ in 0..times {
                    stream.write_all(&bytes).await?;
                }
            }
            Act::Wait => while stream.read(&mut [0; 1]).await? > 0 {},
        }
        stream.flush().await?;
    }
    stream.shutdown().await
}

/// Returns a response with this status line, headers and body.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    vec![Act::Send((head + body).into_bytes())]
}

/// Returns the head of an event stream.
pub(crate) fn stream_head() -> Act {
    Act::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req-7\r\nconnection: close\r\n\r\n"
            .to_vec(),
    )
}
