//! Prompts that are queued for a thread, in a separate file.
//!
//! Queued prompts are not in the rollout, because they become part of the history only when a turn takes them. Every
//! change replaces the whole file. A thread without queued prompts has no file.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use trace_protocol::queue::QueuedSubmission;
use trace_runtime::ThreadId;

use super::error::StoreError;
use super::home::Store;

/// Folder of the files in the server home.
const QUEUES: &str = "queues";

impl Store {
    /// Returns the queued prompts of a thread. A file that cannot be read is logged and left unchanged.
    pub fn queue(&self, thread: &ThreadId) -> Vec<QueuedSubmission> {
        let path = self.queue_path(thread);
        let read = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => Err(error),
        };
        read.unwrap_or_else(|error| {
            tracing::warn!(path = %path.display(), %error, "the queued prompts of a thread cannot be read");
            Vec::new()
        })
    }

    /// Stores the queued prompts of a thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written. The file before stays in that case.
    pub fn set_queue(&self, thread: &ThreadId, queue: &[QueuedSubmission]) -> Result<(), StoreError> {
        let path = self.queue_path(thread);
        if queue.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
                _ => Ok(()),
            };
        }
        replace(&path, queue).map_err(StoreError::io("write", path))
    }

    fn queue_path(&self, thread: &ThreadId) -> PathBuf {
        self.home().join(QUEUES).join(format!("{thread}.json"))
    }
}

fn replace(path: &Path, queue: &[QueuedSubmission]) -> io::Result<()> {
    let folder = path.parent().expect("the file is in the folder of queues");
    crate::private::create_folders(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut file, queue)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn queued_prompts_are_stored() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), jiff::tz::TimeZone::UTC).unwrap();
        let thread = ThreadId::new();
        assert!(store.queue(&thread).is_empty());
        let queued = QueuedSubmission {
            id: "1".to_owned(),
            client_user_message_id: "m".to_owned(),
            input: Vec::new(),
            responses_api_client_metadata: None,
        };
        store.set_queue(&thread, std::slice::from_ref(&queued)).unwrap();
        assert_eq!(store.queue(&thread), [queued]);
        store.set_queue(&thread, &[]).unwrap();
        store.set_queue(&thread, &[]).unwrap();
        assert!(store.queue(&thread).is_empty());
        fs::write(store.queue_path(&thread), "{").unwrap();
        assert!(store.queue(&thread).is_empty());
    }
}
