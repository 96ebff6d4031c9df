//! Traces in the JSON format of Chrome, for viewers that do not read protobuf.
//!
//! A child of the root agent is a process, together with all agents below it. Each agent is a thread of its process. On
//! the thread of an agent are its turns and what ran in them one after the other, as `B` and `E` events. What ran at
//! the same time is beside the thread as asynchronous events (`b`, `e`), because readers nest or drop slices that
//! overlap on a thread. Arrows can only be bound to slices of threads. An arrow with an end at an asynchronous slice is
//! therefore bound to a slice of zero length with the same name.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use trace_explain::Session;
use trace_reducer::model::{Handle, ThreadIdx};

use crate::scene::{Argument, Arrow, Scene, Step, Value, agent_name};
use crate::text;

/// Number of the first thread, so high that no thread has the number of a process.
const FIRST_TID: u64 = 10_000;
/// The process of the session and of its root agents.
const SESSION_PID: u64 = 1;

/// An event of a trace. The fields are in the order of the format's documentation.
#[derive(Debug, Serialize)]
struct Event<'a> {
    ph: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    pid: u64,
    tid: u64,
    /// Time in microseconds.
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// Which slice the end of an arrow is bound to; `e` means the enclosing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    /// The scope of an instant; `t` means its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Map<String, Json>>,
}

/// Writes a session as a Chrome trace.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let scene = Scene::new(session);
    let pids = pids(&scene);
    let about: Map<String, Json> = arguments(scene.arguments(0));
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
    serde_json::to_writer(&mut out, &about)?;
    out.write_all(b",\"traceEvents\":[")?;
    let mut events = Events { out, is_first: true, pids };
    events.names(&scene)?;
    scene.walk(|step| events.step(&scene, step))?;
    events.out.write_all(b"\n]}\n")?;
    events.out.flush()
}

/// Returns the process of each thread.
fn pids(scene: &Scene<'_>) -> Vec<u64> {
    let mut pids = vec![SESSION_PID; scene.trace().threads.len()];
    let mut next = SESSION_PID;
    for thread in scene.family().order() {
        pids[thread.index()] = match scene.family().parent(*thread) {
            None => SESSION_PID,
            Some(parent) if scene.family().depth(*thread) > 1 => pids[parent.index()],
            Some(_) => {
                next += 1;
                next
            }
        };
    }
    pids
}

fn arguments(arguments: Vec<Argument>) -> Map<String, Json> {
    let json = |value| match value {
        Value::Text(text) => Json::from(text),
        Value::Number(number) => Json::from(number),
        Value::Count(count) => Json::from(count),
        Value::Flag(flag) => Json::from(flag),
    };
    arguments.into_iter().map(|(name, value)| (name.to_owned(), json(value))).collect()
}

/// Writes events, one per line.
struct Events<'o> {
    out: BufWriter<&'o mut dyn Write>,
    is_first: bool,
    pids: Vec<u64>,
}

impl Events<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let separator: &[u8] = if std::mem::take(&mut self.is_first) { b"\n" } else { b",\n" };
        self.out.write_all(separator)?;
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }

    fn names(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        let trace = scene.trace();
        self.about("process_name", SESSION_PID, 0, json!(scene.name(0)))?;
        self.about("process_sort_index", SESSION_PID, 0, json!(SESSION_PID))?;
        self.about("thread_name", SESSION_PID, FIRST_TID, json!("session"))?;
        self.about("thread_sort_index", SESSION_PID, FIRST_TID, json!(0))?;
        for (place, thread) in scene.family().order().iter().enumerate() {
            let (pid, tid) = self.place(Some(*thread));
            let name = text::name(&agent_name(trace, *thread));
            if scene.family().depth(*thread) == 1 {
                self.about("process_name", pid, 0, json!(name))?;
                self.about("process_sort_index", pid, 0, json!(pid))?;
            }
            self.about("thread_name", pid, tid, json!(name))?;
            self.about("thread_sort_index", pid, tid, json!(place + 1))?;
        }
        Ok(())
    }

    fn about(&mut self, what: &str, pid: u64, tid: u64, value: Json) -> io::Result<()> {
        let key = if what.ends_with("sort_index") { "sort_index" } else { "name" };
        let mut args = Map::new();
        args.insert(key.to_owned(), value);
        let args = Some(args);
        self.event(&Event { ph: "M", name: what, cat: None, pid, tid, ts: 0, id: None, bp: None, s: None, args })
    }

    /// Returns the process and thread number for the slices of a thread.
    fn place(&self, thread: Option<ThreadIdx>) -> (u64, u64) {
        match thread {
            Some(thread) => (self.pids[thread.index()], FIRST_TID + 1 + thread.index() as u64),
            None => (SESSION_PID, FIRST_TID),
        }
    }

    fn step(&mut self, scene: &Scene<'_>, step: Step) -> io::Result<()> {
        let (Step::Begin(index) | Step::End(index) | Step::Mark(index)) = step;
        let piece = scene.piece(index);
        let (pid, tid) = self.place(piece.thread);
        let is_beside = scene.lane(index) > 0;
        let is_end = matches!(step, Step::End(_));
        let mut arrows: Vec<(&str, &Arrow)> = Vec::new();
        if !is_end {
            arrows.extend(scene.arrows_to(index).map(|arrow| ("f", arrow)));
            arrows.extend(scene.arrows_from(index).map(|arrow| ("s", arrow)));
        }
        let ph = match (step, is_beside) {
            (Step::Begin(_), false) => "B",
            (Step::End(_), false) => "E",
            (Step::Begin(_), true) => "b",
            (Step::End(_), true) => "e",
            (Step::Mark(_), _) if arrows.is_empty() => "i",
            // An arrow can only end at a slice, so the moment becomes a slice of zero length.
            (Step::Mark(_), _) => "B",
        };
        let name = scene.name(index);
        let event = Event {
            ph,
            name: &name,
            cat: Some(scene.category(index)),
            pid,
            tid,
            ts: scene.nanoseconds(if is_end { piece.end } else { piece.start }) / 1000,
            // Each asynchronous slice has its own id. Slices with the same id would be nested.
            id: is_beside.then_some(index as u64),
            bp: None,
            s: (ph == "i").then_some("t"),
            args: (!is_end).then(|| arguments(scene.arguments(index))),
        };
        self.event(&event)?;
        if arrows.is_empty() {
            return Ok(());
        }
        let bare = |ph| Event { ph, id: None, s: None, ..beside(&event) };
        if is_beside {
            self.event(&bare("B"))?;
        }
        for (ph, arrow) in arrows {
            let name = scene.trace().edges[arrow.edge].kind.as_str();
            let id = Some(arrow.edge.index() as u64 + 1);
            let bp = (ph == "f").then_some("e");
            self.event(&Event { name, cat: Some("mail"), id, bp, ..bare(ph) })?;
        }
        if is_beside || piece.is_mark() {
            self.event(&bare("E"))?;
        }
        Ok(())
    }
}

/// Returns an event at the place of another one, without its arguments.
fn beside<'a>(event: &Event<'a>) -> Event<'a> {
    Event { args: None, ..*event }
}
