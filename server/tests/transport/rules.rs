//! Tests of the messages that a client may send and gets before and after `initialize`.

use serde_json::{Value, json};
use trace_protocol::approval::CommandExecutionRequestApprovalParams;
use trace_protocol::notification::ThreadReadStateChangedNotification;
use trace_protocol::{RequestId, ServerNotification, ServerRequest};
use trace_server::connection::{Delivery, SerializedNotification, SerializedRequest};

use crate::toy::{Pair, Toy, initialize, list, request, warning};

fn code(answer: &Value) -> (i64, &str) {
    (answer["error"]["code"].as_i64().expect("a code"), answer["error"]["message"].as_str().expect("a message"))
}

fn introduction(capabilities: &Value) -> String {
    let params = json!({"clientInfo": {"name": "test", "version": "1"}, "capabilities": capabilities});
    request(0, "initialize", &params)
}

#[tokio::test]
async fn nothing_is_served_or_sent_before_initialize() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::bare(&opener);
    for text in [list(1), request(1, "no/such/method", &json!({})), request(1, "thread/start", &json!({"cwd": 5}))] {
        let answer = pair.ask(&text).await;
        assert_eq!(code(&answer), (-32600, "Not initialized"));
        assert_eq!(answer["id"], 1);
    }
    assert_eq!(pair.ingress.connection().notify(&warning("x")), Delivery::Withheld);
    pair.say(r#"{"id": 4, "result": {}}"#).await;
    assert!(toy.seen().answers.is_empty());
    assert!(pair.is_silent());
}

#[tokio::test]
async fn a_failed_initialize_can_be_repeated_and_one_that_succeeded_cannot() {
    let (_, opener) = Toy::new();
    let mut pair = Pair::bare(&opener);
    let with_name = |name: &str| request("i", "initialize", &json!({"clientInfo": {"name": name, "version": "1"}}));
    let table = [
        (request("i", "initialize", &json!({"clientInfo": {"name": "x"}})), "version"),
        (json!({"id": "i", "method": "initialize"}).to_string(), "params"),
        (with_name("bad\nname"), "clientInfo.name"),
        (with_name("bad\u{7f}"), "clientInfo.name"),
        (with_name("nobody"), "not you"),
    ];
    for (text, why) in table {
        let answer = pair.ask(&text).await;
        assert_eq!(answer["error"]["code"], -32600);
        assert!(code(&answer).1.contains(why), "{answer}");
    }
    assert_eq!(code(&pair.ask(&list(1)).await).1, "Not initialized");
    assert_eq!(pair.ask(&initialize()).await["result"]["codexHome"], "/home");
    assert_eq!(pair.hear().await["method"], "warning", "what follows the answer");
    assert_eq!(code(&pair.ask(&initialize()).await), (-32600, "Already initialized"));
    let without_params = json!({"id": 1, "method": "initialize"}).to_string();
    assert_eq!(code(&pair.ask(&without_params).await), (-32600, "Already initialized"));
    assert_eq!(pair.ask(&list(2)).await["result"], json!({"data": []}));
}

#[tokio::test]
async fn invalid_messages_are_dropped() {
    let (_, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    let texts = [
        "",
        "   ",
        "this is not json",
        "{\"id\": 5,",
        "[]",
        "{\"foo\": 1}",
        "12",
        "null",
        "\"x\"",
        r#"{"id": null, "method": "thread/loaded/list"}"#,
        r#"{"id": 1.5, "method": "thread/loaded/list"}"#,
        r#"{"method": "made/up", "params": [1]}"#,
        r#"{"method": "initialized"}"#,
        r#"{"method": "thread/loaded/list"}"#,
    ];
    for text in texts {
        pair.say(text).await;
    }
    pair.ingress.receive_bytes(&[0xff, 0xfe]).await;
    assert!(pair.is_silent());
    assert_eq!(pair.ask(&list(2)).await["id"], 2);
}

#[tokio::test]
async fn ids_are_echoed_and_two_requests_with_one_id_are_both_answered() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    for id in [json!("abc"), json!("7"), json!(7), json!(0), json!(-3), json!(i64::MAX)] {
        let answer = pair.ask(&list(id.clone())).await;
        assert_eq!(answer["id"], id);
        assert!(answer.get("jsonrpc").is_none());
    }
    pair.say(&crate::toy::read_thread(1, "a")).await;
    pair.say(&crate::toy::read_thread(1, "b")).await;
    toy.release("b", 1);
    assert_eq!(pair.hear().await, json!({"id": 1, "result": {"thread": "b"}}));
    toy.release("a", 1);
    assert_eq!(pair.hear().await, json!({"id": 1, "result": {"thread": "a"}}));
}

#[tokio::test]
async fn requests_that_do_not_decode_are_refused() {
    let (_, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    let table = [
        (request(1, "no/such/method", &json!({})), "no/such/method"),
        (request(1, "thread/read", &json!({"threadId": 5})), "thread/read"),
        (request(1, "thread/read", &json!({})), "threadId"),
        (request(1, "collaborationMode/list", &json!({})), "collaborationMode/list requires experimentalApi"),
        (request(1, "thread/start", &json!({"historyMode": "legacy"})), "thread/start.historyMode requires"),
    ];
    for (text, what) in table {
        let answer = pair.ask(&text).await;
        assert!(code(&answer).1.contains(what), "{answer}");
        assert_eq!(answer["error"]["code"], -32600);
    }
    let jsonrpc = r#"{"jsonrpc": "2.0", "id": 2, "method": "thread/loaded/list", "params": {"x": 1}, "trace": 5}"#;
    assert_eq!(pair.ask(jsonrpc).await, json!({"id": 2, "result": {"data": []}}));
}

#[tokio::test]
async fn a_request_that_the_service_drops_is_answered() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    for method in ["model/list", "config/read"] {
        let answer = pair.ask(&request(method, method, &json!({}))).await;
        assert_eq!(answer["id"], method);
        assert_eq!(answer["error"]["code"], -32603);
        assert!(code(&answer).1.contains(method));
    }
    toy.until(|_| toy.is_idle()).await;
    assert_eq!(pair.ask(&list(2)).await["id"], 2);
}

#[tokio::test]
async fn answers_of_the_client_reach_the_service() {
    let (toy, opener) = Toy::new();
    let mut pair = Pair::initialized(&opener).await;
    pair.say(r#"{"id": 7, "result": {"decision": "accept"}}"#).await;
    pair.say(r#"{"id": "x", "error": {"code": -1, "message": "no"}}"#).await;
    pair.say(r#"{"id": 8, "error": "no"}"#).await;
    let answers = toy.seen().answers;
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0].0, RequestId::Integer(7));
    assert_eq!(answers[0].1.as_ref().map(|result| result.get()), Ok(r#"{"decision": "accept"}"#));
    assert_eq!(answers[1].1.as_ref().map_err(|error| error.code).err(), Some(-1));
    assert!(pair.is_silent());
}

#[tokio::test]
async fn notifications_go_to_those_who_want_them() {
    let (_, opener) = Toy::new();
    let experimental = ServerNotification::from(ThreadReadStateChangedNotification {
        thread_id: "t".to_owned(),
        ..Default::default()
    });
    let experimental = SerializedNotification::new(&experimental, 5).expect("it is JSON");
    let ordinary = warning("x");
    let table = [
        (json!({}), Delivery::Sent, Delivery::Withheld),
        (json!({"experimentalApi": true}), Delivery::Sent, Delivery::Sent),
        (json!({"optOutNotificationMethods": ["warning", "no/such"]}), Delivery::Withheld, Delivery::Withheld),
        (
            json!({"experimentalApi": true, "optOutNotificationMethods": ["thread/readState/changed", "warn"]}),
            Delivery::Sent,
            Delivery::Withheld,
        ),
        (json!({"experimentalApi": null, "optOutNotificationMethods": null}), Delivery::Sent, Delivery::Withheld),
    ];
    for (capabilities, to_ordinary, to_experimental) in table {
        let mut pair = Pair::bare(&opener);
        assert!(pair.ask(&introduction(&capabilities)).await.get("result").is_some());
        let connection = pair.ingress.connection();
        assert_eq!(connection.notify(&ordinary), to_ordinary, "{capabilities}");
        assert_eq!(connection.notify(&experimental), to_experimental, "{capabilities}");
    }
}

#[tokio::test]
async fn server_requests_omit_experimental_fields() {
    let (_, opener) = Toy::new();
    let params = CommandExecutionRequestApprovalParams { available_decisions: Some(vec![]), ..Default::default() };
    let request = SerializedRequest::new(RequestId::Integer(3), &ServerRequest::from(params)).expect("it is JSON");
    for (capabilities, has_field) in [(json!({}), false), (json!({"experimentalApi": true}), true)] {
        let mut pair = Pair::bare(&opener);
        assert_eq!(pair.ingress.connection().request(&request), Delivery::Withheld, "not introduced");
        pair.ask(&introduction(&capabilities)).await;
        pair.hear().await;
        assert_eq!(pair.ingress.connection().request(&request), Delivery::Sent);
        let asked = pair.hear().await;
        assert_eq!((&asked["id"], &asked["method"]), (&json!(3), &json!("item/commandExecution/requestApproval")));
        assert_eq!(asked["params"].get("availableDecisions").is_some(), has_field);
    }
}
