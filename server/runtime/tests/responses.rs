//! The Responses API with correct and faulty services; `wires` tests the other wire formats.

mod common;
mod service;
mod wires;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use service::{Act, Service, answer, read_request, stream_head};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use trace_runtime::event::ErrorKind;
use trace_runtime::provider::{
    Compaction, Endpoint, HttpProvider, ModelEvent, Origin, Provider, ProviderConfig, ProviderError, Request,
    RetryDecision,
};

type Answer = Vec<Result<ModelEvent, ProviderError>>;

fn provider(base_url: &str, more: &str) -> HttpProvider {
    let text = format!("[model_providers.test]\nbase_url = \"{base_url}\"\n{more}\n");
    let mut configs = ProviderConfig::read_all(&text, Path::new("config.toml")).expect("a configuration");
    let config = configs.remove("test").expect("it is there");
    let environment = |name: &str| (name == "TEST_KEY").then(|| "secret-key".to_owned());
    HttpProvider::new(config.resolve(&environment).expect("it resolves"))
}

fn request() -> Arc<Request> {
    let headers = vec![("x-thread".to_owned(), "t1".to_owned()), ("x-bad".to_owned(), "a\nb".to_owned())];
    Arc::new(Request { body: Arc::new(json!({"model": "m", "input": []}).into()), headers, origin: Origin::default() })
}

async fn ask(provider: &HttpProvider) -> Answer {
    provider.stream(request()).collect().await
}

async fn ask_service(connection: Vec<Act>, more: &str) -> Answer {
    ask(&provider(&Service::new(vec![connection]).await.base_url, more)).await
}

fn only_error(answer: Answer) -> ProviderError {
    let [Err(error)] = <[_; 1]>::try_from(answer).expect("one thing") else { panic!("no error") };
    error
}

fn last_error(mut answer: Answer) -> ProviderError {
    answer.pop().expect("something").expect_err("an error")
}

fn lines(events: &[Value]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("event: x\r\ndata: {event}\r\n\r\n").into_bytes()).collect()
}

fn whole_answer() -> Vec<u8> {
    lines(&[
        json!({"type": "response.created", "response": {"id": "r1"}}),
        json!({"type": "response.in_progress", "response": {"id": "r1"}}),
        json!({"type": "response.output_item.added", "item": {"type": "message", "id": "m1"}}),
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "grüße 🦀"}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "id": "m1"}}),
        json!({"type": "response.completed", "response": {"id": "r1", "usage": {"input_tokens": 3, "output_tokens": 2}}}),
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "never heard"}),
    ])
}

#[tokio::test]
async fn an_answer_is_heard_however_its_bytes_are_cut() {
    for size in [1, 7, 64, 10_000] {
        let mut acts = vec![stream_head(), Act::Send("\u{feff}: hello\n\n".into())];
        acts.extend(whole_answer().chunks(size).map(|piece| Act::Send(piece.to_vec())));
        let mut service = Service::new(vec![acts]).await;
        let answer = ask(&provider(&service.base_url, "")).await;
        let events: Vec<ModelEvent> = answer.into_iter().map(|event| event.expect("no error")).collect();
        assert_eq!(events.len(), 5, "{events:?}");
        let created = ModelEvent::Created { response_id: Some("r1".to_owned()), request_id: Some("req-7".to_owned()) };
        assert_eq!(events[0], created);
        assert_eq!(events[2], ModelEvent::Text { item_id: "m1".to_owned(), delta: "grüße 🦀".to_owned() });
        let ModelEvent::Completed { usage: Some(usage), .. } = &events[4] else { panic!("not completed: {events:?}") };
        assert_eq!((usage.input, usage.output, usage.total), (3, 2, 5));
        assert!(service.request().await.starts_with("POST /v1/responses HTTP/1.1\r\n"));
    }
}

#[tokio::test]
async fn a_request_says_what_the_configuration_says() {
    let more = "env_key = \"TEST_KEY\"\nquery_params = { version = \"a b\" }\n\
                http_headers = { x-org = \"us\", x-thread = \"configured\" }";
    let mut service = Service::new(vec![answer("500 No", "", "")]).await;
    let base_url = format!("{}/?tenant=1", service.base_url);
    let error = only_error(ask(&provider(&base_url, more)).await);
    let request = service.request().await.to_ascii_lowercase();
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("post /v1/responses?tenant=1&version=a+b http/1.1\r\n"), "{head}");
    for line in [
        "accept: text/event-stream",
        "content-type: application/json",
        "authorization: bearer secret-key",
        "x-org: us",
        "x-thread: configured",
        "user-agent: trace/",
    ] {
        assert_eq!(head.matches(line).count(), 1, "{line} in {head}");
    }
    assert!(!head.contains("x-bad"), "{head}");
    assert_eq!(serde_json::from_str::<Value>(body).expect("JSON"), json!({"model": "m", "input": []}));
    let shown = format!("{error:?}");
    assert!(!shown.contains("secret") && !shown.contains("version"), "{shown}");
}

#[tokio::test]
async fn an_unknown_key_is_told_with_its_place() {
    let body = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
    let error = only_error(
        ask_service(answer("401 Unauthorized", "x-request-id: q\r\n", body), "env_key = \"TEST_KEY\"").await,
    );
    assert_eq!(
        (error.message.as_str(), error.kind, error.retry),
        ("Incorrect API key provided", ErrorKind::Unauthorized, RetryDecision::Never)
    );
    assert_eq!(error.request_id.as_deref(), Some("q"));
    let details = error.details.expect("details");
    assert!(details.starts_with("HTTP 401 from http://127.0.0.1:"), "{details}");
    assert!(details.ends_with("/v1/responses; the key comes from the environment variable `TEST_KEY`"), "{details}");
}

#[tokio::test]
async fn a_missing_key_asks_nobody() {
    let error = only_error(ask(&provider("http://127.0.0.1:1", "env_key = \"NOT_SET\"")).await);
    assert_eq!(error.message, "the provider `test` needs a key: set the environment variable `NOT_SET`");
    assert_eq!((error.kind, error.retry), (ErrorKind::Unauthorized, RetryDecision::Never));
}

#[tokio::test]
async fn refusals_say_whether_and_when_to_try_again() {
    let body = r#"{"error":{"message":"words"}}"#;
    let http = |status| ErrorKind::HttpConnectionFailed { status: Some(status) };
    let request = |after: Option<u64>| RetryDecision::Request { after: after.map(Duration::from_secs) };
    let cases = [
        ("400 Bad Request", "", ErrorKind::Other, RetryDecision::Never),
        ("404 Not Found", "", http(404), RetryDecision::Never),
        ("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", http(307), RetryDecision::Never),
        ("429 Too Many Requests", "retry-after: 3\r\n", http(429), request(Some(3))),
        ("429 Too Many Requests", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n", http(429), request(Some(0))),
        ("500 Internal Server Error", "", ErrorKind::InternalServerError, request(None)),
        ("502 Bad Gateway", "", http(502), request(None)),
        ("503 Service Unavailable", "retry-after: never\r\n", http(503), request(None)),
    ];
    for (status, headers, kind, retry) in cases {
        let error = only_error(ask_service(answer(status, headers, body), "").await);
        assert_eq!((error.message.as_str(), error.kind, error.retry), ("words", kind, retry), "{status} {headers}");
    }
}

#[tokio::test]
async fn an_endless_error_is_cut() {
    let head = b"HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n".to_vec();
    let error = only_error(ask_service(vec![Act::Send(head), Act::Repeat(vec![b'x'; 1 << 16], usize::MAX)], "").await);
    assert_eq!(error.message, "the provider answered with HTTP status 502");
    assert!(error.details.expect("details").len() < 3000);
}

#[tokio::test]
async fn a_page_is_no_answer() {
    let page = answer("200 OK", "content-type: text/html; charset=utf-8\r\n", "<html>log in</html>");
    let error = only_error(ask_service(page, "").await);
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::HttpConnectionFailed { status: Some(200) }, RetryDecision::Never)
    );
    let details = error.details.expect("details");
    assert!(details.ends_with("not a stream of events; is `base_url` right?"), "{details}");
}

#[tokio::test]
async fn silence_ends_the_wait() {
    let error = only_error(ask_service(vec![Act::Wait], "stream_idle_timeout_ms = 50").await);
    assert_eq!(error.kind, ErrorKind::StreamConnectionFailed { status: None });
    assert_eq!(error.retry, RetryDecision::Request { after: None });
    assert!(error.message.ends_with("/v1/responses within 0.05 s"), "{}", error.message);

    let begun = lines(&[json!({"type": "response.created", "response": {"id": "r"}})]);
    let acts = vec![stream_head(), Act::Send(begun), Act::Send(b": comment\n\n".to_vec()), Act::Wait];
    let provider = provider(&Service::new(vec![acts]).await.base_url, "");
    let mut answer = provider.stream(request());
    assert!(matches!(answer.next().await, Some(Ok(ModelEvent::Created { .. }))));
    // The rest of the test is a timeout, which is simulated.
    tokio::time::pause();
    let error = answer.next().await.expect("an error").expect_err("an error");
    assert_eq!(error.message, "the provider was silent for 300 s");
    assert_eq!((error.retry, error.request_id.as_deref()), (RetryDecision::Stream { after: None }, Some("req-7")));
    assert!(answer.next().await.is_none());
}

#[tokio::test]
async fn an_answer_that_breaks_off_says_how() {
    let created = lines(&[json!({"type": "response.created", "response": {"id": "r"}})]);
    let chunked = |bytes: &[u8]| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        [head.as_bytes(), format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
    };
    let cases = [
        (vec![stream_head(), Act::Send(created.clone())], "the stream ended before the event `response.completed`"),
        (vec![Act::Send(chunked(&created))], ""),
        (
            vec![stream_head(), Act::Send(created.clone()), Act::Send(b"data: {\"type\":\n\n".to_vec())],
            "an event of the answer is not JSON: ",
        ),
        (
            vec![stream_head(), Act::Send(created), Act::Send(lines(&[json!({"type": "response.output_item.done"})]))],
            "the event `response.output_item.done` has no item",
        ),
    ];
    for (acts, expected) in cases {
        let answer = ask_service(acts, "").await;
        assert_eq!(answer.len(), 2, "{answer:?}");
        let error = last_error(answer);
        assert_eq!(error.message, "the answer broke off before it was complete");
        assert_eq!(
            (error.kind, error.retry),
            (ErrorKind::StreamDisconnected { status: None }, RetryDecision::Stream { after: None })
        );
        let details = error.details.expect("details");
        assert!(details.starts_with(expected), "{details}");
    }
}

#[tokio::test]
async fn nonsense_that_holds_no_event_breaks_off() {
    let answer =
        ask_service(vec![stream_head(), Act::Send(b"\x00\xff\xfe<<<>>>\n\nnonsense: 1\n\n".to_vec())], "").await;
    assert_eq!(only_error(answer).kind, ErrorKind::StreamDisconnected { status: None });
}

#[tokio::test]
async fn an_endless_event_is_refused() {
    let acts = vec![stream_head(), Act::Send(b"data: ".to_vec()), Act::Repeat(vec![b'x'; 1 << 20], usize::MAX)];
    let error = only_error(ask_service(acts, "").await);
    assert_eq!(error.details.as_deref(), Some("a server-sent event has more than 16777216 bytes"));
}

#[tokio::test]
async fn an_endless_answer_is_refused() {
    let comment = format!(":{}\n", "x".repeat(1 << 20));
    let error = only_error(ask_service(vec![stream_head(), Act::Repeat(comment.into_bytes(), usize::MAX)], "").await);
    assert_eq!(error.details.as_deref(), Some("it has more than 268435456 bytes"));
    assert_eq!(error.retry, RetryDecision::Never);
}

#[tokio::test]
async fn an_error_whose_text_never_ends_is_told_soon() {
    let acts = vec![Act::Send(b"HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nhalf a".to_vec()), Act::Wait];
    let error = only_error(ask_service(acts, "stream_idle_timeout_ms = 300").await);
    assert!(matches!(error.retry, RetryDecision::Request { .. }), "{error:?}");
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has ports");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
    let (told, mut requests) = mpsc::unbounded_channel();
    let heard = Arc::new(Notify::new());
    let heard_there = Arc::clone(&heard);
    tokio::spawn(async move {
        for connection in 0.. {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let (told, heard) = (told.clone(), Arc::clone(&heard_there));
            tokio::spawn(async move {
                let event = lines(&[json!({"type": "response.completed"})]);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                let chunk = format!("{:x}\r\n", event.len());
                let answer = [head.as_bytes(), chunk.as_bytes(), &event, b"\r\n"].concat();
                while read_request(&mut stream).await.is_ok() {
                    // The receiver may have been dropped.
                    let _ = told.send(connection);
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                    // The stream ends after the answer.
                    heard.notified().await;
                    if stream.write_all(b"0\r\n\r\n").await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    let provider = provider(&base_url, "");
    let mut seen = HashSet::new();
    // Either side may win the race between the end of an answer and the next request, so the test repeats it.
    for _ in 0..1000 {
        assert!(matches!(ask(&provider).await.as_slice(), [Ok(ModelEvent::Completed { .. })]));
        heard.notify_one();
        tokio::task::yield_now().await;
        if !seen.insert(requests.recv().await.expect("a request came")) {
            return;
        }
    }
    panic!("every request took a connection of its own");
}

#[tokio::test]
async fn nobody_there_is_worth_another_try() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let error = only_error(ask(&provider(&format!("http://{address}/v1"), "")).await);
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::HttpConnectionFailed { status: None }, RetryDecision::Request { after: None })
    );
    assert!(
        error.message.starts_with(&format!("cannot reach http://{address}/v1/responses: Connection refused")),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn an_answer_that_nobody_wants_is_given_up() {
    let acts = vec![stream_head(), Act::Send(whole_answer()[..150].to_vec()), Act::Wait];
    let done = answer("200 OK", "content-type: text/event-stream\r\n", "data: {\"type\":\"response.completed\"}\n\n");
    let mut service = Service::new(vec![acts, done]).await;
    let provider = provider(&service.base_url, "");
    let mut stream = provider.stream(request());
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Created { .. }))));
    drop(stream);
    // The service accepts the second connection only after the first was closed.
    assert_eq!(ask(&provider).await.len(), 1);
    service.request().await;
    service.request().await;
}

#[tokio::test]
async fn a_history_is_made_shorter_where_the_provider_can() {
    assert!(provider("http://127.0.0.1:1", "").compact(request()).is_none());
    let connections = vec![
        answer("200 OK", "content-type: application/json\r\n", r#"{"output":[{"type":"compaction"}]}"#),
        answer("200 OK", "", r#"{"output":[7]}"#),
        answer("200 OK", "", "{"),
        answer("400 Bad Request", "", r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#),
    ];
    let mut service = Service::new(connections).await;
    let provider = provider(&service.base_url, "remote_compaction = true");
    let compact = || provider.compact(request()).expect("it can");
    assert_eq!(compact().await.expect("items"), [trace_runtime::item::ModelItem::from(json!({"type": "compaction"}))]);
    assert!(service.request().await.starts_with("POST /v1/responses/compact HTTP/1.1\r\n"));
    assert_eq!(compact().await.expect_err("a number").kind, ErrorKind::StreamDisconnected { status: None });
    assert_eq!(compact().await.expect_err("no JSON").kind, ErrorKind::StreamDisconnected { status: None });
    assert_eq!(compact().await.expect_err("too long").kind, ErrorKind::ContextWindowExceeded);
}

#[tokio::test]
async fn https_needs_no_provider_of_cryptography_that_somebody_installed() {
    // The server does not speak TLS, which is noticed only after the client was created.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has ports");
    let base_url = format!("https://{}/v1", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let endpoint = |name: &str| (name == "OPENAI_BASE_URL").then(|| base_url.clone());
    let endpoint = Endpoint::from_openai_environment(&endpoint).expect("it resolves");
    assert_eq!(ProviderConfig::openai(None).expect("a provider").compaction, Compaction::Local);
    let error = only_error(ask(&HttpProvider::new(endpoint)).await);
    assert_eq!(error.kind, ErrorKind::HttpConnectionFailed { status: None }, "{error:?}");
}
