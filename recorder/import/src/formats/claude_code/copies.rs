//! Lines that a session copied from another one, such as the session that it was forked from.

use std::fs;
use std::path::{Path, PathBuf};

use super::layout::stem;
use super::records::Line;
use super::tables::Set;
use super::transcript::Entry;
use crate::draft::Draft;

/// Files of a folder that are searched for the original of a copy.
const MAX_FILES: usize = 2_000;

/// Returns the ids of the lines of a session that are copies of those of a file beside it.
pub(crate) fn copied(root: &Path, session: &str, entries: &[Entry<'_>], draft: &mut Draft) -> Set<String> {
    let mut copied = Set::default();
    let Some((named, is_marked)) = signs(session, entries.iter().map(|entry| &entry.line)) else { return copied };
    draft.looked_around();
    let own: Set<&str> = entries.iter().filter_map(|entry| entry.line.uuid.as_deref()).collect();
    let rank = (is_marked, first_time(entries.iter().map(|entry| &entry.line)), root.to_owned());
    for path in candidates(root, &named, entries) {
        draft.looked_at(&path);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let lines: Vec<_> = text.lines().filter_map(Line::parse).collect();
        let other_is_marked = signs(stem(&path), lines.iter()).is_some_and(|(_, is_marked)| is_marked);
        // Of two copies of a session that is gone, the earlier one counts as the original.
        if (other_is_marked, first_time(lines.iter()), path) < rank {
            let ids = lines.iter().filter_map(|line| line.uuid.as_deref());
            copied.extend(ids.filter(|id| own.contains(id)).map(str::to_owned));
        }
    }
    copied
}

/// Returns the sessions that the lines name beside their own one, and whether lines are marked as copies. Returns `None` if
/// nothing speaks for copies.
fn signs<'l, 'a: 'l>(session: &str, lines: impl Iterator<Item = &'l Line<'a>>) -> Option<(Vec<String>, bool)> {
    let mut named: Vec<String> = Vec::new();
    let mut first_side = None;
    let mut first_message = None;
    let mut unmarked_times = Vec::new();
    for line in lines {
        for other in [line.session.as_deref(), line.request_session.as_deref()].into_iter().flatten() {
            if other != session && named.len() < 16 && !named.iter().any(|name| name == other) {
                named.push(other.to_owned());
            }
        }
        let Some(time) = line.timestamp.as_deref() else { continue };
        if line.uuid.is_some() {
            first_message.get_or_insert_with(|| time.to_owned());
        } else if first_message.is_none() {
            first_side.get_or_insert_with(|| time.to_owned());
        }
        if line.uuid.is_some() && unmarked_times.len() < 2 {
            unmarked_times.push((time.to_owned(), line.kind() == "assistant" && line.request_id.is_some()));
        }
    }
    // Version 1.0 gave all copies the time of the fork and left out the ids of their requests.
    let are_alike = matches!(&unmarked_times[..], [(one, false), (other, false)] if one == other);
    // A fork begins with a record of its own time, and goes on with older lines.
    let is_older = first_side.zip(first_message).is_some_and(|(side, message)| message < side);
    let is_marked = !named.is_empty() || are_alike;
    (is_marked || is_older).then_some((named, is_marked))
}

fn first_time<'l, 'a: 'l>(mut lines: impl Iterator<Item = &'l Line<'a>>) -> Option<i64> {
    lines.find(|line| line.uuid.is_some()).and_then(Line::at)
}

/// Returns the files that may have the originals.
fn candidates(root: &Path, named: &[String], entries: &[Entry<'_>]) -> Vec<PathBuf> {
    let Some(folder) = root.parent() else { return Vec::new() };
    if !named.is_empty() {
        let paths =
            named.iter().filter(|name| !name.contains(['/', '\\'])).map(|name| folder.join(format!("{name}.jsonl")));
        return paths.filter(|path| path != root && path.is_file()).collect();
    }
    let Some(first) = entries.iter().find_map(|entry| entry.line.uuid.as_deref()) else { return Vec::new() };
    let needle = format!("\"{first}\"");
    let finder = memchr::memmem::Finder::new(&needle);
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path != root && path.extension().is_some_and(|extension| extension == "jsonl"))
        .take(MAX_FILES)
        .filter(|path| !stem(path).starts_with("agent-"))
        .filter(|path| fs::read(path).is_ok_and(|bytes| finder.find(&bytes).is_some()))
        .collect();
    found.sort();
    found
}
