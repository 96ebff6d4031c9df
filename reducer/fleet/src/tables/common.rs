//! The columns that all tables begin with.

use super::cell::Cell;
use super::column::{Column, Kind};

/// Longest name of a team, repository, agent, version or model, in bytes. A longer one is cut: it would make the statistics
/// of files large.
pub const MAX_NAME_BYTES: usize = 256;

/// The first columns of all tables.
pub const COMMON: [Column; 8] = [
    Column {
        name: "address",
        kind: Kind::Text,
        text: "Where the session lies: a path or a URL. `trace fleet show`, `why` and `view` open it.",
    },
    Column { name: "session_id", kind: Kind::Text, text: "Id of the session's trace." },
    Column {
        name: "team",
        kind: Kind::Text,
        text: "Team of the session: from `--team`, or from a folder `team=NAME` of its address.",
    },
    Column {
        name: "repository",
        kind: Kind::Text,
        text: "Repository of the session: from `--repository`, from a folder `repository=NAME` of its address, or the last \
               folder of the working directory.",
    },
    Column {
        name: "agent",
        kind: Kind::Text,
        text: "The agent: name of the format that the session was imported from, or `trace` for a recording.",
    },
    Column { name: "agent_version", kind: Kind::Text, text: "Version of the agent, if the session tells it." },
    Column {
        name: "model",
        kind: Kind::Text,
        text: "Model: that of the row if the row is about one call or turn, else the last one of the root agent.",
    },
    Column { name: "day", kind: Kind::Day, text: "Day in UTC on which the session started." },
];

/// What all rows of a session have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// Address of the session.
    pub address: String,
    /// Id of the trace. `None` if the session cannot be read.
    pub session_id: Option<String>,
    /// Team.
    pub team: Option<String>,
    /// Repository.
    pub repository: Option<String>,
    /// Agent.
    pub agent: Option<String>,
    /// Version of the agent.
    pub agent_version: Option<String>,
    /// Model of the session.
    pub model: Option<String>,
    /// Day on which the session started, as days since the Unix epoch.
    pub day: Option<i32>,
}

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 3600 * 1000;

/// Returns the day of a time in milliseconds since the Unix epoch.
pub fn day_of(unix_ms: i64) -> Option<i32> {
    i32::try_from(unix_ms.div_euclid(DAY_MS)).ok()
}

/// Cuts a name to [`MAX_NAME_BYTES`].
pub(crate) fn cut_name(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_BYTES)]
}

impl Common {
    /// Returns the value of a common column for a row with this model.
    pub(crate) fn cell<'a>(&'a self, column: &str, model: Option<&'a str>) -> Cell<'a> {
        match column {
            "address" => Cell::from(&self.address),
            "session_id" => Cell::from(self.session_id.as_ref()),
            "team" => Cell::from(self.team.as_deref().map(cut_name)),
            "repository" => Cell::from(self.repository.as_deref().map(cut_name)),
            "agent" => Cell::from(self.agent.as_deref().map(cut_name)),
            "agent_version" => Cell::from(self.agent_version.as_deref().map(cut_name)),
            "model" => Cell::from(model.or(self.model.as_deref()).map(cut_name)),
            "day" => Cell::from(self.day),
            _ => unreachable!("{column} is a column of COMMON"),
        }
    }
}

/// Returns the value of a folder `NAME=VALUE` of an address, as Hive and its successors name partitions.
pub(crate) fn hive_value<'a>(address: &'a str, name: &str) -> Option<&'a str> {
    let mut values = address.rsplit('/').filter_map(|folder| folder.strip_prefix(name)?.strip_prefix('='));
    values.next().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_utc_also_before_the_epoch() {
        assert_eq!([0, DAY_MS - 1, DAY_MS, -1].map(day_of), [Some(0), Some(0), Some(1), Some(-1)]);
        assert_eq!(day_of(i64::MAX), None);
    }

    #[test]
    fn folders_name_a_team() {
        assert_eq!(hive_value("s3://b/team=red/repository=r/x.trace", "team"), Some("red"));
        assert_eq!(hive_value("s3://b/team=/x.trace", "team"), None);
        assert_eq!(hive_value("s3://b/myteam=red/x.trace", "team"), None);
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        let name = "é".repeat(MAX_NAME_BYTES);
        assert_eq!(cut_name(&name).len(), MAX_NAME_BYTES);
        assert_eq!(cut_name(&format!("a{name}")).len(), MAX_NAME_BYTES - 1);
    }
}
