//! The connection of a server, which all streams of a device share.

use std::pin::pin;
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::client::{BATCH_BYTES, CLOSE_TIMEOUT, SILENCE_TIMEOUT, WEBSOCKET_PING_INTERVAL, WRITE_TIMEOUT, close};
use super::end::StreamEnd;
use super::link::ServerConnection;
use super::registry::Device;
use crate::envelope::FromServer;

/// Serves a server until either side ends the connection.
pub(super) async fn serve(
    socket: WebSocket,
    device: Arc<Device>,
    connection: ServerConnection,
    stop: CancellationToken,
) {
    let (sink, stream) = socket.split();
    {
        let mut reading = pin!(read(stream, &device, connection.number));
        let mut writing = pin!(write(sink, &device, &connection, &stop));
        tokio::select! {
            () = &mut reading => {}
            () = &mut writing => {
                let _ = timeout(CLOSE_TIMEOUT, reading).await;
            }
        }
    }
    device.link().server_left(connection.number, Instant::now());
    tracing::info!(device = %device.name, "a server has left");
}

async fn read(mut stream: SplitStream<WebSocket>, device: &Device, connection: u64) {
    loop {
        match timeout(SILENCE_TIMEOUT, stream.next()).await {
            Err(_) => return tracing::info!(device = %device.name, "a server is silent"),
            Ok(None | Some(Ok(Message::Close(_)))) => return,
            Ok(Some(Err(error))) => {
                return tracing::info!(device = %device.name, %error, "the connection of a server broke");
            }
            Ok(Some(Ok(Message::Text(text)))) => match FromServer::decode(&text) {
                Ok((key, envelope)) => device.link().take_from_server(connection, &key, envelope, Instant::now()),
                Err(error) => tracing::warn!(device = %device.name, %error, "a frame of a server was dropped"),
            },
            Ok(Some(Ok(_))) => {}
        }
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    device: &Device,
    connection: &ServerConnection,
    stop: &CancellationToken,
) {
    let mut pings = interval(WEBSOCKET_PING_INTERVAL);
    pings.tick().await;
    loop {
        let Some(frames) = device.link().for_server(connection.number, BATCH_BYTES) else {
            let why = if device.is_removed() { StreamEnd::Revoked } else { StreamEnd::Replaced };
            let _ = timeout(CLOSE_TIMEOUT, sink.send(close(why))).await;
            return;
        };
        if !frames.is_empty() {
            let writing = async {
                for frame in frames {
                    sink.feed(Message::text(frame)).await?;
                }
                sink.flush().await
            };
            match timeout(WRITE_TIMEOUT, writing).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => return tracing::debug!(device = %device.name, %error, "a connection broke"),
                Err(_) => return tracing::warn!(device = %device.name, "a server does not take its messages"),
            }
        }
        tokio::select! {
            () = connection.work.notified() => {}
            () = stop.cancelled() => {
                let _ = timeout(CLOSE_TIMEOUT, sink.send(close(StreamEnd::RelayEnds))).await;
                return;
            }
            _ = pings.tick() => {
                if !matches!(timeout(WRITE_TIMEOUT, sink.send(Message::Ping(Default::default()))).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
}
