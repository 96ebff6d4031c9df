//! The agents of one tree: which there are, what status they have, and which agent gets which message.
//!
//! The root owns the tree and the tree owns all other agents, so dropping the root drops everything. A host must not call a
//! method of a tree from inside `Host::event`: the caller of the host may wait for the tree, and the tree for it. For the
//! same reason no event is emitted while the tree is locked; the event lock of an agent is taken before the lock of the
//! tree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::json;
use tokio::task::JoinHandle;
use trace_recorder::write::{AgentResult, Json};

use super::letter;
use super::nickname;
use super::path::{self, ROOT};
use super::refused::Refused;
use super::status::AgentStatus;
use crate::agent::{Agent, TurnReport, WeakAgent};
use crate::arrival::Arrival;
use crate::event::{TurnKind, TurnOutcome};
use crate::id::{ItemId, ThreadId, TurnId};
use crate::item::{Activity, Item, ItemKind};
use crate::mail::{Mail, Wake};
use crate::options::MAX_KEPT_AGENTS;
use crate::runtime::{Caller, Runtime};

/// Limits of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Most agents that work at the same time, including the root.
    pub max_threads: usize,
    /// Greatest depth of an agent below the root. Children of the root have depth 1.
    pub max_depth: u32,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { max_threads: 4, max_depth: 3 }
    }
}

impl TreeLimits {
    /// Returns how many agents of a tree are kept, excluding the root: as many as may work at the same time, and at least
    /// [`MAX_KEPT_AGENTS`].
    pub fn kept(self) -> usize {
        self.kept_with(MAX_KEPT_AGENTS)
    }

    fn kept_with(self, least: usize) -> usize {
        self.max_threads.saturating_sub(1).max(least)
    }
}

/// Public view of an agent of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEntry {
    /// Path of the agent.
    pub path: String,
    /// Id of its thread.
    pub thread: ThreadId,
    /// Its status.
    pub status: AgentStatus,
}

/// The agents of one tree.
pub(super) struct Tree {
    root: WeakAgent,
    limits: TreeLimits,
    state: Mutex<State>,
}

struct State {
    /// How the last turn of the root ended.
    root: Option<AgentStatus>,
    /// All other agents by path. Parents come before their children.
    places: BTreeMap<String, Place>,
    started: usize,
    /// Names of agents that were loaded from storage.
    brought: BTreeSet<String>,
    ended: u64,
    /// Tasks that shut down agents that were released.
    going: Vec<JoinHandle<()>>,
    is_closed: bool,
}

/// What occupies a path.
enum Place {
    /// Reserved for the agent with this number, which is about to be started.
    Reserved(usize),
    Taken(Member),
}

struct Member {
    agent: Agent,
    work: Work,
    /// How the last turn of the agent ended.
    last: AgentStatus,
    /// The turn of the parent that gave the agent its task.
    asked_in: Option<TurnId>,
    /// Order of the ends of turns: a higher number ended later.
    ended: u64,
}

/// Whether an agent has something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Given,
    Done,
}

impl Member {
    fn new(agent: Agent, asked_in: TurnId) -> Self {
        Self { agent, work: Work::Given, last: AgentStatus::Running, asked_in: Some(asked_in), ended: 0 }
    }

    fn status(&self) -> AgentStatus {
        match self.work {
            Work::Given => AgentStatus::Running,
            Work::Done => self.last.clone(),
        }
    }
}

/// The tree that an agent belongs to; stored as an extension of the agent.
#[derive(Default)]
pub(super) struct Membership(Mutex<Link>);

#[derive(Default)]
enum Link {
    #[default]
    None,
    Root(Arc<Tree>),
    Child(Weak<Tree>),
}

/// A reserved path and name. They are released when it is dropped unused.
pub(super) struct Reservation {
    tree: Arc<Tree>,
    pub(super) path: String,
    pub(super) nickname: String,
    number: usize,
    is_used: bool,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_used {
            let mut state = self.tree.state();
            if state.is_reserved(&self.path, self.number) {
                state.places.remove(&self.path);
            }
        }
    }
}

impl Tree {
    /// Returns the tree of an agent. Creates it at the first call for a root.
    ///
    /// # Errors
    ///
    /// Returns an error if the tree of the agent no longer exists.
    pub(super) fn of(agent: &Agent, limits: TreeLimits) -> Result<Arc<Self>, Refused> {
        let membership = agent.extension::<Membership>();
        let mut link = membership.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*link {
            Link::Root(tree) => Ok(Arc::clone(tree)),
            Link::Child(tree) => tree.upgrade().ok_or(Refused::Gone),
            Link::None if agent.lineage().is_some() => Err(Refused::Gone),
            Link::None => {
                let tree = Arc::new(Self::new(agent, limits));
                *link = Link::Root(Arc::clone(&tree));
                drop(link);
                tree.watch(agent);
                Ok(tree)
            }
        }
    }

    /// Returns the tree of an agent if it exists already.
    pub(super) fn known(agent: &Agent) -> Option<Arc<Self>> {
        let membership = agent.extension::<Membership>();
        match &*membership.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Link::Root(tree) => Some(Arc::clone(tree)),
            Link::Child(tree) => tree.upgrade(),
            Link::None => None,
        }
    }

    fn new(root: &Agent, limits: TreeLimits) -> Self {
        let state = State {
            root: None,
            places: BTreeMap::new(),
            started: 0,
            brought: BTreeSet::new(),
            ended: 0,
            going: Vec::new(),
            is_closed: false,
        };
        Self { root: root.downgrade(), limits, state: Mutex::new(state) }
    }

    pub(super) fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// Listens to the ends of an agent's turns and to its shutdown.
    fn watch(self: &Arc<Self>, agent: &Agent) {
        let (tree, watched) = (Arc::downgrade(self), agent.downgrade());
        agent.observe_turns(Arc::new(move |report| {
            if let (Some(tree), Some(agent)) = (tree.upgrade(), watched.upgrade()) {
                tree.turn_ended(&agent, report);
            }
        }));
        let (tree, path, id) = (Arc::downgrade(self), agent.path().to_owned(), agent.id().clone());
        agent.before_shutdown(move || {
            async move {
                if let Some(tree) = tree.upgrade() {
                    tree.close(&path, &id).await;
                }
            }
            .boxed()
        });
    }

    /// Reserves a path for an agent that is about to be started.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is taken or too many agents work already.
    pub(super) fn reserve(self: &Arc<Self>, caller: &Caller, path: String) -> Result<Reservation, Refused> {
        let mut state = self.state();
        state.check(&caller.agent)?;
        if state.places.contains_key(&path) {
            return Err(Refused::Taken { path });
        }
        self.check_room(&state)?;
        let kept = self.limits.kept_with(caller.runtime.options().kept_agents);
        let forgotten = if state.places.len() >= kept { state.forget_one() } else { None };
        let (number, nickname) = state.new_name();
        state.started = number + 1;
        state.places.insert(path.clone(), Place::Reserved(number));
        drop(state);
        if let Some(agent) = forgotten {
            self.let_go(&caller.runtime, agent);
        }
        Ok(Reservation { tree: Arc::clone(self), path, nickname, number, is_used: false })
    }

    /// Shuts down an agent that could not be added, and tells the host to release it. The shutdown of the root waits for
    /// this.
    pub(super) fn let_go(&self, runtime: &Runtime, agent: Agent) {
        let host = Arc::clone(runtime.host());
        let going = tokio::spawn(async move {
            agent.shutdown().await;
            host.release(&agent);
        });
        let mut state = self.state();
        state.going.retain(|going| !going.is_finished());
        state.going.push(going);
    }

    fn check_room(&self, state: &State) -> Result<(), Refused> {
        let limit = self.limits.max_threads;
        if state.working() >= limit { Err(Refused::TooManyThreads { limit }) } else { Ok(()) }
    }

    /// Adds the agent that was started for a reservation, and gives it its task.
    ///
    /// # Errors
    ///
    /// Returns an error if the tree was shut down in the meantime. The caller must then shut the agent down.
    pub(super) fn begin(
        self: &Arc<Self>,
        mut reservation: Reservation,
        parent: &Agent,
        child: &Agent,
        asked_in: &TurnId,
        task: Mail,
    ) -> Result<(), Refused> {
        *child.extension::<Membership>().0.lock().unwrap_or_else(PoisonError::into_inner) =
            Link::Child(Arc::downgrade(self));
        self.watch(child);
        let arrival = Arrival::at(child.core());
        let mut state = self.state();
        state.check(parent)?;
        if !state.is_reserved(&reservation.path, reservation.number) {
            return Err(Refused::Gone);
        }
        let arrived = arrival.take(task).map_err(Refused::NotTaken)?;
        let member = Member::new(child.clone(), asked_in.clone());
        state.places.insert(reservation.path.clone(), Place::Taken(member));
        drop(state);
        arrived.tell();
        reservation.is_used = true;
        Ok(())
    }

    /// Adds an agent that was loaded from storage.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is taken or the tree is shut down.
    pub(super) fn join(self: &Arc<Self>, child: &Agent, status: AgentStatus) -> Result<(), Refused> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Refused::Gone);
        }
        if child.path() == ROOT || state.places.contains_key(child.path()) {
            return Err(Refused::Taken { path: child.path().to_owned() });
        }
        // The listener must exist before another task can find the agent in the tree.
        *child.extension::<Membership>().0.lock().unwrap_or_else(PoisonError::into_inner) =
            Link::Child(Arc::downgrade(self));
        self.watch(child);
        let work = if child.active_turn().is_some() { Work::Given } else { Work::Done };
        state.ended += 1;
        let ended = state.ended;
        state.brought.extend(child.lineage().and_then(|lineage| lineage.nickname.clone()));
        let member = Member { agent: child.clone(), work, last: status, asked_in: None, ended };
        state.places.insert(child.path().to_owned(), Place::Taken(member));
        Ok(())
    }

    /// Returns the agent at a path, which may be relative to `from`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no agent at the path.
    pub(super) fn find(&self, from: &str, target: &str) -> Result<Agent, Refused> {
        let path = path::resolve(from, target)?;
        let agent = if path == ROOT { self.root.upgrade() } else { self.state().at(&path).map(|it| it.agent.clone()) };
        agent.ok_or(Refused::NoSuchAgent { path })
    }

    /// Delivers mail to an agent. A task for an idle agent counts towards the limit of working agents.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached, or if the agent is gone or refuses the mail.
    pub(super) fn deliver(&self, from: &Agent, turn: &TurnId, to: &Agent, mail: Mail) -> Result<(), Refused> {
        let arrival = Arrival::at(to.core());
        let mut state = self.state();
        let is_task = mail.wake == Wake::Agent;
        let work = state.member(to).map(|member| member.work);
        if work.is_none() && to.path() != ROOT {
            return Err(Refused::NoSuchAgent { path: to.path().to_owned() });
        }
        if is_task && work == Some(Work::Done) {
            self.check_room(&state)?;
        }
        let arrived = arrival.take(mail).map_err(Refused::NotTaken)?;
        if is_task && let Some(member) = state.member(to) {
            member.work = Work::Given;
            if to.parent() == Some(from.id()) {
                member.asked_in = Some(turn.clone());
            }
        }
        drop(state);
        arrived.tell();
        Ok(())
    }

    /// Returns the status of an agent other than the root.
    pub(super) fn status(&self, agent: &Agent) -> Option<AgentStatus> {
        self.state().member(agent).map(|member| member.status())
    }

    /// Returns the agents at and below a path, ordered by path.
    pub(super) fn entries(&self, above: &str) -> Vec<AgentEntry> {
        let state = self.state();
        let root = self.root.upgrade().map(|root| {
            let last = state.root.clone().filter(|_| root.active_turn().is_none());
            AgentEntry {
                path: ROOT.to_owned(),
                thread: root.id().clone(),
                status: last.unwrap_or(AgentStatus::Running),
            }
        });
        let others = state.places.iter().filter_map(|(path, place)| match place {
            Place::Taken(member) => {
                let (thread, status) = (member.agent.id().clone(), member.status());
                Some(AgentEntry { path: path.clone(), thread, status })
            }
            Place::Reserved(_) => None,
        });
        root.into_iter().chain(others).filter(|entry| path::is_within(&entry.path, above)).collect()
    }

    /// Called when a turn of an agent has ended. Sends its result to the parent.
    fn turn_ended(&self, agent: &Agent, report: &TurnReport) {
        let (parent, asked_in) = {
            let mut state = self.state();
            // Only regular turns give a result; a compaction, for example, does not.
            let is_work = report.kind == TurnKind::Regular;
            let work = if agent.active_turn().is_some() { Work::Given } else { Work::Done };
            state.set(agent, work, is_work.then(|| AgentStatus::of(&report.outcome)));
            // If the tree is closed, the result is sent when it is loaded again.
            let Some(lineage) = agent.lineage().filter(|_| is_work && !state.is_closed) else { return };
            let asked_in = state.member(agent).and_then(|member| member.asked_in.clone());
            let root = self.root.upgrade().filter(|root| *root.id() == lineage.parent);
            let Some(parent) = root.or_else(|| state.by_id(&lineage.parent)) else { return };
            (parent, asked_in)
        };
        if let (TurnOutcome::Completed { .. }, Some(turn)) = (&report.outcome, asked_in) {
            let id = ItemId::from(format!("subagent-completed-{}", report.turn));
            let activity = Activity::Completed;
            let (agent, path) = (agent.id().clone(), agent.path().to_owned());
            parent
                .core()
                .link
                .show_item(&turn, Item { id, kind: ItemKind::AgentActivity { activity, agent, path, model: None } });
        }
        let answer = letter::final_answer(agent.path(), parent.path(), &report.turn, &report.outcome);
        let edge_id = format!("edge:agent_result:{}:{}:{}", agent.id(), report.turn, parent.id());
        let result = AgentResult { edge_id: &edge_id, parent_thread_id: parent.id().as_str(), message: &answer.text };
        let carried = json!({
            "child_agent_path": agent.path(),
            "message": answer.text,
            "status": AgentStatus::of(&report.outcome).json(),
        });
        report.trace.report_result(&result, Some(Json(&carried)));
        if let Err(error) = parent.deliver_result(answer.mail) {
            // A parent that refuses mail is about to shut down its descendants. This turn remains the newest one until they
            // are loaded again.
            agent.stop();
            tracing::warn!(agent = agent.path(), parent = parent.path(), %error, "an agent's answer waits to be loaded");
        }
    }

    /// Sends the parent the result of a turn that ended before the agent was loaded into this tree.
    pub(super) fn report(&self, agent: &Agent, turn: &TurnId, outcome: &TurnOutcome) {
        let Some(lineage) = agent.lineage() else { return };
        let root = self.root.upgrade().filter(|root| *root.id() == lineage.parent);
        let Some(parent) = root.or_else(|| self.state().by_id(&lineage.parent)) else { return };
        let answer = letter::final_answer(agent.path(), parent.path(), turn, outcome);
        if let Err(error) = parent.deliver_result(answer.mail) {
            tracing::warn!(agent = agent.path(), parent = parent.path(), %error, "an agent's answer is lost");
        }
    }

    /// Shuts down the agents below a path, the deepest first. For the root, this closes the tree. For other agents, the
    /// parent is told about a task that will not be done.
    async fn close(&self, path: &str, id: &ThreadId) {
        let (own, below, stopping) = {
            let mut state = self.state();
            let is_root = path == ROOT;
            state.is_closed |= is_root;
            // Another agent may have this path by now. Its children are not affected.
            if !is_root && state.at(path).is_none_or(|member| member.agent.id() != id) {
                return;
            }
            let is_below = |(other, _): &(&String, &Place)| path::is_within(other, path);
            let paths: Vec<String> = state.places.iter().filter(is_below).map(|(path, _)| path.clone()).collect();
            let places = paths.iter().rev().filter_map(|path| state.places.remove(path));
            let (own, below): (Vec<_>, Vec<_>) =
                places.filter_map(Place::member).partition(|member| member.agent.id() == id);
            // After a mere interrupt, a turn for tasks that arrived meanwhile would follow. So agents are stopped for good
            // before tasks that find the tree closed can continue.
            let stopping: Vec<_> = below.iter().filter_map(|member| member.agent.stop()).collect();
            (own.into_iter().next(), below, stopping)
        };
        for stopped in stopping {
            stopped.cancelled().await;
        }
        for member in below {
            member.agent.shutdown().await;
        }
        let agent = own.as_ref().map(|member| member.agent.clone()).or_else(|| self.root.upgrade());
        if let Some(ended) = agent.and_then(|agent| agent.turn_ended()) {
            ended.await;
        }
        match own {
            Some(Member { agent, .. }) => {
                if let Some(task) = waiting_task(&agent.open_mail()) {
                    self.report(&agent, &task, &TurnOutcome::Interrupted);
                }
            }
            None => {
                let going = std::mem::take(&mut self.state().going);
                join_all(going).await;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id that the end of the newest waiting task would have if it were a turn.
pub(super) fn waiting_task(open: &[Mail]) -> Option<TurnId> {
    open.iter().rfind(|mail| mail.wake == Wake::Agent).map(|mail| TurnId::from(mail.id.as_str()))
}

impl Place {
    fn member(self) -> Option<Member> {
        match self {
            Self::Taken(member) => Some(member),
            Self::Reserved(_) => None,
        }
    }
}

impl State {
    /// Returns the agent at a path.
    fn at(&mut self, path: &str) -> Option<&mut Member> {
        match self.places.get_mut(path) {
            Some(Place::Taken(member)) => Some(member),
            _ => None,
        }
    }

    /// Returns the entry of an agent, unless another agent has its path now.
    fn member(&mut self, agent: &Agent) -> Option<&mut Member> {
        self.at(agent.path()).filter(|member| member.agent.id() == agent.id())
    }

    fn is_reserved(&self, path: &str, number: usize) -> bool {
        matches!(self.places.get(path), Some(Place::Reserved(reserved)) if *reserved == number)
    }

    /// Returns the next display name that no agent of this tree ever had, with its number.
    fn new_name(&self) -> (usize, String) {
        let names = (self.started..).map(|number| (number, nickname::pick(number)));
        let mut free = names.filter(|(_, name)| !self.brought.contains(name));
        free.next().expect("there are more names than agents")
    }

    fn by_id(&self, id: &ThreadId) -> Option<Agent> {
        self.places.values().find_map(|place| match place {
            Place::Taken(member) if member.agent.id() == id => Some(member.agent.clone()),
            _ => None,
        })
    }

    /// Checks that an agent may still start others.
    fn check(&self, parent: &Agent) -> Result<(), Refused> {
        let is_here = parent.lineage().is_none() || self.by_id(parent.id()).is_some();
        // The tree is created with the first agent that the root starts, so it cannot know whether the root was shut down
        // before.
        let is_closed = self.is_closed || parent.core().state().turns.is_closed;
        if is_here && !is_closed { Ok(()) } else { Err(Refused::Gone) }
    }

    /// Returns the number of agents that work or are about to. The root always counts, because the other agents need it.
    fn working(&self) -> usize {
        let works = |place: &&Place| match place {
            Place::Reserved(_) => true,
            Place::Taken(member) => member.work == Work::Given,
        };
        1 + self.places.values().filter(works).count()
    }

    fn set(&mut self, agent: &Agent, work: Work, last: Option<AgentStatus>) {
        if agent.lineage().is_none() {
            self.root = last.or(self.root.take());
            return;
        }
        self.ended += 1;
        let ended = self.ended;
        if let Some(member) = self.member(agent) {
            member.work = work;
            member.ended = ended;
            if let Some(last) = last {
                member.last = last;
            }
        }
    }

    /// Removes the agent that has been idle for longest, has no other work for the user, and has no descendants. Agents
    /// with mail are removed last.
    fn forget_one(&mut self) -> Option<Agent> {
        let is_leaf = |path: &str| !self.places.keys().any(|other| other != path && path::is_within(other, path));
        let done = self.places.iter().filter_map(|(path, place)| match place {
            Place::Taken(member) if member.work == Work::Done && is_leaf(path) && !member.agent.is_busy() => {
                Some((member.agent.has_mail(), member.ended, path))
            }
            _ => None,
        });
        let path = done.min()?.2.clone();
        self.places.remove(&path)?.member().map(|member| member.agent)
    }
}
