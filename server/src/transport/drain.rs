//! How a server is told to end.

use tokio_util::sync::CancellationToken;

/// Tells a server to end: first in good order, then at once. Clones tell the same server.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    drain: CancellationToken,
    force: CancellationToken,
}

/// How far the end of a server has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It serves.
    Serving,
    /// It lets nobody in any more, and waits for what runs.
    Draining,
    /// It waits for nothing.
    Forced,
}

impl Shutdown {
    /// Returns the handle of a server that serves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one signal to end. The first lets what runs come to its end, every further one does not.
    pub fn signal(&self) -> Phase {
        if self.drain.is_cancelled() {
            self.force.cancel();
        } else {
            self.drain.cancel();
        }
        self.phase()
    }

    /// Returns how far the end has come.
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

    /// Waits for something, but not longer than until the second signal. Returns whether it came to its end.
    pub(super) async fn unless_forced(&self, work: impl Future<Output = ()>) -> Finished {
        tokio::select! {
            biased;
            () = self.forced() => Finished::Forced,
            () = work => Finished::Done,
        }
    }
}

/// Whether something came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    /// It did.
    Done,
    /// The second signal came before.
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
