//! Sends spans to a collector: a listener of this test that parses requests like a collector does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use rustls::{ClientConfig, RootCertStore};
use trace_explain::Session;
use trace_export::otlp::{self, ATTEMPTS, Collector, Content, MAX_ANSWER_BYTES, SendError};

/// A request as it was received.
struct Received {
    head: String,
    body: Vec<u8>,
}

/// An answer: the end of its status line, and its body.
type Answer = (&'static str, Vec<u8>);

/// Listens on loopback and answers each request with the next of `answers`. The thread returns the requests.
fn collector(answers: Vec<Answer>) -> (String, JoinHandle<Vec<Received>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let listening = std::thread::spawn(move || {
        let mut received = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().expect("a connection");
            received.push(answered(stream, &answer));
        }
        received
    });
    (address, listening)
}

fn answered(mut stream: TcpStream, (status, body): &Answer) -> Received {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).expect("reads") > 0, "the connection closed within the headers: {head}");
    }
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut received = vec![0; length.expect("a length")];
    reader.read_exact(&mut received).expect("reads");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/x-protobuf\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(answer.as_bytes()).expect("answers");
    stream.write_all(body).expect("answers");
    Received { head: head.to_ascii_lowercase(), body: received }
}

fn sample() -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/three-children");
    Session::open(&path).expect("opens")
}

/// No test has a collector with a certificate.
fn unencrypted() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

fn to(address: &str) -> Collector {
    Collector::new(address, vec![("x-key".to_owned(), "abc".to_owned())]).expect("an address")
}

#[test]
fn a_collector_gets_what_a_file_gets() {
    let (address, listening) = collector(vec![("200 OK", Vec::new())]);
    let session = sample();
    let sent = to(&address).send(&session, Content::LeftOut, unencrypted()).expect("sends");
    let received = listening.join().expect("answers");
    let [request] = &received[..] else { panic!("{} requests", received.len()) };
    assert!(request.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains("content-type: application/x-protobuf\r\n"), "{}", request.head);
    assert!(request.head.contains("x-key: abc\r\n"), "{}", request.head);
    let on_the_wire = ExportTraceServiceRequest::decode(&request.body[..]).expect("a request");
    let mut file = Vec::new();
    otlp::write(&session, Content::LeftOut, &mut file).expect("writes");
    let in_the_file: ExportTraceServiceRequest = serde_json::from_slice(&file).expect("one request");
    assert_eq!(on_the_wire, in_the_file);
    let spans: usize =
        on_the_wire.resource_spans.iter().flat_map(|spans| &spans.scope_spans).map(|spans| spans.spans.len()).sum();
    assert_eq!((sent.spans, sent.requests, sent.rejected, sent.remark), (spans as u64, 1, 0, None));
}

#[test]
fn what_the_collector_does_not_keep_is_told() {
    let partial = ExportTracePartialSuccess { rejected_spans: 3, error_message: "too old".to_owned() };
    let answer = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let (address, listening) = collector(vec![("200 OK", answer)]);
    let sent = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect("sends");
    listening.join().expect("answers");
    assert_eq!((sent.rejected, sent.remark.as_deref()), (3, Some("too old")));
}

#[test]
fn a_web_server_is_no_collector() {
    let (address, listening) = collector(vec![("200 OK\r\ncontent-type: text/html", b"<html>".to_vec())]);
    let sent = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect("sends");
    listening.join().expect("answers");
    assert!(sent.remark.is_some_and(|remark| remark.contains("web page")));
}

#[test]
fn a_busy_collector_is_asked_again() {
    let busy = ("503 Service Unavailable", Vec::new());
    let (address, listening) = collector(vec![busy.clone(), busy, ("200 OK", Vec::new())]);
    let sent = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect("sends");
    let received = listening.join().expect("answers");
    assert_eq!((sent.requests, received.len()), (1, 3));
    assert!(received.windows(2).all(|pair| pair[0].body == pair[1].body));
}

#[test]
fn no_collector_is_asked_for_ever() {
    let busy = vec![("503 Service Unavailable", b"later".to_vec()); ATTEMPTS];
    let (address, listening) = collector(busy);
    let error = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect_err("gives up");
    assert_eq!(listening.join().expect("answers").len(), ATTEMPTS);
    let SendError::Refused { status, answer, spans_sent, .. } = error else { panic!("{error:?}") };
    assert_eq!((status, answer.as_str(), spans_sent), (503, "later", 0));
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    let (address, listening) = collector(vec![("401 Unauthorized", b"no key".to_vec())]);
    let error = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect_err("refused");
    listening.join().expect("answers");
    assert_eq!(error.to_string(), format!("{address}/v1/traces refused spans with status 401 after 0 spans: no key"));
}

#[test]
fn a_password_in_the_address_is_sent_and_not_told() {
    let (address, listening) = collector(vec![("403 Forbidden", Vec::new())]);
    let error = to(&address.replace("//", "//me:secret@"))
        .send(&sample(), Content::LeftOut, unencrypted())
        .expect_err("refused");
    let received = listening.join().expect("answers");
    assert!(received[0].head.contains("authorization: basic "), "{}", received[0].head);
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn of_headers_with_one_name_the_last_is_sent() {
    let (address, listening) = collector(vec![("200 OK", Vec::new())]);
    let headers = [("X-Key", "first"), ("x-key", "last")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let collector = Collector::new(&address, headers).expect("an address");
    collector.send(&sample(), Content::LeftOut, unencrypted()).expect("sends");
    let received = listening.join().expect("answers");
    assert_eq!(received[0].head.matches("x-key: ").count(), 1);
    assert!(received[0].head.contains("x-key: last\r\n"), "{}", received[0].head);
}

#[test]
fn an_answer_of_any_length_is_an_answer() {
    let (address, listening) = collector(vec![("200 OK", vec![b'x'; MAX_ANSWER_BYTES + 1])]);
    let sent = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect("sends");
    listening.join().expect("answers");
    assert_eq!((sent.requests, sent.rejected), (1, 0));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("listens");
    elsewhere.set_nonblocking(true).expect("a listener");
    let there = format!("307 Temporary Redirect\r\nlocation: http://{}", elsewhere.local_addr().expect("an address"));
    let (address, listening) = collector(vec![(&*there.leak(), Vec::new())]);
    let error = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect_err("refused");
    listening.join().expect("answers");
    assert!(matches!(&error, SendError::Refused { status: 307, .. }), "{error:?}");
    assert!(elsewhere.accept().is_err(), "the headers, which may have a key, go to nobody else");
}

#[test]
fn nobody_there_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let error = to(&address).send(&sample(), Content::LeftOut, unencrypted()).expect_err("nobody there");
    assert!(matches!(&error, SendError::NoAnswer { spans_sent: 0, .. }), "{error:?}");
}
