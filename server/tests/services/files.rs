//! Tests of `fs/*`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use trace_server::services::{CHANGES_AT_ONCE, LARGE_FILE_BYTES, MAX_READ_BYTES, WATCHES_PER_CONNECTION};

use crate::support::{Client, Machine};

async fn read(client: &Client, path: &Path) -> Vec<u8> {
    let result = client.call("fs/readFile", json!({"path": path})).await;
    STANDARD.decode(result["dataBase64"].as_str().expect("a text")).expect("what was encoded")
}

#[tokio::test]
async fn a_file_is_written_and_read() {
    let machine = Machine::new();
    let client = machine.client().await;
    let (folder, file) = (machine.path("a/b"), machine.path("a/b/c.bin"));
    assert_eq!(client.call("fs/createDirectory", json!({"path": folder})).await, json!({}));
    for bytes in [&b"\x00hi\xff"[..], b"", b"longer than before"] {
        let params = json!({"path": file, "dataBase64": STANDARD.encode(bytes)});
        assert_eq!(client.call("fs/writeFile", params).await, json!({}));
        assert_eq!(read(&client, &file).await, bytes);
    }
    let metadata = client.call("fs/getMetadata", json!({"path": file})).await;
    assert_eq!((&metadata["isFile"], &metadata["isDirectory"]), (&json!(true), &json!(false)));
    assert!(metadata["modifiedAtMs"].as_i64().expect("it is there") > 1_600_000_000_000);
    let entries = client.call("fs/readDirectory", json!({"path": folder})).await;
    assert_eq!(entries["entries"], json!([{"fileName": "c.bin", "isFile": true, "isDirectory": false}]));
}

#[tokio::test]
async fn errors_have_their_code_and_name_the_path() {
    let machine = Machine::new();
    let client = machine.client().await;
    let file = machine.path("file");
    fs::write(&file, "x").expect("the file system works");
    fs::create_dir_all(machine.path("full/inner")).expect("the file system works");
    rustix_fifo(&machine.path("pipe"));
    for (method, params, code, part) in [
        ("fs/readFile", json!({"path": "relative"}), -32600, "relative"),
        ("fs/readFile", json!({"path": machine.path("missing")}), -32603, "missing"),
        ("fs/readFile", json!({"path": machine.work.path()}), -32600, "not a file"),
        ("fs/readFile", json!({"path": machine.path("pipe")}), -32600, "not a file"),
        ("fs/writeFile", json!({"path": file, "dataBase64": "%%"}), -32602, "dataBase64"),
        ("fs/writeFile", json!({"path": machine.path("no/x"), "dataBase64": ""}), -32603, "no/x"),
        ("fs/writeFile", json!({"path": machine.path("pipe"), "dataBase64": ""}), -32600, "not a file"),
        ("fs/createDirectory", json!({"path": machine.path("p/q"), "recursive": false}), -32603, "p/q"),
        ("fs/createDirectory", json!({"path": file}), -32603, "file"),
        ("fs/getMetadata", json!({"path": machine.path("missing")}), -32603, "missing"),
        ("fs/readDirectory", json!({"path": file}), -32603, "file"),
        ("fs/remove", json!({"path": machine.path("missing"), "force": false}), -32603, "missing"),
        ("fs/remove", json!({"path": machine.path("full"), "recursive": false}), -32603, "full"),
        ("fs/remove", json!({"path": "/"}), -32600, "root"),
        ("fs/copy", json!({"sourcePath": machine.path("full"), "destinationPath": file}), -32600, "recursive"),
        (
            "fs/copy",
            json!({"sourcePath": machine.path("full"), "destinationPath": machine.path("full/inner/x/y"), "recursive": true}),
            -32600,
            "into itself",
        ),
        ("fs/copy", json!({"sourcePath": file, "destinationPath": file}), -32600, "into itself"),
        ("fs/copy", json!({"sourcePath": machine.path("pipe"), "destinationPath": machine.path("x")}), -32600, "pipe"),
        ("fs/copy", json!({"sourcePath": machine.path("missing"), "destinationPath": file}), -32603, "missing"),
    ] {
        let (found, message) = client.refused(method, params.clone()).await;
        assert_eq!(found, code, "{method} {params}: {message}");
        assert!(message.contains(part), "{method} {params}: {message}");
    }
    assert_eq!(fs::read(&file).expect("the file system works"), b"x");
}

fn rustix_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("the program runs");
    assert!(made.success());
}

#[tokio::test]
async fn a_file_is_read_up_to_a_size() {
    let machine = Machine::new();
    let client = machine.client().await;
    let file = machine.path("large");
    let large = fs::File::create(&file).expect("the file system works");
    large.set_len(MAX_READ_BYTES + 1).expect("the file system works");
    let (code, message) = client.refused("fs/readFile", json!({"path": file})).await;
    assert_eq!(code, -32600, "{message}");
    large.set_len(MAX_READ_BYTES).expect("the file system works");
    assert_eq!(read(&client, &file).await.len() as u64, MAX_READ_BYTES);
}

#[tokio::test]
async fn symlinks_are_followed_but_removed_and_copied_themselves() {
    let machine = Machine::new();
    let client = machine.client().await;
    fs::create_dir(machine.path("folder")).expect("the file system works");
    fs::write(machine.path("folder/file"), "x").expect("the file system works");
    symlink("folder", machine.path("link")).expect("the file system works");
    symlink("nowhere", machine.path("broken")).expect("the file system works");
    let metadata = client.call("fs/getMetadata", json!({"path": machine.path("link")})).await;
    assert_eq!((&metadata["isDirectory"], &metadata["isSymlink"]), (&json!(true), &json!(true)));
    assert_eq!(client.refused("fs/getMetadata", json!({"path": machine.path("broken")})).await.0, -32603);
    let entries = client.call("fs/readDirectory", json!({"path": machine.work.path()})).await;
    assert_eq!(
        entries["entries"],
        json!([
            {"fileName": "broken", "isFile": false, "isDirectory": false},
            {"fileName": "folder", "isFile": false, "isDirectory": true},
            {"fileName": "link", "isFile": false, "isDirectory": true},
        ])
    );
    let copy = |from: &str, to: &str| json!({"sourcePath": machine.path(from), "destinationPath": machine.path(to)});
    client.call("fs/copy", copy("link", "link2")).await;
    client.call("fs/copy", copy("broken", "link2")).await;
    assert_eq!(fs::read_link(machine.path("link2")).expect("the file system works"), Path::new("nowhere"));
    client.call("fs/remove", json!({"path": machine.path("link")})).await;
    client.call("fs/remove", json!({"path": machine.path("broken")})).await;
    assert_eq!(fs::read(machine.path("folder/file")).expect("the file system works"), b"x");
}

#[tokio::test]
async fn a_folder_is_copied_with_all_that_is_in_it() {
    let machine = Machine::new();
    let client = machine.client().await;
    fs::create_dir_all(machine.path("from/deep/er")).expect("the file system works");
    fs::write(machine.path("from/deep/er/file"), "new").expect("the file system works");
    symlink("deep", machine.path("from/link")).expect("the file system works");
    fs::create_dir_all(machine.path("to/deep")).expect("the file system works");
    fs::write(machine.path("to/stays"), "old").expect("the file system works");
    let params = json!({"sourcePath": machine.path("from"), "destinationPath": machine.path("to"), "recursive": true});
    for _ in 0..2 {
        assert_eq!(client.call("fs/copy", params.clone()).await, json!({}));
        assert_eq!(fs::read(machine.path("to/deep/er/file")).expect("the file system works"), b"new");
        assert_eq!(fs::read(machine.path("to/stays")).expect("the file system works"), b"old");
        assert!(fs::symlink_metadata(machine.path("to/link")).expect("the file system works").is_symlink());
    }
    client.call("fs/remove", json!({"path": machine.path("to")})).await;
    client.call("fs/remove", json!({"path": machine.path("to")})).await;
    assert!(!machine.path("to").exists());
}

/// Collects the paths of notifications until all of `wanted` were reported.
async fn told(client: &Client, id: &str, wanted: &[&Path]) -> Vec<String> {
    let mut told = Vec::new();
    while !wanted.iter().all(|path| told.contains(&path.to_string_lossy().into_owned())) {
        let params = client.note_of("fs/changed").await;
        assert_eq!(params["watchId"], id);
        told.extend(
            params["changedPaths"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|path| path.as_str().expect("a text").to_owned()),
        );
    }
    told
}

#[tokio::test]
async fn changes_in_a_watched_folder_are_reported() {
    let machine = Machine::new();
    let client = machine.client().await;
    let folder = machine.work.path();
    fs::create_dir(machine.path("deep")).expect("the file system works");
    let result = client.call("fs/watch", json!({"path": folder, "watchId": "w"})).await;
    assert_eq!(result, json!({"path": folder}));
    fs::write(machine.path("deep/below"), "x").expect("the file system works");
    fs::write(machine.path("one"), "x").expect("the file system works");
    fs::write(machine.path("two"), "x").expect("the file system works");
    let changed = told(&client, "w", &[&machine.path("one"), &machine.path("two")]).await;
    assert!(!changed.contains(&machine.path("deep/below").to_string_lossy().into_owned()), "{changed:?}");
    fs::remove_file(machine.path("one")).expect("the file system works");
    told(&client, "w", &[&machine.path("one")]).await;
}

#[tokio::test]
async fn a_watched_file_stays_watched_after_a_replacement() {
    let machine = Machine::new();
    let client = machine.client().await;
    let file = machine.path("file");
    // The file need not exist yet.
    client.call("fs/watch", json!({"path": file, "watchId": "w"})).await;
    for round in 0..3 {
        fs::write(machine.path("other"), "x").expect("the file system works");
        fs::write(machine.path("new"), format!("{round}")).expect("the file system works");
        fs::rename(machine.path("new"), &file).expect("the file system works");
        let changed = told(&client, "w", &[&file]).await;
        assert!(changed.iter().all(|path| Path::new(path) == file), "{changed:?}");
    }
}

#[tokio::test]
async fn watches_belong_to_their_connection() {
    let machine = Machine::new();
    let (one, other) = (machine.client().await, machine.client().await);
    let watch = |path: &Path| json!({"path": path, "watchId": "w"});
    fs::create_dir(machine.path("a")).expect("the file system works");
    fs::create_dir(machine.path("b")).expect("the file system works");
    one.call("fs/watch", watch(&machine.path("a"))).await;
    other.call("fs/watch", watch(&machine.path("b"))).await;
    assert_eq!(one.refused("fs/watch", watch(&machine.path("b"))).await.0, -32600);
    assert_eq!(one.refused("fs/watch", json!({"path": "a", "watchId": "x"})).await.0, -32600);
    assert_eq!(one.refused("fs/watch", json!({"path": machine.path("no/thing"), "watchId": "x"})).await.0, -32603);
    // An ended watch reports nothing, even if another watch of the same folder does.
    one.call("fs/watch", json!({"path": machine.path("b"), "watchId": "ended"})).await;
    one.call("fs/unwatch", json!({"watchId": "ended"})).await;
    assert_eq!(one.call("fs/unwatch", json!({"watchId": "never was"})).await, json!({}));
    fs::write(machine.path("b/x"), "").expect("the file system works");
    told(&other, "w", &[&machine.path("b/x")]).await;
    fs::write(machine.path("a/x"), "").expect("the file system works");
    told(&one, "w", &[&machine.path("a/x")]).await;
}

#[tokio::test]
async fn a_recreated_folder_can_be_watched_again() {
    let machine = Machine::new();
    let client = machine.client().await;
    let folder = machine.path("folder");
    fs::create_dir(&folder).expect("the file system works");
    client.call("fs/watch", json!({"path": folder, "watchId": "old"})).await;
    fs::remove_dir(&folder).expect("the file system works");
    told(&client, "old", &[&folder]).await;
    fs::create_dir(&folder).expect("the file system works");
    // The old watch still exists, but refers to the deleted folder.
    client.call("fs/watch", json!({"path": folder, "watchId": "new"})).await;
    fs::write(folder.join("file"), "").expect("the file system works");
    let mut ids = Vec::new();
    while !ids.contains(&json!("new")) {
        ids.push(client.note_of("fs/changed").await["watchId"].clone());
    }
}

#[tokio::test]
async fn a_connection_has_a_limit_of_watches() {
    let machine = Machine::new();
    let client = machine.client().await;
    for number in 0..WATCHES_PER_CONNECTION {
        client.call("fs/watch", json!({"path": machine.work.path(), "watchId": number.to_string()})).await;
    }
    let more = json!({"path": machine.work.path(), "watchId": "more"});
    assert_eq!(client.refused("fs/watch", more.clone()).await.0, -32600);
    client.call("fs/unwatch", json!({"watchId": "0"})).await;
    client.call("fs/watch", more).await;
}

#[tokio::test]
async fn very_many_changes_are_reported_as_one() {
    let machine = Machine::new();
    let client = machine.client().await;
    client.call("fs/watch", json!({"path": machine.work.path(), "watchId": "w"})).await;
    for number in 0..=CHANGES_AT_ONCE * 2 {
        fs::write(machine.path(&number.to_string()), "").expect("the file system works");
    }
    fs::write(machine.path("last"), "").expect("the file system works");
    let mut seen = Vec::<Value>::new();
    let last = json!(machine.path("last"));
    let whole = json!([machine.work.path()]);
    while !seen.iter().any(|paths| *paths == whole || paths.as_array().expect("a list").contains(&last)) {
        let params = client.note_of("fs/changed").await;
        assert!(params["changedPaths"].as_array().expect("a list").len() <= CHANGES_AT_ONCE);
        seen.push(params["changedPaths"].clone());
    }
}

#[tokio::test]
async fn copying_does_not_empty_files_or_block_on_pipes() {
    let machine = Machine::new();
    let client = machine.client().await;
    fs::create_dir_all(machine.path("from")).expect("the file system works");
    fs::create_dir_all(machine.path("to")).expect("the file system works");
    fs::write(machine.path("from/file"), "x").expect("the file system works");
    fs::hard_link(machine.path("from/file"), machine.path("same")).expect("the file system works");
    symlink("../from/file", machine.path("to/file")).expect("the file system works");
    rustix_fifo(&machine.path("pipe"));
    for (from, to, part) in [
        ("from/file", "same", "into itself"),
        ("from/file", "to/file", "into itself"),
        ("from", "to", "into itself"),
        ("from/file", "pipe", "not a file"),
    ] {
        let params = json!({"sourcePath": machine.path(from), "destinationPath": machine.path(to), "recursive": true});
        let (code, message) = client.refused("fs/copy", params).await;
        assert_eq!(code, -32600, "{from} {to}: {message}");
        assert!(message.contains(part), "{from} {to}: {message}");
        assert_eq!(fs::read(machine.path("from/file")).expect("the file system works"), b"x", "{from} {to}");
    }
}

#[tokio::test]
async fn files_that_block_do_not_block_other_requests() {
    let machine = Machine::new();
    let client = machine.client().await;
    let (pipe, link, swapped) = (machine.path("pipe"), machine.path("link"), machine.path("swapped"));
    rustix_fifo(&pipe);
    symlink("pipe", &link).expect("the file system works");
    // Another process has opened the pipe and writes nothing.
    let _other_end = fs::File::options().read(true).write(true).open(&pipe).expect("it opens both ends");
    let _socket = std::os::unix::net::UnixListener::bind(machine.path("socket")).expect("a socket");
    let socket = machine.path("socket");
    let paths = [pipe.as_path(), &link, &socket, Path::new("/dev/zero"), Path::new("/dev/random")];
    for path in paths.into_iter().chain([Path::new("/dev/tty"), Path::new("/dev/ptmx")]) {
        for method in ["fs/readFile", "fs/writeFile", "fs/copy"] {
            let params = match method {
                "fs/readFile" => json!({"path": path}),
                "fs/writeFile" => json!({"path": path, "dataBase64": ""}),
                _ => json!({"sourcePath": path, "destinationPath": machine.path("copy")}),
            };
            let answer = client.ask(method, params).await;
            // A symlink itself is copied.
            let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
            assert!(answer.is_err() || (is_link && method == "fs/copy"), "{method} {path:?}: {answer:?}");
        }
    }
    // The file looks like a regular file, but reading it waits for messages of the kernel.
    let _ = client.ask("fs/readFile", json!({"path": "/proc/kmsg"})).await;

    // The kind of the file that is actually opened decides, not that of an earlier check.
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = {
        let (stop, file, pipe, swapped) = (stop.clone(), machine.path("file"), machine.path("second"), swapped.clone());
        fs::write(&file, "x").expect("the file system works");
        rustix_fifo(&pipe);
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for next in [&file, &pipe] {
                    let _ = fs::remove_file(&swapped);
                    let _ = fs::hard_link(next, &swapped);
                }
            }
        })
    };
    for _ in 0..500 {
        let _ = client.ask("fs/readFile", json!({"path": swapped})).await;
        let copy = json!({"sourcePath": swapped, "destinationPath": machine.path("copied")});
        let _ = client.ask("fs/copy", copy).await;
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().expect("no panic");
}

#[tokio::test]
async fn of_many_large_files_one_response_is_queued_at_a_time() {
    let machine = Machine::new();
    let (mut ingress, mut texts) = machine.wire().await;
    let (large, small) = (machine.path("large"), machine.path("small"));
    fs::File::create(&large).and_then(|file| file.set_len(8 << 20)).expect("the file system works");
    fs::File::create(&small).and_then(|file| file.set_len(LARGE_FILE_BYTES - 1)).expect("the file system works");
    let read =
        |id: usize, path: &Path| json!({"id": id, "method": "fs/readFile", "params": {"path": path}}).to_string();
    for id in 1..=6 {
        ingress.receive(&read(id, &large)).await;
    }
    let mut answered = Vec::new();
    while answered.len() < 6 {
        let taken = texts.next(usize::MAX).await.expect("it lasts");
        assert_eq!(taken.len(), 1, "after {answered:?}");
        let answer: Value = serde_json::from_str(&taken[0]).expect("JSON");
        assert_eq!(answer["result"]["dataBase64"].as_str().map(str::len), Some((8_usize << 20).div_ceil(3) * 4));
        answered.push(answer["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=6).map(Some).collect::<Vec<_>>());
    ingress.receive(&read(7, &small)).await;
    assert!(texts.next(usize::MAX).await.expect("it lasts")[0].starts_with("{\"id\":7,\"result\""));
}
