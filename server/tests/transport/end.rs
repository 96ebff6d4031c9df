//! Tests of the shutdown of a server that listens.

use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use trace_server::transport::Phase;

use crate::sockets::{Client, http};
use crate::toy::{Server, list, read_thread};

#[tokio::test]
async fn a_drain_completes_running_work_and_refuses_new_clients() {
    let server = Server::tcp(None).await;
    let mut client = Client::tcp(&server).await;
    assert_eq!(server.shutdown.signal(), Phase::Draining);
    server.toy.until(|seen| seen.is_draining).await;

    client.say(r#"{"id": 1, "result": {"decision": "accept"}}"#).await;
    server.toy.until(|seen| seen.answers.len() == 1).await;
    assert_eq!(client.ask(&list(1)).await["id"], 1, "a connected client is served");
    let stream = TcpStream::connect(server.address()).await.expect("the server listens");
    assert!(Client::upgrade(stream, "/", &[]).await.is_err());
    assert_eq!(http(&server, "GET /readyz HTTP/1.1").await.0, 503);
    assert_eq!(http(&server, "GET /healthz HTTP/1.1").await.0, 200);
    assert_eq!(http(&server, "POST /bridge HTTP/1.1\r\nContent-Length: 0").await.0, 503);

    server.toy.broadcast("the last one");
    server.toy.finish();
    assert_eq!(client.hear().await.expect("it is still written")["params"]["message"], "the last one");
    let Some(Message::Close(Some(frame))) = client.frame().await else { panic!("a close frame comes") };
    assert_eq!((frame.code, frame.reason.as_str()), (CloseCode::Away, "the server is shutting down"));
    while client.frame().await.is_some() {}
    let (address, opener) = (server.address(), server.opener.clone());
    server.ended().await;
    assert_eq!(opener.connections(), 0);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_second_signal_ends_at_once() {
    let server = Server::tcp(None).await;
    let mut client = Client::tcp(&server).await;
    client.say(&read_thread(1, "t")).await;
    server.toy.until(|seen| seen.begun.len() == 1).await;
    server.shutdown.signal();
    server.toy.until(|seen| seen.is_draining).await;
    assert_eq!(server.shutdown.signal(), Phase::Forced);
    server.ended().await;
    while client.frame().await.is_some() {}
}

#[tokio::test]
async fn a_client_without_a_close_frame_does_not_delay_the_shutdown() {
    let server = Server::tcp(None).await;
    // The client does not read the close frame, so it does not answer it.
    let _client = Client::tcp(&server).await;
    server.toy.finish();
    server.shutdown.signal();
    server.ended().await;
}
