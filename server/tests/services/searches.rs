//! Tests of `fuzzyFileSearch*`.

use std::fs;

use serde_json::{Value, json};
use trace_server::services::{MAX_MATCHES, MAX_QUERY_CHARS, SESSIONS_PER_CONNECTION};

use crate::support::{Client, Machine, TIMEOUT};

fn filled() -> Machine {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("src/needles")).expect("the file system works");
    fs::create_dir_all(machine.path("repo/.git")).expect("the file system works");
    for name in ["src/needle_file.rs", ".hidden_needle", "other.txt", "repo/ignored_needle", "repo/.git/needle"] {
        fs::write(machine.path(name), "").expect("the file system works");
    }
    fs::write(machine.path("repo/.gitignore"), "ignored*\n").expect("the file system works");
    machine
}

fn paths(files: &Value) -> Vec<&str> {
    files.as_array().expect("a list").iter().map(|file| file["path"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn files_are_found_by_letters_of_their_paths() {
    let machine = filled();
    let client = machine.client().await;
    let search = |query: &str, roots: Value| json!({"query": query, "roots": roots, "cancellationToken": null});
    let result = client.call("fuzzyFileSearch", search("needle", json!([machine.work.path()]))).await;
    let mut found = paths(&result["files"]);
    found.sort_unstable();
    assert_eq!(found, [".hidden_needle", "src/needle_file.rs", "src/needles"]);
    let folder = result["files"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|file| file["path"] == "src/needles")
        .expect("it is there");
    assert_eq!((&folder["match_type"], &folder["file_name"]), (&json!("directory"), &json!("needles")));
    assert_eq!(folder["indices"], json!([4, 5, 6, 7, 8, 9]));
    assert_eq!(folder["root"], json!(machine.work.path()));
    // A root may be relative to the server's folder, or may not exist.
    let result = client.call("fuzzyFileSearch", search("ndlfile", json!(["src", "/nowhere/at/all"]))).await;
    assert_eq!((paths(&result["files"]), &result["files"][0]["root"]), (vec!["needle_file.rs"], &json!("src")));
    for nothing in [search("", json!([machine.work.path()])), search("needle", json!([])), search("qqq", json!(["."]))]
    {
        assert_eq!(client.call("fuzzyFileSearch", nothing).await, json!({"files": []}));
    }
    let long = search(&"x".repeat(MAX_QUERY_CHARS + 1), json!(["."]));
    assert_eq!(client.refused("fuzzyFileSearch", long).await.0, -32600);
}

#[tokio::test]
async fn only_the_best_are_returned() {
    let machine = Machine::new();
    for number in 0..MAX_MATCHES * 2 {
        fs::write(machine.path(&format!("same{number}")), "").expect("the file system works");
    }
    let client = machine.client().await;
    let result = client.call("fuzzyFileSearch", json!({"query": "same", "roots": ["."]})).await;
    assert_eq!(result["files"].as_array().expect("a list").len(), MAX_MATCHES);
}

#[tokio::test]
async fn every_call_is_answered_however_many_share_a_token() {
    let machine = filled();
    let client = machine.client().await;
    let params = json!({"query": "needle", "roots": ["."], "cancellationToken": "typing"});
    let calls = (0..20).map(|_| client.post("fuzzyFileSearch", params.clone())).collect::<Vec<_>>();
    for call in calls {
        let files = call.await.expect("it goes on").expect("it is there")["files"].as_array().expect("a list").len();
        assert!(files == 0 || files == 3, "{files}");
    }
    // No later call cancels the last one.
    assert_eq!(client.call("fuzzyFileSearch", params).await["files"].as_array().expect("a list").len(), 3);
}

/// Returns the results of a session for a query, and skips those for earlier queries.
async fn updated(client: &Client, query: &str) -> Value {
    loop {
        let params = client.note_of("fuzzyFileSearch/sessionUpdated").await;
        assert_eq!(client.note_of("fuzzyFileSearch/sessionCompleted").await, json!({"sessionId": "s"}));
        if params["query"] == query {
            return params["files"].clone();
        }
    }
}

#[tokio::test]
async fn a_session_follows_its_query() {
    let machine = filled();
    let client = machine.client().await;
    let start = json!({"sessionId": "s", "roots": [machine.work.path()]});
    assert_eq!(client.call("fuzzyFileSearch/sessionStart", start.clone()).await, json!({}));
    assert_eq!(updated(&client, "").await, json!([]));
    for (query, count) in [("needle", 3), ("needle", 3), ("needlefile", 1), ("", 0), ("qqq", 0)] {
        client.call("fuzzyFileSearch/sessionUpdate", json!({"sessionId": "s", "query": query})).await;
        assert_eq!(updated(&client, query).await.as_array().expect("a list").len(), count, "{query}");
    }
    // A new start of the session walks the folders again.
    fs::write(machine.path("another_needle"), "").expect("the file system works");
    client.call("fuzzyFileSearch/sessionStart", start).await;
    client.call("fuzzyFileSearch/sessionUpdate", json!({"sessionId": "s", "query": "needle"})).await;
    assert_eq!(updated(&client, "needle").await.as_array().expect("a list").len(), 4);

    let stop = json!({"sessionId": "s"});
    client.call("fuzzyFileSearch/sessionStop", stop.clone()).await;
    client.call("fuzzyFileSearch/sessionStop", stop).await;
    let update = json!({"sessionId": "s", "query": "x"});
    assert_eq!(client.refused("fuzzyFileSearch/sessionUpdate", update).await.0, -32600);
}

#[tokio::test]
async fn sessions_belong_to_their_connection_and_are_limited() {
    let machine = filled();
    let (client, other) = (machine.client().await, machine.client().await);
    let start = |id: &str| json!({"sessionId": id, "roots": []});
    assert_eq!(client.refused("fuzzyFileSearch/sessionStart", start("")).await.0, -32600);
    for number in 0..SESSIONS_PER_CONNECTION {
        client.call("fuzzyFileSearch/sessionStart", start(&number.to_string())).await;
    }
    assert_eq!(client.refused("fuzzyFileSearch/sessionStart", start("more")).await.0, -32600);
    client.call("fuzzyFileSearch/sessionStart", start("0")).await;
    let update = json!({"sessionId": "0", "query": "x"});
    assert_eq!(other.refused("fuzzyFileSearch/sessionUpdate", update).await.0, -32600);
    other.call("fuzzyFileSearch/sessionStart", start("0")).await;
    drop(client);
    let answered = other.call("fuzzyFileSearch/sessionUpdate", json!({"sessionId": "0", "query": "x"}));
    tokio::time::timeout(TIMEOUT, answered).await.expect("it goes on");
}
