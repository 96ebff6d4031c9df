//! Services that fail, refuse, or send invalid data over these wire formats.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use trace_runtime::event::ErrorKind;
use trace_runtime::provider::{
    HttpProvider, ModelEvent, Origin, Provider, ProviderConfig, ProviderError, Request, RetryDecision, Wire,
};

use super::script::{self, Reasoning, Said};
use crate::service::{Act, Service, answer, stream_head};

const WIRES: [Wire; 2] = [Wire::Chat, Wire::Anthropic];

/// Returns a provider named `test` with a wire format.
pub(crate) fn provider(wire: Wire, base_url: &str, more: &str) -> HttpProvider {
    let name = match wire {
        Wire::Responses => "responses",
        Wire::Chat => "chat",
        Wire::Anthropic => "anthropic",
    };
    let text = format!("[model_providers.test]\nbase_url = \"{base_url}\"\nwire_api = \"{name}\"\n{more}\n");
    let mut configs = ProviderConfig::read_all(&text, Path::new("config.toml")).expect("a configuration");
    let environment = |name: &str| (name == "TEST_KEY").then(|| "secret-key".to_owned());
    HttpProvider::new(configs.remove("test").expect("it is there").resolve(&environment).expect("it resolves"))
}

async fn ask(wire: Wire, acts: Vec<Act>, more: &str) -> (Vec<ModelEvent>, Option<ProviderError>, String) {
    let mut service = Service::new(vec![acts]).await;
    let provider = provider(wire, &service.base_url, more);
    let request = Request {
        body: Arc::new(json!({ "model": "m", "input": [], "tools": [] }).into()),
        headers: vec![],
        origin: Origin::default(),
    };
    let (mut events, mut error) = (Vec::new(), None);
    for heard in provider.stream(Arc::new(request)).collect::<Vec<_>>().await {
        match heard {
            Ok(event) => events.push(event),
            Err(found) => error = Some(found),
        }
    }
    (events, error, service.request().await)
}

fn saying(wire: Wire) -> Vec<u8> {
    script::answer(wire, Reasoning::Open, &[Said::Say("grüße 🦀")])
}

#[tokio::test]
async fn a_request_goes_where_its_wire_says_with_its_key() {
    for (wire, path, lines) in [
        (Wire::Chat, "/v1/chat/completions?a=1", vec!["authorization: bearer secret-key", "x-more: here"]),
        (
            Wire::Anthropic,
            "/v1/messages?a=1",
            vec!["x-api-key: secret-key", "anthropic-version: 2023-06-01", "x-more: here"],
        ),
    ] {
        let more = "env_key = \"TEST_KEY\"\nquery_params = { a = \"1\" }\nhttp_headers = { x-more = \"here\" }\nmax_output_tokens = 77";
        let acts = vec![stream_head(), Act::Send(saying(wire))];
        let (events, error, request) = ask(wire, acts, more).await;
        assert!(error.is_none() && matches!(events.last(), Some(ModelEvent::Completed { .. })), "{error:?}");
        let (head, body) = request.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        for line in lines {
            assert!(head.to_ascii_lowercase().contains(line), "{line} in {head}");
        }
        assert!(body.contains("\"max_tokens\":77"), "{body}");
    }
}

#[tokio::test]
async fn the_answer_is_the_same_however_its_bytes_arrive() {
    for wire in WIRES {
        let mut found = Vec::new();
        for size in [1, 7, 10_000] {
            let mut acts = vec![stream_head()];
            acts.extend(saying(wire).chunks(size).map(|piece| Act::Send(piece.to_vec())));
            let (events, error, _) = ask(wire, acts, "").await;
            assert_eq!(error, None);
            let said: String = events
                .iter()
                .filter_map(
                    |event| if let ModelEvent::Text { delta, .. } = event { Some(delta.as_str()) } else { None },
                )
                .collect();
            assert_eq!(said, "grüße 🦀");
            found.push(events.len());
        }
        assert!(found.iter().all(|count| *count == found[0]), "{found:?}");
    }
}

#[tokio::test]
async fn refusals_are_those_of_all_wires() {
    let http = |status| ErrorKind::HttpConnectionFailed { status: Some(status) };
    let error = |kind: &str| json!({ "type": "error", "error": { "type": kind, "message": "words" } }).to_string();
    let after = |seconds: Option<u64>| RetryDecision::Request { after: seconds.map(Duration::from_secs) };
    for (status, headers, body, kind, retry) in [
        ("401 Unauthorized", "", error("authentication_error"), ErrorKind::Unauthorized, RetryDecision::Never),
        ("429 Too Many Requests", "retry-after: 3\r\n", error("rate_limit_error"), http(429), after(Some(3))),
        ("500 Internal Server Error", "", error("api_error"), ErrorKind::InternalServerError, after(None)),
        (
            "529 Overloaded",
            "retry-after: 1\r\n",
            error("overloaded_error"),
            ErrorKind::ServerOverloaded,
            after(Some(1)),
        ),
        ("400 Bad Request", "", error("invalid_request_error"), ErrorKind::Other, RetryDecision::Never),
    ] {
        for wire in WIRES {
            let headers = format!("{headers}request-id: q\r\n");
            let (events, found, _) = ask(wire, answer(status, &headers, &body), "").await;
            let found = found.expect("an error");
            assert!(events.is_empty(), "{events:?}");
            assert_eq!(
                (found.message.as_str(), &found.kind, found.retry),
                ("words", &kind, retry),
                "{status} {wire:?}"
            );
            assert_eq!(found.request_id.as_deref(), Some("q"));
        }
    }
}

#[tokio::test]
async fn answers_that_break_off_or_make_no_sense_are_worth_another_try() {
    for wire in WIRES {
        let whole = saying(wire);
        let half = whole[..whole.len() / 2].to_vec();
        let nonsense = [half.clone(), b"\n\ndata: {\"type\":\n\n".to_vec()].concat();
        for bytes in [Vec::new(), half, nonsense, b"data: 7\n\ndata: [DONE]\n\n".to_vec(), b"<<<>>>\n\n".to_vec()] {
            let (events, error, _) = ask(wire, vec![stream_head(), Act::Send(bytes)], "").await;
            let error = error.expect("an error");
            assert_eq!(error.kind, ErrorKind::StreamDisconnected { status: None }, "{events:?} {error:?}");
            assert_eq!(error.retry, RetryDecision::Stream { after: None });
            assert!(
                !events.iter().any(|event| matches!(event, ModelEvent::ItemDone(_))),
                "half an item is none: {events:?}"
            );
        }
    }
}

#[tokio::test]
async fn silence_ends_the_wait_but_not_behind_a_whole_answer() {
    for wire in WIRES {
        let begun = saying(wire)[..60].to_vec();
        let acts = vec![stream_head(), Act::Send(begun), Act::Wait];
        let (_, error, _) = ask(wire, acts, "stream_idle_timeout_ms = 60").await;
        assert!(error.expect("an error").message.starts_with("the provider was silent for"));
        let whole = saying(wire);
        // Everything except the final event.
        let text = String::from_utf8(whole).expect("a text");
        let end = text.trim_end().rfind("\n\n").expect("events") + 2;
        let acts = vec![stream_head(), Act::Send(text.as_bytes()[..end].to_vec()), Act::Wait];
        let (events, error, _) = ask(wire, acts, "stream_idle_timeout_ms = 300").await;
        assert!(error.is_none() && matches!(events.last(), Some(ModelEvent::Completed { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn histories_are_never_made_shorter_by_these_services() {
    for wire in WIRES {
        let request =
            Arc::new(Request { body: Arc::new(json!({}).into()), headers: vec![], origin: Origin::default() });
        assert!(provider(wire, "http://127.0.0.1:1", "").compact(request).is_none());
    }
}
