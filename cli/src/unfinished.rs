//! Protects bundles whose session may not have ended.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use trace_recorder::activity::{Activity, DELETE_AFTER, REPAIR_AFTER, activity};

use crate::ui::failure::Failure;
use crate::ui::text;

/// Refuses to delete a bundle that a recorder may still write to.
///
/// # Errors
///
/// Returns an error if the bundle is being recorded, or if its log has no end and was written to too recently.
pub(crate) fn refuse_to_delete(bundle: &Path) -> Result<(), Failure> {
    let refused = |message: String, hint: String| {
        Err(Failure::data(anyhow::anyhow!("{} {message}", bundle.display())).with_hint(hint))
    };
    match activity(bundle).map_err(|error| {
        Failure::data(error).context(format!("cannot find out whether {} is being recorded", bundle.display()))
    })? {
        Activity::Recorded => refused("is being recorded".to_owned(), "pack it when its session has ended".to_owned()),
        state @ Activity::Silent { since } if !state.is_quiet(DELETE_AFTER, SystemTime::now()) => {
            let until = since.checked_add(DELETE_AFTER).unwrap_or(since);
            let hint = "its session may go on; without --delete-source, the events so far are packed";
            refused(format!("has no end and is not deleted before {}", moment(until)), hint.to_owned())
        }
        Activity::Silent { .. } | Activity::Over => Ok(()),
    }
}

/// Returns whether a recorder that takes no lock, such as that of the Codex CLI, may still write to the bundle. After a
/// repair replaces the log, such a recorder would go on writing to the old one, and these events would be lost.
pub(crate) fn may_write(bundle: &Path) -> bool {
    let is_silent = |state: &Activity| matches!(state, Activity::Silent { .. });
    activity(bundle).is_ok_and(|state| is_silent(&state) && !state.is_quiet(REPAIR_AFTER, SystemTime::now()))
}

/// Formats a time for people.
pub(crate) fn moment(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    text::short_moment(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
