//! Laws that hold for what is said about any session, however odd.

#[expect(dead_code, reason = "the reducer's own tests use more of it")]
#[path = "../../tests/random/mod.rs"]
mod random;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use random::{Scene, scenes};
use tempfile::TempDir;
use trace_explain::Session;
use trace_explain::clock::Clock;
use trace_explain::costs::{Costs, Sums};
use trace_explain::prices::Prices;

/// The same cases in every run; others, to explore, when `PROPTEST_CASES` says how many.
fn config() -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return ProptestConfig::default();
    }
    ProptestConfig { cases: 192, rng_seed: RngSeed::Fixed(0x0074_7261_6365), ..ProptestConfig::default() }
}

/// A session whose clock runs by these steps, in milliseconds, over and over.
fn session(scene: &Scene, steps: &[i64]) -> (TempDir, Session) {
    let (directory, bundle) = scene.record();
    drop(bundle);
    let path = directory.path().join("trace.jsonl");
    let log = std::fs::read_to_string(&path).expect("reads");
    let mut now = 1000i64;
    let mut lines = String::new();
    for (line, step) in log.lines().zip(steps.iter().cycle()) {
        now = now.saturating_add(*step);
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line");
        line["wall_time_unix_ms"] = now.into();
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    std::fs::write(&path, lines).expect("writes");
    let session = Session::open(directory.path()).expect("opens");
    (directory, session)
}

fn steps() -> impl Strategy<Value = Vec<i64>> {
    let step = prop_oneof![8 => 0..500i64, 2 => -20..1i64, 1 => -100_000..100_000i64, 1 => any::<i64>()];
    prop::collection::vec(step, 1..40)
}

/// What can be added up: everything but the percentiles.
fn addable(sums: &Sums) -> Sums {
    let mut same = Sums { cost: sums.cost.map(|_| trace_explain::costs::Cost::NONE), ..Sums::default() };
    same.add(sums);
    same
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn time_never_goes_back(scene in scenes(), steps in steps()) {
        let (_directory, session) = session(&scene, &steps);
        let clock = Clock::new(session.trace());
        let times: Vec<u64> = (0..=clock.last_seq() + 1).map(|seq| clock.at(seq)).collect();
        prop_assert!(times.is_sorted());
        prop_assert_eq!(times.last().copied(), Some(clock.wall_ms()));
    }

    #[test]
    fn parts_cost_as_much_as_the_whole(scene in scenes(), steps in steps()) {
        let (_directory, session) = session(&scene, &steps);
        let prices = Prices::parse("currency = 'EUR'\n[[models]]\nname = 'm*'\ninput = 1.5\noutput = 3\n").expect("a table");
        let costs = Costs::new(session.trace(), Some(&prices));
        let whole = addable(&costs.total);
        let sum = |parts: &mut dyn Iterator<Item = &Sums>| {
            let mut sum = Sums { cost: Some(trace_explain::costs::Cost::NONE), ..Sums::default() };
            parts.for_each(|part| sum.add(part));
            sum
        };
        prop_assert_eq!(sum(&mut costs.agents.iter().map(|agent| &agent.own)), whole);
        let roots = &mut costs.agents.iter().filter(|agent| agent.depth == 0).map(|agent| &agent.subtree);
        prop_assert_eq!(sum(roots), whole);
        let tokens: u64 = costs.models.iter().map(|model| model.tokens.input).sum();
        prop_assert_eq!(tokens, whole.tokens.input);
        let calls: u64 = costs.tools.iter().map(|tool| tool.calls.count).sum();
        prop_assert_eq!(calls, whole.tool_calls.count);
        let calls: u64 = costs.turns.iter().map(|turn| turn.sums.inference_calls.count).sum();
        prop_assert_eq!(calls, whole.inference_calls.count);
        let text = serde_json::to_string(&costs).expect("serializes");
        prop_assert_eq!(serde_json::from_str::<Costs>(&text).expect("parses"), costs);
    }
}

#[test]
fn a_bundle_with_a_clock_that_is_right_keeps_its_times() {
    let (_directory, bundle) = Scene::short().record();
    let session = Session::open(bundle.path()).expect("opens");
    let clock = Clock::new(session.trace());
    let last = session.end();
    assert_eq!(clock.wall_ms(), 3 * last.seq);
    assert_eq!(clock.set_back_ms(), 0);
}
