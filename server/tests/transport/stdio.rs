//! Tests of a client on a pair of pipes.

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use trace_server::outbound::{BUSY_BYTES, CloseReason};
use trace_server::transport::{Phase, Shutdown, serve_stdio};

use crate::toy::{LONG, Toy, initialize, json, list, read_thread};

struct Piped {
    toy: Toy,
    shutdown: Shutdown,
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<CloseReason>,
}

impl Piped {
    fn new() -> Self {
        let (toy, opener) = Toy::new();
        let shutdown = Shutdown::new();
        let (input, server_input) = duplex(64 << 10);
        let (server_output, output) = duplex(64 << 10);
        let server = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { serve_stdio(&opener, server_input, server_output, &shutdown).await }
        });
        Self { toy, shutdown, input: Some(input), output: BufReader::new(output).lines(), server }
    }

    async fn initialized() -> Self {
        let mut piped = Self::new();
        piped.say(&initialize()).await;
        assert!(piped.hear().await.expect("an answer").get("result").is_some());
        assert_eq!(piped.hear().await.expect("a greeting")["method"], "warning");
        piped
    }

    async fn say(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(format!("{text}\n").as_bytes()).await.expect("the server reads");
    }

    async fn hear(&mut self) -> Option<serde_json::Value> {
        let line = timeout(LONG, self.output.next_line()).await.expect("something comes");
        line.expect("the server writes").map(|line| json(&line))
    }

    async fn ended(self) -> CloseReason {
        timeout(LONG, self.server).await.expect("it ends").expect("without a panic")
    }
}

#[tokio::test]
async fn lines_go_both_ways_and_bad_ones_are_dropped() {
    let mut client = Piped::initialized().await;
    for line in ["garbage", "", "   ", "{\"id\":1", "null", "\u{fffd}"] {
        client.say(line).await;
    }
    client.input.as_mut().expect("it is open").write_all(b"\xff\xfe\n").await.expect("the server reads");
    client.say(&list("x")).await;
    assert_eq!(client.hear().await, Some(json!({"id": "x", "result": {"data": []}})));
}

#[tokio::test]
async fn requests_are_answered_after_the_end_of_the_input() {
    let mut client = Piped::initialized().await;
    client.say(&read_thread(1, "t")).await;
    let mut input = client.input.take().expect("it is open");
    input.write_all(list(2).as_bytes()).await.expect("the server reads");
    drop(input);
    assert_eq!(client.hear().await.expect("an answer")["id"], 2, "the last line needs no end");
    client.toy.release("t", 1);
    assert_eq!(client.hear().await.expect("an answer")["id"], 1);
    assert_eq!(client.hear().await, None);
    assert_eq!(client.toy.seen().closed.len(), 1);
    assert_eq!(client.ended().await, CloseReason::ClientLeft);
}

#[tokio::test(start_paused = true)]
async fn an_endless_request_does_not_delay_the_shutdown() {
    let mut client = Piped::initialized().await;
    client.say(&read_thread(1, "t")).await;
    drop(client.input.take());
    assert_eq!(client.hear().await, None);
    assert_eq!(client.ended().await, CloseReason::ClientLeft);
}

#[tokio::test]
async fn closed_output_ends_the_server() {
    let mut client = Piped::initialized().await;
    let Piped { output, .. } = &mut client;
    *output = BufReader::new(duplex(1).0).lines();
    client.say(&list(1)).await;
    assert_eq!(client.ended().await, CloseReason::Broken);
}

#[tokio::test]
async fn twenty_thousand_requests_at_once_are_all_answered() {
    const REQUESTS: usize = 20_000;
    let mut client = Piped::initialized().await;
    let mut input = client.input.take().expect("it is open");
    let writer = tokio::spawn(async move {
        let all: String = (0..REQUESTS).map(|id| list(id) + "\n").collect();
        input.write_all(all.as_bytes()).await.expect("the server reads");
        input
    });
    let mut answers = vec![0_u8; REQUESTS];
    for _ in 0..REQUESTS {
        let answer = client.hear().await.expect("an answer");
        let is_good = answer["result"] == json!({"data": []}) || answer["error"]["code"] == -32001;
        assert!(is_good, "{answer}");
        answers[usize::try_from(answer["id"].as_u64().expect("an id")).expect("a small one")] += 1;
    }
    assert!(answers.iter().all(|count| *count == 1));
    drop(writer.await.expect("no panic"));
    assert_eq!(client.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn producers_wait_for_a_client_that_does_not_read() {
    let client = Piped::initialized().await;
    let connection = client.toy.seen().initialized.remove(0);
    let chunk = "x".repeat(64 << 10);
    let mut most = 0;
    for _ in 0..BUSY_BYTES / chunk.len() * 4 {
        if timeout(LONG, connection.producers_ready()).await.is_err() {
            break;
        }
        client.toy.broadcast(&chunk);
        most = most.max(connection.backlog().bytes);
    }
    assert!(timeout(LONG, connection.producers_ready()).await.is_err(), "nothing is given up");
    assert!(!connection.has_ended());
    assert!(most < BUSY_BYTES + 2 * chunk.len(), "{most} bytes waited");
    let Piped { output, server, .. } = client;
    let reading = tokio::spawn(async move { output.into_inner().read_to_end(&mut Vec::new()).await });
    timeout(LONG, connection.producers_ready()).await.expect("the client reads again");
    server.abort();
    reading.await.expect("no panic").expect("read");
}

#[tokio::test]
async fn the_server_shuts_down_on_request() {
    let mut client = Piped::initialized().await;
    assert_eq!(client.shutdown.signal(), Phase::Draining);
    client.toy.until(|seen| seen.is_draining).await;
    client.say(&list(1)).await;
    assert_eq!(client.hear().await.expect("an answer")["id"], 1, "it still serves");
    client.toy.finish();
    assert_eq!(client.hear().await, None);
    assert_eq!(client.ended().await, CloseReason::ServerEnds);

    let client = Piped::initialized().await;
    client.shutdown.signal();
    client.shutdown.signal();
    assert_eq!(client.ended().await, CloseReason::ServerEnds);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_delay_the_shutdown() {
    let mut client = Piped::initialized().await;
    client.toy.broadcast(&"x".repeat(1 << 20));
    client.say(&list(1)).await;
    client.toy.finish();
    client.shutdown.signal();
    let Piped { output, server, input, .. } = client;
    let reason = timeout(LONG, server).await.expect("it ends").expect("without a panic");
    assert_eq!(reason, CloseReason::ServerEnds);
    drop((output, input));
}
