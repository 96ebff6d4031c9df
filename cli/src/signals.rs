//! The signals that ask the program to end. They are caught so that the program can end its commands and check what
//! these left.

use crate::ui::failure::Failure;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
}

impl Caught {
    /// Returns the exit code that a shell reports for a process that this signal ended.
    pub(crate) fn exit_code(self) -> u8 {
        128 + match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// Ends the program as if it had not caught the signal, so that its parent sees which signal ended it. Returns if the
/// system does not allow that.
#[cfg(unix)]
pub(crate) fn end_by(caught: Caught) {
    let signal = match caught {
        Caught::Interrupt => signal_hook::consts::SIGINT,
        Caught::Terminate => signal_hook::consts::SIGTERM,
        Caught::HangUp => signal_hook::consts::SIGHUP,
    };
    // If it fails, the caller ends the program with the exit code that a shell reports for the signal.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Other systems have no signals that a parent could see.
#[cfg(not(unix))]
pub(crate) fn end_by(_: Caught) {}

/// Receives the signals that ask the program to end. They stay caught until the program ends.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Starts to catch the signals. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses.
    pub(crate) fn catch() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};

        let caught = |kind| signal(kind).map_err(Failure::internal);
        let hang_up = if may_hang_up() { Some(caught(SignalKind::hangup())?) } else { None };
        Ok(Self { terminate: caught(SignalKind::terminate())?, interrupt: caught(SignalKind::interrupt())?, hang_up })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Caught {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => drop(hang_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => Caught::Terminate,
            _ = self.interrupt.recv() => Caught::Interrupt,
            () = hang_up => Caught::HangUp,
        }
    }
}

/// Returns whether SIGHUP ends the program. It does not under `nohup`, which ignores the signal; catching it would undo
/// that.
#[cfg(target_os = "linux")]
fn may_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1, so it is the lowest bit. If this process already catches it, it is not ignored.
    ignored.is_some_and(|mask| mask & 1 == 0)
}

/// On other systems the program cannot find out whether SIGHUP is ignored.
#[cfg(all(unix, not(target_os = "linux")))]
fn may_hang_up() -> bool {
    false
}

/// Receives Ctrl-C, the only such signal on this system.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts to catch the signals. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// Never returns an error on this system; the signature is that of other systems.
    pub(crate) fn catch() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Caught {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Caught::Interrupt
    }
}
