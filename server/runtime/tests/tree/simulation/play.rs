//! Plays one seed: a tree of agents lives, is disturbed, dies and is loaded again, until it is left alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_runtime::agent::RecordingTarget;
use trace_runtime::item::Input;
use trace_runtime::provider::Scripted;
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy};
use trace_runtime::tree::{self, Below, MAX_KEPT_AGENTS, TreeLimits};
use trace_runtime::{Agent, NewAgent, Runtime, RuntimeOptions, Settings, ThreadId, TurnRequest};

use super::chance::Chance;
use super::keeper::Keeper;
use super::laws;
use super::script::ScriptWriter;
use super::store::{Store, StoredRow};
use crate::bench::Pause;

/// Timeout for everything in one life, in simulated time. What takes longer is considered stuck.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

/// Number of agents that some trees keep, so that agents have to make room for others.
const FEW_KEPT: usize = 2;

/// Timeout for the disk.
const DISK_PATIENCE: Duration = Duration::from_secs(7200);

/// Result of a seed.
pub(super) struct Played {
    pub(super) seed: u64,
    pub(super) story: Vec<String>,
    pub(super) broken: Vec<String>,
    /// The bundles of its lives, with what their invariants need.
    pub(super) bundles: Vec<laws::Life>,
    pub(super) figures: Figures,
}

/// Counts what happened in a seed, to check that the seeds cover enough.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) lives: usize,
    pub(super) deaths: usize,
    pub(super) agents: usize,
    pub(super) turns: usize,
    pub(super) mail: usize,
    pub(super) calls: usize,
    pub(super) made_room: usize,
    pub(super) longest_wait: Duration,
}

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The process dies after this number of stored events.
    Death(u64),
    /// The process dies when all agents are idle.
    QuietDeath,
    /// A shutdown at any moment.
    Shutdown,
    /// A shutdown when all agents are idle.
    QuietShutdown,
}

/// Plays a seed. If there is a folder, its lives are recorded there.
pub(super) fn play(seed: u64, traces: Option<&Path>) -> Played {
    let mut chance = Chance::new(seed);
    let mut scripts = ScriptWriter::new();
    let store = Arc::new(Mutex::new(Store::default()));
    let root = ThreadId::new();
    let limits = TreeLimits {
        max_threads: usize::try_from(2 + chance.below(8)).expect("a small number"),
        max_depth: u32::try_from(1 + chance.below(4)).expect("a small number"),
    };
    let kept_agents = if chance.one_in(3) { FEW_KEPT } else { MAX_KEPT_AGENTS };
    store.lock().expect("nobody broke down with it").limits = limits;
    let lives = 1 + chance.below(4);
    let mut deaths = 0;
    let mut bundles = Vec::new();
    for life in 1..=lives {
        let end = match chance.below(6) {
            _ if life == lives => End::QuietShutdown,
            0..3 => End::Death(1 + chance.below(250)),
            3 => End::QuietDeath,
            4 => End::Shutdown,
            _ => End::QuietShutdown,
        };
        store.lock().expect("nobody broke down with it").next_life();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime");
        let is_last = life == lives;
        let ended = runtime.block_on(async {
            let recording = traces.map(|root| root.join(life.to_string()));
            let process = Process::start(&store, end, recording, limits, kept_agents);
            process.live(&root, &mut chance, &mut scripts, end, is_last).await
        });
        drop(runtime);
        deaths += usize::from(!ended.is_in_order);
        if let Some(bundle) = ended.bundle {
            let life = usize::try_from(life).expect("a small number");
            bundles.push(laws::Life { number: life, bundle, is_whole: ended.is_in_order });
        }
        if !store.lock().expect("nobody broke down with it").broken.is_empty() {
            break;
        }
    }
    let mut store = store.lock().expect("nobody broke down with it");
    if store.broken.is_empty() {
        laws::of_the_end(&mut store);
    }
    if store.broken.is_empty() {
        laws::of_bundles(&mut store, &bundles);
    }
    let figures = Figures {
        lives: store.life,
        deaths,
        agents: store.threads.len(),
        turns: store.threads.values().map(|kept| kept.turns.len()).sum(),
        mail: store.came.len(),
        calls: store.calls.len(),
        made_room: store.made_room,
        longest_wait: store.longest_wait,
    };
    let (story, broken) = (std::mem::take(&mut store.story), std::mem::take(&mut store.broken));
    Played { seed, story, broken, bundles, figures }
}

/// How a life ended.
struct Ended {
    is_in_order: bool,
    bundle: Option<PathBuf>,
}

/// One life of the process.
struct Process {
    keeper: Arc<Keeper>,
    runtime: Arc<Runtime>,
    limits: TreeLimits,
}

impl Process {
    fn start(
        store: &Arc<Mutex<Store>>,
        end: End,
        recording: Option<PathBuf>,
        limits: TreeLimits,
        kept_agents: usize,
    ) -> Self {
        let dies_after = if let End::Death(events) = end { Some(events) } else { None };
        let kept = kept_agents.max(limits.max_threads - 1);
        let keeper = Arc::new(Keeper::new(Arc::clone(store), dies_after, kept));
        let mut tools = tree::tools(limits);
        tools.push(Arc::new(Pause));
        let mut options = RuntimeOptions::new(vec![Arc::new(Scripted::new())], tools);
        let writer = WriterOptions { max_block: DISK_PATIENCE, max_close: DISK_PATIENCE, ..WriterOptions::default() };
        options.recording = recording.map(|root| TraceRoot::new(root, writer));
        options.seed = 1;
        // No project files are read, because the timing of the disk is not reproducible.
        options.project_bytes = 0;
        options.kept_agents = kept_agents;
        let runtime = Runtime::new(options, Arc::clone(&keeper) as _);
        Self { keeper, runtime, limits }
    }

    async fn live(
        &self,
        root: &ThreadId,
        chance: &mut Chance,
        scripts: &mut ScriptWriter,
        end: End,
        is_last: bool,
    ) -> Ended {
        let keeper = &self.keeper;
        self.load(root);
        let life = async {
            let mut deeds = Deeds { process: self, chance, scripts, holds: JoinSet::new(), kills: JoinSet::new() };
            for _ in 0..2 + deeds.chance.below(9) {
                let pause = deeds.chance.below(15_000);
                tokio::time::sleep(Duration::from_millis(pause)).await;
                deeds.one();
            }
            // Actions of users are completed before a shutdown.
            while let Some(done) = deeds.kills.join_next().await {
                done.expect("it does not break down");
            }
            if end == End::Shutdown {
                return self.shut_down().await;
            }
            while let Some(done) = deeds.holds.join_next().await {
                done.expect("it does not break down");
            }
            self.quiet().await;
            if is_last {
                self.read_all(deeds.scripts).await;
            }
            laws::of_quiet(keeper);
            if matches!(end, End::Shutdown | End::QuietShutdown) {
                self.shut_down().await;
            } else {
                keeper.say("the process dies in peace");
            }
        };
        let is_in_order = tokio::select! {
            biased;
            () = keeper.died.cancelled() => false,
            lived = tokio::time::timeout(PATIENCE, life) => {
                if lived.is_err() {
                    let working: Vec<_> = keeper.agents().iter().filter(|agent| agent.active_turn().is_some())
                        .map(|agent| agent.path().to_owned()).collect();
                    keeper.store().broke(format!("it does not end; at work: {working:?}"));
                }
                matches!(end, End::Shutdown | End::QuietShutdown)
            }
        };
        keeper.end();
        let first = keeper.agents().into_iter().find(|agent| agent.id() == root).expect("the root was loaded");
        if !is_in_order {
            // A process that dies leaves what it has written. Waiting for the writer makes this reproducible.
            first.recording().written().await;
        }
        keeper.forget();
        Ended { is_in_order, bundle: first.recording().path() }
    }

    /// Loads the stored threads as the server does: what belongs to the store is the store's here, all else is the same code.
    fn load(&self, root: &ThreadId) {
        let keeper = &self.keeper;
        let is_stored = keeper.store().threads.contains_key(root);
        if !is_stored {
            let agent = self.runtime.start(NewAgent::new(root.clone(), settings()));
            keeper.store().begin(&agent, Duration::ZERO);
            keeper.add(agent);
            return;
        }
        let (first, known) = self.load_one(root, None);
        let rows: Vec<StoredRow> = {
            let store = keeper.store();
            let open = store.order.iter().filter(|id| !store.threads[*id].is_closed && *id != root);
            open.map(|id| store.stored_row(id)).collect()
        };
        let below = tree::load_order(rows, StoredRow::agent, keeper.kept);
        let mut below = Below::new(root, known, below, StoredRow::agent);
        while let Some((row, told)) = below.next_agent() {
            let (last_work, open) = {
                let store = keeper.store();
                (store.last_work(&row.id), store.threads[&row.id].open.clone())
            };
            let parent = keeper.agents().into_iter().find(|agent| Some(agent.id()) == row.parent.as_ref());
            let (agent, known) = self.load_one(&row.id, parent.as_ref());
            match tree::rejoin(&first, &agent, last_work, &open, self.limits) {
                Ok(rejoined) => {
                    rejoined.report(&first, &agent, &known, &told);
                    below.loaded(&row.id, known);
                }
                Err(error) => keeper.store().broke(format!("{error}")),
            }
        }
    }

    fn load_one(&self, id: &ThreadId, parent: Option<&Agent>) -> (Agent, BTreeSet<String>) {
        let (new, known) = {
            let store = self.keeper.store();
            let kept = &store.threads[id];
            let new = NewAgent {
                history: kept.history.clone(),
                mail: kept.open.clone(),
                lineage: kept.lineage.clone(),
                recorded: parent.map_or(RecordingTarget::OwnBundle, |parent| RecordingTarget::BundleOf(parent.clone())),
                ..NewAgent::new(id.clone(), settings())
            };
            (new, kept.known.clone())
        };
        let agent = self.runtime.start(new);
        self.keeper.add(agent.clone());
        let name = self.keeper.store().name(id);
        self.keeper.store().load(id);
        self.keeper.say(&format!("{name} is loaded"));
        (agent, known)
    }

    /// Waits until all agents are idle.
    async fn quiet(&self) {
        while self.keeper.agents().iter().any(|agent| agent.active_turn().is_some()) {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Makes the root read its mail.
    async fn read_all(&self, scripts: &mut ScriptWriter) {
        let root = self.root();
        let words = format!("RUN [[{{\"say\": \"{}\"}}]]", scripts.note());
        root.start_turn(request(&words)).expect("it has nothing to do");
        self.quiet().await;
        if root.has_mail() {
            self.keeper.store().broke("the root has mail that it did not read".to_owned());
        }
    }

    async fn shut_down(&self) {
        self.keeper.say("the process ends in order");
        self.root().shutdown().await;
        let (working, open) = {
            let working = self.keeper.agents().iter().filter(|agent| agent.active_turn().is_some()).count();
            (working, self.keeper.store().open_waits())
        };
        if working + open > 0 {
            self.keeper.store().broke(format!("{working} agents work and {open} waits wait after the end"));
        }
    }

    fn root(&self) -> Agent {
        self.keeper.agents().into_iter().find(|agent| agent.lineage().is_none()).expect("it was loaded")
    }
}

/// Disturbs the tree.
struct Deeds<'a> {
    process: &'a Process,
    chance: &'a mut Chance,
    scripts: &'a mut ScriptWriter,
    holds: JoinSet<()>,
    kills: JoinSet<()>,
}

impl Deeds<'_> {
    fn one(&mut self) {
        let root = self.process.root();
        let keeper = Arc::clone(&self.process.keeper);
        let children: Vec<Agent> = keeper.agents().into_iter().filter(|agent| agent.lineage().is_some()).collect();
        let kind = self.chance.below(26);
        let child = if children.is_empty() { None } else { Some(self.chance.pick(&children).clone()) };
        match (kind, child) {
            (0..7, _) => {
                let script = self.scripts.task(self.chance);
                let said = root.start_turn(request(&script)).map(|started| started.how);
                keeper.say(&format!("the user gives the root a task: {said:?}"));
            }
            (7..9, _) => {
                let words = format!("hurry, {}", self.scripts.note());
                let Some((turn, _)) = root.active_turn() else { return };
                let said = root.steer(&turn, request(&words).input, None).is_ok();
                keeper.say(&format!("the user says something to the root: {said}"));
            }
            (9, _) => {
                let is_stopped = root.interrupt_any().is_some();
                keeper.say(&format!("the user stops the root: {is_stopped}"));
            }
            (10, _) => {
                let is_begun = root.compact().is_ok();
                keeper.say(&format!("the user makes the history shorter: {is_begun}"));
            }
            (11, _) => {
                self.hold(keeper, &root);
            }
            (12..15, Some(child)) => {
                let name = keeper.store().name(child.id());
                let is_stopped = child.interrupt_any().is_some();
                keeper.say(&format!("the user stops {name}: {is_stopped}"));
            }
            (15, Some(child)) => {
                let name = keeper.store().name(child.id());
                let is_begun = child.compact().is_ok();
                keeper.say(&format!("the user makes the history of {name} shorter: {is_begun}"));
            }
            (16..19, Some(child)) => self.kill(&keeper, &child, &children),
            (19..23, Some(child)) => {
                let name = keeper.store().name(child.id());
                let review = self.scripts.review(self.chance);
                let is_begun = child.review(review, "changes".to_owned()).is_ok();
                keeper.say(&format!("the user has {name} review something: {is_begun}"));
                if self.chance.one_in(2) {
                    let errand = self.scripts.errand(child.path());
                    let said = root.start_turn(request(&errand)).map(|started| started.how);
                    keeper.say(&format!("the user lets the root give it a task: {said:?}"));
                }
            }
            (23, Some(child)) => self.hold(keeper, &child),
            _ => {
                let is_begun = root.start_turn_if_idle(request("go on")).is_ok();
                keeper.say(&format!("the root goes on: {is_begun}"));
            }
        }
    }

    /// Holds an agent for a while, as a revert does.
    fn hold(&mut self, keeper: Arc<Keeper>, agent: &Agent) {
        let Ok(hold) = agent.hold() else { return };
        let id = agent.id().clone();
        let name = keeper.store().name(&id);
        keeper.say(&format!("{name} is held"));
        keeper.hold(&id);
        let millis = self.chance.below(9_000);
        self.holds.spawn(async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            keeper.say(&format!("{name} is let go"));
            keeper.let_go(&id);
            drop(hold);
        });
    }

    /// Removes an agent with its descendants.
    fn kill(&mut self, keeper: &Arc<Keeper>, child: &Agent, all: &[Agent]) {
        let name = keeper.store().name(child.id());
        keeper.say(&format!("{name} is killed"));
        let within = format!("{}/", child.path());
        let mut going: Vec<Agent> = all.iter().filter(|agent| agent.path().starts_with(&within)).cloned().collect();
        going.sort_by_key(|agent| std::cmp::Reverse(agent.depth()));
        going.push(child.clone());
        going.iter().for_each(|agent| keeper.store().kill(agent.id()));
        let keeper = Arc::clone(keeper);
        self.kills.spawn(async move {
            for agent in &going {
                agent.shutdown().await;
                // Agents that it started in the meantime end with it.
                let within = format!("{}/", agent.path());
                for below in keeper.agents().iter().filter(|below| below.path().starts_with(&within)) {
                    keeper.remove(below.id());
                }
            }
            for agent in going.iter().rev() {
                keeper.close(agent.id());
            }
        });
    }
}

fn request(words: &str) -> TurnRequest {
    let input = vec![Input::Text { text: words.to_owned(), elements: Vec::new() }];
    TurnRequest { input, ..TurnRequest::default() }
}

fn settings() -> Settings {
    Settings {
        model: "model-1".to_owned(),
        provider: "scripted".to_owned(),
        effort: None,
        summary: None,
        service_tier: None,
        cwd: PathBuf::from("/nowhere"),
        approval: ApprovalPolicy::Never,
        approvals_reviewer: None,
        sandbox: SandboxPolicy::FullAccess,
        base_instructions: None,
        developer_instructions: None,
        personality: None,
        mode: Mode::Default,
        mode_instructions: None,
    }
}
