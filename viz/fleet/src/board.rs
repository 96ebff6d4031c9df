//! The lake behind the page: one version of it, and the questions that run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{OnceCell, Semaphore};
use trace_explain::prices::Prices;

use crate::filters::FiltersError;
use crate::range::{Range, days_of};
use crate::rows;
use trace_fleet::lake::{Lake, LakeError, Snapshot};
use trace_fleet::query::{Answer, Engine, Limits, OutputError, QueryError, Question};

/// Most questions that run at the same time. More would only share the same cores and need more memory.
pub const MAX_AT_ONCE: usize = 4;

/// Most questions that wait for those. More are refused.
pub const MAX_WAITING: usize = 64;

/// Limits of a question of the page.
pub const PAGE_LIMITS: PageLimits = PageLimits { timeout: Duration::from_secs(60), memory_bytes: 2 << 30 };

/// Limits of a question of the page. Those of rows differ from question to question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Longest time.
    pub timeout: Duration,
    /// Most bytes of memory for sorting, joining and grouping, of all questions that run.
    pub memory_bytes: usize,
}

/// Why the page gets no answer.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The request is not one of the page's.
    #[error(transparent)]
    Asked(#[from] FiltersError),
    /// Too many questions wait.
    #[error("{MAX_WAITING} questions wait already; try again")]
    Busy,
    /// The lake cannot be read.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// The question failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The answer cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<arrow::error::ArrowError> for BoardError {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self::Output(error.into())
    }
}

/// A version of the lake.
pub(super) struct Version {
    engine: Engine,
    pub(super) number: u64,
    pub(super) at_unix_ms: i64,
    pub(super) sessions: u64,
    /// Days of its sessions.
    pub(super) days: Option<Range>,
    /// The values that filters offer, once they were asked for.
    pub(super) values: OnceCell<Value>,
}

/// A lake, as the page sees it.
pub struct Board {
    lake: Lake,
    prices: Option<Prices>,
    limits: PageLimits,
    version: RwLock<Arc<Version>>,
    /// Keeps two requests from preparing the same version.
    refreshing: tokio::sync::Mutex<Snapshot>,
    running: Semaphore,
    waiting: AtomicUsize,
}

/// Counts a question that waits.
struct Waiting<'b>(&'b AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Board {
    /// Prepares the newest version of a lake. With prices, costs are money, otherwise tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if the lake cannot be read.
    pub async fn open(lake: Lake, prices: Option<Prices>, limits: PageLimits) -> Result<Self, BoardError> {
        let snapshot = lake.snapshot().await?;
        let version = version_of(&lake, &snapshot, prices.clone(), limits)?;
        Ok(Self {
            lake,
            prices,
            limits,
            version: RwLock::new(Arc::new(version)),
            refreshing: tokio::sync::Mutex::new(snapshot),
            running: Semaphore::new(MAX_AT_ONCE),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Returns the lake.
    pub fn lake(&self) -> &Lake {
        &self.lake
    }

    /// Returns whether costs are money.
    pub(super) fn has_prices(&self) -> bool {
        self.prices.is_some()
    }

    /// Returns the currency of the prices, if there are any.
    pub(super) fn currency(&self) -> Option<&str> {
        self.prices.as_ref().map(Prices::currency)
    }

    /// Returns the version that questions are asked about.
    pub(super) fn version(&self) -> Arc<Version> {
        Arc::clone(&self.version.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks for commits since the version that is known, and returns the newest version.
    pub(super) async fn refresh(&self) -> Result<Arc<Version>, BoardError> {
        let mut known = self.refreshing.lock().await;
        let newer = self.lake.newer(known.clone()).await?;
        if newer.version != known.version {
            let version = version_of(&self.lake, &newer, self.prices.clone(), self.limits)?;
            *self.version.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
            *known = newer;
        }
        Ok(self.version())
    }

    /// Asks a question about a version. Of more than `rows` rows, the first ones are returned.
    pub(super) async fn ask(&self, version: &Version, sql: String, rows: usize) -> Result<Answer, BoardError> {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let counted = Waiting(&self.waiting);
        if waiting >= MAX_WAITING + MAX_AT_ONCE {
            return Err(BoardError::Busy);
        }
        // The semaphore is never closed.
        let _permit = self.running.acquire().await.map_err(|_| BoardError::Busy)?;
        let answer = version.engine.ask_up_to(&Question { sql, ..Question::default() }, rows).await?;
        drop(counted);
        Ok(answer)
    }

    /// Asks a question and returns its rows as objects, at most `rows`, and whether there are more.
    pub(super) async fn objects(
        &self,
        version: &Version,
        sql: String,
        rows: usize,
    ) -> Result<(Vec<Map<String, Value>>, bool), BoardError> {
        let answer = self.ask(version, sql, rows).await?;
        Ok((rows::objects(&answer)?, answer.is_cut))
    }
}

fn version_of(
    lake: &Lake,
    snapshot: &Snapshot,
    prices: Option<Prices>,
    limits: PageLimits,
) -> Result<Version, BoardError> {
    let limits = Limits { timeout: limits.timeout, memory_bytes: limits.memory_bytes, ..Limits::default() };
    Ok(Version {
        engine: Engine::new(lake, snapshot, prices, limits)?,
        number: snapshot.version,
        at_unix_ms: snapshot.at_unix_ms,
        sessions: snapshot.sessions(),
        days: days_of(snapshot),
        values: OnceCell::new(),
    })
}
