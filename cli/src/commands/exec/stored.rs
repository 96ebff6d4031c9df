//! Finds the stored thread that the command line names.

use std::path::Path;

use trace_protocol::methods::method;
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{ThreadListCwdFilter, ThreadListParams, ThreadSortKey};
use trace_server::transport::in_process::ClientHandle;

use crate::turn::refused;
use crate::ui::failure::Failure;

/// Most threads that are looked at for one with a name.
const MAX_NAMED: u32 = 100;

/// A stored thread, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoredThread {
    /// By its id or its name.
    Named(String),
    /// The one that was used last, in the working folder or anywhere.
    Last { anywhere: bool },
}

impl StoredThread {
    /// Returns the id of the thread.
    ///
    /// # Errors
    ///
    /// Returns an error if no thread has the name, or if none is stored.
    pub(super) async fn find(&self, client: &ClientHandle, cwd: &Path) -> Result<String, Failure> {
        let list = async |params: ThreadListParams| {
            let params = ThreadListParams {
                sort_key: Some(ThreadSortKey::UpdatedAt),
                sort_direction: Some(SortDirection::Desc),
                ..params
            };
            Ok::<_, Failure>(client.call::<method::ThreadList>(&params).await.map_err(refused)?.data)
        };
        match self {
            Self::Named(id) if is_id(id) => Ok(id.clone()),
            Self::Named(name) => {
                let params = ThreadListParams {
                    search_term: Some(name.clone()),
                    limit: Some(MAX_NAMED),
                    ..ThreadListParams::default()
                };
                let found = list(params).await?.into_iter().find(|thread| thread.name.as_ref() == Some(name));
                found.map(|thread| thread.id).ok_or_else(|| {
                    Failure::data(anyhow::anyhow!("no stored thread has the id or the name `{name}`"))
                        .with_hint("`trace exec resume --last` takes the newest thread of this folder")
                })
            }
            Self::Last { anywhere } => {
                let filter = (!anywhere).then(|| ThreadListCwdFilter::One(cwd.to_string_lossy().into_owned()));
                let params = ThreadListParams { cwd: filter, limit: Some(1), ..ThreadListParams::default() };
                let newest = list(params).await?.into_iter().next();
                newest.map(|thread| thread.id).ok_or_else(|| match anywhere {
                    true => Failure::data(anyhow::anyhow!("no thread is stored that could be resumed")),
                    false => {
                        let message = format!("no thread of {} is stored that could be resumed", cwd.display());
                        Failure::data(anyhow::anyhow!(message)).with_hint("--all takes the newest thread of any folder")
                    }
                })
            }
        }
    }
}

/// Returns whether a text has the form of a thread's id: five groups of hexadecimal digits.
fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_from_a_name() {
        assert!(is_id("01a20d7e-a57e-7e12-96b9-940845985b3f"));
        for name in ["", "nightly", "01a20d7e-a57e-7e12-96b9-940845985b3", "01a20d7e-a57e-7e12-96b9-940845985b3g"] {
            assert!(!is_id(name), "{name}");
        }
    }
}
