//! A cluster: in one process, and of processes on loopback that are killed, and that fail on purpose.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_flight::Ticket;
use arrow_flight::flight_service_client::FlightServiceClient;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionConfig;
use tokio::runtime::Runtime;
use trace_explain::prices::Prices;
use trace_fleet::Store;
use trace_fleet::cluster::{Cluster, ClusterError, Executor, ExecutorOptions, Scheduler, SchedulerOptions, Token};
use trace_fleet::ingest::{Ingest, IngestError, MAX_FAILED, Options, Report};
use trace_fleet::lake::Lake;
use trace_fleet::query::{Engine, Limits, QueryError, Question, named};
use trace_fleet::sessions;
use trace_fleet::workers::{Job, Receipt, Task, Version, WorkError, Workers};
use trace_recorder::pack::{DEFAULT_LEVEL, Source, pack};

use crate::faults::Server;
use crate::fixture::{
    all_rows, ask, batches_of, checked, csv, ingest, open, repository, runtime, sessions as make_sessions, snapshot,
    text,
};

const TOKEN: &str = "a-token-of-the-tests-0123456789";

/// Longest time that something takes that is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

fn token() -> Token {
    Token::parse(TOKEN).expect("a token")
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

fn scheduler_options(stores: &[(String, String)]) -> SchedulerOptions {
    SchedulerOptions {
        address: any_port(),
        token: Some(token()),
        stores: stores.to_vec(),
        executor_timeout: Duration::from_secs(10),
    }
}

fn executor_options(scheduler: &str, stores: &[(String, String)]) -> ExecutorOptions {
    ExecutorOptions {
        scheduler: scheduler.to_owned(),
        address: any_port(),
        host: None,
        slots: 2,
        work_dir: None,
        memory_bytes: 256 << 20,
        token: Some(token()),
        stores: stores.to_vec(),
        wait: Duration::ZERO,
    }
}

/// A scheduler and an executor in this process.
struct InProcess {
    url: String,
    _executor: Executor,
    _scheduler: Scheduler,
}

fn in_process(runtime: &Runtime, stores: &[(String, String)]) -> InProcess {
    runtime.block_on(async {
        let scheduler = Scheduler::start(scheduler_options(stores)).await.expect("a scheduler");
        let url = format!("http://{}", scheduler.address());
        let executor = Executor::start(executor_options(&url, stores)).await.expect("an executor");
        InProcess { url, _executor: executor, _scheduler: scheduler }
    })
}

fn cluster(url: &str, settings: &[(&str, &str)]) -> Arc<Cluster> {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(Cluster::new(url, Some(token()), settings).expect("a cluster"))
}

/// Faults of the engine by seed.
fn faults(url: &str, kind: &str, probability: &str, seed: u64) -> Arc<Cluster> {
    let setting = |name: &str| format!("ballista.testing.chaos_execution.{name}");
    let seed = seed.to_string();
    let settings = [("enabled", "true"), ("fault_type", kind), ("probability", probability), ("seed", &seed)];
    let settings = settings.map(|(name, value)| (setting(name), value.to_owned()));
    Arc::new(Cluster::new(url, Some(token()), settings.to_vec()).expect("a cluster"))
}

fn ingest_on(
    workers: &dyn Workers,
    lake: &Lake,
    source: &str,
    stores: &[(String, String)],
    options: Options,
    runtime: &Runtime,
) -> Result<Report, IngestError> {
    let found = sessions::find(source, stores, runtime.handle()).expect("sessions");
    let mut ingest = Ingest::new(lake, options, runtime.handle()).expect("a lake");
    let plan = ingest.plan(found);
    ingest.run_on(workers, plan, &AtomicBool::new(false), &())
}

/// All named questions with values for their parameters.
fn questions(lake: &Lake, runtime: &Runtime) -> Vec<Question> {
    let first = |sql: &str| csv(&ask(lake, runtime, sql)).lines().nth(1).unwrap_or_default().to_owned();
    let values = BTreeMap::from([
        ("address", first("SELECT min(address) AS a FROM failures")),
        ("before", first("SELECT min(agent_version) AS v FROM turns")),
        ("after", first("SELECT max(agent_version) AS v FROM turns")),
    ]);
    let question = |named: &named::Named| {
        let value = |name: &str| values.get(name).cloned().unwrap_or_else(|| "1".to_owned());
        let parameters = named.parameters.iter().map(|name| ((*name).to_owned(), value(name))).collect();
        Question { sql: format!("@{}", named.name), parameters, condition: None }
    };
    named::all().iter().map(question).collect()
}

fn prices() -> Prices {
    let table = std::fs::read_to_string(repository().join("samples/prices.toml")).expect("a table");
    Prices::parse(&table).expect("prices")
}

/// The answers of one process.
fn embedded(lake: &Lake, runtime: &Runtime) -> Vec<(Question, String)> {
    let engine = Engine::new(lake, &snapshot(lake, runtime), Some(prices()), Limits::default()).expect("an engine");
    let answer = |question: Question| {
        let answer =
            runtime.block_on(engine.ask(&question)).unwrap_or_else(|error| panic!("{}: {error}", question.sql));
        (question, csv(&answer))
    };
    questions(lake, runtime).into_iter().map(answer).collect()
}

fn engine_on(workers: Arc<dyn Workers>, lake: &Lake, runtime: &Runtime) -> Engine {
    Engine::on(workers, lake, &snapshot(lake, runtime), Some(prices()), Limits::default()).expect("an engine")
}

/// Returns whether two answers are the same. The last digit of a sum of money depends on the order in which it was added up,
/// in one process as well.
fn is_same(one: &str, other: &str) -> bool {
    let is_same_value = |(one, other): (&str, &str)| {
        let numbers = one.parse::<f64>().ok().zip(other.parse::<f64>().ok());
        one == other || (one.contains('.') && numbers.is_some_and(|(one, other)| (one - other).abs() < 2e-6))
    };
    let is_same_line = |(one, other): (&str, &str)| {
        one == other
            || (one.split(',').count() == other.split(',').count()
                && one.split(',').zip(other.split(',')).all(is_same_value))
    };
    one.lines().count() == other.lines().count() && one.lines().zip(other.lines()).all(is_same_line)
}

/// Asks all named questions on a cluster, and compares the answers with those of one process.
fn compare(workers: Arc<dyn Workers>, lake: &Lake, runtime: &Runtime) {
    let engine = engine_on(workers, lake, runtime);
    for (question, expected) in embedded(lake, runtime) {
        let answer =
            runtime.block_on(engine.ask(&question)).unwrap_or_else(|error| panic!("{}: {error}", question.sql));
        let answer = csv(&answer);
        assert!(is_same(&answer, &expected), "{}\n{answer}\n{expected}", question.sql);
    }
}

#[test]
fn a_cluster_in_one_process_does_what_one_process_does() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    let paths = make_sessions(&source, 30);
    // One session is broken, and one is from another agent.
    let mut packed = Vec::new();
    pack(&Source::list(&paths[0]).expect("lists"), &mut packed, DEFAULT_LEVEL).expect("packs");
    std::fs::write(source.join("cut.trace"), &packed[..packed.len() / 2]).expect("writes");
    let parts = in_process(&runtime, &[]);
    let workers = cluster(&parts.url, &[]);

    let lakes = ["own", "cluster"].map(|name| open(&runtime, text(&folder.path().join(name))));
    let own = ingest(&lakes[0], &source, batches_of(4), runtime.handle());
    let on = ingest_on(workers.as_ref(), &lakes[1], text(&source), &[], batches_of(4), &runtime).expect("ingests");
    assert_eq!(on, own);
    assert_eq!((on.committed, on.unreadable, on.commits), (31, 1, 8));
    checked(&lakes[1], &runtime);
    let files = lakes.each_ref().map(|lake| Lake::live_files(&snapshot(lake, &runtime)));
    assert_eq!(files[0], files[1], "the same sessions make the same files");
    let told = "SELECT d.code FROM diagnostics AS d WHERE d.address LIKE '%cut.trace'";
    assert_eq!(csv(&ask(&lakes[1], &runtime, told)), "code\nsession_unreadable\n");

    let agents = text(&repository().join("samples/claude-code")).to_owned();
    let on = ingest_on(workers.as_ref(), &lakes[1], &agents, &[], batches_of(4), &runtime).expect("ingests");
    let own = ingest(&lakes[0], Path::new(&agents), batches_of(4), runtime.handle());
    assert_eq!(on, own);
    assert!(on.committed > 0);
    // What the lake has is not reduced again, and a changed session replaces its rows.
    let log = std::fs::File::options().append(true).open(paths[3].join("trace.jsonl")).expect("opens");
    log.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).expect("sets the time");
    let on = ingest_on(workers.as_ref(), &lakes[1], text(&source), &[], batches_of(4), &runtime).expect("ingests");
    assert_eq!((on.known, on.committed, on.replaced), (30, 1, 1));
    ingest(&lakes[0], &source, batches_of(4), runtime.handle());

    compare(Arc::clone(&workers) as Arc<dyn Workers>, &lakes[1], &runtime);
    let stop = AtomicBool::new(false);
    let done = runtime.block_on(lakes[1].compact_on(workers.as_ref(), 12, &stop)).expect("compacts");
    assert_eq!(done, runtime.block_on(lakes[0].compact(12, &|| false)).expect("compacts"));
    assert!(done.made > 0);
    checked(&lakes[1], &runtime);
    assert_eq!(all_rows(&lakes[1], &runtime), all_rows(&lakes[0], &runtime));
    compare(workers, &lakes[1], &runtime);
}

#[test]
fn a_cluster_works_on_object_storage() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 9);
    let server = Server::start(&folder.path().join("s3"), &runtime);
    let stores = server.options();
    let found = sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
    let options =
        trace_fleet::push::Options { quiet: Duration::ZERO, jobs: 2, ..trace_fleet::push::Options::default() };
    let pushed = Store::open("s3://bucket/sessions", &stores).expect("a store");
    trace_fleet::push::push(&found, &pushed, &options, runtime.handle(), &AtomicBool::new(false), &()).expect("pushes");

    let parts = in_process(&runtime, &stores);
    let workers = cluster(&parts.url, &[]);
    let open = |url: &str| {
        let store = Store::open(url, &stores).expect("a store");
        runtime.block_on(Lake::open_or_create(store)).expect("a lake")
    };
    let lake = open("s3://bucket/lakes/one");
    let report =
        ingest_on(workers.as_ref(), &lake, "s3://bucket/sessions", &stores, batches_of(2), &runtime).expect("ingests");
    assert_eq!((report.committed, report.commits, report.unreadable), (9, 5, 0));
    checked(&lake, &runtime);
    compare(Arc::clone(&workers) as Arc<dyn Workers>, &lake, &runtime);
    let done = runtime.block_on(lake.compact_on(workers.as_ref(), 100, &AtomicBool::new(false))).expect("compacts");
    assert_eq!((done.merged, done.made), (5, 1));
    checked(&lake, &runtime);
    compare(workers, &lake, &runtime);
}

#[test]
fn limits_and_refusals_are_those_of_one_process() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 8);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(3), runtime.handle());
    let parts = in_process(&runtime, &[]);
    let workers = cluster(&parts.url, &[]);
    let limits = Limits { rows: 5, timeout: Duration::from_secs(5), ..Limits::default() };
    let engine = Engine::on(Arc::clone(&workers) as Arc<dyn Workers>, &lake, &snapshot(&lake, &runtime), None, limits)
        .expect("an engine");
    let ask = |sql: &str| {
        let question = Question { sql: sql.to_owned(), ..Question::default() };
        runtime.block_on(engine.ask(&question))
    };
    let answer = ask("SELECT * FROM tool_calls ORDER BY address, seq").expect("an answer");
    assert_eq!((answer.count(), answer.is_cut), (5, true));
    // What reads no table runs here.
    let none = ask("SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'sessions'");
    assert_eq!(csv(&none.expect("an answer")), "n\n1\n");
    // What explains itself, reads tables of this process, or is recursive runs here as well, though it reads files.
    let tables = "SELECT count(*) AS n FROM sessions, information_schema.tables t WHERE t.table_name = 'sessions'";
    assert_eq!(csv(&ask(tables).expect("an answer")), "n\n8\n");
    let counted = "WITH RECURSIVE r AS (SELECT count(*) AS n FROM sessions UNION ALL SELECT n - 1 FROM r WHERE n > 6) \
                   SELECT n FROM r ORDER BY n";
    assert_eq!(csv(&ask(counted).expect("an answer")), "n\n6\n7\n8\n");
    for (sql, part) in [
        ("EXPLAIN SELECT count(*) FROM sessions", "physical_plan"),
        ("EXPLAIN ANALYZE SELECT count(*) FROM sessions", "output_rows"),
    ] {
        let answer = csv(&ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
        assert!(answer.contains(part), "{sql}: {answer}");
    }
    for sql in ["DROP TABLE sessions", "SELECT repeat('x', 1000000)", "SELECT * FROM '/etc/passwd'"] {
        assert!(matches!(ask(sql), Err(QueryError::Engine(_))), "{sql}");
    }
    let forever = "SELECT count(*) AS n FROM tool_calls a, tool_calls b, tool_calls c, tool_calls d, tool_calls e, tool_calls f \
                   WHERE a.seq + b.seq + c.seq + d.seq + e.seq + f.seq < 0";
    let started = Instant::now();
    assert!(matches!(ask(forever), Err(QueryError::Timeout { .. })));
    assert!(started.elapsed() < PATIENCE);
    runtime.block_on(workers.settle());
    // The tasks of the job had all slots. They were cancelled, so the next question, which reads files, gets a slot at once.
    let started = Instant::now();
    let answer = ask("SELECT sum(length(address)) > 0 AS some FROM sessions").expect("an answer");
    assert_eq!(csv(&answer), "some\ntrue\n");
    assert!(started.elapsed() < limits.timeout, "{:?}", started.elapsed());
}

#[test]
fn joins_of_all_kinds_give_the_rows_of_one_process() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 16);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(3), runtime.handle());
    assert!(snapshot(&lake, &runtime).batches.len() >= 4, "several files");
    let parts = in_process(&runtime, &[]);
    let one = Engine::new(&lake, &snapshot(&lake, &runtime), None, Limits::default()).expect("an engine");
    let all = Engine::on(cluster(&parts.url, &[]), &lake, &snapshot(&lake, &runtime), None, Limits::default());
    let all = all.expect("an engine");
    let hash = cluster(&parts.url, &[("datafusion.optimizer.prefer_hash_join", "true")]);
    let hash = Engine::on(hash, &lake, &snapshot(&lake, &runtime), None, Limits::default()).expect("an engine");
    // Of each session, some rows of `b` match in some files, or none, or no file has a row at all.
    let conditions = ["a.turns < b.tool_calls", "a.turns + b.turns < 0", "a.turns <= b.turns AND b.team = 'red'"];
    let equal = ["a.team = b.team AND a.turns < b.tool_calls", "a.address = b.address AND b.team = 'red'"];
    let mut questions = Vec::new();
    for on in conditions.iter().chain(&equal) {
        for kind in ["LEFT", "RIGHT", "FULL", "INNER"] {
            questions.push(format!(
                "SELECT a.address AS one, b.address AS other FROM sessions a {kind} JOIN sessions b ON {on}"
            ));
        }
        for word in ["EXISTS", "NOT EXISTS"] {
            questions
                .push(format!("SELECT a.address FROM sessions a WHERE {word} (SELECT 1 FROM sessions b WHERE {on})"));
            questions.push(format!(
                "SELECT a.address FROM sessions a WHERE a.team = 'red' OR {word} (SELECT 1 FROM sessions b WHERE {on})"
            ));
        }
    }
    for sql in [
        "SELECT address FROM sessions WHERE turns NOT IN (SELECT tool_calls FROM sessions WHERE team = 'red')",
        "SELECT address FROM sessions WHERE team NOT IN (SELECT team FROM sessions WHERE turns < 0)",
        "SELECT address FROM sessions WHERE turns > (SELECT avg(turns) FROM sessions)",
        "SELECT address, team FROM sessions WHERE team = 'red' UNION ALL SELECT address, tool FROM tool_calls",
        "SELECT team FROM sessions UNION SELECT tool FROM tool_calls",
        "(SELECT address FROM sessions ORDER BY address LIMIT 3) UNION ALL (SELECT address FROM turns ORDER BY address LIMIT 4)",
        "SELECT address, rank() OVER (PARTITION BY team ORDER BY turns, address) AS place FROM sessions",
        "SELECT address, sum(turns) OVER (ORDER BY address) AS so_far, count(*) OVER () AS n FROM sessions",
        "SELECT team, count(DISTINCT agent) AS agents FROM sessions GROUP BY team HAVING count(*) > 1",
        "SELECT team FROM sessions INTERSECT SELECT team FROM sessions WHERE turns > 0",
        "SELECT address FROM sessions EXCEPT SELECT address FROM failures",
    ] {
        questions.push(sql.to_owned());
    }
    let mut rows = 0;
    let mut wrong = Vec::new();
    for sql in questions {
        let question = Question { sql, ..Question::default() };
        let sorted = |engine: &Engine| {
            let answer = runtime.block_on(engine.ask(&question)).map_err(|error| error.to_string())?;
            let mut lines: Vec<String> = csv(&answer).lines().map(str::to_owned).collect();
            lines[1..].sort();
            Ok::<_, String>(lines)
        };
        let expected = sorted(&one).unwrap_or_else(|error| panic!("{}: {error}", question.sql));
        rows += expected.len() - 1;
        for (name, engine) in [("merge", &all), ("hash", &hash)] {
            match sorted(engine) {
                Ok(lines) if lines == expected => {}
                // A fault of the engine's merge joins; it is an error, and the page about clusters tells it.
                Err(error)
                    if name == "merge" && question.sql.contains("RIGHT") && error.contains("index out of bounds") => {}
                Ok(lines) => {
                    wrong.push(format!("{name}: {}: {} rows of {}", question.sql, lines.len(), expected.len()));
                }
                Err(error) => wrong.push(format!("{name}: {}: {error}", question.sql)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 500, "the questions have answers: {rows}");
}

#[test]
fn whoever_does_not_know_the_token_is_refused() {
    let runtime = runtime();
    let parts = in_process(&runtime, &[]);
    let other = Token::parse("another-token-0123456789").expect("a token");
    for token in [None, Some(other)] {
        let options = ExecutorOptions { token: token.clone(), ..executor_options(&parts.url, &[]) };
        let error = runtime.block_on(Executor::start(options)).err().expect("is refused");
        assert!(matches!(error, ClusterError::Work(WorkError::Refused { .. })), "{error}");
        let cluster = Cluster::new(&parts.url, token, Vec::new()).expect("a cluster");
        let (folder, stop) = (tempfile::tempdir().expect("a folder"), AtomicBool::new(false));
        let lake = open(&runtime, text(folder.path()));
        let source = folder.path().join("sessions");
        make_sessions(&source, 1);
        let found = sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
        let mut ingest = Ingest::new(&lake, batches_of(1), runtime.handle()).expect("a lake");
        let plan = ingest.plan(found);
        let error = ingest.run_on(&cluster, plan, &stop, &()).expect_err("is refused");
        assert!(matches!(error, IngestError::Work(WorkError::Refused { .. })), "{error}");
    }
    // The results of an executor are guarded, too.
    let address = parts._executor.address();
    let status = runtime.block_on(async {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).expect("a URL");
        let mut client = FlightServiceClient::new(endpoint.connect().await.expect("connects"));
        client.do_get(Ticket { ticket: Vec::new().into() }).await.expect_err("is refused")
    });
    assert_eq!(status.code(), tonic::Code::Unauthenticated);
    let options =
        SchedulerOptions { address: "0.0.0.0:0".parse().expect("an address"), token: None, ..scheduler_options(&[]) };
    assert!(matches!(runtime.block_on(Scheduler::start(options)), Err(ClusterError::Open { .. })));
}

#[test]
fn a_store_that_fails_for_good_is_told_and_nothing_is_lost() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 8);
    let url = folder.path().join("lake");
    let lake = open(&runtime, text(&url));
    // A file is where a folder of the lake must be.
    std::fs::create_dir_all(url.join("tables")).expect("a folder");
    std::fs::write(url.join("tables/turns"), "").expect("writes");
    let parts = in_process(&runtime, &[]);
    let workers = cluster(&parts.url, &[]);
    // The first commit makes the Delta tables, which fails in the same way, so the work is given without one.
    let found = sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
    let items = found.iter().map(|it| trace_fleet::workers::Item::of(it).expect("an item")).collect();
    let job = Job::Reduce { sessions: items, given: Default::default() };
    let task = Task::new(lake.store().url().as_str(), job);
    let failure = |task: Task| {
        let error = runtime.block_on(workers.work(vec![task], &AtomicBool::new(false))).expect_err("fails");
        let WorkError::Failed { message } = error else { panic!("{error}") };
        message
    };
    let message = failure(task.clone());
    assert!(message.contains("tables/turns"), "{message}");
    assert!(message.contains("failed 4 times"), "it was tried again: {message}");
    // An executor does nothing for a program of another version.
    let other = Version { program: "0.0.1".to_owned(), ..Version::default() };
    let message = failure(Task { version: other, ..task });
    assert!(message.contains("all parts of a cluster must have one version"), "{message}");
    std::fs::remove_file(url.join("tables/turns")).expect("removes");
    let report = ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(3), &runtime).expect("ingests");
    assert_eq!(report.committed, 8);
    checked(&lake, &runtime);
}

#[test]
fn a_session_that_cannot_be_fetched_does_not_keep_the_others() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 6);
    let server = Server::start(&folder.path().join("s3"), &runtime);
    let stores = server.options();
    let found = sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
    let options =
        trace_fleet::push::Options { quiet: Duration::ZERO, jobs: 2, ..trace_fleet::push::Options::default() };
    let pushed = server.store("sessions");
    trace_fleet::push::push(&found, &pushed, &options, runtime.handle(), &AtomicBool::new(false), &()).expect("pushes");
    let listed = runtime.block_on(pushed.list("", None)).expect("lists");
    let bad = listed.iter().find(|it| it.path.ends_with(".trace")).expect("a session").path.clone();
    let bad = bad.rsplit('/').next().expect("a name").to_owned();

    let parts = in_process(&runtime, &stores);
    let workers = cluster(&parts.url, &[]);
    let lake = runtime.block_on(Lake::open_or_create(server.store("lake"))).expect("a lake");
    let ingested = || {
        ingest_on(workers.as_ref(), &lake, "s3://bucket/sessions", &stores, batches_of(3), &runtime).expect("ingests")
    };
    server.break_path(Some(&bad));
    let report = ingested();
    assert_eq!((report.committed, report.failed.len()), (5, 1), "{report:?}");
    assert!(report.failed[0].0.ends_with(&bad), "{report:?}");
    checked(&lake, &runtime);
    // The next ingest tries the failed session again.
    server.break_path(None);
    let report = ingested();
    assert_eq!((report.known, report.committed, report.failed.len()), (5, 1, 0), "{report:?}");
    checked(&lake, &runtime);
}

/// Workers that cannot fetch a session.
#[derive(Debug)]
struct FetchNothing;

#[async_trait::async_trait]
impl Workers for FetchNothing {
    fn configure(&self, config: SessionConfig) -> Result<SessionConfig, WorkError> {
        Ok(config)
    }

    fn prepare(&self, state: SessionStateBuilder) -> SessionStateBuilder {
        state
    }

    async fn execute(
        &self,
        _plan: Arc<dyn ExecutionPlan>,
        _config: &SessionConfig,
    ) -> datafusion::common::Result<SendableRecordBatchStream> {
        datafusion::common::exec_err!("no questions")
    }

    async fn work(&self, tasks: Vec<Task>, _stop: &AtomicBool) -> Result<Vec<Receipt>, WorkError> {
        let receipt = |task: Task| {
            let Job::Reduce { sessions, .. } = task.job else { panic!("an ingest only reduces") };
            let failed = sessions.into_iter().map(|it| (it.address, "no answer".to_owned())).collect();
            Receipt { failed, ..Receipt::default() }
        };
        Ok(tasks.into_iter().map(receipt).collect())
    }

    async fn settle(&self) {}
}

/// Workers whose files are deleted before they are committed, as by a vacuum in a round that takes too long.
#[derive(Debug)]
struct TooSlow {
    workers: Arc<Cluster>,
    turns: std::path::PathBuf,
}

#[async_trait::async_trait]
impl Workers for TooSlow {
    fn configure(&self, config: SessionConfig) -> Result<SessionConfig, WorkError> {
        self.workers.configure(config)
    }

    fn prepare(&self, state: SessionStateBuilder) -> SessionStateBuilder {
        self.workers.prepare(state)
    }

    async fn execute(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> datafusion::common::Result<SendableRecordBatchStream> {
        self.workers.execute(plan, config).await
    }

    async fn work(&self, tasks: Vec<Task>, stop: &AtomicBool) -> Result<Vec<Receipt>, WorkError> {
        let receipts = self.workers.work(tasks, stop).await?;
        for file in std::fs::read_dir(&self.turns).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|it| it == "parquet") {
                std::fs::remove_file(path).expect("removes");
            }
        }
        Ok(receipts)
    }

    async fn settle(&self) {
        self.workers.settle().await;
    }
}

#[test]
fn files_that_a_vacuum_deleted_are_not_committed() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 4);
    let place = folder.path().join("lake");
    let lake = open(&runtime, text(&place));
    let parts = in_process(&runtime, &[]);
    let workers = TooSlow { workers: cluster(&parts.url, &[]), turns: place.join("tables/turns") };
    let error = ingest_on(&workers, &lake, text(&source), &[], batches_of(2), &runtime).expect_err("is refused");
    assert!(error.to_string().contains("is gone before its commit"), "{error}");
    assert!(snapshot(&lake, &runtime).batches.is_empty());
    let workers = cluster(&parts.url, &[]);
    let report = ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(2), &runtime).expect("ingests");
    assert_eq!(report.committed, 4);
    checked(&lake, &runtime);
}

#[test]
fn an_ingest_gives_up_if_its_store_is_gone() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, MAX_FAILED);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let error = ingest_on(&FetchNothing, &lake, text(&source), &[], batches_of(30), &runtime).expect_err("gives up");
    assert!(
        matches!(&error, IngestError::TooManyFailed { source, .. } if source.to_string() == "no answer"),
        "{error}"
    );
    std::fs::remove_dir_all(source.join("team=red")).expect("removes");
    let report = ingest_on(&FetchNothing, &lake, text(&source), &[], batches_of(30), &runtime).expect("goes on");
    assert!(report.failed.len() < MAX_FAILED && report.failed.len() == report.listed, "{report:?}");
}

#[test]
fn faults_of_the_engine_change_no_answer_and_no_row() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 20);
    let own = open(&runtime, text(&folder.path().join("own")));
    ingest(&own, &source, batches_of(4), runtime.handle());
    let (expected, answers) = (all_rows(&own, &runtime), embedded(&own, &runtime));
    let parts = in_process(&runtime, &[]);
    let (mut answered, mut failed) = (0, 0);
    for (seed, kind) in (0..).zip(["transient", "fatal", "panic", "transient", "delay:5", "transient"]) {
        let lake = open(&runtime, text(&folder.path().join(format!("lake-{seed}"))));
        let workers = faults(&parts.url, kind, "0.3", seed);
        match ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(4), &runtime) {
            Ok(report) => assert_eq!(report.committed, 20, "{kind} {seed}"),
            Err(error) => assert!(error.to_string().contains("ChaosExec"), "{kind} {seed}: {error}"),
        }
        // What was committed is whole, and the next ingest goes on.
        checked(&lake, &runtime);
        let workers = cluster(&parts.url, &[]);
        ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(4), &runtime).expect("ingests");
        checked(&lake, &runtime);
        assert_eq!(all_rows(&lake, &runtime), expected, "{kind} {seed}");

        let workers = faults(&parts.url, kind, "0.3", seed);
        let engine = engine_on(workers, &own, &runtime);
        for (question, expected) in answers.iter().skip(seed as usize % 3).step_by(3) {
            match runtime.block_on(engine.ask(question)) {
                Ok(answer) => {
                    answered += 1;
                    let answer = csv(&answer);
                    assert!(is_same(&answer, expected), "{kind} {seed}: {}\n{answer}\n{expected}", question.sql);
                }
                Err(error) => {
                    failed += 1;
                    assert!(error.to_string().contains("ChaosExec"), "{kind} {seed}: {}: {error}", question.sql);
                }
            }
        }
    }
    assert!(answered > 0 && failed > 0, "{answered} answered, {failed} failed");
}

/// A scheduler and executors, each a process of its own.
struct Processes {
    url: String,
    scheduler: Child,
    executors: Vec<Child>,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a part and waits for the line that it prints when it is ready.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    command.args(arguments).env("TRACE_FLEET_TOKEN", TOKEN);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let ready = line.split_whitespace().last().expect("it is ready").to_owned();
    (child, ready)
}

fn processes(executors: usize) -> Processes {
    let (scheduler, url) = start(&["scheduler", "--listen", "127.0.0.1:0", "--executor-timeout", "7"]);
    let executor = |_| start(&["executor", "--scheduler", &url, "--slots", "1"]).0;
    Processes { executors: (0..executors).map(executor).collect(), url, scheduler }
}

fn trace_fleet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    command.args(arguments).env("TRACE_FLEET_TOKEN", TOKEN).stdin(Stdio::null()).output().expect("starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn three_executors_on_loopback_do_what_one_process_does() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 40);
    let parts = processes(3);
    let own = open(&runtime, text(&folder.path().join("own")));
    ingest(&own, &source, batches_of(3), runtime.handle());
    let place = folder.path().join("lake");
    let url = text(&place);
    let output =
        trace_fleet(&["ingest", text(&source), "--lake", url, "--batch", "3", "--cluster", &parts.url, "--json"]);
    assert!(output.status.success(), "{}", told(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((report["committed"].as_u64(), report["commits"].as_u64()), (Some(40), Some(14)), "{report}");
    let lake = open(&runtime, url);
    checked(&lake, &runtime);
    assert_eq!(Lake::live_files(&snapshot(&lake, &runtime)), Lake::live_files(&snapshot(&own, &runtime)));
    compare(cluster(&parts.url, &[]), &lake, &runtime);
    let query = |more: &[&str]| {
        let output = trace_fleet(&[&["query", "--lake", url, "--format", "csv", "@failures"], more].concat());
        assert!(output.status.success(), "{}", told(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(query(&["--cluster", &parts.url]), query(&[]));
    let output = trace_fleet(&["compact", "--lake", url, "--target", "10", "--cluster", &parts.url]);
    assert!(output.status.success(), "{}", told(&output));
    checked(&lake, &runtime);
    assert_eq!(all_rows(&lake, &runtime), all_rows(&own, &runtime));
}

#[test]
fn an_executor_that_is_killed_in_an_ingest_loses_nothing() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 40);
    let own = open(&runtime, text(&folder.path().join("own")));
    ingest(&own, &source, batches_of(2), runtime.handle());
    for written in [1, 8] {
        let mut parts = processes(3);
        let place = folder.path().join(format!("lake-{written}"));
        let lake = open(&runtime, text(&place));
        // Each task takes a quarter of a second, so that the kill finds some at work and some done.
        let workers = faults(&parts.url, "delay:250", "1.0", 1);
        let report = std::thread::scope(|scope| {
            let work = scope.spawn(|| ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(2), &runtime));
            let files = || std::fs::read_dir(place.join("tables/sessions")).map_or(0, Iterator::count);
            let started = Instant::now();
            while files() < written && started.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(!work.is_finished(), "it is killed at work");
            parts.executors[0].kill().expect("is killed");
            work.join().expect("ends")
        });
        let report = report.expect("ingests");
        assert_eq!((report.committed, report.commits), (40, 20), "{report:?}");
        checked(&lake, &runtime);
        assert_eq!(Lake::live_files(&snapshot(&lake, &runtime)), Lake::live_files(&snapshot(&own, &runtime)));
    }
}

/// Passes connections on. Those that are open are in the list.
fn proxy(to: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<TcpStream>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let connections: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let open = Arc::clone(&connections);
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (Ok(near), Ok(far)) = (near, TcpStream::connect(to)) else { continue };
            for (mut from, mut to) in [(near.try_clone(), far.try_clone()), (far.try_clone(), near.try_clone())]
                .map(|(one, other)| (one.expect("a socket"), other.expect("a socket")))
            {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
            open.lock().expect("no panic").push(near);
        }
    });
    (address, connections)
}

#[test]
fn an_executor_whose_messages_are_lost_starts_anew() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 24);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let scheduler = runtime.block_on(Scheduler::start(scheduler_options(&[]))).expect("a scheduler");
    let (address, connections) = proxy(scheduler.address());
    let options = executor_options(&format!("http://{address}"), &[]);
    let executor = runtime.block_on(Executor::start(options)).expect("an executor");
    let workers = faults(&format!("http://{}", scheduler.address()), "delay:200", "1.0", 1);
    let (report, cuts) = std::thread::scope(|scope| {
        let work = scope.spawn(|| ingest_on(workers.as_ref(), &lake, text(&source), &[], batches_of(2), &runtime));
        let mut cuts = 0;
        // Not more often than the engine does a stage again for executors that it lost.
        while !work.is_finished() && cuts < 2 {
            std::thread::sleep(Duration::from_millis(500));
            for connection in connections.lock().expect("no panic").drain(..) {
                let _ = connection.shutdown(Shutdown::Both);
            }
            cuts += 1;
        }
        (work.join().expect("ends"), cuts)
    });
    let report = report.expect("ingests");
    assert_eq!((report.committed, report.commits, cuts), (24, 12, 2), "{report:?}");
    checked(&lake, &runtime);
    // It works on.
    compare(cluster(&format!("http://{}", scheduler.address()), &[]), &lake, &runtime);
    runtime.block_on(executor.stop());
}

#[test]
fn an_executor_that_is_killed_in_a_question_changes_no_answer() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 24);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(2), runtime.handle());
    let expected = embedded(&lake, &runtime);
    let mut parts = processes(3);
    let workers = faults(&parts.url, "delay:100", "1.0", 2);
    let engine = engine_on(workers, &lake, &runtime);
    let (mut answered, mut failed) = (0, 0);
    std::thread::scope(|scope| {
        let executors = &mut parts.executors;
        scope.spawn(move || {
            for executor in &mut executors[..2] {
                std::thread::sleep(Duration::from_millis(700));
                executor.kill().expect("is killed");
            }
        });
        for (question, expected) in &expected {
            match runtime.block_on(engine.ask(question)) {
                Ok(answer) => {
                    answered += 1;
                    let answer = csv(&answer);
                    assert!(is_same(&answer, expected), "{}\n{answer}\n{expected}", question.sql);
                }
                Err(QueryError::Work(error)) => {
                    failed += 1;
                    assert!(error.to_string().contains("the cluster could not do the work: "), "{error}");
                }
                Err(error) => panic!("{}: {error}", question.sql),
            }
        }
    });
    assert_eq!(answered + failed, expected.len());
    assert!(failed <= 2, "each kill ends one question at most, and {failed} failed");
    // The one that is left answers all.
    compare(cluster(&parts.url, &[]), &lake, &runtime);
}

#[test]
fn a_cluster_that_is_not_there_is_told() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    make_sessions(&source, 2);
    let place = folder.path().join("lake");
    let url = text(&place);
    let lake = open(&runtime, url);
    ingest(&lake, &source, batches_of(2), runtime.handle());
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let nobody = format!("http://{nobody}");
    let output = trace_fleet(&["query", "--lake", url, "@failures", "--cluster", &nobody]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains(&format!("the scheduler at {nobody} cannot be reached")), "{}", told(&output));
    let output = trace_fleet(&["executor", "--scheduler", &nobody, "--wait", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let output = trace_fleet(&["query", "--lake", url, "@failures", "--cluster", "scheduler:50050"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("is not the URL of a scheduler"), "{}", told(&output));
    let mut open = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    let open = open.args(["scheduler", "--listen", "0.0.0.0:0"]).env_remove("TRACE_FLEET_TOKEN").stdin(Stdio::null());
    let output = open.output().expect("starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("there is no token"), "{}", told(&output));
    let output = trace_fleet(&["executor", "--scheduler", "http://192.0.2.1:50050", "--wait", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("others cannot reach this executor"), "{}", told(&output));

    // A scheduler that ends in the middle is told as well.
    let mut parts = processes(1);
    let wrong = folder.path().join("wrong");
    std::fs::write(&wrong, "a-wrong-token-0123456789\n").expect("writes");
    let output =
        trace_fleet(&["query", "--lake", url, "@failures", "--cluster", &parts.url, "--token-file", text(&wrong)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("refuses the token"), "{}", told(&output));
    let workers = faults(&parts.url, "delay:3000", "1.0", 1);
    let engine = engine_on(workers, &lake, &runtime);
    let error = std::thread::scope(|scope| {
        let sql = "SELECT team, count(*) AS n FROM sessions GROUP BY team".to_owned();
        let question = Question { sql, ..Question::default() };
        let (engine, runtime) = (&engine, &runtime);
        let asked = scope.spawn(move || runtime.block_on(engine.ask(&question)));
        std::thread::sleep(Duration::from_millis(800));
        parts.scheduler.kill().expect("is killed");
        asked.join().expect("ends").expect_err("has no answer")
    });
    assert!(matches!(error, QueryError::Work(_)), "{error}");
}
