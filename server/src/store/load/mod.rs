//! Builds a thread from the lines of its rollout.

mod history;
mod turns;

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use trace_protocol::goal::ThreadGoal;
use trace_protocol::turn::Turn;
use trace_runtime::event::ThreadUsage;
use trace_runtime::item::ModelItem;
use trace_runtime::tool::plan::{Plan, UPDATE_PLAN};
use trace_runtime::{ThreadId, TurnId};

use super::error::StoreError;
use super::rollout::chain::{Chain, Place};
use super::rollout::line::{Line, LineKind};
use super::rollout::{record, settings};
use super::stored::{Damage, ForkPoint, StoredMail, StoredSettings};
use history::History;
use turns::Turns;

/// The event that sets the goal of a thread.
pub(super) const GOAL_EVENT: &str = "thread_goal_updated";
/// The event that clears the goal of a thread.
pub(super) const GOAL_CLEARED_EVENT: &str = "thread_goal_cleared";

/// The content of the lines of a thread.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) turns: Vec<Turn>,
    pub(super) history: Vec<ModelItem>,
    pub(super) settings: StoredSettings,
    pub(super) usage: Option<ThreadUsage>,
    pub(super) plan: Option<(TurnId, Plan)>,
    pub(super) goal: Option<ThreadGoal>,
    pub(super) mail: StoredMail,
    pub(super) damage: Damage,
}

/// Reads a thread up to a place, which [`cut`] has found.
pub(super) fn load(chain: &Chain, until: Option<Place>) -> Result<Loaded, StoreError> {
    let mut turns = Turns::default();
    let mut history = History::default();
    let mut settings = StoredSettings {
        provider: Some(chain.meta.provider.clone()).filter(|provider| !provider.is_empty()),
        base_instructions: Some(chain.meta.base_instructions.clone()),
        ..StoredSettings::default()
    };
    let mut usage = None;
    let mut plan = None;
    let mut goal = None;
    let mut mail = StoredMail::default();
    let mut beside = HashSet::new();
    let damage = chain.each(|place, line| {
        if until.is_some_and(|until| place >= until) {
            return ControlFlow::Break(());
        }
        match line.kind {
            LineKind::ResponseItem => {
                let item = line.payload();
                mail.mark_read(&item);
                if let (Some(turn), Some(made)) = (turns.newest_id(), plan_of(&item)) {
                    plan = Some((TurnId::from(turn), made));
                }
                history.push(item);
            }
            LineKind::Compacted => history.compact(&line.payload()),
            LineKind::TurnContext => settings::read_turn_context(&mut settings, &line.payload()),
            LineKind::Event => {
                let (tag, payload) = (line.tag(), line.payload());
                match tag.as_ref() {
                    "token_count" => usage = record::read_usage(&payload).or(usage),
                    "thread_settings_applied" => {
                        if let Some(applied) = payload.get("thread_settings") {
                            settings::read_applied(&mut settings, applied);
                        }
                    }
                    record::MAIL_EVENT => mail.received(&payload),
                    GOAL_EVENT => {
                        let found = payload.get("goal").cloned().unwrap_or_default();
                        goal = serde_json::from_value(found).ok().or(goal.take());
                    }
                    GOAL_CLEARED_EVENT => goal = None,
                    "thread_rolled_back" => {
                        let dropped = payload.get("num_turns").and_then(Value::as_u64).unwrap_or(0);
                        if let Some(first) = turns.drop_newest(dropped) {
                            history.back_to(first);
                        }
                    }
                    tag => {
                        beside.extend(record::turn_beside_work(tag, &payload));
                        turns.event(tag, &payload, line.at_ms);
                        history.turn(turns.len());
                    }
                }
            }
            LineKind::SessionMeta | LineKind::Other => {}
        }
        ControlFlow::Continue(())
    })?;
    let turns = turns.finish();
    let last_work = turns.iter().rev().find(|turn| !beside.contains(&turn.id));
    mail.last_work = last_work.map(|turn| TurnId::from(turn.id.as_str()));
    // A plan ends with its turn being followed by another one, or dropped.
    let plan = plan.filter(|(of, _)| turns.last().is_some_and(|turn| turn.id == of.as_str()));
    Ok(Loaded { turns, history: history.finish(), settings, usage, plan, goal, mail, damage })
}

/// Returns the plan that a call of `update_plan` made.
fn plan_of(item: &Value) -> Option<Plan> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    // A tool of the same name in a namespace, such as that of an MCP server, makes no plan.
    let is_plan = text("type") == Some("function_call")
        && text("name") == Some(UPDATE_PLAN)
        && item.get("namespace").is_none_or(Value::is_null);
    Plan::read(is_plan.then(|| text("arguments")).flatten()?).ok()
}

/// Finds the end of a copy: the first line that does not belong to it. Returns `None` if the copy contains the whole
/// thread.
pub(super) fn cut(chain: &Chain, point: &ForkPoint) -> Result<Option<Place>, StoreError> {
    let (wanted, with) = match point {
        ForkPoint::End => return Ok(None),
        ForkPoint::Through(turn) => (turn, true),
        ForkPoint::Before(turn) => (turn, false),
    };
    let survey = survey(chain)?;
    let (position, place) =
        survey.beginning(wanted).ok_or_else(|| StoreError::UnknownTurn { turn: wanted.to_string() })?;
    Ok(if with { survey.begun.get(position + 1).map(|begun| begun.place) } else { Some(place) })
}

/// The starts of the turns of a thread, without their content.
#[derive(Debug, Default)]
pub(super) struct Survey {
    begun: Vec<Beginning>,
    /// The newest event with all settings.
    pub(super) last_settings: Option<Value>,
    /// The newest event that set or cleared the goal.
    pub(super) goal: Option<Value>,
    /// Messages of other agents.
    mail: StoredMail,
}

/// The start of a turn.
#[derive(Debug)]
struct Beginning {
    turn: String,
    place: Place,
}

impl Survey {
    /// Returns events that restore the mail of the thread: which messages were received, and which of them the model
    /// has not seen. They do not depend on earlier lines.
    pub(super) fn mail_events(&self, thread: &ThreadId) -> Vec<Value> {
        let StoredMail { known, open, .. } = &self.mail;
        let read: Vec<&String> = known.iter().filter(|id| open.iter().all(|mail| mail.id != **id)).collect();
        let came = |mail| json!({"type": record::MAIL_EVENT, "thread_id": thread.as_str(), "mail": mail});
        let read =
            (!read.is_empty()).then(|| json!({"type": record::MAIL_EVENT, "thread_id": thread.as_str(), "read": read}));
        read.into_iter().chain(open.iter().map(came)).collect()
    }

    pub(super) fn turns(&self) -> usize {
        self.begun.len()
    }

    /// Returns the position of a turn, and the place where it starts.
    pub(super) fn beginning(&self, turn: &TurnId) -> Option<(usize, Place)> {
        let position = self.begun.iter().position(|begun| begun.turn == turn.as_str())?;
        Some((position, self.begun[position].place))
    }
}

/// Finds the starts of the turns of a thread.
pub(super) fn survey(chain: &Chain) -> Result<Survey, StoreError> {
    let mut turns = Turns::default();
    let mut survey = Survey::default();
    chain.each(|place, line| {
        if line.kind == LineKind::ResponseItem && line.tag() == "agent_message" {
            survey.mail.mark_read(&line.payload());
        }
        if line.kind == LineKind::Event {
            let (tag, payload) = (line.tag(), line.payload());
            match tag.as_ref() {
                "thread_settings_applied" => survey.last_settings = Some(payload),
                GOAL_EVENT | GOAL_CLEARED_EVENT => survey.goal = Some(payload),
                record::MAIL_EVENT => survey.mail.received(&payload),
                "thread_rolled_back" => {
                    turns.drop_newest(payload.get("num_turns").and_then(Value::as_u64).unwrap_or(0));
                    survey.begun.truncate(turns.len());
                }
                tag => {
                    turns.event(tag, &payload, line.at_ms);
                    if turns.len() > survey.begun.len()
                        && let Some(turn) = turns.newest_id()
                    {
                        survey.begun.push(Beginning { turn: turn.to_owned(), place });
                    }
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(survey)
}

/// Returns whether a fork contains a line. Some events concern only the source of the fork.
pub(super) fn is_copied(line: &Line<'_>) -> bool {
    match line.kind {
        LineKind::SessionMeta => false,
        LineKind::Event => {
            let tag = line.tag();
            ![GOAL_EVENT, GOAL_CLEARED_EVENT, record::MAIL_EVENT, super::rollout::scan::CLOSED_EVENT]
                .contains(&tag.as_ref())
        }
        _ => true,
    }
}
