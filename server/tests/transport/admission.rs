//! Tests of the order of requests, of limits and of overload, without a transport and with paused time.

use serde_json::json;
use tokio::time::{Instant, timeout};
use trace_server::ingress::{ADMISSION_TIMEOUT, MAX_BYTES_IN_FLIGHT, MAX_REQUESTS_IN_FLIGHT};
use trace_server::outbound::{BUSY_MESSAGES, CloseReason};

use crate::toy::{LONG, Pair, Toy, list, read_thread, warning};

/// Fills the limit of a connection with requests about one thread, of which one is running.
async fn fill(pair: &mut Pair) {
    for id in 0..MAX_REQUESTS_IN_FLIGHT {
        pair.say(&read_thread(id, "t")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_the_reader_waits_and_then_refuses() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    let start = Instant::now();
    fill(&mut pair).await;
    assert_eq!(start.elapsed().as_millis(), 0);

    let refused = json!({
        "code": -32001,
        "message": "Server overloaded; retry later.",
        "data": {"codexErrorInfo": "server_overloaded"},
    });
    pair.say(&list("a")).await;
    assert!(start.elapsed() >= ADMISSION_TIMEOUT);
    assert_eq!(pair.hear().await, json!({"id": "a", "error": refused}));

    let start = Instant::now();
    for id in 0..1_000 {
        assert_eq!(pair.ask(&list(id)).await, json!({"id": id, "error": refused}));
    }
    assert_eq!(start.elapsed().as_millis(), 0, "it waits once, not for each");

    toy.release("t", MAX_REQUESTS_IN_FLIGHT);
    for id in 0..MAX_REQUESTS_IN_FLIGHT {
        assert_eq!(pair.hear().await, json!({"id": id, "result": {"thread": "t"}}));
    }
    assert_eq!(pair.ask(&list("b")).await["result"], json!({"data": []}));
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_is_freed_in_time_is_used() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    fill(&mut pair).await;
    let release = tokio::spawn({
        let toy = toy.clone();
        async move {
            tokio::time::sleep(ADMISSION_TIMEOUT / 2).await;
            toy.release("t", 1);
        }
    });
    pair.say(&list("late")).await;
    release.await.expect("no panic");
    assert_eq!(pair.hear().await["id"], 0);
    assert_eq!(pair.hear().await, json!({"id": "late", "result": {"data": []}}));
}

#[tokio::test(start_paused = true)]
async fn limits_are_separate_for_each_connection() {
    let (_, opener) = Toy::new();
    let (mut full, mut other) = (Pair::initialized(&opener).await, Pair::initialized(&opener).await);
    fill(&mut full).await;
    assert_eq!(other.ask(&list(1)).await["result"], json!({"data": []}));
}

#[tokio::test(start_paused = true)]
async fn client_responses_and_invalid_requests_need_no_slot() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    fill(&mut pair).await;
    let start = Instant::now();
    pair.say(r#"{"id": 1, "result": 5}"#).await;
    assert_eq!(toy.seen().answers.len(), 1);
    assert_eq!(pair.ask(&crate::toy::request(1, "no/such", &json!({}))).await["error"]["code"], -32600);
    assert_eq!(start.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn requests_wait_until_the_answers_so_far_are_mostly_written() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    for _ in 0..BUSY_MESSAGES {
        pair.ingress.connection().notify(&warning("x"));
    }
    assert!(timeout(LONG, pair.say(&list(1))).await.is_err(), "the client does not read");
    pair.say(r#"{"id": 1, "result": 5}"#).await;
    assert_eq!(toy.seen().answers.len(), 1, "answers of the client are heard nevertheless");

    pair.reader.next(usize::MAX).await.expect("the warnings");
    assert_eq!(pair.ask(&list(2)).await["id"], 2);
}

#[tokio::test]
async fn requests_of_one_thread_run_in_the_order_of_their_arrival_over_all_connections() {
    let (toy, opener) = Toy::new();
    let (mut a, mut b) = (Pair::initialized(&opener).await, Pair::initialized(&opener).await);
    toy.release("u", 1);
    for round in 0..20 {
        a.say(&read_thread(round, "t")).await;
        b.say(&read_thread(round, "t")).await;
    }
    b.say(&read_thread("other", "u")).await;
    assert_eq!(b.hear().await["id"], "other", "another thread does not wait");
    for round in 0..20 {
        for pair in [&mut a, &mut b] {
            toy.release("t", 1);
            assert_eq!(pair.hear().await["id"], round);
        }
    }
    assert_eq!(toy.seen().begun.len(), 41);
    toy.until(|_| toy.is_idle()).await;
}

#[tokio::test]
async fn when_a_connection_ends_waiting_requests_are_dropped() {
    let (toy, opener) = Toy::new();
    let (mut a, mut b) = (Pair::initialized(&opener).await, Pair::initialized(&opener).await);
    a.say(&read_thread(1, "t")).await;
    toy.until(|seen| seen.begun.len() == 1).await;
    a.say(&read_thread(2, "t")).await;
    a.say(&read_thread(3, "t")).await;
    b.say(&read_thread(1, "t")).await;
    let id = a.ingress.connection().id();
    drop(a);
    assert_eq!(toy.seen().closed, [id]);
    toy.release("t", 2);
    assert_eq!(b.hear().await["id"], 1);
    let seen = toy.until(|_| toy.is_idle()).await;
    assert_eq!((seen.begun.len(), seen.ended.len()), (2, 2), "the one that ran and the other connection's");
}

#[tokio::test]
async fn a_connection_that_is_opened_while_the_server_ends_ends_at_once() {
    let (toy, opener) = Toy::new();
    let first = Pair::initialized(&opener).await;
    opener.end_all(CloseReason::ServerEnds);
    let second = Pair::bare(&opener);
    for pair in [first, second] {
        assert_eq!(pair.ingress.connection().end_reason(), Some(CloseReason::ServerEnds));
    }
    assert_eq!(toy.seen().closed.len(), 2);
    assert_eq!(opener.connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn large_requests_wait_for_bytes() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    let large = |id: &str, bytes: usize| {
        crate::toy::request(id, "thread/read", &json!({"threadId": "t", "padding": "x".repeat(bytes)}))
    };
    pair.say(&large("more than there is room, alone", 2 * MAX_BYTES_IN_FLIGHT)).await;
    assert_eq!(pair.ask(&list("a")).await["error"]["code"], -32001);
    toy.release("t", 1);
    assert_eq!(pair.hear().await["id"], "more than there is room, alone");

    pair.say(&large("b", MAX_BYTES_IN_FLIGHT / 2)).await;
    pair.say(&large("c", MAX_BYTES_IN_FLIGHT / 4)).await;
    assert_eq!(pair.ask(&large("d", MAX_BYTES_IN_FLIGHT / 2)).await["error"]["code"], -32001);
    assert_eq!(pair.ask(&list("e")).await["result"], json!({"data": []}), "a small one finds room");
    toy.release("t", 2);
    assert_eq!((pair.hear().await["id"].clone(), pair.hear().await["id"].clone()), (json!("b"), json!("c")));
    pair.say(&large("d", MAX_BYTES_IN_FLIGHT / 2)).await;
    toy.release("t", 1);
    assert_eq!(pair.hear().await["id"], "d");
}
