//! Laws for every log, valid or not: no panic, and the same result in every way of reducing it.

mod random;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use random::{Scene, scenes};
use trace_recorder::Bundle;
use trace_recorder::format::Manifest;
use trace_recorder::log::{EventLog, Line};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, Reducer, Reduction, reduce};

const LENIENT: Options = Options { strict: false, verify: false };
const STRICT: Options = Options { strict: true, verify: false };
const VERIFY: Options = Options { strict: false, verify: true };

fn text(reduction: &Reduction) -> String {
    let mut text = Vec::new();
    state_json::write(reduction, Style::Compact, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("UTF-8")
}

fn compact(reduction: &Reduction) -> String {
    let mut text = Vec::new();
    state_json::write_compact(reduction, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("UTF-8")
}

fn expanded(compact: &str) -> String {
    let mut text = Vec::new();
    state_json::expand(compact, Style::Compact, &mut text).expect("expands");
    String::from_utf8(text).expect("UTF-8")
}

fn whole(bundle: &Bundle, options: Options) -> Reduction {
    reduce(bundle, options).expect("a lenient reduction does not fail")
}

/// Reduces a log that is fed in two pieces.
fn in_pieces(bundle: &Bundle, first: usize) -> Reduction {
    let mut reducer = Reducer::new(bundle.manifest().expect("a manifest"), LENIENT).expect("lenient");
    let lines: Vec<Line<'_>> = bundle.log().expect("a log").lines().collect();
    let (head, tail) = lines.split_at(first.min(lines.len()));
    reducer.feed(head, bundle.payloads()).expect("lenient");
    let snapshot = reducer.clone().finish().expect("lenient");
    assert!(snapshot.trace.items.len() <= lines.len() * 64);
    reducer.feed(tail, bundle.payloads()).expect("lenient");
    reducer.finish().expect("lenient")
}

/// Uses the same cases in every run, or random ones if `PROPTEST_CASES` is set.
fn config() -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return ProptestConfig::default();
    }
    ProptestConfig { cases: 192, rng_seed: RngSeed::Fixed(0x0074_7261_6365), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_result_is_the_same_by_every_way_to_it(scene in scenes(), cut in any::<prop::sample::Index>()) {
        let (_directory, bundle) = scene.record();
        let reduction = whole(&bundle, LENIENT);
        let expected = text(&reduction);
        prop_assert!(text(&whole(&bundle, LENIENT)) == expected, "twice");
        prop_assert!(text(&whole(&bundle, VERIFY)) == expected, "parsed whole");
        let lines = bundle.log().expect("a log").lines().count();
        prop_assert!(text(&in_pieces(&bundle, cut.index(lines + 1))) == expected, "in two pieces");
        // A strict reduction may refuse the bundle, but it never gives another graph.
        match reduce(&bundle, STRICT) {
            Ok(strict) => {
                prop_assert!(!reduction.diagnostics.is_damaged());
                prop_assert!(text(&strict) == expected, "strictly");
            }
            Err(_) => prop_assert!(reduction.diagnostics.is_damaged()),
        }
    }

    #[test]
    fn the_compact_form_says_the_same_and_is_the_same_by_every_way_to_it(
        scene in scenes(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (_directory, bundle) = scene.record();
        let reduction = whole(&bundle, LENIENT);
        let found = compact(&reduction);
        prop_assert!(expanded(&found) == text(&reduction), "{found}");
        prop_assert!(compact(&whole(&bundle, VERIFY)) == found, "parsed whole");
        let lines = bundle.log().expect("a log").lines().count();
        prop_assert!(compact(&in_pieces(&bundle, cut.index(lines + 1))) == found, "in two pieces");
    }

    #[test]
    fn a_log_cut_anywhere_gives_a_part_of_the_graph(scene in scenes(), cut in any::<prop::sample::Index>()) {
        let (directory, bundle) = scene.record();
        let full = whole(&bundle, LENIENT);
        let log = bundle.log().expect("a log").as_bytes().to_vec();
        std::fs::write(directory.path().join("trace.jsonl"), &log[..cut.index(log.len() + 1)]).expect("writes");
        let part = whole(&Bundle::open(directory.path()).expect("opens"), LENIENT);
        prop_assert!(part.trace.threads.len() <= full.trace.threads.len());
        prop_assert!(part.trace.items.len() <= full.trace.items.len());
        prop_assert!(part.trace.tools.len() <= full.trace.tools.len());
    }

    #[test]
    fn damage_never_panics(
        scene in scenes(),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        in_payloads in any::<bool>(),
    ) {
        let (directory, bundle) = scene.record();
        let mut target = directory.path().join("trace.jsonl");
        if in_payloads
            && let Some(payload) = std::fs::read_dir(directory.path().join("payloads"))
                .expect("lists")
                .map(|entry| entry.expect("an entry").path())
                .min()
        {
            target = payload;
        }
        drop(bundle);
        let mut content = std::fs::read(&target).expect("reads");
        if !content.is_empty() {
            for (at, byte) in bytes {
                let at = at.index(content.len());
                content[at] = byte;
            }
        }
        std::fs::write(&target, content).expect("writes");
        let bundle = Bundle::open(directory.path()).expect("opens");
        let reduction = whole(&bundle, LENIENT);
        prop_assert!(text(&whole(&bundle, VERIFY)) == text(&reduction));
        prop_assert_eq!(reduce(&bundle, STRICT).is_err(), reduction.diagnostics.is_damaged());
    }

    #[test]
    fn lines_in_any_order_are_put_in_order(scene in scenes(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let (directory, bundle) = scene.record();
        let expected = whole(&bundle, LENIENT);
        let log = String::from_utf8(bundle.log().expect("a log").as_bytes().to_vec()).expect("UTF-8");
        let mut lines: Vec<&str> = log.lines().collect();
        if lines.len() < 2 {
            return Ok(());
        }
        let (from, to) = (from.index(lines.len()), to.index(lines.len()));
        let line = lines.remove(from);
        lines.insert(to, line);
        std::fs::write(directory.path().join("trace.jsonl"), lines.join("\n") + "\n").expect("writes");
        let shuffled = whole(&Bundle::open(directory.path()).expect("opens"), LENIENT);
        if scene.is_ordered_by_seq() {
            prop_assert_eq!(shuffled.trace.items.len(), expected.trace.items.len());
            prop_assert_eq!(shuffled.trace.edges.len(), expected.trace.edges.len());
            prop_assert_eq!(shuffled.trace.tools.len(), expected.trace.tools.len());
        }
    }
}

#[test]
fn one_thread_and_many_agree() {
    let scene = Scene::long();
    let (_directory, bundle) = scene.record();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let one = pool(1).install(|| text(&whole(&bundle, LENIENT)));
    let many = pool(4).install(|| text(&whole(&bundle, LENIENT)));
    assert_eq!(one, many);
    assert_eq!(one, text(&whole(&bundle, VERIFY)));
}

#[test]
fn a_damaged_request_at_the_seam_of_two_runs() {
    // Ingest reads requests in runs, and compares the first request of a run with the last one of the run before.
    for damaged in [20, 46, 47, 48, 49, 95, 96] {
        let (directory, bundle) = Scene::long().record();
        let log = String::from_utf8(bundle.log().expect("a log").as_bytes().to_vec()).expect("UTF-8");
        let requests: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("\"inference_started\"") && line.contains("\"codex_turn_id\":\"turn-0\""))
            .filter_map(|line| line.split("\"path\":\"").nth(1)?.split('"').next())
            .collect();
        let path = directory.path().join(requests[damaged.min(requests.len() - 1)]);
        let content = std::fs::read_to_string(&path).expect("reads");
        let items = content.find("\"tools\"").expect("what stands behind the items");
        let Some(at) = content[..items].rfind("\": \"").map(|at| at + "\": \"".len()) else { continue };
        std::fs::write(&path, format!("{}\\ud800{}", &content[..at], &content[at..])).expect("writes");
        let reduction = whole(&bundle, LENIENT);
        let expected = text(&reduction);
        assert!(text(&whole(&bundle, VERIFY)) == expected, "request {damaged}, parsed whole");
        let lines = log.lines().count();
        for cut in [lines / 3, lines / 2, lines - 5] {
            assert!(text(&in_pieces(&bundle, cut)) == expected, "request {damaged}, fed in pieces at {cut}");
        }
    }
}

#[test]
fn damage_that_every_request_repeats_is_seen_across_many_runs() {
    let (directory, manifest) = (tempfile::tempdir().expect("a directory"), Manifest::new("t", "r", "a", 0));
    std::fs::write(directory.path().join("manifest.json"), serde_json::to_vec(&manifest).expect("JSON"))
        .expect("writes");
    let event = |seq: usize, payload: String| {
        format!(r#"{{"schema_version":2,"seq":{seq},"wall_time_unix_ms":1,"rollout_id":"r","payload":{payload}}}"#)
            + "\n"
    };
    let mut log = event(1, r#"{"type":"thread_started","thread_id":"a","agent_path":"/root"}"#.to_owned());
    log += &event(2, r#"{"type":"codex_turn_started","codex_turn_id":"u","thread_id":"a"}"#.to_owned());
    let mut items: Vec<String> = Vec::new();
    for request in 0..160 {
        let text = if request == 1 { "\\ud800".to_owned() } else { format!("text {request}") };
        items
            .push(format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#));
        std::fs::write(directory.path().join(request.to_string()), format!(r#"{{"input":[{}]}}"#, items.join(",")))
            .expect("writes");
        let reference =
            format!(r#"{{"raw_payload_id":"p{request}","kind":{{"type":"inference_request"}},"path":"{request}"}}"#);
        log += &event(
            request + 3,
            format!(
                r#"{{"type":"inference_started","inference_call_id":"i{request}","thread_id":"a","codex_turn_id":"u","model":"m","provider_name":"p","request_payload":{reference}}}"#
            ),
        );
    }
    std::fs::write(directory.path().join("trace.jsonl"), log).expect("writes");
    let bundle = Bundle::open(directory.path()).expect("opens");
    let expected = text(&whole(&bundle, VERIFY));
    assert!(text(&whole(&bundle, LENIENT)) == expected, "compared");
    assert!(text(&in_pieces(&bundle, 70)) == expected, "fed in pieces");
}

#[test]
fn a_log_cut_at_every_byte_never_panics() {
    let (_directory, bundle) = Scene::short().record();
    let log = bundle.log().expect("a log").as_bytes().to_vec();
    let manifest = bundle.manifest().expect("a manifest");
    for end in 0..=log.len() {
        let cut = EventLog::from_bytes(log[..end].to_vec());
        let lines: Vec<Line<'_>> = cut.lines().collect();
        let mut reducer = Reducer::new(manifest, LENIENT).expect("lenient");
        reducer.feed(&lines, bundle.payloads()).expect("lenient");
        reducer.finish().expect("lenient");
    }
}
