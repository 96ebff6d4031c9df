//! Tests of a client in the same process.

use serde_json::json;
use trace_protocol::methods::method;
use trace_protocol::thread::ThreadLoadedListParams;
use trace_protocol::{Experimental, RequestId, RpcError};
use trace_server::outbound::{CloseReason, OutboundPolicy};
use trace_server::transport::in_process::{CallError, Event, connect};

use crate::toy::Toy;

#[tokio::test]
async fn responses_go_to_callers_and_other_messages_come_in_order() {
    let (toy, opener) = Toy::new();
    let (client, mut events) = connect(&opener, OutboundPolicy::SHARED);
    let refused = client.call::<method::ThreadLoadedList>(&ThreadLoadedListParams::default()).await;
    assert!(matches!(refused, Err(CallError::Refused(RpcError { code: -32600, .. }))));

    let introduced = client.initialize("me", "1", Experimental::Enabled).await.expect("an answer");
    assert_eq!(introduced.user_agent, "me/1.0.0");
    let threads = client.call::<method::ThreadLoadedList>(&ThreadLoadedListParams::default()).await.expect("an answer");
    assert_eq!(threads.data, [""; 0]);

    let (thread, nothing) = (json!({"threadId": "t"}), json!({}));
    let slow = client.request("thread/read", &thread);
    let fast = client.request("thread/loaded/list", &nothing);
    let release = async {
        let answer = fast.await;
        toy.release("t", 1);
        answer
    };
    let (slow, fast) = tokio::join!(slow, release);
    assert_eq!(fast.expect("an answer").get(), r#"{"data":[]}"#);
    assert_eq!(slow.expect("an answer").get(), r#"{"thread":"t"}"#);

    toy.broadcast("first");
    toy.broadcast("second");
    for expected in ["hello", "first", "second"] {
        let Some(Event::Notification { method, params: Some(params) }) = events.next().await else {
            panic!("a warning comes");
        };
        assert_eq!(method, "warning");
        assert!(params.get().contains(expected));
    }

    client.answer(&RequestId::Integer(5), &json!({"decision": "accept"})).await.expect("sent");
    client.refuse(&RequestId::Integer(6), &RpcError::internal("no")).await.expect("sent");
    let seen = toy.until(|seen| seen.answers.len() == 2).await;
    assert!(seen.answers[0].1.is_ok() && seen.answers[1].1.is_err());
}

#[tokio::test]
async fn no_caller_waits_after_the_server_has_ended() {
    let (toy, opener) = Toy::new();
    let (client, mut events) = connect(&opener, OutboundPolicy::Wait);
    client.initialize("me", "1", Experimental::Disabled).await.expect("an answer");
    let thread = json!({"threadId": "t"});
    let waiting = client.request("thread/read", &thread);
    let end = async {
        toy.until(|seen| seen.begun.len() == 1).await;
        opener.end_all(CloseReason::ServerEnds);
    };
    let (waiting, ()) = tokio::join!(waiting, end);
    assert!(matches!(waiting, Err(CallError::Disconnected)));
    assert!(matches!(events.next().await, Some(Event::Notification { .. })));
    assert!(events.next().await.is_none());
    toy.until(|seen| seen.closed.len() == 1).await;
    let late = client.request("thread/loaded/list", &json!({})).await;
    assert!(matches!(late, Err(CallError::Disconnected)));
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_connection() {
    let (toy, opener) = Toy::new();
    let (client, events) = connect(&opener, OutboundPolicy::SHARED);
    client.initialize("me", "1", Experimental::Disabled).await.expect("an answer");
    drop((client, events));
    toy.until(|seen| seen.closed.len() == 1).await;
    assert_eq!(opener.connections(), 0);
}
