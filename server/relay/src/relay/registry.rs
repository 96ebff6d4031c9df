//! The devices of a running relay: who may connect now, and their links.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, interval};

use super::link::Link;
use crate::devices::{Devices, DevicesError, DevicesFile, Digest, PairError, Paired};

/// Interval in which the relay looks whether the devices file has changed, and whether tokens have ended.
pub const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// A device that servers or clients have connected to.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) name: String,
    link: Mutex<Link>,
    is_removed: AtomicBool,
}

impl Device {
    pub(super) fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the device, or its token, is no longer in the devices file.
    pub(super) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(super) struct Registry {
    file: DevicesFile,
    epoch: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    table: Arc<Devices>,
    /// Identifies the content of the file that the table was read from.
    version: Version,
    devices: HashMap<String, Arc<Device>>,
}

/// Inode, time and size of a file. A file that is replaced has another inode.
type Version = Option<(u64, i64, i64, u64)>;

/// What a client's token is good for.
#[derive(Debug)]
pub(super) enum Found {
    One(Arc<Device>),
    Unauthorized,
    /// The token is good for several devices, and none was named.
    Several(Vec<String>),
    /// The token is not good for the named device.
    NotThis,
}

impl Registry {
    pub(super) fn open(file: DevicesFile, epoch: String) -> Result<Self, DevicesError> {
        let version = version(&file);
        let table = Arc::new(file.read()?);
        Ok(Self { file, epoch, state: Mutex::new(State { table, version, devices: HashMap::new() }) })
    }

    /// Returns the device whose server has this token.
    pub(super) fn of_server(&self, token: &str) -> Option<(Arc<Device>, Digest)> {
        let digest = Digest::of(token);
        if self.state().table.of_server(&digest).is_none() {
            // The device may have been added a moment ago.
            self.reread();
        }
        let mut state = self.state();
        let name = state.table.of_server(&digest)?.to_owned();
        Some((self.device(&mut state, name), digest))
    }

    /// Returns the device of a client.
    pub(super) fn of_client(&self, digest: &Digest, named: Option<&str>) -> Found {
        if self.state().table.of_client(digest, now()).is_empty() {
            self.reread();
        }
        let mut state = self.state();
        let mut names: Vec<String> = state.table.of_client(digest, now()).into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Found::Unauthorized;
        }
        if let Some(named) = named {
            names.retain(|name| name == named);
        }
        match (names.pop(), names.is_empty()) {
            (Some(name), true) => Found::One(self.device(&mut state, name)),
            (Some(name), false) => {
                names.push(name);
                Found::Several(names)
            }
            (None, _) => Found::NotThis,
        }
    }

    /// Exchanges a pairing code for a token.
    pub(super) fn pair(&self, code: &str, device: Option<&str>, name: &str) -> Result<Paired, PairError> {
        let now = now();
        // Whoever guesses while there is no code costs no access to the file.
        self.reread();
        if self.state().table.valid_codes(now) == 0 {
            return Err(PairError::Refused);
        }
        let paired = self.file.update(|devices| devices.redeem(code, device, name, now));
        self.reread();
        paired
    }

    /// Watches the devices file and the times, and ends what is no longer valid.
    pub(super) async fn watch(&self) {
        let mut ticks = interval(WATCH_INTERVAL);
        loop {
            ticks.tick().await;
            self.reread();
            self.tick();
        }
    }

    fn tick(&self) {
        let (table, devices) = {
            let state = self.state();
            (Arc::clone(&state.table), state.devices.values().cloned().collect::<Vec<_>>())
        };
        let (time, instant) = (now(), Instant::now());
        for device in devices {
            let is_server = |token: &Digest| table.is_server(&device.name, token);
            let is_client = |token: &Digest| table.is_client(&device.name, token, time);
            device.is_removed.store(!table.devices.contains_key(&device.name), Ordering::Relaxed);
            device.link().tick(instant, is_server, is_client);
        }
        self.state().devices.retain(|_, device| {
            let link = device.link();
            // Connections that are just being made hold a device, too.
            Arc::strong_count(device) > 1 || link.streams() > 0 || link.has_server() || !device.is_removed()
        });
    }

    /// Reads the devices file if it has changed. An unreadable file changes nothing.
    fn reread(&self) {
        let version = version(&self.file);
        if self.state().version == version {
            return;
        }
        let table = self.file.read();
        let mut state = self.state();
        state.version = version;
        match table {
            Ok(table) => state.table = Arc::new(table),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(%error, cause, "the devices stay as they were");
            }
        }
    }

    fn device(&self, state: &mut State, name: String) -> Arc<Device> {
        let device = state.devices.entry(name).or_insert_with_key(|name| {
            let link = Mutex::new(Link::new(self.epoch.clone(), Instant::now()));
            Arc::new(Device { name: name.clone(), link, is_removed: AtomicBool::new(false) })
        });
        Arc::clone(device)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn version(file: &DevicesFile) -> Version {
    let metadata = file.path().metadata().ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.len()))
}

/// Returns the time in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
