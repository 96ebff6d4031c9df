//! A relay, and a server that dials it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trace_relay::devices::{DevicesFile, PairError};
use trace_relay::file::FileError;
use trace_relay::relay::{Relay, RelayOptions};
use trace_relay::seal::SealingCode;
use trace_relay::seal::clients::{SealedClientsError, SealedClientsFile};
use trace_relay::seal::server::{SealedServer, SealedServerFile};
use trace_runtime::provider::scripted::Scripted;
use trace_runtime::runtime::RuntimeOptions;
use trace_server::config::{ConfigStore, Override};
use trace_server::services::{ServiceOptions, Variables};
use trace_server::transport::{
    ConnectEvent, ConnectOptions, Listen, RelayClient, Remote, RemoteOptions, RemoteStatus, Sealing, Shutdown, bind,
};
use trace_server::{Server, ServerOptions};

use crate::client::LONG;

pub(crate) const DEVICE: &str = "laptop";

/// A relay in a runtime of its own, so that it can be killed with all its tasks.
pub(crate) struct RunningRelay {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    runtime: Option<tokio::runtime::Runtime>,
}

impl RunningRelay {
    pub(crate) fn start(devices: &Path) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let options = RelayOptions {
            address: ([127, 0, 0, 1], 0).into(),
            tls: None,
            is_behind_proxy: false,
            devices: devices.to_owned(),
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let relay = Relay::bind(&options).await.expect("a free port");
            sender.send((relay.address(), relay.stop())).expect("the test waits");
            relay.serve().await;
        });
        let (address, stop) = receiver.recv().expect("it listens");
        Self { address, stop, runtime: Some(runtime) }
    }

    /// Kills the relay.
    pub(crate) fn kill(mut self) {
        self.runtime.take().expect("it runs").shutdown_background();
    }

    /// Asks the relay to end.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for RunningRelay {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A server with a home of its own.
pub(crate) struct Dialling {
    pub(crate) server: Server,
    pub(crate) model: Arc<Scripted>,
    pub(crate) shutdown: Shutdown,
    pub(crate) status: watch::Receiver<Option<RemoteStatus>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
    home: TempDir,
}

impl Dialling {
    pub(crate) fn start(address: SocketAddr, token: &str) -> Self {
        Self::sealed(address, token, None)
    }

    /// Starts a server that opens sealed streams.
    pub(crate) fn sealed(address: SocketAddr, token: &str, sealing: Option<Sealing>) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let overrides = ["model=\"m\"", "model_provider=\"scripted\"", "sandbox_mode=\"read-only\""];
        let overrides = overrides.map(|text| Override::parse(text).expect("an override"));
        let configuration = Arc::new(ConfigStore::open(home.path(), &overrides).expect("a configuration"));
        let model = Arc::new(Scripted::new());
        let runtime = RuntimeOptions::new(vec![Arc::clone(&model) as _], Vec::new());
        let cwd = home.path().join("work");
        std::fs::create_dir(&cwd).expect("a folder");
        let services = ServiceOptions {
            cwd,
            configuration,
            launcher: None,
            variables: Variables::default(),
            tokens: Arc::default(),
        };
        let options = ServerOptions { home: home.path().to_owned(), runtime, traces: None, services };
        let server = Server::start(options).expect("a server");
        let shutdown = Shutdown::new();
        let options = RemoteOptions { url: format!("ws://{address}"), token: token.to_owned(), sealing };
        let remote = Remote::new(&options, server.opener(), &shutdown).expect("a URL");
        let (sender, status) = watch::channel(None);
        let stop = CancellationToken::new();
        let task = tokio::spawn(remote.run(stop.clone(), move |status| drop(sender.send(Some(status)))));
        Self { server, model, shutdown, status, stop, task, home }
    }

    pub(crate) async fn until(&mut self, fits: impl Fn(&RemoteStatus) -> bool) {
        let waiting = self.status.wait_for(|status| status.as_ref().is_some_and(&fits));
        timeout(LONG, waiting).await.expect("it happens").expect("the server is there");
    }

    /// Ends as `trace serve` does.
    pub(crate) async fn end(mut self) {
        self.shutdown.signal();
        self.stop.cancel();
        timeout(LONG, &mut self.task).await.expect("it ends").expect("without a panic");
        self.server.shutdown().await;
    }

    /// Returns a text without what differs from server to server.
    pub(crate) fn plain(&self, value: &Value) -> Value {
        let home = self.home.path().to_str().expect("text").to_owned();
        plain(value, &home)
    }
}

impl Drop for Dialling {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn plain(value: &Value, home: &str) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let value =
                    if key.ends_with("Ms") || key.ends_with("At") { Value::from(0) } else { plain(value, home) };
                (key.clone(), value)
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(|item| plain(item, home)).collect(),
        // Only what a model said is so long.
        Value::String(text) if text.len() > 4_096 => text.clone().into(),
        Value::String(text) => {
            let mut text = text.replace(home, "HOME");
            let is_id = |part: &str| {
                part.len() == 36
                    && part.bytes().enumerate().all(|(at, byte)| match at {
                        8 | 13 | 18 | 23 => byte == b'-',
                        _ => byte.is_ascii_hexdigit(),
                    })
            };
            let mut at = 0;
            while at + 36 <= text.len() {
                if text.is_char_boundary(at) && text.get(at..at + 36).is_some_and(is_id) {
                    text.replace_range(at..at + 36, "ID");
                }
                at += 1;
            }
            // Names of rollout files have the time.
            if text.contains("rollout-") { "ROLLOUT".into() } else { text.into() }
        }
        other => other.clone(),
    }
}

/// A program that connects local clients to a relay.
pub(crate) struct Connecting {
    pub(crate) address: SocketAddr,
    pub(crate) events: Arc<Mutex<Vec<ConnectEvent>>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Connecting {
    pub(crate) async fn start(relay: SocketAddr, token: &str, keys: Option<SealedServerFile>) -> Self {
        let options = ConnectOptions { url: format!("ws://{relay}"), token: token.to_owned(), device: None, keys };
        let client = RelayClient::new(&options).expect("a URL");
        let bound = bind(&Listen::WebSocket(([127, 0, 0, 1], 0).into()), None).await.expect("a free port");
        let address = bound.address().expect("TCP");
        let stop = CancellationToken::new();
        let events = Arc::<Mutex<Vec<ConnectEvent>>>::default();
        let tell = {
            let events = Arc::clone(&events);
            move |event| events.lock().expect("no panic").push(event)
        };
        Self { address, events, stop: stop.clone(), task: tokio::spawn(client.run(bound, stop, tell)) }
    }

    pub(crate) async fn end(mut self) {
        self.stop.cancel();
        timeout(LONG, &mut self.task).await.expect("it ends").expect("without a panic");
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The keys of a server and its sealed clients.
pub(crate) struct SealingKeys {
    folder: TempDir,
    pub(crate) file: SealedClientsFile,
}

impl SealingKeys {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = SealedClientsFile::new(folder.path().join("sealing.json"));
        Self { folder, file }
    }

    pub(crate) fn sealing(&self, is_required: bool) -> Sealing {
        Sealing { keys: self.file.clone(), is_required }
    }

    pub(crate) fn code(&self, name: &str) -> SealingCode {
        self.file.update::<_, SealedClientsError>(|clients| clients.add(name, now())).expect("a code")
    }

    /// Returns the keys of a client that was given a code.
    pub(crate) fn client(&self, name: &str) -> SealedServerFile {
        self.client_with(name, &self.code(name))
    }

    pub(crate) fn client_with(&self, name: &str, code: &SealingCode) -> SealedServerFile {
        let file = SealedServerFile::new(self.folder.path().join(format!("{name}.keys")));
        let keys = SealedServer::new(code).expect("keys");
        file.update::<_, FileError>(|kept| {
            *kept = keys;
            Ok(())
        })
        .expect("it is written");
        file
    }
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs()
}

/// The devices file of a test.
pub(crate) struct TestDevices {
    folder: TempDir,
    pub(crate) file: DevicesFile,
    pub(crate) server_token: String,
}

impl TestDevices {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = DevicesFile::new(folder.path().join("devices.json"));
        let server_token = file.update(|devices| devices.add(DEVICE)).expect("a device");
        Self { folder, file, server_token }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("devices.json")
    }

    /// Pairs a client, and returns its token.
    pub(crate) fn client(&self, name: &str) -> String {
        let pairing = |devices: &mut trace_relay::devices::Devices| {
            let code = devices.pair(&[DEVICE.to_owned()], None, now())?;
            devices.redeem(&code, None, name, now()).map(|paired| paired.token)
        };
        self.file.update::<_, PairError>(pairing).expect("a client")
    }
}

/// Returns the input of a turn that plays steps.
pub(crate) fn script(steps: &Value) -> Value {
    json!([{"type": "text", "text": format!("RUN {steps}")}])
}
