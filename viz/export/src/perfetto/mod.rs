//! Traces in the protobuf format of Perfetto, for <https://ui.perfetto.dev> and `trace_processor`.
//!
//! The session is a process. Each agent has a track below the track of its parent. Slices that overlap have further
//! tracks below the agent's. These tracks do not belong to threads of an operating system, because such threads cannot
//! be nested and agents are.
//!
//! A slice that took no time begins and ends at the same time. The Perfetto UI shows it at every zoom, like an instant.
//! Adding a nanosecond would make it overlap a slice that begins in the same millisecond.

mod wire;

use std::io::{self, Write};

use trace_explain::Session;
use trace_reducer::model::{Handle, ThreadIdx};

use self::wire::{
    BUILTIN_CLOCK_BOOTTIME, BUILTIN_CLOCK_REALTIME, CHILDREN_EXPLICIT, Clock, ClockSnapshot, DebugAnnotation,
    ProcessDescriptor, SEQUENCE_BEGINS, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TracePacket, TrackDescriptor,
    TrackEvent,
};
pub use self::wire::{Trace, decode};
use crate::scene::{Scene, Step, Value, agent_name};
use crate::text;

/// The process that stands for the session.
const SESSION_PID: i32 = 1;
/// Track of the session.
const SESSION_TRACK: u64 = 1;
/// All packets belong to one sequence, whose order decides between equal times.
const SEQUENCE: u32 = 1;

/// Writes a session as a Perfetto trace.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let scene = Scene::new(session);
    let tracks = Tracks::new(&scene);
    let mut packets = Packets { out, buffer: Vec::new() };
    packets.begin(&scene)?;
    packets.tracks(&scene, &tracks)?;
    scene.walk(|step| packets.step(&scene, &tracks, step))
}

/// Ids of tracks: first the track of the session, then the lanes of each thread.
struct Tracks {
    first: Vec<u64>,
}

impl Tracks {
    fn new(scene: &Scene<'_>) -> Self {
        let mut next = SESSION_TRACK + 1;
        let first = scene.trace().threads.handles().map(|thread| {
            let first = next;
            next += u64::from(scene.lane_count(thread));
            first
        });
        Self { first: first.collect() }
    }

    fn of(&self, thread: ThreadIdx, lane: u32) -> u64 {
        self.first[thread.index()] + u64::from(lane)
    }
}

/// Writes packets one by one.
struct Packets<'o> {
    out: &'o mut dyn Write,
    buffer: Vec<u8>,
}

impl Packets<'_> {
    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        self.buffer.clear();
        wire::push_packet(&mut self.buffer, packet);
        self.out.write_all(&self.buffer)
    }

    /// Writes the wall time of the start of the session.
    fn begin(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        let started = u64::try_from(scene.clock().started_at_unix_ms()).unwrap_or(0);
        let clock = |clock_id, timestamp| Clock { clock_id: Some(clock_id), timestamp: Some(timestamp) };
        let snapshot = ClockSnapshot {
            clocks: vec![
                clock(BUILTIN_CLOCK_BOOTTIME, 0),
                clock(BUILTIN_CLOCK_REALTIME, started.saturating_mul(1_000_000)),
            ],
            primary_trace_clock: Some(BUILTIN_CLOCK_BOOTTIME as i32),
        };
        self.packet(TracePacket {
            timestamp: Some(0),
            clock_snapshot: Some(snapshot),
            sequence_flags: Some(SEQUENCE_BEGINS),
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..TracePacket::default()
        })
    }

    fn tracks(&mut self, scene: &Scene<'_>, tracks: &Tracks) -> io::Result<()> {
        let trace = scene.trace();
        let process = ProcessDescriptor {
            pid: Some(SESSION_PID),
            process_name: Some(text::name(&format!("session {}", trace.text(trace.rollout_id)))),
        };
        self.track(TrackDescriptor {
            uuid: Some(SESSION_TRACK),
            process: Some(process),
            child_ordering: Some(CHILDREN_EXPLICIT),
            ..TrackDescriptor::default()
        })?;
        for (place, thread) in scene.family().order().iter().enumerate() {
            let parent = scene.family().parent(*thread);
            let name = text::name(&agent_name(trace, *thread));
            let lanes = scene.lane_count(*thread);
            for lane in 0..lanes {
                let (name, parent, rank) = match lane {
                    0 => {
                        // Child agents are below the lanes of their parent, in the order of the tree.
                        let lanes = parent.map_or(0, |parent| scene.lane_count(parent) as usize);
                        (name.clone(), parent.map_or(SESSION_TRACK, |parent| tracks.of(parent, 0)), lanes + place)
                    }
                    _ => (format!("{name}: side by side {lane}"), tracks.of(*thread, 0), lane as usize),
                };
                self.track(TrackDescriptor {
                    uuid: Some(tracks.of(*thread, lane)),
                    parent_uuid: Some(parent),
                    name: Some(name),
                    child_ordering: Some(CHILDREN_EXPLICIT),
                    sibling_order_rank: Some(i32::try_from(rank).unwrap_or(i32::MAX)),
                    ..TrackDescriptor::default()
                })?;
            }
        }
        Ok(())
    }

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(descriptor),
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..TracePacket::default()
        })
    }

    fn step(&mut self, scene: &Scene<'_>, tracks: &Tracks, step: Step) -> io::Result<()> {
        let (index, kind) = match step {
            Step::Begin(index) => (index, TYPE_SLICE_BEGIN),
            Step::End(index) => (index, TYPE_SLICE_END),
            Step::Mark(index) => (index, TYPE_INSTANT),
        };
        let piece = scene.piece(index);
        let track = piece.thread.map_or(SESSION_TRACK, |thread| tracks.of(thread, scene.lane(index)));
        let mut event = TrackEvent { r#type: Some(kind), track_uuid: Some(track), ..TrackEvent::default() };
        let mut seq = piece.start;
        if kind == TYPE_SLICE_END {
            seq = piece.end;
        } else {
            event.name = Some(scene.name(index));
            event.categories = vec![scene.category(index).to_owned()];
            event.debug_annotations = scene.arguments(index).into_iter().map(annotation).collect();
            // Use the edge as the id of the arrow, since each edge has one arrow.
            let id = |arrow: &crate::scene::Arrow| arrow.edge.index() as u64 + 1;
            event.flow_ids = scene.arrows_from(index).map(id).collect();
            event.terminating_flow_ids = scene.arrows_to(index).map(id).collect();
        }
        self.packet(TracePacket {
            timestamp: Some(scene.nanoseconds(seq)),
            track_event: Some(event),
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..TracePacket::default()
        })
    }
}

fn annotation((name, value): (&'static str, Value)) -> DebugAnnotation {
    let mut annotation = DebugAnnotation { name: Some(name.to_owned()), ..DebugAnnotation::default() };
    match value {
        Value::Text(text) => annotation.string_value = Some(text),
        Value::Number(number) => annotation.int_value = Some(number),
        Value::Count(count) => annotation.uint_value = Some(count),
        Value::Flag(flag) => annotation.bool_value = Some(flag),
    }
    annotation
}
