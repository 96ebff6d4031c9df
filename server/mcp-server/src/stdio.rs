//! One client on standard input and output: a message a line.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use crate::client::Outbox;
use crate::connection::Connection;
use crate::message::{self, MAX_MESSAGE_BYTES, RpcError};
use crate::service::Service;

/// Longest time that running requests may take after the input has ended.
pub const END_TIMEOUT: Duration = Duration::from_secs(4);

/// Time that each of the last steps may take after requests had their time at the end of the input.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Messages that wait to be written.
const WAITING: usize = 256;

/// Serves one client until its input ends. Requests that run then are answered if they take no longer than [`END_TIMEOUT`]; those that
/// run agents are ended at once.
///
/// # Errors
///
/// Returns an error if the input cannot be read or the output cannot be written.
pub async fn serve_stdio(
    service: Arc<Service>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let client = Connection::new(service);
    let (outbox, texts) = mpsc::channel(WAITING);
    let writer = tokio::spawn(write(output, texts));
    let mut left = END_TIMEOUT;
    let read = tokio::select! {
        read = read(input, &client, &outbox) => {
            client.fall_silent();
            tokio::select! {
                _ = tokio::time::timeout(END_TIMEOUT, client.tasks.wait()) => {}
                () = outbox.closed() => {}
            }
            // Whoever waits for the end kills the process after ten seconds.
            left = LEAVE_TIMEOUT;
            read
        }
        // Without a reader of the output, nothing is left to do.
        () = outbox.closed() => Ok(()),
    };
    client.leave();
    drop(outbox);
    let _ = tokio::time::timeout(left, client.tasks.wait()).await;
    drop(client);
    match tokio::time::timeout(left, writer).await {
        Ok(Ok(written)) => read.and(written),
        // A client that does not read its output does not keep the server alive.
        _ => read,
    }
}

async fn read(input: impl AsyncRead + Unpin, client: &Arc<Connection>, outbox: &Outbox) -> std::io::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MAX_MESSAGE_BYTES as u64 + 1;
        if (&mut input).take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        if line.len() > MAX_MESSAGE_BYTES {
            let why = format!("a message has {MAX_MESSAGE_BYTES} bytes at most");
            let _ = outbox.send(message::error(&serde_json::Value::Null, &RpcError::invalid_request(why))).await;
            skip_line(&mut input).await?;
            continue;
        }
        let text = match std::str::from_utf8(&line) {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => text,
            Err(error) => {
                let error = RpcError::parse(format!("not UTF-8: {error}"));
                let _ = outbox.send(message::error(&serde_json::Value::Null, &error)).await;
                continue;
            }
        };
        match message::parse(text) {
            Ok(message) => client.take(message, outbox.clone()),
            Err(refusal) => drop(outbox.send(refusal).await),
        }
    }
}

/// Reads the rest of a line without keeping it.
async fn skip_line(input: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> std::io::Result<()> {
    loop {
        let bytes = input.fill_buf().await?;
        let (length, ends) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(length);
        if ends {
            return Ok(());
        }
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut texts: mpsc::Receiver<String>) -> std::io::Result<()> {
    while let Some(mut text) = texts.recv().await {
        text.push('\n');
        output.write_all(text.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}
