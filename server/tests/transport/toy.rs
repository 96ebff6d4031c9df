//! A small service for the tests of transports, and shared helpers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use trace_protocol::common::AbsolutePath;
use trace_protocol::connection::{InitializeParams, InitializeResponse};
use trace_protocol::notification::WarningNotification;
use trace_protocol::{ClientRequest, RequestId, RpcError, ServerNotification};
use trace_server::connection::{Connection, ConnectionId, Delivery, SerializedNotification};
use trace_server::ingress::{ConnectionOpener, Ingress, Responder, Service};
use trace_server::outbound::OutboundReader;
use trace_server::scopes::ScopeQueues;
use trace_server::transport::{Auth, Bound, Listen, Shutdown, WebClient, WebToken, bind, serve};

/// Timeout of a test, which is longer than any test takes on a slow machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) type Answer = (RequestId, Result<Box<RawValue>, RpcError>);

/// Answers `thread/loaded/list` at once, and `thread/read` after the test has released the thread. Panics in
/// `model/list`, and drops the responder of `config/read`.
#[derive(Clone)]
pub(crate) struct Toy(Arc<State>);

struct State {
    seen: watch::Sender<Seen>,
    threads: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// The running work for which a shutdown waits.
    running: CancellationToken,
    scopes: ScopeQueues,
}

/// What has happened so far.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) initialized: Vec<Arc<Connection>>,
    pub(crate) closed: Vec<ConnectionId>,
    pub(crate) answers: Vec<Answer>,
    /// Threads whose `thread/read` has started, and those whose `thread/read` has ended.
    pub(crate) begun: Vec<String>,
    pub(crate) ended: Vec<String>,
    pub(crate) is_draining: bool,
}

impl Toy {
    pub(crate) fn new() -> (Self, ConnectionOpener) {
        let scopes = ScopeQueues::new();
        let toy = Self(Arc::new(State {
            seen: watch::Sender::default(),
            threads: Mutex::default(),
            running: CancellationToken::new(),
            scopes: scopes.clone(),
        }));
        let opener = ConnectionOpener::new(Arc::new(toy.clone()), scopes);
        (toy, opener)
    }

    /// Releases a number of requests about a thread.
    pub(crate) fn release(&self, thread: &str, requests: usize) {
        self.thread(thread).add_permits(requests);
    }

    /// Ends the running work, so that the server can shut down.
    pub(crate) fn finish(&self) {
        self.0.running.cancel();
    }

    pub(crate) fn seen(&self) -> Seen {
        self.0.seen.borrow().clone()
    }

    /// Waits until the state satisfies a condition.
    pub(crate) async fn until(&self, has_happened: impl FnMut(&Seen) -> bool) -> Seen {
        let mut seen = self.0.seen.subscribe();
        let seen = tokio::time::timeout(LONG, seen.wait_for(has_happened)).await.expect("it happens");
        seen.expect("the toy is there").clone()
    }

    /// Sends a warning to all clients.
    pub(crate) fn broadcast(&self, message: &str) -> Vec<Delivery> {
        let warning = warning(message);
        self.seen().initialized.iter().map(|connection| connection.notify(&warning)).collect()
    }

    /// Returns whether no request is waiting or running.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.scopes.gauges().iter().all(|gauge| gauge.running == 0 && gauge.waiting == 0)
    }

    fn thread(&self, thread: &str) -> Arc<Semaphore> {
        let mut threads: MutexGuard<'_, HashMap<_, _>> = self.0.threads.lock().expect("no panic");
        Arc::clone(threads.entry(thread.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
    }
}

pub(crate) fn warning(message: &str) -> SerializedNotification {
    let warning = WarningNotification { message: message.to_owned(), thread_id: None };
    SerializedNotification::new(&ServerNotification::from(warning), 1).expect("it is JSON")
}

impl Service for Toy {
    fn initialize(
        &self,
        _connection: &Arc<Connection>,
        params: &InitializeParams,
    ) -> Result<InitializeResponse, RpcError> {
        if params.client_info.name == "nobody" {
            return Err(RpcError::invalid_request("not you"));
        }
        Ok(InitializeResponse {
            codex_home: AbsolutePath::new("/home").expect("it is absolute"),
            platform_family: "unix".to_owned(),
            platform_os: "linux".to_owned(),
            user_agent: format!("{}/1.0.0", params.client_info.name),
        })
    }

    fn initialized(&self, connection: &Arc<Connection>) {
        connection.notify(&warning("hello"));
        self.0.seen.send_modify(|seen| seen.initialized.push(Arc::clone(connection)));
    }

    fn handle(
        &self,
        _connection: Arc<Connection>,
        request: ClientRequest,
        responder: Responder,
    ) -> BoxFuture<'static, ()> {
        let toy = self.clone();
        Box::pin(async move {
            match request {
                ClientRequest::ThreadLoadedList(_) => responder.respond_with(&json!({"data": []})),
                ClientRequest::ThreadRead(params) => {
                    let thread = params.thread_id;
                    toy.0.seen.send_modify(|seen| seen.begun.push(thread.clone()));
                    toy.thread(&thread).acquire().await.expect("the semaphore is not closed").forget();
                    toy.0.seen.send_modify(|seen| seen.ended.push(thread.clone()));
                    responder.respond_with(&json!({ "thread": thread }));
                }
                ClientRequest::ModelList(_) => panic!("this is part of the test"),
                ClientRequest::ConfigRead(_) => drop(responder),
                other => responder.refuse(&RpcError::method_not_available(other.method())),
            }
        })
    }

    fn answered(&self, _connection: &Arc<Connection>, id: RequestId, answer: Result<Box<RawValue>, RpcError>) {
        self.0.seen.send_modify(|seen| seen.answers.push((id, answer)));
    }

    fn closed(&self, connection: &Arc<Connection>) {
        self.0.seen.send_modify(|seen| {
            seen.initialized.retain(|other| other.id() != connection.id());
            seen.closed.push(connection.id());
        });
    }

    fn drain(&self) -> BoxFuture<'static, ()> {
        let toy = self.clone();
        Box::pin(async move {
            toy.0.seen.send_modify(|seen| seen.is_draining = true);
            toy.0.running.cancelled().await;
        })
    }
}

pub(crate) fn initialize() -> String {
    json!({"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}}).to_string()
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({"id": id.into(), "method": method, "params": params}).to_string()
}

pub(crate) fn read_thread(id: impl Into<Value>, thread: &str) -> String {
    request(id, "thread/read", &json!({"threadId": thread}))
}

pub(crate) fn list(id: impl Into<Value>) -> String {
    request(id, "thread/loaded/list", &json!({}))
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the server writes JSON")
}

/// Both ends of a connection without a transport: the test passes each message itself.
pub(crate) struct Pair {
    pub(crate) ingress: Ingress,
    pub(crate) reader: OutboundReader,
    pub(crate) texts: std::collections::VecDeque<Value>,
}

impl Pair {
    pub(crate) async fn initialized(opener: &ConnectionOpener) -> Self {
        let mut pair = Self::bare(opener);
        pair.say(&initialize()).await;
        assert_eq!(pair.hear().await["result"]["userAgent"], "test/1.0.0");
        assert_eq!(pair.hear().await["params"]["message"], "hello");
        pair
    }

    pub(crate) fn bare(opener: &ConnectionOpener) -> Self {
        use trace_server::connection::TransportKind;
        use trace_server::outbound::OutboundPolicy;

        let (ingress, reader) = opener.open(TransportKind::InProcess, OutboundPolicy::SHARED);
        Self { ingress, reader, texts: std::collections::VecDeque::new() }
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.ingress.receive(text).await;
    }

    /// Returns the next message.
    pub(crate) async fn hear(&mut self) -> Value {
        while self.texts.is_empty() {
            let texts = tokio::time::timeout(LONG, self.reader.next(usize::MAX)).await.expect("a message comes");
            self.texts.extend(texts.expect("the connection lasts").iter().map(|text| json(text)));
        }
        self.texts.pop_front().expect("there is one")
    }

    /// Sends a request, and returns the response.
    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        self.say(text).await;
        self.hear().await
    }

    /// Returns whether there is no message to receive.
    pub(crate) fn is_silent(&self) -> bool {
        self.texts.is_empty() && self.ingress.connection().backlog().messages == 0
    }
}

/// A server that listens.
pub(crate) struct Server {
    pub(crate) toy: Toy,
    pub(crate) opener: ConnectionOpener,
    pub(crate) shutdown: Shutdown,
    pub(crate) address: Option<SocketAddr>,
    pub(crate) task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn tcp(auth: Option<Auth>) -> Self {
        Self::start(bind(&Listen::WebSocket(([127, 0, 0, 1], 0).into()), auth).await.expect("a free port"))
    }

    /// Starts a server with a web client, whose files are "open" and whose data is "guarded".
    pub(crate) async fn web(auth: Option<Auth>, token: Option<WebToken>) -> Self {
        let page = |path, text: &'static str| Router::new().route(path, get(move || async move { text }));
        let web = WebClient {
            open: page("/web/", "open"),
            guarded: page("/web/data", "guarded"),
            token,
            auth: auth.clone(),
            names: vec!["phone.example".to_owned()],
        };
        let bound = bind(&Listen::WebSocket(([127, 0, 0, 1], 0).into()), auth).await.expect("a free port");
        Self::start(bound.with_web(web).expect("it listens on TCP"))
    }

    pub(crate) async fn unix(path: &Path) -> Self {
        Self::start(bind(&Listen::Unix(path.to_owned()), None).await.expect("a new socket"))
    }

    fn start(bound: Bound) -> Self {
        let (toy, opener) = Toy::new();
        let shutdown = Shutdown::new();
        let address = bound.address();
        let task = tokio::spawn({
            let (opener, shutdown) = (opener.clone(), shutdown.clone());
            async move { serve(bound, &opener, &shutdown).await }
        });
        Self { toy, opener, shutdown, address, task }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.expect("it listens on TCP")
    }

    /// Waits until the server has shut down.
    pub(crate) async fn ended(self) {
        tokio::time::timeout(LONG, self.task).await.expect("it ends").expect("without a panic");
    }
}
