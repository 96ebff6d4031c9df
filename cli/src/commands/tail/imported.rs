//! Follows the session of another agent while that agent writes it.
//!
//! The files are no log that only grows: an answer can come in several records, and the events of children are put in
//! between those of their parents. So the session is read again whenever its files have changed, and what was not shown yet
//! is shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use trace_explain::Session;
use trace_explain::live::{Event, Happening, Narrator, Status};
use trace_import::{Following, ImportError, SessionRef};
use trace_recorder::Bundle;
use trace_reducer::live::Update;
use trace_reducer::{LiveReduction, Options, ReduceError, reduce};

use super::audited::Auditor;

/// Shortest pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

/// The pause is at least this many times as long as the last reading took.
const PAUSES_PER_READING: u32 = 4;

/// Why a session can no longer be followed.
pub(super) enum Broken {
    Import(ImportError),
    Reduce(ReduceError),
}

/// The session of another agent, and what was shown of it.
pub(super) struct Imported {
    following: Following,
    told: Told,
    auditor: Auditor,
    /// The session at the last reading, until it is audited.
    bundle: Option<Bundle>,
    /// How long the last reading took.
    took: Duration,
    status: Status,
    /// Paths of the agents.
    agents: Vec<String>,
}

impl Imported {
    pub(super) fn new(session: SessionRef) -> Self {
        let (told, took, status) = (Told::default(), Duration::ZERO, Status::default());
        let (auditor, following) = (Auditor::default(), Following::new(session));
        Self { following, told, auditor, bundle: None, took, status, agents: Vec::new() }
    }

    /// Returns what has happened since the last call, or `None` if the files have not changed. With `is_over`, nothing more
    /// is expected, and the ends that follow from the end of the files are returned too.
    pub(super) fn news(&mut self, is_over: bool) -> Result<Option<Vec<Happening>>, Broken> {
        let began = Instant::now();
        let Some(bundle) = self.following.newer().map_err(Broken::Import)? else { return Ok(None) };
        let (happenings, status, agents) = happenings(&bundle).map_err(Broken::Reduce)?;
        let is_said = |happening: &Happening| is_over || !is_concluded(happening, &bundle);
        let news = self.told.news(happenings.into_iter().filter(is_said).collect());
        self.auditor.hear(&news);
        self.bundle = Some(bundle);
        (self.status, self.agents) = (status, agents);
        self.took = began.elapsed();
        Ok(Some(news))
    }

    /// Returns findings of high severity in turns that have ended, each once.
    pub(super) fn findings(&mut self, is_over: bool) -> Result<Vec<Happening>, Broken> {
        if !self.auditor.is_due(is_over) {
            return Ok(Vec::new());
        }
        let Some(bundle) = self.bundle.take() else { return Ok(Vec::new()) };
        self.auditor.news(|| {
            let reduction = reduce(&bundle, Options::default()).map_err(Broken::Reduce)?;
            Ok(Session::new(bundle, reduction))
        })
    }

    /// Notes that earlier events are not shown.
    pub(super) fn hide(&mut self, happenings: &[Happening]) {
        happenings.iter().for_each(|happening| self.auditor.hide(happening));
    }

    /// Returns the status of the session at the last reading.
    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    /// Returns whether the session has an agent with such a path.
    pub(super) fn has_agent(&self, is_sought: impl Fn(&str) -> bool) -> bool {
        self.agents.iter().any(|agent| is_sought(agent))
    }

    /// Returns when the agent last wrote.
    pub(super) fn written(&self) -> Option<SystemTime> {
        self.following.written()
    }

    /// Waits until the files should be looked at again.
    pub(super) fn wait(&self, interrupted: &AtomicBool) {
        let until = Instant::now() + PAUSE.max(self.took * PAUSES_PER_READING);
        while Instant::now() < until && !interrupted.load(Ordering::Relaxed) {
            thread::sleep(PAUSE.min(until.saturating_duration_since(Instant::now())));
        }
    }
}

/// Returns everything that happens in a session, its status at the end, and the paths of its agents.
fn happenings(bundle: &Bundle) -> Result<(Vec<Happening>, Status, Vec<String>), ReduceError> {
    let mut live = LiveReduction::begin(bundle, Options::default())?;
    let mut narrator = Narrator::default();
    let mut told = Vec::new();
    let payloads = bundle.payloads();
    let mut hear = |update: Update<'_>| told.extend(narrator.hear(&update, payloads));
    if let Ok(log) = bundle.log() {
        live.feed(log.as_bytes(), payloads, &mut hear)?;
        live.feed_rest(payloads, &mut hear)?;
    }
    let trace = live.trace();
    let agents = trace.threads.values().map(|thread| trace.text(thread.agent_path).to_owned()).collect();
    Ok((told, narrator.status(trace), agents))
}

/// Returns whether an end was concluded from the end of the files. While the agent is at work, that is no end.
fn is_concluded(happening: &Happening, bundle: &Bundle) -> bool {
    let is_end = matches!(happening.event, Event::AgentEnded | Event::SessionEnded | Event::RecordingCompleted);
    let origin = happening.seq.zip(bundle.import()).and_then(|(seq, record)| record.origin(seq));
    is_end && origin.is_none_or(|origin| !origin.is_timed)
}

/// How much of each agent was shown.
#[derive(Debug, Default)]
struct Told {
    /// For each agent and kind of event, how many were shown. The order of an agent's events stays the same when more
    /// records come, but the events of several agents can mix in another way.
    counts: HashMap<(Option<String>, Event), usize>,
}

impl Told {
    /// Returns those that were not returned before.
    fn news(&mut self, happenings: Vec<Happening>) -> Vec<Happening> {
        let mut now: HashMap<(Option<String>, Event), usize> = HashMap::new();
        let mut news = Vec::new();
        for happening in happenings {
            let key = (happening.thread_id.clone(), happening.event);
            let shown = self.counts.get(&key).copied().unwrap_or_default();
            let count = now.entry(key).or_default();
            *count += 1;
            if *count > shown {
                news.push(happening);
            }
        }
        // Where the agent took something back, its count is smaller than before, and what comes next is new.
        self.counts = now;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happening(thread: &str, event: Event, seq: u64) -> Happening {
        Happening { seq: Some(seq), thread_id: Some(thread.to_owned()), ..Happening::new(event) }
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        let mut told = Told::default();
        let seqs = |news: Vec<Happening>| news.iter().filter_map(|happening| happening.seq).collect::<Vec<_>>();
        let first = vec![happening("a", Event::TurnStarted, 1), happening("a", Event::ToolStarted, 2)];
        assert_eq!(seqs(told.news(first.clone())), [1, 2]);
        assert_eq!(seqs(told.news(first.clone())), [0; 0]);
        // The events of a child come in between.
        let mut mixed = first;
        mixed.insert(1, happening("b", Event::ToolStarted, 9));
        mixed.push(happening("a", Event::ToolStarted, 3));
        assert_eq!(seqs(told.news(mixed)), [9, 3]);
        // The agent took everything back, and began anew.
        assert_eq!(seqs(told.news(Vec::new())), [0; 0]);
        assert_eq!(seqs(told.news(vec![happening("a", Event::TurnStarted, 1)])), [1]);
    }
}
