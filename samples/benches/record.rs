//! Measures the cost of recording: the time of the caller, events per second, and the wall time of a session.
//!
//! `cargo bench -p trace-samples --bench record`, with `-- latencies`, `-- throughput` or `-- session` for one of them.
//!
//! Events per second are measured in memory (`/dev/shm`, or the directory that `TRACE_BENCH_DIR` names). A benchmark writes
//! more in a second than a session in an hour, so on a disk it would measure the disk. The other measurements use the disk.
//!
//! The recorder is compared with the design of the peer, which is reimplemented here: under one mutex and on the thread of
//! the caller, every payload is written to a file as pretty-printed JSON, and every line of the log is flushed immediately.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;
use trace_recorder::format::event::{HistoryItemAccepted, InferenceCompleted, InferenceStarted};
use trace_recorder::format::{Event, EventPayload, PayloadKind, PayloadRef, SchemaVersion};
use trace_recorder::write::{
    BundleWriter, Durability, Form, Json, NewInference, NewSession, NewThread, RawJson, RecordingState, SharedJson,
    TraceRoot, WriterOptions,
};
use trace_samples::live::{LiveSession, ROOT_THREAD_ID, run};

/// Number of rounds of a comparison. The result is the median.
const ROUNDS: usize = 5;

fn main() {
    // `cargo bench` passes `--bench`. `cargo test` also runs benchmarks, without an argument, and then little work
    // suffices.
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let named = std::env::var_os("TRACE_BENCH_DIR").map(PathBuf::from);
    let in_memory = Some(PathBuf::from("/dev/shm")).filter(|memory| is_measuring && memory.is_dir());
    let place = named.or(in_memory).unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let bench = Bench {
        memory: tempfile::tempdir_in(place).expect("a directory"),
        disk: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory"),
        is_measuring,
    };
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    if is_wanted("latencies") {
        bench.latencies();
    }
    if is_wanted("throughput") {
        bench.throughput();
    }
    if is_wanted("session") {
        bench.session();
    }
}

struct Bench {
    memory: TempDir,
    disk: TempDir,
    is_measuring: bool,
}

/// What one step of a session records, besides the small events.
#[derive(Clone)]
struct Step {
    request: Arc<[u8]>,
    request_value: Value,
    response: Value,
}

impl Step {
    /// Returns a step with a request of about `bytes` bytes.
    fn new(bytes: usize) -> Self {
        let items: Vec<Value> = (0..bytes / 600)
            .map(|number| {
                json!({ "type": "message", "id": format!("msg_{number}"), "role": "user", "content": [
                { "type": "input_text", "text": "All work and no play makes a dull trace. ".repeat(12) },
            ] })
            })
            .collect();
        let request_value = json!({ "model": "m", "input": items, "stream": true });
        let request = request_value.to_string().into_bytes().into();
        let response = json!({ "response_id": "r", "output_items": [{ "type": "message", "id": "msg" }] });
        Self { request, request_value, response }
    }
}

/// Makes a recorder that records to a directory.
type MakeArm = Box<dyn Fn(&Path) -> Box<dyn Arm>>;

/// Records the event with this number, or a few related events.
type Record<'r> = &'r dyn Fn(&dyn Arm, usize);

/// One of the compared recorders.
trait Arm: Sync {
    /// Records an event without a payload.
    fn accept_item(&self, producer: usize, item_id: &str);
    /// Records a request and its response.
    fn infer(&self, producer: usize, id: &str, step: &Step);
    /// Returns when everything recorded would survive the end of the process.
    fn acknowledge(&self);
    /// Ends the recording.
    fn finish(&self);
}

struct Ours {
    writer: BundleWriter,
    turns: Vec<trace_recorder::write::TurnTrace>,
}

impl Ours {
    fn new(root: &Path, producers: usize, form: Form) -> Self {
        // With the default, events that are counted could be dropped.
        let options = WriterOptions { form, max_block: Duration::from_secs(600), ..WriterOptions::default() };
        let writer = TraceRoot::new(root, options).start(&NewSession::new("thread")).expect("starts");
        let turns = (0..producers)
            .map(|producer| {
                let id = format!("thread-{producer}");
                let thread = writer.start_thread(NewThread::new(&id, "/root"), None::<RawJson>);
                thread.start_turn(&format!("turn-{producer}"))
            })
            .collect();
        Self { writer, turns }
    }
}

impl Arm for Ours {
    fn accept_item(&self, producer: usize, item_id: &str) {
        self.turns[producer].accept_item(item_id);
    }

    fn infer(&self, producer: usize, id: &str, step: &Step) {
        let new = NewInference { inference_call_id: id, model: "m", provider_name: "p" };
        let inference = self.turns[producer].start_inference(&new, SharedJson(Arc::clone(&step.request)));
        inference.complete(Some("r"), None, Json(&step.response));
    }

    fn acknowledge(&self) {
        self.writer.flush().expect("writes");
    }

    fn finish(&self) {
        self.writer.complete().expect("completes");
        let stats = self.writer.stats().expect("is enabled");
        assert_eq!((stats.state, stats.dropped_bodies, stats.lost_events), (RecordingState::Completed, 0, 0));
    }
}

/// A recorder with the design of the peer.
struct Baseline {
    path: PathBuf,
    state: Mutex<BaselineState>,
}

struct BaselineState {
    log: BufWriter<File>,
    seq: u64,
    payload: u64,
}

impl Baseline {
    fn new(path: &Path) -> Self {
        std::fs::create_dir_all(path.join("payloads")).expect("creates");
        let log = BufWriter::new(File::create(path.join("trace.jsonl")).expect("creates"));
        Self { path: path.to_owned(), state: Mutex::new(BaselineState { log, seq: 0, payload: 0 }) }
    }

    fn payload(&self, kind: PayloadKind<'static>, value: &Value) -> PayloadRef<'static> {
        let mut state = self.state.lock().expect("no panic");
        state.payload += 1;
        let path = format!("payloads/{}.json", state.payload);
        let mut file = BufWriter::new(File::create(self.path.join(&path)).expect("creates"));
        serde_json::to_writer_pretty(&mut file, value).expect("writes");
        file.flush().expect("writes");
        PayloadRef { raw_payload_id: format!("raw_payload:{}", state.payload).into(), kind, path: path.into() }
    }

    fn event(&self, producer: usize, payload: EventPayload<'_>) {
        let mut state = self.state.lock().expect("no panic");
        state.seq += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = Event {
            schema_version: SchemaVersion::CURRENT,
            seq: state.seq,
            wall_time_unix_ms: i64::try_from(since.as_millis()).unwrap_or_default(),
            rollout_id: "thread".into(),
            thread_id: Some(format!("thread-{producer}").into()),
            codex_turn_id: Some(format!("turn-{producer}").into()),
            payload,
        };
        serde_json::to_writer(&mut state.log, &event).expect("writes");
        state.log.write_all(b"\n").expect("writes");
        state.log.flush().expect("writes");
    }
}

impl Arm for Baseline {
    fn accept_item(&self, producer: usize, item_id: &str) {
        let event = HistoryItemAccepted { item_id: item_id.into(), agent_message_payload: None };
        self.event(producer, EventPayload::HistoryItemAccepted(event));
    }

    fn infer(&self, producer: usize, id: &str, step: &Step) {
        let request_payload = self.payload(PayloadKind::InferenceRequest, &step.request_value);
        self.event(
            producer,
            EventPayload::InferenceStarted(InferenceStarted {
                inference_call_id: id.into(),
                thread_id: format!("thread-{producer}").into(),
                codex_turn_id: format!("turn-{producer}").into(),
                model: "m".into(),
                provider_name: "p".into(),
                request_payload,
            }),
        );
        let response_payload = self.payload(PayloadKind::InferenceResponse, &step.response);
        self.event(
            producer,
            EventPayload::InferenceCompleted(InferenceCompleted {
                inference_call_id: id.into(),
                response_id: Some("r".into()),
                upstream_request_id: None,
                response_payload,
            }),
        );
    }

    fn acknowledge(&self) {}

    fn finish(&self) {}
}

impl Bench {
    fn count(&self, count: usize) -> usize {
        if self.is_measuring { count } else { count.min(3) }
    }

    /// Measures how long a caller is blocked by one event.
    fn latencies(&self) {
        println!("\nTime of the caller\n");
        println!("| event | arm | p50 µs | p99 µs | p99.9 µs | max µs |");
        println!("|---|---|--:|--:|--:|--:|");
        let step = Step::new(300_000);
        let small = |arm: &dyn Arm, number: usize| arm.accept_item(0, &format!("msg_{number}"));
        let large = |arm: &dyn Arm, number: usize| arm.infer(0, &format!("call_{number}"), &step);
        let cases: [(&str, usize, Duration, Record<'_>); 3] = [
            ("small, one every 0.1 ms", 20_000, Duration::from_micros(100), &small),
            ("small, one after the other", 200_000, Duration::ZERO, &small),
            ("request of 300 kB and response, one every 5 ms", 400, Duration::from_millis(5), &large),
        ];
        for (name, count, pause, record) in cases {
            for (arm_name, make) in self.arms(1) {
                let place = tempfile::tempdir_in(&self.disk).expect("a directory");
                let arm = make(place.path());
                let mut times: Vec<Duration> = (0..self.count(count))
                    .map(|number| {
                        let next = Instant::now() + pause;
                        while Instant::now() < next {
                            if pause > Duration::from_millis(1) {
                                thread::sleep(next.saturating_duration_since(Instant::now()));
                            }
                        }
                        let start = Instant::now();
                        record(&*arm, number);
                        start.elapsed()
                    })
                    .collect();
                arm.finish();
                times.sort_unstable();
                let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
                println!(
                    "| {name} | {arm_name} | {:.1} | {:.1} | {:.1} | {:.0} |",
                    at(0.5),
                    at(0.99),
                    at(0.999),
                    at(1.0)
                );
            }
        }
    }

    fn arms(&self, producers: usize) -> [(&'static str, MakeArm); 3] {
        [
            ("one file", Box::new(move |path| Box::new(Ours::new(path, producers, Form::Packed)))),
            ("a directory", Box::new(move |path| Box::new(Ours::new(path, producers, Form::Directory)))),
            ("the peer's design", Box::new(|path| Box::new(Baseline::new(path)))),
        ]
    }

    /// Measures how many events per second are written.
    fn throughput(&self) {
        println!("\nEvents per second, until all are acknowledged, and until the recording has ended\n");
        println!(
            "| events | threads | until | one file | a directory | the peer's design | one file / peer's | directory / peer's | processor time, one file / peer's |"
        );
        println!("|---|--:|---|--:|--:|--:|--:|--:|--:|");
        let step = Step::new(100_000);
        let none: fn(&dyn Arm, usize, usize, &Step) = |arm, producer, number, _| {
            arm.accept_item(producer, &format!("msg_{producer}_{number}"));
        };
        // A request with its response, and eight events without payloads.
        let mixed: fn(&dyn Arm, usize, usize, &Step) = |arm, producer, number, step| match number % 10 {
            0 => arm.infer(producer, &format!("call_{producer}_{number}"), step),
            1 => {}
            _ => arm.accept_item(producer, &format!("msg_{producer}_{number}")),
        };
        for (name, events, record) in [("without payloads", 1_500_000, none), ("of a session", 30_000, mixed)] {
            for producers in [1, 4, 64] {
                let arms = self.arms(producers);
                let mut rates = arms.each_ref().map(|_| [Vec::new(), Vec::new()]);
                let mut ticks = arms.each_ref().map(|_| [0, 0]);
                // The recorders take turns, so that other work on the machine costs all of them the same.
                for _ in 0..self.count(ROUNDS) {
                    for (((_, make), [acknowledged, ended]), ticks) in arms.iter().zip(&mut rates).zip(&mut ticks) {
                        let place = tempfile::tempdir_in(&self.memory).expect("a directory");
                        let arm = make(place.path());
                        let each = self.count(events / producers);
                        let (start, ticks_before) = (Instant::now(), processor_ticks());
                        thread::scope(|scope| {
                            for producer in 0..producers {
                                let (arm, step) = (&*arm, &step);
                                scope.spawn(move || (0..each).for_each(|number| record(arm, producer, number, step)));
                            }
                        });
                        let rate = || (each * producers) as f64 / start.elapsed().as_secs_f64();
                        arm.acknowledge();
                        acknowledged.push(rate());
                        ticks[0] += processor_ticks() - ticks_before;
                        arm.finish();
                        ended.push(rate());
                        ticks[1] += processor_ticks() - ticks_before;
                    }
                }
                for (until, which) in [("acknowledged", 0), ("ended", 1)] {
                    let [file, directory, theirs] = rates.each_ref().map(|rates| median(rates[which].iter().copied()));
                    let [file_ticks, _, their_ticks] = ticks.each_ref().map(|ticks| ticks[which] as f64);
                    println!(
                        "| {name} | {producers} | {until} | {file:.0} | {directory:.0} | {theirs:.0} | {:.1} | {:.1} | {:.2} |",
                        file / theirs,
                        directory / theirs,
                        file_ticks / their_ticks
                    );
                }
            }
        }
    }

    /// Measures how much longer a session takes when it is recorded.
    fn session(&self) {
        println!("\nA session with and without recording\n");
        println!("| session | form | unrecorded ms | recorded ms | ratio | synced ms | ratio |");
        println!("|---|---|--:|--:|--:|--:|--:|");
        let sessions = [("one agent", 0, 60), ("an agent with three children", 3, 60)];
        let forms = [("one file", Form::Packed), ("a directory", Form::Directory)];
        for ((name, children, steps), (form_name, form)) in
            sessions.into_iter().flat_map(|session| forms.map(|form| (session, form)))
        {
            let session = LiveSession {
                children,
                steps: self.count(steps),
                output_bytes: 2_000,
                model_latency: Duration::from_millis(25),
                command_latency: Duration::from_millis(5),
            };
            let time = |writer: &BundleWriter| {
                let start = Instant::now();
                run(writer, &session, &|| ());
                writer.complete().expect("completes");
                start.elapsed().as_secs_f64() * 1e3
            };
            let mut times = [const { Vec::new() }; 3];
            for _ in 0..self.count(ROUNDS) {
                times[0].push(time(&BundleWriter::disabled()));
                for (durability, times) in [Durability::Buffered, Durability::Synced].into_iter().zip(&mut times[1..]) {
                    let place = tempfile::tempdir_in(&self.disk).expect("a directory");
                    let options = WriterOptions { form, durability, ..WriterOptions::default() };
                    let root = TraceRoot::new(place.path(), options);
                    times.push(time(&root.start(&NewSession::new(ROOT_THREAD_ID)).expect("starts")));
                }
            }
            let [off, on, synced] = times.map(median);
            println!(
                "| {name} | {form_name} | {off:.0} | {on:.0} | {:.3} | {synced:.0} | {:.3} |",
                on / off,
                synced / off
            );
        }
    }
}

/// Returns the processor time of this process in hundredths of a second, or 0 where the system does not tell it. Other programs that keep
/// the machine busy change this less than the rates.
fn processor_ticks() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time are the 12th and 13th field behind the name, which is in parentheses.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
