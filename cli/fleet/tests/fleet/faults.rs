//! A store that fails: an S3 server that refuses requests, loses answers, or is slow.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::runtime::Runtime;
use trace_fleet::Store;
use trace_fleet::ingest::Ingest;
use trace_fleet::lake::Lake;
use trace_fleet::push::{self, Options};
use trace_fleet::sessions;

use crate::fixture::{ask, batches_of, checked, csv, runtime, sessions as make_sessions, text};

/// If it is set, every request has every fault once. Otherwise every fifth request has one of them, in turn. `I/N` takes only every
/// N-th request, from request I on, so that N processes share the work.
const ALL_FAULTS: &str = "TRACE_FLEET_ALL_FAULTS";

/// Returns the numbers of the requests that have every fault, as the first one and how many further each next one is.
fn all_faults() -> Option<(usize, usize)> {
    let value = std::env::var(ALL_FAULTS).ok()?;
    let share = value.split_once('/').and_then(|(first, step)| Some((first.parse().ok()?, step.parse().ok()?)));
    Some(share.unwrap_or((0, 1)))
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is answered with 503 and not carried out.
    Unavailable,
    /// It is answered with 500 and not carried out.
    Error,
    /// It is carried out and answered with 500.
    Lost,
    /// It takes a while.
    Slow,
}

/// Requests between two that fail, unless all do. It has no divisor in common with the number of faults.
const STRIDE: usize = 5;

pub(crate) const FAULTS: [Fault; 4] = [Fault::Unavailable, Fault::Lost, Fault::Error, Fault::Slow];

/// How requests for a part of an object are answered, instead of by the S3 server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// With the whole object.
    Ignored,
    /// With half of the bytes, so often.
    Short(usize),
    /// By refusing the condition on the ETag, as if the object were another one, unless the part is its beginning.
    Refused,
    /// As if the object had this many bytes.
    Claimed(u64),
}

/// What was asked for, and what the answer says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
}

/// An S3 server on loopback that keeps its objects in a folder.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    parts: Arc<Mutex<Option<Parts>>>,
    requests: Arc<AtomicUsize>,
    fault: Arc<Mutex<Option<(usize, Fault)>>>,
    broken: Arc<Mutex<Option<String>>>,
}

impl Server {
    pub(crate) fn start(root: &Path, runtime: &Runtime) -> Self {
        std::fs::create_dir_all(root.join("bucket")).expect("a bucket");
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).expect("a folder"));
        builder.set_auth(SimpleAuth::from_single("key", "secret"));
        let service = builder.build();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("does not block");
        let address = listener.local_addr().expect("an address");
        let (requests, fault) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
        let broken = Arc::new(Mutex::new(None));
        let (seen, parts) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let server = Self {
            address,
            seen: Arc::clone(&seen),
            parts: Arc::clone(&parts),
            requests: Arc::clone(&requests),
            fault: Arc::clone(&fault),
            broken: Arc::clone(&broken),
        };
        let root = root.to_owned();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((socket, _)) = listener.accept().await {
                let (service, requests, fault) = (service.clone(), Arc::clone(&requests), Arc::clone(&fault));
                let (seen, parts, root) = (Arc::clone(&seen), Arc::clone(&parts), root.clone());
                let broken: Arc<Mutex<Option<String>>> = Arc::clone(&broken);
                let serve = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    let number = requests.fetch_add(1, Ordering::Relaxed);
                    let planned: Option<(usize, Fault)> = *fault.lock().expect("no panic");
                    let planned = planned.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
                    let broken = broken.lock().expect("no panic").clone();
                    let is_broken = broken.is_some_and(|part| request.uri().path().contains(&part));
                    let service = service.clone();
                    let (seen, parts, root) = (Arc::clone(&seen), Arc::clone(&parts), root.clone());
                    let refused = |status: u16| {
                        hyper::Response::builder()
                            .status(status)
                            .body(s3s::Body::from("planned".to_owned()))
                            .expect("a response")
                    };
                    async move {
                        if is_broken {
                            // The client library repeats what is answered with 500 and more, for minutes.
                            return Ok(refused(400));
                        }
                        match planned {
                            Some(Fault::Unavailable) => return Ok(refused(503)),
                            Some(Fault::Error) => return Ok(refused(500)),
                            Some(Fault::Slow) => tokio::time::sleep(Duration::from_millis(300)).await,
                            Some(Fault::Lost) | None => {}
                        }
                        let asked = (request.method().to_string(), request.uri().path().to_owned());
                        let range = request.headers().get("range").and_then(|range| range.to_str().ok());
                        let range = range.map(str::to_owned);
                        let by_hand = range.as_deref().and_then(|range| answer_part(&root, &asked.1, range, &parts));
                        let answer = match by_hand {
                            Some(answer) => Ok(answer),
                            None => hyper::service::Service::call(&service, request).await,
                        };
                        if let Ok(answer) = &answer {
                            let length =
                                answer.headers().get("content-length").and_then(|it| it.to_str().ok()?.parse().ok());
                            seen.lock().expect("no panic").push(Seen {
                                method: asked.0,
                                path: asked.1,
                                range,
                                status: answer.status().as_u16(),
                                bytes: length.unwrap_or(0),
                            });
                        }
                        if planned == Some(Fault::Lost) { Ok(refused(500)) } else { answer }
                    }
                });
                tokio::spawn(async move {
                    let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), serve).await;
                });
            }
        });
        server
    }

    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://{}", self.address);
        let options = [
            ("aws_endpoint", endpoint.as_str()),
            ("aws_allow_http", "true"),
            ("aws_access_key_id", "key"),
            ("aws_secret_access_key", "secret"),
            ("aws_region", "us-east-1"),
        ];
        options.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// Answers requests for parts of objects in another way than the S3 server.
    pub(crate) fn answer_parts(&self, parts: Option<Parts>) {
        *self.parts.lock().expect("no panic") = parts;
    }

    /// Returns the requests since the last call.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().expect("no panic"))
    }

    /// Lets the request after `after` more fail.
    pub(crate) fn plan(&self, after: usize, fault: Fault) {
        let at = self.requests.load(Ordering::Relaxed) + after;
        *self.fault.lock().expect("no panic") = Some((at, fault));
    }

    /// Lets all requests fail whose path has this part, until it is called again.
    pub(crate) fn break_path(&self, part: Option<&str>) {
        *self.broken.lock().expect("no panic") = part.map(str::to_owned);
    }

    pub(crate) fn store(&self, folder: &str) -> Store {
        Store::open(&format!("s3://bucket/{folder}"), &self.options()).expect("a store")
    }
}

/// Answers a request for a part of an object by hand, if that is asked for.
fn answer_part(
    root: &Path,
    path: &str,
    range: &str,
    parts: &Mutex<Option<Parts>>,
) -> Option<hyper::Response<s3s::Body>> {
    let mut parts = parts.lock().expect("no panic");
    let how = (*parts)?;
    let content = std::fs::read(root.join(path.trim_start_matches('/'))).ok()?;
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
    let to = to.min(content.len() - 1);
    let answer = hyper::Response::builder()
        .header("etag", format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(&content)))
        .header("last-modified", "Sat, 28 Nov 2026 12:00:00 GMT");
    let answer = match how {
        Parts::Ignored => answer.status(200).header("content-length", content.len()).body(content.into()),
        Parts::Refused if from > 0 => answer.status(412).header("content-length", 0).body(s3s::Body::empty()),
        Parts::Refused | Parts::Short(_) | Parts::Claimed(_) => {
            let length = if let Parts::Claimed(length) = how { length } else { content.len() as u64 };
            let answer = answer.status(206).header("content-range", format!("bytes {from}-{to}/{length}"));
            let is_short = matches!(how, Parts::Short(more) if more > 0);
            let part = &content[from..if is_short { from + (to - from) / 2 } else { to + 1 }];
            answer.header("content-length", part.len()).body(part.to_vec().into())
        }
    };
    if let Parts::Short(more) = how {
        *parts = Some(Parts::Short(more.saturating_sub(1)));
    }
    Some(answer.expect("a response"))
}

/// Makes a lake of a source in a new folder of the server, with a compaction. Returns the number of requests.
fn fill(server: &Server, folder: &str, source: &Path, runtime: &Runtime) -> (Lake, usize) {
    let before = server.requests.load(Ordering::Relaxed);
    let lake = runtime.block_on(Lake::open_or_create(server.store(folder))).expect("a lake");
    let found = sessions::find(text(source), &[], runtime.handle()).expect("sessions");
    let mut ingest = Ingest::new(&lake, batches_of(2), runtime.handle()).expect("a lake");
    let plan = ingest.plan(found);
    let report = ingest.run(plan, &AtomicBool::new(false), &()).expect("ingests");
    assert_eq!((report.committed, report.raced, report.commits), (4, 0, 2));
    let done = runtime.block_on(lake.compact(10, &|| false)).expect("compacts");
    assert_eq!((done.merged, done.made), (2, 1));
    (lake, server.requests.load(Ordering::Relaxed) - before)
}

#[test]
fn each_request_of_an_ingest_may_fail_once() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 4);
    let server = Server::start(&folder.path().join("s3"), &runtime);
    let (lake, requests) = fill(&server, "whole", &source, &runtime);
    checked(&lake, &runtime);
    let rows = "SELECT address, turns, tool_calls, failures FROM sessions ORDER BY address";
    let expected = csv(&ask(&lake, &runtime, rows));
    let all = all_faults();
    let (first, step) = all.unwrap_or((0, STRIDE));
    for number in (first..requests).step_by(step) {
        for (turn, fault) in FAULTS.into_iter().enumerate() {
            if all.is_none() && turn != number % FAULTS.len() {
                continue;
            }
            server.plan(number, fault);
            let (lake, _) = fill(&server, &format!("lake-{number}-{turn}"), &source, &runtime);
            assert_eq!(checked(&lake, &runtime).delta_behind, 0, "{fault:?} at request {number}");
            assert_eq!(csv(&ask(&lake, &runtime, rows)), expected, "{fault:?} at request {number}");
        }
    }
}

#[test]
fn sessions_are_pushed_to_a_failing_store_and_ingested_from_it() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 4);
    let server = Server::start(&folder.path().join("s3"), &runtime);
    let found = sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
    let options = Options { team: Some("red".to_owned()), quiet: Duration::ZERO, jobs: 1, ..Options::default() };
    let push = |folder: &str| {
        push::push(&found, &server.store(folder), &options, runtime.handle(), &AtomicBool::new(false), &())
            .expect("pushes")
    };
    let before = server.requests.load(Ordering::Relaxed);
    assert_eq!(push("whole").pushed, 4);
    let all = all_faults();
    let (first, step) = all.unwrap_or((0, STRIDE));
    let requests = server.requests.load(Ordering::Relaxed) - before;
    for number in (first..requests).step_by(step) {
        for (turn, fault) in FAULTS.into_iter().enumerate() {
            if all.is_none() && turn != number % FAULTS.len() {
                continue;
            }
            server.plan(number, fault);
            let name = format!("push-{number}-{turn}");
            let report = push(&name);
            assert_eq!((report.pushed, &report.failed), (4, &Vec::new()), "{fault:?} at request {number}");
            assert_eq!(push(&name).known, 4, "{fault:?} at request {number}");
        }
    }
    // An ingest finds the pushed bundles, opens them from the store, and makes the rows that their directories give.
    let url = "s3://bucket/whole";
    let pushed = sessions::find(url, &server.options(), runtime.handle()).expect("sessions");
    assert_eq!(pushed.len(), 4);
    let lake = runtime.block_on(Lake::open_or_create(server.store("lake"))).expect("a lake");
    let mut ingest = Ingest::new(&lake, batches_of(10), runtime.handle()).expect("a lake");
    let plan = ingest.plan(pushed);
    assert_eq!(ingest.run(plan, &AtomicBool::new(false), &()).expect("ingests").committed, 4);
    let told = csv(&ask(
        &lake,
        &runtime,
        "SELECT DISTINCT team, agent, address LIKE 's3://bucket/whole/team=red/agent=trace/day=%' AS is_url FROM sessions",
    ));
    assert_eq!(told, "team,agent,is_url\nred,trace,true\n");
    let address = csv(&ask(&lake, &runtime, "SELECT min(address) AS a FROM sessions"));
    let address = address.lines().nth(1).expect("an address");
    let session = sessions::open_address(address, &server.options(), runtime.handle()).expect("opens");
    assert_eq!(session.bundle().path(), Path::new(address));
}
