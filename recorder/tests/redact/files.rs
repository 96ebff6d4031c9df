//! Tests how each file of a bundle is redacted, in a directory and packed.

use std::fs::{self, File};

use serde_json::json;
use trace_recorder::Bundle;
use trace_recorder::pack::{DEFAULT_LEVEL, Source, pack};
use trace_recorder::redact::{Rules, redact, scan};

use crate::bundles::Place;

/// Makes a bundle with secrets in the files of the format and in other files.
fn crowded(place: &Place) {
    let password = json!({ "text": "DB_PASSWORD=correcthorse\n" });
    place.write("bundle", &[password, json!({ "a": 1.50 })], &["see https://me:hunter2@host".to_owned()], &[]);
    let write = |path: &str, content: &[u8]| {
        let path = place.path("bundle").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, content).expect("writes");
    };
    write("state.json", b"{\"password\": \"hunter2\"}");
    write("notes.txt", b"the wifi:\nWIFI_PASSWORD=swordfish\n");
    write("more/settings.json", b"{ \"password\": \"swordfish\",\r\n \"port\": 1.0 }");
    write("more/lines.jsonl", b"{\"password\":\"swordfish\"}\n{\"b\":2}\n");
    write("payloads/more/7.json", b"{\"password\":\"swordfish\"}");
    write("image.bin", b"\xff\xfe\x00\x01");
    write("empty", b"");
    write("before-repair-1/trace.jsonl", b"{\"password\":\"swordfish\"}");
    write(".before-repair-2.tmp/trace.jsonl", b"{\"password\":\"swordfish\"}");
}

fn pack_as(place: &Place, from: &str, to: &str) {
    let source = Source::list(&place.path(from)).expect("lists");
    pack(&source, File::create(place.path(to)).expect("creates"), DEFAULT_LEVEL).expect("packs");
}

#[test]
fn every_file_is_copied_without_its_secrets_but_what_is_made_of_others() {
    let place = Place::new();
    crowded(&place);
    let report = place.redact("bundle", "copy", &Rules::default());
    assert_eq!(report.left_out, [".before-repair-2.tmp", "before-repair-1"]);
    assert!(report.damaged.is_empty() && report.unreadable.is_empty());
    let files = place.files("copy");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "empty",
            "image.bin",
            "manifest.json",
            "more/lines.jsonl",
            "more/settings.json",
            "notes.txt",
            "payloads/1.json",
            "payloads/2.json",
            "payloads/more/7.json",
            "trace.jsonl"
        ]
    );
    let text = |name: &str| fs::read(place.path("copy").join(name)).expect("reads");
    assert_eq!(text("image.bin"), b"\xff\xfe\x00\x01");
    insta::assert_snapshot!(String::from_utf8_lossy(&text("notes.txt")), @r#"
    the wifi:
    WIFI_PASSWORD=[redacted:password:d075b1ba]
    "#);
    insta::assert_snapshot!(String::from_utf8_lossy(&text("more/settings.json")).replace('\r', "CR"), @r#"
    { "password": "[redacted:password:d075b1ba]",CR
     "port": 1.0 }
    "#);
    insta::assert_snapshot!(String::from_utf8_lossy(&text("more/lines.jsonl")), @r#"
    {"password":"[redacted:password:d075b1ba]"}
    {"b":2}
    "#);
    for (name, bytes) in &files {
        for secret in ["correcthorse", "hunter2", "swordfish"] {
            assert!(memchr::memmem::find(bytes, secret.as_bytes()).is_none(), "{secret} in {name}");
        }
    }
    let copy = Bundle::open(&place.path("copy")).expect("opens");
    assert!(scan(&copy, &Rules::default()).expect("scans").is_clean());
}

#[test]
fn a_check_looks_at_what_repairs_kept_too() {
    let place = Place::new();
    place.write("bundle", &[json!({ "a": 1 })], &[], &[]);
    fs::create_dir(place.path("bundle/before-repair-1")).expect("creates");
    fs::write(place.path("bundle/before-repair-1/manifest.json"), "{\"password\":\"swordfish\"}").expect("writes");
    let bundle = Bundle::open(&place.path("bundle")).expect("opens");
    let report = scan(&bundle, &Rules::default()).expect("scans");
    assert_eq!((report.secrets.len(), report.left_out.len()), (1, 0));
}

#[test]
fn a_packed_bundle_is_redacted_as_its_directory_is() {
    let place = Place::new();
    crowded(&place);
    pack_as(&place, "bundle", "bundle.trace");
    let packed = Bundle::open(&place.path("bundle.trace")).expect("opens");
    let directory = Bundle::open(&place.path("bundle")).expect("opens");
    let rules = Rules::default();
    let json = |report| serde_json::to_value(report).expect("JSON");
    let checked = scan(&packed, &rules).expect("scans");
    assert!(!checked.is_clean());
    assert_eq!(json(checked), json(scan(&directory, &rules).expect("scans")));
    let from_packed = redact(&packed, &rules, &place.path("copy-1")).expect("redacts");
    let from_directory = redact(&directory, &rules, &place.path("copy-2")).expect("redacts");
    assert_eq!(json(from_packed), json(from_directory));
    assert_eq!(place.files("copy-1"), place.files("copy-2"));
}

#[test]
#[cfg(unix)]
fn what_is_no_plain_file_is_told_and_not_followed() {
    let place = Place::new();
    place.write("bundle", &[json!({ "a": 1 })], &[], &[]);
    fs::write(place.path("outside.json"), "{}").expect("writes");
    std::os::unix::fs::symlink(place.path("outside.json"), place.path("bundle/payloads/2.json")).expect("links");
    let report = place.redact("bundle", "copy", &Rules::default());
    assert_eq!(report.left_out, ["payloads/2.json"]);
    assert!(!place.path("copy/payloads/2.json").exists());
}

#[test]
fn secrets_in_the_names_of_files_are_replaced_where_the_names_are_mentioned_too() {
    let place = Place::new();
    let token = format!("{}_{}", "ghp", "aB3xK9mQ2zT7wE5rY8uI1oP4sD6fG0hJkLcV");
    let file = format!("notes-{token}.txt");
    let text = format!("wrote more/{file} and payloads/{token}.json");
    place.write("bundle", &[json!({ "text": text, "path": format!("payloads/{token}.json") })], &[], &[]);
    fs::create_dir(place.path("bundle/more")).expect("creates");
    fs::write(place.path("bundle/more").join(&file), "harmless").expect("writes");
    fs::write(place.path("bundle/payloads").join(format!("{token}.json")), "{}").expect("writes");
    let report = place.redact("bundle", "copy", &Rules::default());
    let names: Vec<String> = place.files("copy").into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !name.contains(&token)), "{names:?}");
    let renamed = names.iter().find(|name| name.starts_with("more/")).expect("it is copied");
    let payload = names.iter().find(|name| name.starts_with("payloads/redacted-")).expect("it is copied");
    let copied = fs::read_to_string(place.path("copy/payloads/1.json")).expect("reads");
    let copied: serde_json::Value = serde_json::from_str(&copied).expect("JSON");
    assert_eq!(copied["text"], format!("wrote {renamed} and {payload}"));
    assert_eq!(copied["path"], json!(payload));
    assert!(!serde_json::to_string(&report).expect("JSON").contains(&token));
    let copy = Bundle::open(&place.path("copy")).expect("opens");
    assert!(scan(&copy, &Rules::default()).expect("scans").is_clean());
}

#[test]
fn new_names_of_files_fit_every_system_and_mentions_of_them_follow() {
    let token = format!("{}_{}", "ghp", "aB3xK9mQ2zT7wE5rY8uI1oP4sD6fG0hJkLcV");
    let old = format!("more/{token}.txt");
    let bundle = |place: &Place, others: &[&str]| {
        let inner = json!({ "file": &old, "name": format!("{token}.txt") }).to_string();
        let texts = json!({ "text": format!("wrote {old}"), "inner": inner, "secret": format!("it is {token}") });
        place.write("bundle", &[texts], &[], &[]);
        fs::create_dir(place.path("bundle/more")).expect("creates");
        for file in others.iter().chain([&old.as_str()]) {
            fs::write(place.path("bundle").join(file), "harmless").expect("writes");
        }
        let report = place.redact("bundle", "copy", &Rules::default());
        let names: Vec<String> = place.files("copy").into_iter().map(|(name, _)| name).collect();
        let text = fs::read_to_string(place.path("copy/payloads/1.json")).expect("reads");
        let copy = Bundle::open(&place.path("copy")).expect("opens");
        assert!(scan(&copy, &Rules::default()).expect("scans").is_clean());
        (names, serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), report)
    };
    let place = Place::new();
    let (names, text, report) = bundle(&place, &[]);
    let new = names.iter().find(|name| name.starts_with("more/")).expect("it is copied");
    assert!(new.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_')), "{new}");
    assert_eq!(text["text"], format!("wrote {new}"));
    assert!(text["secret"].as_str().expect("a string").starts_with("it is [redacted:github-token:"));
    assert_eq!(report.secrets.len(), 1);

    // Another file already has the new name.
    let place = Place::new();
    let (names, text, _) = bundle(&place, &[new]);
    let numbered = new.replace(".txt", "-2.txt");
    assert!(names.contains(new) && names.contains(&numbered), "{names:?}");
    assert_eq!(text["text"], format!("wrote {numbered}"));
    let inner: serde_json::Value = serde_json::from_str(text["inner"].as_str().expect("a string")).expect("JSON");
    assert_eq!(inner, json!({ "file": numbered, "name": numbered.replace("more/", "") }));
}

#[test]
#[cfg(unix)]
fn a_link_in_place_of_the_log_or_the_manifest_is_refused() {
    use trace_recorder::redact::{RedactError, refuse_links};

    for name in ["trace.jsonl", "manifest.json", "recorder.json"] {
        let place = Place::new();
        place.write("bundle", &[json!({ "a": 1 })], &[], &[]);
        let outside = place.path("outside");
        fs::write(&outside, "{\"stolen\": true}\n").expect("writes");
        let file = place.path("bundle").join(name);
        for target in [outside.clone(), place.path("bundle/payloads/1.json"), "/dev/null".into(), place.path("nowhere")]
        {
            let _ = fs::remove_file(&file);
            std::os::unix::fs::symlink(&target, &file).expect("links");
            assert!(matches!(refuse_links(&place.path("bundle")), Err(RedactError::NotPlain { path }) if path == file));
            if let Ok(bundle) = Bundle::open(&place.path("bundle")) {
                let redacted = redact(&bundle, &Rules::default(), &place.path("copy"));
                assert!(matches!(redacted, Err(RedactError::NotPlain { .. })), "{name}");
                assert!(matches!(scan(&bundle, &Rules::default()), Err(RedactError::NotPlain { .. })), "{name}");
            }
            assert!(!place.path("copy").exists());
        }
        fs::remove_file(&file).expect("removes");
        let made = std::process::Command::new("mkfifo").arg(&file).status().expect("mkfifo runs");
        assert!(made.success());
        assert!(matches!(refuse_links(&place.path("bundle")), Err(RedactError::NotPlain { .. })));
    }
}

#[test]
#[cfg(unix)]
fn links_and_pipes_below_a_bundle_are_told_and_not_followed() {
    let place = Place::new();
    place.write("bundle", &[json!({ "a": 1 })], &[], &[]);
    fs::create_dir(place.path("elsewhere")).expect("creates");
    fs::write(place.path("elsewhere/7.json"), "{\"stolen\": true}").expect("writes");
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("bundle/more")).expect("links");
    std::os::unix::fs::symlink(place.path("bundle/payloads"), place.path("bundle/inside")).expect("links");
    let made =
        std::process::Command::new("mkfifo").arg(place.path("bundle/payloads/9.json")).status().expect("mkfifo runs");
    assert!(made.success());
    let report = place.redact("bundle", "copy", &Rules::default());
    assert_eq!(report.left_out, ["inside", "more", "payloads/9.json"]);
    for (name, bytes) in place.files("copy") {
        assert!(memchr::memmem::find(&bytes, b"stolen").is_none(), "{name}");
    }
}

#[test]
fn what_lies_deeper_than_the_limit_is_left_out_and_told() {
    let place = Place::new();
    crowded(&place);
    let deep = "d/".repeat(40);
    let file = place.path("bundle").join(&deep).join("secrets.env");
    fs::create_dir_all(file.parent().expect("a parent")).expect("creates");
    fs::write(&file, b"DB_PASSWORD=swordfish\n").expect("writes");
    let report = place.redact("bundle", "copy", &Rules::default());
    assert!(
        report.left_out.iter().any(|path| path.starts_with("d/d/") && deep.starts_with(path)),
        "{:?}",
        report.left_out
    );
    assert!(place.files("copy").iter().all(|(name, _)| !name.starts_with("d/")));
}
