//! The shutdown of a server.

use tokio_util::sync::CancellationToken;

/// Shuts a server down: first gracefully, then immediately. Clones control the same server.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    drain: CancellationToken,
    force: CancellationToken,
}

/// The state of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The server is serving.
    Serving,
    /// The server refuses new connections, and waits for running work.
    Draining,
    /// The server waits for nothing.
    Forced,
}

impl Shutdown {
    /// Creates the handle of a server that is serving.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Advances the shutdown. The first call starts a graceful shutdown, and every further call an immediate one.
    pub fn signal(&self) -> Phase {
        if self.drain.is_cancelled() {
            self.force.cancel();
        } else {
            self.drain.cancel();
        }
        self.phase()
    }

    /// Returns the state of the shutdown.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match (self.force.is_cancelled(), self.drain.is_cancelled()) {
            (true, _) => Phase::Forced,
            (false, true) => Phase::Draining,
            (false, false) => Phase::Serving,
        }
    }

    /// Waits for the first signal.
    pub async fn draining(&self) {
        self.drain.cancelled().await;
    }

    /// Waits for the second signal.
    pub async fn forced(&self) {
        self.force.cancelled().await;
    }

    /// Waits until `work` has finished, but not after the second signal. Returns which of them happened.
    pub(super) async fn unless_forced(&self, work: impl Future<Output = ()>) -> Finished {
        tokio::select! {
            biased;
            () = self.forced() => Finished::Forced,
            () = work => Finished::Done,
        }
    }
}

/// Whether some work has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    /// The work has finished.
    Done,
    /// The second signal came first.
    Forced,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_signal_drains_and_the_second_forces() {
        let shutdown = Shutdown::new();
        assert_eq!(shutdown.phase(), Phase::Serving);
        assert_eq!(shutdown.clone().signal(), Phase::Draining);
        shutdown.draining().await;
        assert_eq!(shutdown.unless_forced(async {}).await, Finished::Done);
        assert_eq!(shutdown.signal(), Phase::Forced);
        assert_eq!(shutdown.unless_forced(std::future::pending()).await, Finished::Forced);
        assert_eq!(shutdown.signal(), Phase::Forced);
    }
}
