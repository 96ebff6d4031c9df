//! Recorded sessions of Claude Code: what becomes of them against what happened.

#![expect(clippy::print_stderr, reason = "the figures are for people")]

mod truth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_import::SessionRef;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce, state_json};

use truth::{Asked, asked, is_side_question, sent};

/// A folder with a recorded session, or with several that belong together.
struct Sample {
    version: String,
    name: String,
    folder: PathBuf,
}

fn samples() -> Vec<Sample> {
    let Some(imports) = trace_needs::imports("recorded sessions of Claude Code are not imported") else {
        return Vec::new();
    };
    let mut samples = Vec::new();
    for agent in folders(&imports) {
        let version = agent.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if version.starts_with("claude-code") {
            samples.extend(folders(&agent).into_iter().map(|folder| Sample {
                version: version.clone(),
                name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                folder,
            }));
        }
    }
    samples
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).expect("lists");
    let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

impl Sample {
    fn sessions(&self) -> Vec<SessionRef> {
        trace_import::sessions(&self.folder.join("projects")).expect("lists")
    }
}

fn state(bundle: &Bundle) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(bundle, strict).unwrap_or_else(|error| panic!("{}: {error}", bundle.path().display()));
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

/// Counts of what was right, by version.
#[derive(Default)]
struct Score {
    requests: usize,
    exact: usize,
    blocks: usize,
    found: usize,
}

#[test]
fn requests_are_those_that_were_sent() {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for sample in samples() {
        let score = scores.entry(sample.version.clone()).or_default();
        let mut imported = Vec::new();
        for session in sample.sessions() {
            let bundle = trace_import::open(&session).expect("imports");
            let notes = &bundle.import().expect("is imported").notes;
            let mismatches: Vec<_> = notes
                .iter()
                .filter(|note| note.code == "request-mismatch" || note.code == "request-incomplete")
                .collect();
            if sample.version == "claude-code" {
                assert!(mismatches.is_empty(), "{}: {mismatches:?}", sample.name);
            }
            imported.extend(asked(&bundle));
        }
        let is_recorded = sample.version == "claude-code";
        let mut requests = sent(&sample.folder);
        requests.retain(|request| !is_side_question(request));
        if !is_recorded {
            // Attempts that failed are not in the files.
            requests.dedup_by(|again, first| again.blocks == first.blocks);
        }
        for request in requests {
            score.requests += 1;
            let wanted: Vec<_> = request.blocks.iter().filter(|block| is_recorded || !block.is_reminder()).collect();
            let common = |asked: &Asked| {
                let mut rest: Vec<_> = asked.blocks.iter().collect();
                let is_there = |block: &&&truth::Block| {
                    let at = rest.iter().position(|found| **found == ***block);
                    at.map(|at| rest.swap_remove(at)).is_some()
                };
                wanted.iter().filter(is_there).count()
            };
            let best =
                imported.iter().enumerate().max_by_key(|(_, asked)| (common(asked), usize::MAX - asked.blocks.len()));
            let Some((index, best)) = best else { panic!("{} {}: no request", sample.version, sample.name) };
            let found = common(best);
            score.blocks += wanted.len();
            score.found += found;
            let is_exact =
                wanted.len() == found && best.blocks.len() == found && best.blocks.iter().eq(wanted.iter().copied());
            score.exact += usize::from(is_exact);
            if !is_exact {
                let missing: Vec<_> =
                    wanted.iter().filter(|block| !best.blocks.contains(block)).map(|block| block.shown()).collect();
                let more: Vec<_> = best
                    .blocks
                    .iter()
                    .filter(|block| !request.blocks.contains(block))
                    .map(truth::Block::shown)
                    .collect();
                eprintln!("{} {}: missing {missing:?}, more {more:?}", sample.version, sample.name);
            }
            imported.swap_remove(index);
        }
        if is_recorded {
            assert!(imported.is_empty(), "{}: {} more requests", sample.name, imported.len());
        } else if !imported.is_empty() {
            eprintln!("{} {}: {} more requests", sample.version, sample.name, imported.len());
        }
    }
    for (version, score) in &scores {
        eprintln!(
            "{version}: {} of {} requests exactly, {} of {} blocks",
            score.exact, score.requests, score.found, score.blocks
        );
        assert!(score.found * 100 >= score.blocks * 95, "{version}: blocks are missing");
        if version == "claude-code" {
            assert!(score.exact * 100 >= score.requests * 99, "requests differ");
        }
    }
}

#[test]
fn the_peer_makes_the_same_graph() {
    let folder = tempfile::tempdir().expect("a directory");
    for sample in samples() {
        for (index, session) in sample.sessions().iter().enumerate() {
            let bundle = trace_import::open(session).expect("imports");
            let directory = folder.path().join(format!("{}-{}-{index}", sample.version, sample.name));
            trace_import::write(&bundle, &directory).expect("writes");
            let ours = state(&bundle);
            let Some(theirs) = trace_needs::state_by_peer(&directory) else { return };
            let theirs: Value = serde_json::from_str(&theirs).expect("is JSON");
            assert!(ours == theirs, "{} {}: the peer's graph differs", sample.version, sample.name);
            std::fs::remove_dir_all(&directory).expect("removes");
        }
    }
}

/// Tokens of a model: input that was not cached, read from a cache, written to it, and output.
type Tokens = BTreeMap<String, [u64; 4]>;

/// Counts as the tool `ccusage` counts: the copies of a call are one, and of their figures the highest one counts.
#[test]
fn tokens_are_counted_once() {
    for sample in samples() {
        let mut calls: BTreeMap<String, trace_import::Spent> = BTreeMap::new();
        for session in sample.sessions() {
            for spent in trace_import::summarize(&session).expect("summarizes").spent {
                calls.insert(spent.key.clone().expect("a key"), spent);
            }
        }
        let mut ours = Tokens::new();
        for spent in calls.values() {
            let usage = spent.usage;
            let counts = [
                usage.input - usage.cached_input - usage.cache_write_input,
                usage.cached_input,
                usage.cache_write_input,
                usage.output,
            ];
            let sums = ours.entry(spent.model.clone()).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let theirs = truth::counted(&sample.folder.join("projects"));
        assert_eq!(ours, theirs, "{} {}", sample.version, sample.name);
    }
}

/// What the program printed while it ran tells of the same calls as the transcript.
#[test]
fn the_output_for_programs_is_a_session() {
    let folder = tempfile::tempdir().expect("a directory");
    for sample in samples() {
        for (index, lines) in truth::printed(&sample.folder).into_iter().enumerate() {
            let path = folder.path().join(format!("{}-{}-{index}.jsonl", sample.version, sample.name));
            std::fs::write(&path, lines).expect("writes");
            let sessions = trace_import::sessions(&path).expect("lists");
            let [session] = &sessions[..] else { panic!("{}: {} sessions", path.display(), sessions.len()) };
            assert_eq!(session.format, "claude-code-stream");
            let bundle = trace_import::open(session).expect("imports");
            let printed = state(&bundle);
            let directory = folder.path().join("bundle");
            trace_import::write(&bundle, &directory).expect("writes");
            if let Some(theirs) = trace_needs::state_by_peer(&directory) {
                assert!(printed == serde_json::from_str::<Value>(&theirs).expect("is JSON"), "{}", path.display());
            }
            std::fs::remove_dir_all(&directory).expect("removes");
            let stored = sample.sessions().into_iter().map(|session| trace_import::open(&session).expect("imports"));
            let stored: Vec<Value> = stored.map(|bundle| state(&bundle)).collect();
            for (id, tool) in printed["tool_calls"].as_object().expect("calls") {
                // A process that was killed did not print what the next one found out.
                if tool["execution"]["status"] == "running" {
                    continue;
                }
                let known = stored.iter().find_map(|state| state["tool_calls"].get(id));
                let status = known.map(|known| &known["execution"]["status"]);
                assert_eq!(status, Some(&tool["execution"]["status"]), "{} {id}", path.display());
            }
        }
    }
}

/// What happened in each sample: turns, model calls, tool calls, agents. Samples that are not in the list are not judged here.
#[test]
fn what_happened_is_told() {
    let expected: BTreeMap<&str, &str> =
        include_str!("claude_code/facts.txt").lines().filter_map(|line| line.split_once(": ")).collect();
    for sample in samples() {
        let name = format!("{}/{}", sample.version, sample.name);
        let sessions = sample.sessions();
        let facts: Vec<_> = sessions
            .iter()
            .map(|session| {
                let bundle = trace_import::open(session).expect("imports");
                let state = state(&bundle);
                let summary = trace_import::summarize(session).expect("summarizes");
                let outcome = truth::turns(&state).last().cloned();
                assert_eq!(summary.outcome, outcome, "{name}");
                truth::facts(&state)
            })
            .collect();
        let facts = facts.join(" | ");
        if let Some(expected) = expected.get(name.as_str()) {
            assert_eq!(facts, *expected, "{name}");
        } else {
            eprintln!("{name}: {facts}");
        }
    }
}
