//! A server with only the services, and clients in the same process.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jsonschema::Validator;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;
use trace_protocol::connection::{InitializeParams, InitializeResponse};
use trace_protocol::{ClientRequest, Experimental, RequestId, RpcError};
use trace_server::config::{CONFIG_FILE_NAME, ConfigStore, Override};
use trace_server::connection::{Connection, TransportKind};
use trace_server::ingress::{ConnectionOpener, Ingress, Responder, Service};
use trace_server::outbound::{OutboundPolicy, OutboundReader};
use trace_server::requests::Request;
use trace_server::scopes::ScopeQueues;
use trace_server::services::{Gauge, Launcher, ServiceOptions, Services, Variables};
use trace_server::transport::in_process::{CallError, ClientHandle, Event, Events, connect};

/// Timeout of a test.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The JSON schemas of the peer, and the list of its methods.
static SCHEMA: LazyLock<(Value, Value)> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/peer-schema");
    let read = |name: &str| {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).expect("it is in the repository")).expect("JSON")
    };
    (read("experimental.schemas.json"), read("methods.json"))
});

/// Compiled schemas. Compiling one takes long.
static VALIDATORS: LazyLock<StdMutex<HashMap<String, Validator>>> = LazyLock::new(StdMutex::default);

/// Validates a value with a schema of the peer.
pub(crate) fn validate(what: &str, value: &Value, find: impl Fn(&Value) -> Option<&Value>) {
    let (schemas, methods) = &*SCHEMA;
    let Some(name) = find(methods).and_then(Value::as_str) else { panic!("{what} is not in the peer's list") };
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = validators.entry(name.to_owned()).or_insert_with(|| {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": schemas["definitions"],
            "allOf": [{"$ref": format!("#/definitions/{name}")}],
        });
        jsonschema::validator_for(&schema).expect("it is there")
    });
    let faults = validator.iter_errors(value).map(|fault| fault.to_string()).collect::<Vec<_>>();
    assert!(faults.is_empty(), "{what}: {faults:?} in {value}");
}

/// A server and its folders.
pub(crate) struct Machine {
    pub(crate) home: TempDir,
    pub(crate) work: TempDir,
    pub(crate) services: Arc<Services>,
    opener: ConnectionOpener,
}

impl Machine {
    pub(crate) fn new() -> Self {
        // Commands are not confined, unless a test is about that.
        Self::with("sandbox_mode = 'danger-full-access'\n", &[], None)
    }

    pub(crate) fn with(config: &str, overrides: &[&str], launcher: Option<Launcher>) -> Self {
        let (home, work) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::write(home.path().join(CONFIG_FILE_NAME), config).expect("the file system works");
        let overrides = overrides.iter().map(|text| Override::parse(text).expect("an override")).collect::<Vec<_>>();
        let configuration = Arc::new(ConfigStore::open(home.path(), &overrides).expect("a configuration"));
        let cwd = work.path().to_owned();
        let services = Arc::new(Services::new(ServiceOptions {
            cwd,
            configuration,
            launcher,
            variables: Variables::default(),
            tokens: Arc::default(),
        }));
        let opener = ConnectionOpener::new(Arc::new(Only(Arc::clone(&services))), ScopeQueues::new());
        Self { home, work, services, opener }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// Returns both ends of a connection, for tests about the order of messages.
    pub(crate) async fn wire(&self) -> (Ingress, OutboundReader) {
        self.wire_with(json!({})).await
    }

    pub(crate) async fn wire_of_experimental_client(&self) -> (Ingress, OutboundReader) {
        self.wire_with(json!({"experimentalApi": true})).await
    }

    async fn wire_with(&self, capabilities: Value) -> (Ingress, OutboundReader) {
        let (mut ingress, mut texts) = self.opener.open(TransportKind::InProcess, OutboundPolicy::Wait);
        let params = json!({"clientInfo": {"name": "test", "version": "1"}, "capabilities": capabilities});
        ingress.receive(&json!({"id": 0, "method": "initialize", "params": params}).to_string()).await;
        texts.next(0).await.expect("it goes on");
        (ingress, texts)
    }

    pub(crate) async fn client(&self) -> Client {
        let (handle, events) = connect(&self.opener, OutboundPolicy::Wait);
        handle.initialize("test", "1", Experimental::Enabled).await.expect("it goes on");
        Client { handle, events: Arc::new(Mutex::new(events)) }
    }
}

/// A client.
#[derive(Clone)]
pub(crate) struct Client {
    handle: ClientHandle,
    events: Arc<Mutex<Events>>,
}

impl Client {
    /// Sends a request. Returns its result, which was validated, or its error.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let answer = tokio::time::timeout(TIMEOUT, self.handle.request(method, &params)).await;
        match answer.unwrap_or_else(|_| panic!("{method} is not answered")) {
            Ok(result) => {
                let result: Value = serde_json::from_str(result.get()).expect("it is there");
                validate(method, &result, |methods| methods["clientRequests"][method].get("result"));
                Ok(result)
            }
            Err(CallError::Refused(error)) => Err(error),
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// Sends a request that must succeed.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.ask(method, params).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a request that must fail, and returns the code and the message of the error.
    pub(crate) async fn refused(&self, method: &str, params: Value) -> (i64, String) {
        match self.ask(method, params.clone()).await {
            Ok(result) => panic!("{method} with {params} gives {result}"),
            Err(error) => (error.code, error.message),
        }
    }

    /// Sends a request whose response comes later.
    pub(crate) fn post(&self, method: &'static str, params: Value) -> tokio::task::JoinHandle<Result<Value, RpcError>> {
        let client = self.clone();
        tokio::spawn(async move { client.ask(method, params).await })
    }

    /// Returns the next notification, whose params were validated.
    pub(crate) async fn note(&self) -> (String, Value) {
        let mut events = self.events.lock().await;
        match tokio::time::timeout(TIMEOUT, events.next()).await.expect("a notification comes") {
            Some(Event::Notification { method, params }) => {
                let params = serde_json::from_str(params.expect("it is there").get()).expect("it is there");
                validate(&method, &params, |methods| methods["serverNotifications"][&method].get("params"));
                (method, params)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the params of the next notification, which must have the method `method`.
    pub(crate) async fn note_of(&self, method: &str) -> Value {
        let (found, params) = self.note().await;
        assert_eq!(found, method, "{params}");
        params
    }
}

/// A service that passes requests to the services only.
struct Only(Arc<Services>);

impl Service for Only {
    fn initialize(&self, _: &Arc<Connection>, _: &InitializeParams) -> Result<InitializeResponse, RpcError> {
        Ok(InitializeResponse {
            codex_home: trace_protocol::common::AbsolutePath::new("/").expect("it is there"),
            platform_family: "unix".into(),
            platform_os: "linux".into(),
            user_agent: "test/1".into(),
        })
    }

    fn initialized(&self, _: &Arc<Connection>) {}

    fn handle(&self, _: Arc<Connection>, request: ClientRequest, responder: Responder) -> BoxFuture<'static, ()> {
        let services = Arc::clone(&self.0);
        Box::pin(async move {
            let gauges = || vec![Gauge { name: "test.gauge".into(), value: 7 }];
            match Request::from(request) {
                Request::Service(request) => services.serve(request, responder, gauges).await,
                Request::Thread(_) => responder.refuse(&RpcError::invalid_request("there are no threads here")),
            }
        })
    }

    fn answered(&self, _: &Arc<Connection>, _: RequestId, _: Result<Box<RawValue>, RpcError>) {}

    fn closed(&self, connection: &Arc<Connection>) {
        self.0.closed(connection.id());
    }

    fn drain(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("{what} does not happen"));
}
