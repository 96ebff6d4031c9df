//! Trajectories in ATIF, the Agent Trajectory Interchange Format of Harbor: a JSON document with the steps of an agent.
//!
//! A trajectory may go on in another file and refer to the files of children, which are found beside it. Exports of this program add
//! what the format has no place for, such as turns, in members `extra.rollout`.

mod records;
mod steps;
mod threads;

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};
use crate::note::Code;
use crate::text::read_text;

use self::records::Trajectory;

/// Reads trajectories in ATIF.
#[derive(Debug)]
pub(super) struct Atif;

/// Beginning of the version of the format.
const VERSION: &[u8] = b"ATIF-";

impl Format for Atif {
    fn name(&self) -> &'static str {
        "atif"
    }

    fn agent(&self) -> &'static str {
        "ATIF"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::No,
            request_ids: Known::No,
            request_start: Known::No,
            request_end: Known::Sometimes,
            request_body: Known::Rebuilt,
            tool_times: Known::No,
            children: Known::Sometimes,
            failed_attempts: Known::No,
            usage: Known::Sometimes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        if source.is_dir || !source.head.trim_ascii_start().starts_with(b"{") {
            return false;
        }
        let mut rest = source.head;
        while let Some(at) = memchr::memmem::find(rest, b"\"schema_version\"") {
            rest = rest[at + b"\"schema_version\"".len()..].trim_ascii_start();
            let value =
                rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start).and_then(|value| value.strip_prefix(b"\""));
            if value.is_some_and(|value| value.starts_with(VERSION)) {
                return true;
            }
        }
        false
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        let text = read_text(path)?;
        let (found, _) = documents(&text);
        if found.len() <= 1 {
            return Ok(vec![SessionRef::file(self.name(), path)]);
        }
        let session = |index: usize, trajectory: &Trajectory<'_>| SessionRef {
            id: Some(id_of(trajectory, index)),
            ..SessionRef::file(self.name(), path)
        };
        Ok(found.iter().enumerate().map(|(index, trajectory)| session(index, trajectory)).collect())
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let path = &session.path;
        let text = read_text(path)?;
        let (found, is_whole) = documents(&text);
        let trajectory = match &session.id {
            Some(id) => found
                .iter()
                .enumerate()
                .find(|(index, trajectory)| id_of(trajectory, *index) == *id)
                .map(|(_, trajectory)| trajectory)
                .ok_or_else(|| ImportError::NoSuchSession { path: path.clone(), id: id.clone() })?,
            None if found.len() > 1 => {
                return Err(ImportError::SeveralSessions { path: path.clone(), count: found.len() });
            }
            None => found.first().ok_or_else(|| ImportError::Damaged {
                path: path.clone(),
                reason: "it is not a whole trajectory".to_owned(),
            })?,
        };
        threads::tell(draft, path, trajectory);
        if !is_whole {
            draft.note(Code::DamagedLine, None);
        }
        Ok(())
    }

    fn stores(&self, _: &Homes) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Returns the trajectories of a text, which are one, or one behind the other, and whether nothing else is behind them.
fn documents(text: &str) -> (Vec<Trajectory<'_>>, bool) {
    let mut found = Vec::new();
    for trajectory in serde_json::Deserializer::from_str(text).into_iter::<Trajectory<'_>>() {
        match trajectory {
            Ok(trajectory) => found.push(trajectory),
            Err(_) => return (found, false),
        }
    }
    (found, true)
}

/// Returns the id of one of several trajectories of a file.
fn id_of(trajectory: &Trajectory<'_>, index: usize) -> String {
    let id = trajectory.trajectory_id.as_ref().or(trajectory.session_id.as_ref());
    // Trajectories of one session may have the same id.
    id.map_or_else(|| index.to_string(), |id| format!("{}:{index}", &**id))
}
