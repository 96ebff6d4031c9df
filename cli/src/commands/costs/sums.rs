//! Sums of tokens and money over the calls of sessions, each call once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use trace_explain::costs::{CallCost, Cost, Tokens};
use trace_explain::prices::{ModelPrices, Prices};
use trace_import::{Spent, Summary};
use trace_reducer::model::Usage;

use crate::stored::Stored;

/// What rows are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum By {
    Day,
    Week,
    Month,
    Agent,
    Model,
    Project,
    Session,
}

impl By {
    /// Returns the name of the column.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Project => "project",
            Self::Session => "session",
        }
    }
}

/// The time from which calls are counted, and the first one from which they are not any more.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Period {
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
}

impl Period {
    /// Returns whether a call of this time counts. One without a time does not if there is a bound.
    fn has(self, at: Option<i64>) -> bool {
        match at {
            Some(at) => self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at < until),
            None => self.since.is_none() && self.until.is_none(),
        }
    }
}

/// A row: what was used under a key.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Row {
    /// The values of the columns. Empty for the total.
    pub(super) key: BTreeMap<&'static str, Option<String>>,
    /// Sessions with at least one call.
    pub(super) sessions: u64,
    /// Calls with token counts.
    pub(super) calls: u64,
    pub(super) tokens: Tokens,
    /// Money; `None` without a price table.
    pub(super) cost: Option<Cost>,
    #[serde(skip)]
    last_session: Option<usize>,
}

impl Row {
    fn add(&mut self, session: usize, usage: &Usage, cost: Option<Cost>) {
        if self.last_session.replace(session) != Some(session) {
            self.sessions += 1;
        }
        self.calls += 1;
        self.tokens.add_call(Some(usage));
        if let Some(cost) = cost {
            self.cost.get_or_insert(Cost::NONE).add(&cost);
        }
    }
}

/// Sums while they are added up.
#[derive(Debug)]
pub(super) struct Sums<'a> {
    by: &'a [By],
    zone: &'a TimeZone,
    prices: Option<&'a Prices>,
    period: Period,
    models: HashMap<&'a str, ModelPrices<'a>>,
    /// For each key, the call that counts: the most tokens that any copy of it has, and the number of that copy.
    counting: HashMap<&'a str, (u64, usize)>,
    /// Number of calls with a key so far, copies included.
    keyed: usize,
    rows: BTreeMap<Vec<Option<String>>, Row>,
    total: Row,
    unpriced: BTreeSet<String>,
    copied_calls: u64,
    sessions: usize,
}

/// All sums.
#[derive(Debug)]
pub(super) struct Added {
    /// In the order of their keys.
    pub(super) rows: Vec<Row>,
    pub(super) total: Row,
    /// Models without a price.
    pub(super) unpriced: BTreeSet<String>,
    /// Calls that another session has, too.
    pub(super) copied_calls: u64,
}

/// Returns what identifies a call in all files that have copies of it.
fn key(spent: &Spent) -> Option<&str> {
    spent.key.as_deref().filter(|key| !key.is_empty())
}

impl<'a> Sums<'a> {
    pub(super) fn new(by: &'a [By], zone: &'a TimeZone, prices: Option<&'a Prices>, period: Period) -> Self {
        Self {
            by,
            zone,
            prices,
            period,
            models: HashMap::new(),
            counting: HashMap::new(),
            keyed: 0,
            rows: BTreeMap::new(),
            total: Row { cost: prices.map(|_| Cost::NONE), ..Row::default() },
            unpriced: BTreeSet::new(),
            copied_calls: 0,
            sessions: 0,
        }
    }

    /// Looks for the calls of a session that others have, too. All sessions are looked at, in their order, before the first one is
    /// added in the same order.
    pub(super) fn look(&mut self, summary: &'a Summary) {
        for (spent, key) in summary.spent.iter().filter_map(|spent| Some((spent, key(spent)?))) {
            let tokens = spent.usage.input.saturating_add(spent.usage.output);
            let number = self.keyed;
            self.keyed += 1;
            let counting = self.counting.entry(key).or_insert((tokens, number));
            if tokens > counting.0 {
                *counting = (tokens, number);
            }
        }
    }

    /// Begins to add, after all sessions were looked at.
    pub(super) fn begin(&mut self) {
        self.keyed = 0;
    }

    /// Adds the calls of a session. The calls of one that is not wanted are not added, but their copies elsewhere still count as copies.
    pub(super) fn add(&mut self, session: &'a Stored, summary: &'a Summary, is_wanted: bool) {
        self.sessions += 1;
        for spent in &summary.spent {
            if let Some(key) = key(spent) {
                let number = self.keyed;
                self.keyed += 1;
                if self.counting.get(key).is_some_and(|(_, counting)| *counting != number) {
                    self.copied_calls += 1;
                    continue;
                }
            }
            let at = spent.at.or(summary.started_at);
            if is_wanted && self.period.has(at) {
                self.call(session, summary, spent, at);
            }
        }
    }

    fn call(&mut self, session: &Stored, summary: &Summary, spent: &'a Spent, at: Option<i64>) {
        let usage = Usage {
            input_tokens: spent.usage.input,
            cached_input_tokens: spent.usage.cached_input,
            cache_write_input_tokens: spent.usage.cache_write_input,
            output_tokens: spent.usage.output,
            reasoning_output_tokens: spent.usage.reasoning_output,
        };
        let cost = self.prices.and_then(|prices| {
            let model = self.models.entry(&spent.model).or_insert_with(|| prices.of_model(&spent.model));
            let known = model.cost(at.unwrap_or(i64::MAX), &usage);
            if known.is_none() {
                self.unpriced.insert(spent.model.clone());
            }
            Option::<Cost>::from(known.map_or(CallCost::Unpriced, CallCost::Known))
        });
        let key: Vec<Option<String>> = self.by.iter().map(|by| self.value(*by, session, summary, spent, at)).collect();
        let by = self.by;
        let number = self.sessions;
        let row = self.rows.entry(key).or_insert_with_key(|key| Row {
            key: by.iter().map(|by| by.name()).zip(key.iter().cloned()).collect(),
            ..Row::default()
        });
        row.add(number, &usage, cost);
        self.total.add(number, &usage, cost);
    }

    fn value(&self, by: By, session: &Stored, summary: &Summary, spent: &Spent, at: Option<i64>) -> Option<String> {
        let day = || Some(Timestamp::from_millisecond(at?).ok()?.to_zoned(self.zone.clone()).date());
        match by {
            By::Day => day().map(|day| day.to_string()),
            By::Week => day().map(|day| day.iso_week_date()).map(|week| format!("{}-W{:02}", week.year(), week.week())),
            By::Month => day().map(|day| format!("{:04}-{:02}", day.year(), day.month())),
            By::Agent => Some(session.agent.to_owned()),
            By::Model => Some(spent.model.clone()).filter(|model| !model.is_empty()),
            By::Project => summary.cwd.clone(),
            By::Session => {
                let id = Some(summary.id.clone()).filter(|id| !id.is_empty());
                id.or_else(|| Some(session.path.display().to_string()))
            }
        }
    }

    pub(super) fn finish(self) -> Added {
        Added {
            rows: self.rows.into_values().collect(),
            total: self.total,
            unpriced: self.unpriced,
            copied_calls: self.copied_calls,
        }
    }
}
