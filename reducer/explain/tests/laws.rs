//! Laws for the answers about every session, valid or not.

#[expect(dead_code, reason = "the reducer's own tests use more of it")]
#[path = "../../tests/random/mod.rs"]
mod random;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use random::{Scene, scenes};
use tempfile::TempDir;
use trace_explain::activity::{Activities, Work};
use trace_explain::clock::Clock;
use trace_explain::costs::{Costs, Sums};
use trace_explain::critical_path::{self, CriticalPath};
use trace_explain::diff::{Diff, Kind};
use trace_explain::family::Family;
use trace_explain::prices::Prices;
use trace_explain::texts::{Aspect, Texts};
use trace_explain::timeline::Timeline;
use trace_explain::{Object, Session};
use trace_reducer::model::{ConversationItem, Part};
use trace_samples::bench::Shape;

/// Uses the same cases in every run, or random ones if `PROPTEST_CASES` is set.
fn config() -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return ProptestConfig::default();
    }
    ProptestConfig { cases: 192, rng_seed: RngSeed::Fixed(0x0074_7261_6365), ..ProptestConfig::default() }
}

/// Writes a session whose clock advances by these steps in milliseconds, repeated.
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

/// Returns what can be added up: everything but the percentiles.
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
    fn the_critical_path_is_all_of_the_wall_time(scene in scenes(), steps in steps()) {
        let (_directory, session) = session(&scene, &steps);
        let trace = session.trace();
        let clock = Clock::new(trace);
        let steps = critical_path::walk(trace, &clock, &Activities::new(trace, &clock), &Family::new(trace));
        let last = clock.last_seq();
        prop_assert_eq!(steps.first().map_or(last, |step| step.start), 0);
        prop_assert_eq!(steps.last().map_or(0, |step| step.end), last);
        prop_assert!(steps.iter().all(|step| step.start < step.end));
        prop_assert!(steps.windows(2).all(|pair| pair[0].end == pair[1].start));

        let path = CriticalPath::new(&session, None);
        prop_assert_eq!(path.shares.iter().map(|share| share.ms).sum::<u64>(), path.wall_ms);
        prop_assert_eq!(path.agents.iter().map(|share| share.ms).sum::<u64>(), path.wall_ms);
        let mut now = 0;
        for segment in &path.segments {
            prop_assert_eq!(segment.start_ms, now);
            prop_assert!(segment.end_ms > now);
            now = segment.end_ms;
        }
        prop_assert_eq!(now, path.wall_ms);
        for work in Work::ALL {
            let sum: u64 = path.segments.iter().filter(|of| of.work == work).map(|of| of.end_ms - of.start_ms).sum();
            prop_assert!(path.shares.iter().any(|share| share.work == work && share.ms == sum));
        }
    }

    #[test]
    fn intervals_lie_within_the_session(scene in scenes(), steps in steps()) {
        let (_directory, session) = session(&scene, &steps);
        let timeline = Timeline::new(&session);
        let trace = session.trace();
        prop_assert_eq!(timeline.agents.len(), trace.threads.len());
        for interval in timeline.agents.iter().flat_map(|agent| &agent.intervals) {
            prop_assert!(interval.start_ms <= interval.end_ms && interval.end_ms <= timeline.wall_ms);
        }
        let count: usize = timeline.agents.iter().map(|agent| agent.intervals.len()).sum();
        prop_assert!(count >= trace.inferences.len() + trace.tools.len() + trace.compaction_requests.len());
    }

    #[test]
    fn a_session_does_not_differ_from_itself(scene in scenes(), steps in steps()) {
        // Only the clocks differ, which is no difference.
        let (_first, a) = session(&scene, &steps);
        let (_second, b) = session(&scene, &[1]);
        let diff = Diff::new(&a, &b, None);
        prop_assert!(diff.is_same && diff.first.is_none(), "{:?}", diff.first);
        prop_assert_eq!(diff.counts.changed + diff.counts.only_a + diff.counts.only_b, 0);
    }

    #[test]
    fn a_difference_has_two_sides(a in scenes(), b in scenes()) {
        let ((_first, a), (_second, b)) = (session(&a, &[1]), session(&b, &[1]));
        let (there, back) = (Diff::new(&a, &b, None), Diff::new(&b, &a, None));
        prop_assert_eq!(there.is_same, back.is_same);
        prop_assert_eq!(there.is_same, there.differences.is_empty());
        prop_assert_eq!(there.differences.first(), there.first.as_ref());
        for difference in &there.differences {
            let sides = (difference.a.is_some(), difference.b.is_some());
            prop_assert_eq!(sides, (difference.kind != Kind::OnlyB, difference.kind != Kind::OnlyA));
            prop_assert_eq!(difference.aspects.is_empty(), difference.kind != Kind::Changed);
        }
        let total = there.counts.changed + there.counts.only_a + there.counts.only_b;
        prop_assert_eq!(there.differences.len() as u64, total);
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
        if costs.agents.iter().filter(|agent| agent.depth == 0).count() == 1 {
            // With a single root, the percentiles are equal too.
            prop_assert_eq!(costs.agents[0].subtree, costs.total);
        }
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

#[test]
fn a_clock_that_was_set_back_does_not_swallow_what_follows() {
    const HOUR_MS: i64 = 3_600_000;
    let mut steps = vec![10; 500];
    steps[12] = -HOUR_MS;
    // A small step back comes from threads that read the clock in another order than their numbers, not from a changed
    // clock.
    steps[20] = -15;
    let (_directory, session) = session(&Scene::long(), &steps);
    let clock = Clock::new(session.trace());
    let events = i64::try_from(session.end().seq).expect("few events");
    let (wall, set_back) = (clock.wall_ms() as i64, clock.set_back_ms() as i64);
    let repeats = events / 500 + 1;
    assert!((HOUR_MS - 1000..=HOUR_MS * repeats).contains(&set_back), "{set_back}");
    assert!((10 * events - 1000..=10 * events).contains(&wall), "{wall} of {events}");
}

#[test]
fn the_texts_of_objects_do_not_depend_on_which_are_asked_for_together() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("tree");
    trace_samples::bench::generate(&path, &Shape::tree(6, 1, 2)).expect("records");
    let session = Session::open(&path).expect("opens");
    let trace = session.trace();
    let texts = Texts::new(&session);
    let with_texts = |object: Object, texts: Vec<(Aspect, String)>| (object, texts);
    let mut objects: Vec<Object> = trace.items.iter().map(|(item, _)| Object::Item(item)).collect();
    objects.extend(trace.tools.iter().map(|(tool, _)| Object::Tool(tool)));
    // The order of the objects is that of the question, whichever payloads their texts are in.
    objects.reverse();
    let together = texts.of(&objects, with_texts);
    assert!(together.iter().map(|(object, _)| object).eq(&objects));
    for (object, texts_of_it) in &together {
        assert_eq!(texts.of(&[*object], with_texts), [(*object, texts_of_it.clone())]);
    }
    // Some of the items have a text that only their payload has.
    let has_cut = |item: &ConversationItem| {
        item.parts.iter().any(|part| matches!(part, Part::Json { summary } if summary.ends_with("...")))
    };
    let cut = trace.items.iter().filter(|(_, item)| has_cut(item)).count();
    assert!(cut > 1, "{cut} of {} objects", objects.len());
}
