//! A session as a timeline of slices, marks and arrows: the common input of the Perfetto and Chrome formats.
//!
//! Making a [`Scene`] takes memory proportional to the graph, and time proportional to n log n. Names and arguments are
//! made one by one while a format is written.

mod arguments;
mod arrows;
mod lanes;
mod marks;
mod pieces;
mod walk;

pub(crate) use arguments::{Argument, Value, agent_name, evidence_of, session_status};
pub(crate) use arrows::Arrow;
pub(crate) use marks::{Mark, MarkKind, found as marks_of};
pub(crate) use pieces::{Insides, Piece, Slots, What, in_order, parent, slices};
pub(crate) use walk::Step;

use trace_explain::clock::Clock;
use trace_explain::{Family, Session};
use trace_reducer::model::{Handle, ThreadIdx, Trace};

/// The timeline of a session.
#[derive(Debug)]
pub(crate) struct Scene<'s> {
    session: &'s Session,
    clock: Clock,
    family: Family,
    /// Slices by slot, then marks.
    pieces: Vec<Piece>,
    marks: Vec<Mark>,
    /// For each piece, its lane within its thread. Lane 0 is the thread's own track.
    lanes: Vec<u32>,
    /// For each thread, its number of lanes.
    lane_counts: Vec<u32>,
    /// Indexes of the pieces, ordered by their starts.
    order: Vec<usize>,
    arrows: Vec<Arrow>,
    /// Arrows by the piece at their start, and by the piece at their end.
    arrows_out: Vec<(usize, usize)>,
    arrows_in: Vec<(usize, usize)>,
}

impl<'s> Scene<'s> {
    /// Computes the timeline of a session.
    pub(crate) fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let family = Family::new(trace);
        let slots = Slots::new(trace);
        let mut pieces = slices(trace, &clock, &slots);
        let mut marks = marks::found(session);
        let arrows = arrows::found(trace, &family, &slots, &pieces, &mut marks);
        pieces.extend(marks.iter().enumerate().map(|(index, mark)| pieces::of_mark(index, mark)));
        let order = in_order(&pieces);
        let (lanes, lane_counts) = lanes::placed(trace, &slots, &pieces, &order);
        let mut arrows_out: Vec<_> = arrows.iter().enumerate().map(|(index, arrow)| (arrow.from, index)).collect();
        let mut arrows_in: Vec<_> = arrows.iter().enumerate().map(|(index, arrow)| (arrow.to, index)).collect();
        arrows_out.sort_unstable();
        arrows_in.sort_unstable();
        Self { session, clock, family, pieces, marks, lanes, lane_counts, order, arrows, arrows_out, arrows_in }
    }

    pub(crate) fn trace(&self) -> &'s Trace {
        self.session.trace()
    }

    pub(crate) fn family(&self) -> &Family {
        &self.family
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn piece(&self, index: usize) -> &Piece {
        &self.pieces[index]
    }

    /// Returns the lane of a piece within its thread.
    pub(crate) fn lane(&self, index: usize) -> u32 {
        self.lanes[index]
    }

    /// Returns the number of lanes of a thread, including its own track.
    pub(crate) fn lane_count(&self, thread: ThreadIdx) -> u32 {
        self.lane_counts[thread.index()].max(1)
    }

    /// Returns the arrows that begin at a piece.
    pub(crate) fn arrows_from(&self, piece: usize) -> impl Iterator<Item = &Arrow> {
        among(&self.arrows_out, piece).map(|(_, arrow)| &self.arrows[*arrow])
    }

    /// Returns the arrows that end at a piece.
    pub(crate) fn arrows_to(&self, piece: usize) -> impl Iterator<Item = &Arrow> {
        among(&self.arrows_in, piece).map(|(_, arrow)| &self.arrows[*arrow])
    }

    /// Returns the time of an event in nanoseconds since the start of the session, limited to [`MAX_NANOSECONDS`].
    pub(crate) fn nanoseconds(&self, seq: u64) -> u64 {
        self.clock.at(seq).saturating_mul(1_000_000).min(MAX_NANOSECONDS)
    }
}

/// The last moment that fits into the signed times of the readers, with room for the start of the session.
const MAX_NANOSECONDS: u64 = 1 << 62;

fn among(pairs: &[(usize, usize)], piece: usize) -> std::slice::Iter<'_, (usize, usize)> {
    let from = pairs.partition_point(|(at, _)| *at < piece);
    let until = pairs.partition_point(|(at, _)| *at <= piece);
    pairs[from..until].iter()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;

    use trace_recorder::format::SchemaVersion;
    use trace_reducer::model::Object;
    use trace_samples::texts::Texts;
    use trace_samples::{Command, Session as Script, Setup};

    use super::*;

    /// Returns for each slice the slice below it in its lane.
    fn stacked(scene: &Scene<'_>) -> HashMap<usize, Option<usize>> {
        let mut open: HashMap<(Option<ThreadIdx>, u32), Vec<usize>> = HashMap::new();
        let mut below = HashMap::new();
        let mut last = 0;
        let lane = |index: usize| (scene.piece(index).thread, scene.lane(index));
        let visited: Result<(), ()> = scene.walk(|step| {
            let (Step::Begin(index) | Step::End(index) | Step::Mark(index)) = step;
            let piece = scene.piece(index);
            let now = scene.nanoseconds(if step == Step::End(index) { piece.end } else { piece.start });
            assert!(now >= last, "time runs backwards");
            last = now;
            let stack = open.entry(lane(index)).or_default();
            match step {
                Step::Begin(_) => {
                    below.insert(index, stack.last().copied());
                    stack.push(index);
                }
                Step::End(_) => assert_eq!(stack.pop(), Some(index), "slices overlap without nesting"),
                Step::Mark(_) => {
                    below.insert(index, None);
                }
            }
            Ok(())
        });
        visited.expect("nothing fails");
        assert!(open.values().all(Vec::is_empty), "a slice has no end");
        below
    }

    fn check(session: &Session) {
        let scene = Scene::new(session);
        let trace = session.trace();
        let (slots, inside) = (Slots::new(trace), Insides::new(trace));
        let below = stacked(&scene);
        assert_eq!(below.len(), scene.pieces.len(), "every piece is drawn exactly once");
        for (index, lies_on) in below {
            let Some(lies_on) = lies_on else { continue };
            let mut above = Some(index);
            while let Some(at) = above.filter(|at| *at != lies_on) {
                above = parent(trace, &slots, &inside, &scene.pieces[at]);
            }
            assert_eq!(above, Some(lies_on), "{} is stacked on a slice that it is not part of", scene.name(index));
        }
        assert_eq!(scene.arrows.len(), trace.edges.len());
        let place: HashMap<usize, usize> = scene.order.iter().enumerate().map(|(at, index)| (*index, at)).collect();
        assert!(scene.arrows.iter().all(|arrow| place[&arrow.from] < place[&arrow.to]), "an arrow goes back in time");
    }

    #[test]
    fn slices_lie_on_what_they_are_part_of() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
        for name in ["one-agent", "three-children", "damaged", "team"] {
            check(&Session::open(&root.join(name)).expect("opens"));
        }
        let directory = tempfile::tempdir().expect("a directory");
        for planted in trace_samples::faults::all().iter().step_by(8) {
            let path = directory.path().join(&planted.name);
            planted.write(&path).expect("writes");
            check(&Session::open(&path).expect("opens"));
        }
    }

    fn scripted(path: &Path, script: impl FnOnce(&mut Script, trace_samples::Agent)) -> Session {
        let setup = Setup {
            seed: 1,
            started_at_unix_ms: 1_772_443_800_000,
            schema: SchemaVersion::CURRENT,
            cwd: "/home/dev".to_owned(),
            model: "example".to_owned(),
            provider: "example".to_owned(),
            texts: Texts::short(),
        };
        let (mut session, root) = Script::create(path, setup).expect("creates");
        session.prompt(root, "Do it.").expect("prompts");
        script(&mut session, root);
        session.answer(root, "Done.").expect("answers");
        session.end().expect("ends");
        Session::open(path).expect("opens")
    }

    /// Returns the lanes and durations of the tool calls of a session.
    fn tools(session: &Session) -> Vec<(u32, u64)> {
        let scene = Scene::new(session);
        check(session);
        let tool = |(index, piece): (usize, &Piece)| match piece.what {
            What::Object(Object::Tool(_)) => {
                Some((scene.lane(index), scene.nanoseconds(piece.end) - scene.nanoseconds(piece.start)))
            }
            _ => None,
        };
        scene.pieces.iter().enumerate().filter_map(tool).collect()
    }

    #[test]
    fn calls_side_by_side_lie_side_by_side_and_lanes_are_used_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let long = |line: &str| Command::new(line, "").takes(1000);
        let session = scripted(&directory.path().join("bundle"), |session, root| {
            for _ in 0..2 {
                session.run(root, &[long("a"), long("b").takes(2000), long("c").takes(500)]).expect("runs");
            }
            session.run(root, &[long("alone")]).expect("runs");
        });
        let mut lanes: Vec<u32> = tools(&session).into_iter().map(|(lane, _)| lane).collect();
        assert_eq!(lanes.pop(), Some(0));
        for together in lanes.chunks(3) {
            let mut together = together.to_vec();
            together.sort_unstable();
            assert_eq!(together, [0, 1, 2]);
        }
    }

    #[test]
    fn what_takes_no_time_is_a_slice_without_length() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut session = scripted(&directory.path().join("bundle"), |session, root| {
            session.run(root, &[Command::new("true", ""), Command::new("false", "").exits(1)]).expect("runs");
        });
        // Give all events the same time, as a coarse clock would.
        let log = directory.path().join("bundle/trace.jsonl");
        let text = std::fs::read_to_string(&log).expect("reads");
        let still = text.lines().map(|line| {
            let mut event: serde_json::Value = serde_json::from_str(line).expect("an event");
            event["wall_time_unix_ms"] = 1_772_443_800_000_i64.into();
            format!("{event}\n")
        });
        std::fs::write(&log, still.collect::<String>()).expect("writes");
        session = Session::open(session.bundle().path()).expect("opens");
        assert_eq!(session.trace().tools.len(), 2);
        assert!(tools(&session).iter().all(|(_, took)| *took == 0));
    }
}
