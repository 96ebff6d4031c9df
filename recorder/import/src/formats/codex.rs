//! Rollouts of the Codex CLI, from 0.42 on: one file per thread, those of children beside that of their parent.

mod call_ids;
mod calls;
mod files;
mod readable;
mod reader;
mod record;
mod reports;
mod timeline;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::ImportError;
use crate::event::EventRef;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};
use crate::note::Code;
use crate::thread::ThreadWriter;

use files::{children_beside, files_of_thread, meta, meta_of_line, thread_in_name};
use reader::{Mail, Reader};

/// Name of the format.
const NAME: &str = "codex";

/// The format of rollouts.
pub(super) struct Codex;

impl Format for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn agent(&self) -> &'static str {
        "Codex CLI"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::Sometimes,
            request_ids: Known::Sometimes,
            request_start: Known::No,
            request_end: Known::Sometimes,
            request_body: Known::Rebuilt,
            tool_times: Known::Sometimes,
            children: Known::Yes,
            failed_attempts: Known::No,
            usage: Known::Yes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        !source.is_dir && source.lines().next().is_some_and(|line| meta_of_line(line).is_some())
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        let goes_on = thread_in_name(path).is_some_and(|(_, goes_on)| goes_on);
        let belongs_to_another = goes_on || meta(path).is_some_and(|meta| meta.is_child());
        Ok(if belongs_to_another { Vec::new() } else { vec![SessionRef::file(NAME, path)] })
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let mut tree = Tree::default();
        tree.read(&session.path, None, draft)?;
        tree.find_children(&session.path, draft)?;
        tree.deliver(draft);
        draft.note(Code::NoFailedAttempts, None);
        draft.note(Code::NoRequestStart, None);
        draft.note(Code::NoToolDefinitions, None);
        Ok(())
    }

    fn stands_alone(&self, _: &Path) -> bool {
        true
    }

    fn may_read(&self, path: &Path) -> bool {
        thread_in_name(path).is_some()
    }

    fn stores(&self, homes: &Homes) -> Vec<PathBuf> {
        let home = homes.codex.clone().unwrap_or_else(|| homes.home.join(".codex"));
        vec![home.join("sessions"), home.join("archived_sessions")]
    }
}

/// A thread that was read.
#[derive(Debug)]
struct Thread {
    writer: ThreadWriter,
    turns: Vec<reader::Turn>,
}

/// The threads of a session.
#[derive(Debug, Default)]
struct Tree {
    threads: Vec<Thread>,
    ids: HashSet<String>,
    paths: HashSet<String>,
    mail: Vec<Mail>,
}

impl Tree {
    /// Reads a thread and the children that its calls lead to.
    fn read(&mut self, path: &Path, spawned_by: Option<EventRef>, draft: &mut Draft) -> Result<(), ImportError> {
        // A thread may be deep in a tree of children; the list keeps the stack flat.
        let mut open = vec![(path.to_owned(), spawned_by)];
        while let Some((path, spawned_by)) = open.pop() {
            let id = thread_in_name(&path).map(|(id, _)| id.to_owned());
            let files = match &id {
                Some(id) => files_of_thread(id, &path, draft.is_summary()),
                None => vec![path.clone()],
            };
            if id.is_some_and(|id| !self.ids.insert(id)) {
                continue;
            }
            let mut reader = Reader::new(&mut self.paths);
            for file in &files {
                reader.read(file, spawned_by, draft)?;
            }
            let Some(read) = reader.finish(draft) else { continue };
            self.ids.insert(read.writer.id().to_owned());
            for child in read.children.into_iter().rev() {
                match files_of_thread(&child.thread, &path, draft.is_summary()).into_iter().next() {
                    Some(file) => open.push((file, Some(child.spawned_by))),
                    None => draft.note(Code::ChildMissing, Some(child.place)),
                }
            }
            self.mail.extend(read.mail);
            self.threads.push(Thread { writer: read.writer, turns: read.turns });
        }
        Ok(())
    }

    /// Reads the children that no call leads to, such as reviews.
    fn find_children(&mut self, path: &Path, draft: &mut Draft) -> Result<(), ImportError> {
        let ids: Vec<String> = self.ids.iter().cloned().collect();
        for child in children_beside(path, &ids) {
            if thread_in_name(&child).is_none_or(|(id, _)| self.ids.contains(id)) {
                continue;
            }
            self.read(&child, None, draft)?;
        }
        Ok(())
    }

    /// Records which answers of children reached their parents.
    fn deliver(&mut self, draft: &mut Draft) {
        for mail in std::mem::take(&mut self.mail) {
            let Some(child) = self.threads.iter_mut().find(|thread| thread.writer.agent_path() == mail.author) else {
                continue;
            };
            let before = child.turns.iter().rposition(|turn| turn.ended_at <= mail.at);
            let Some(turn) = child.turns.get_mut(before.unwrap_or(0)) else { continue };
            match turn.answer.take() {
                Some(place) => {
                    child.writer.result_at(draft, place, &turn.id, &mail.recipient, &mail.message);
                    draft.after(mail.received, place);
                }
                None => {
                    child.writer.result_of_turn(draft, &turn.id, &mail.recipient, &mail.message, mail.stamp);
                    draft.after(mail.received, turn.ended);
                }
            }
        }
    }
}
