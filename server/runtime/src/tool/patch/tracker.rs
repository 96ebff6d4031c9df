//! The changes of a whole turn as one diff in Git's format.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::diff;
use super::plan::Step;
use crate::id::TurnId;

/// Length of the longest diff of a turn, in bytes. Files beyond it are counted in its last line.
pub const MAX_TURN_DIFF_BYTES: usize = 4 << 20;

/// The files that the running turn of an agent changed by patches.
#[derive(Debug, Default)]
pub struct ChangeTracker(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    turn: Option<TurnId>,
    files: Vec<Tracked>,
}

/// A file with path and text at the start of the turn and now.
#[derive(Debug)]
struct Tracked {
    before: Option<(PathBuf, Arc<str>)>,
    now: Option<(PathBuf, Arc<str>)>,
}

impl ChangeTracker {
    /// Adds changes and returns the diff of the turn so far. Paths below `cwd` are shown relative to it.
    pub fn add(&self, turn: &TurnId, steps: &[Step], cwd: &Path) -> String {
        let mut changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if changes.turn.as_ref() != Some(turn) {
            *changes = Changes { turn: Some(turn.clone()), files: Vec::new() };
        }
        for step in steps {
            changes.add(step);
        }
        changes.diff(cwd)
    }
}

impl Changes {
    fn add(&mut self, step: &Step) {
        let path_of = |state: &Option<(PathBuf, Arc<str>)>| state.as_ref().map(|(path, _)| path.clone());
        let (from, to) = (path_of(&step.before), path_of(&step.after));
        let is_here = |tracked: &&mut Tracked| path_of(&tracked.now).is_some_and(|path| Some(path) == from);
        // A file that was deleted before is created again.
        let was_here = |tracked: &&mut Tracked| {
            tracked.now.is_none() && path_of(&tracked.before).is_some_and(|path| Some(path) == to)
        };
        let known = match from {
            Some(_) => self.files.iter_mut().find(is_here),
            None => self.files.iter_mut().find(was_here),
        };
        match known {
            Some(tracked) => tracked.now.clone_from(&step.after),
            None => self.files.push(Tracked { before: step.before.clone(), now: step.after.clone() }),
        }
        self.files.retain(|tracked| tracked.before.is_some() || tracked.now.is_some());
    }

    fn diff(&self, cwd: &Path) -> String {
        let mut files: Vec<&Tracked> = self.files.iter().filter(|tracked| tracked.before != tracked.now).collect();
        files.sort_by_key(|tracked| tracked.before.as_ref().or(tracked.now.as_ref()).map(|(path, _)| path));
        let mut text = String::new();
        let mut left_out = 0;
        for file in files {
            let part = file.diff(cwd);
            if text.len() + part.len() <= MAX_TURN_DIFF_BYTES {
                text.push_str(&part);
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            let _ = writeln!(text, "# {left_out} more files changed; the diff would be too long");
        }
        text
    }
}

impl Tracked {
    fn diff(&self, cwd: &Path) -> String {
        let name = |path: &Path| {
            let shown = path.strip_prefix(cwd).or_else(|_| path.strip_prefix("/")).unwrap_or(path);
            shown.display().to_string()
        };
        let old = self.before.as_ref().map(|(path, text)| (name(path), &**text));
        let new = self.now.as_ref().map(|(path, text)| (name(path), &**text));
        let (Some((left, _)), Some((right, _))) = (old.as_ref().or(new.as_ref()), new.as_ref().or(old.as_ref())) else {
            return String::new();
        };
        let mut text = format!("diff --git a/{left} b/{right}\n");
        if old.is_none() {
            text.push_str("new file mode 100644\n");
        } else if new.is_none() {
            text.push_str("deleted file mode 100644\n");
        } else if left != right {
            let _ = write!(text, "rename from {left}\nrename to {right}\n");
        }
        let hunks = diff::hunks(old.as_ref().map_or("", |(_, text)| text), new.as_ref().map_or("", |(_, text)| text));
        if !hunks.is_empty() {
            let side = |letter: char, file: &Option<(String, &str)>| match file {
                Some((name, _)) => format!("{letter}/{name}"),
                None => "/dev/null".to_owned(),
            };
            let _ = write!(text, "--- {}\n+++ {}\n{hunks}", side('a', &old), side('b', &new));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(path: &str, text: &str) -> Option<(PathBuf, Arc<str>)> {
        Some((PathBuf::from(path), text.into()))
    }

    fn step(before: Option<(PathBuf, Arc<str>)>, after: Option<(PathBuf, Arc<str>)>) -> Step {
        Step { before, after }
    }

    #[test]
    fn the_diff_is_that_of_the_whole_turn() {
        let tracker = ChangeTracker::default();
        let turn = TurnId::from("t1");
        let cwd = Path::new("/work");
        tracker.add(
            &turn,
            &[
                step(state("/work/a", "hello\nb\n"), state("/work/a", "hello\nx\n")),
                step(None, state("/work/n", "n\n")),
            ],
            cwd,
        );
        let diff = tracker.add(
            &turn,
            &[
                step(state("/work/a", "hello\nx\n"), state("/work/sub/c", "hello\nc\n")),
                step(state("/work/gone", "g\n"), None),
                step(None, state("/else/where", "w")),
                step(state("/work/m", "m\n"), state("/work/m2", "m\n")),
            ],
            cwd,
        );
        insta::assert_snapshot!(diff, @r"
        diff --git a/else/where b/else/where
        new file mode 100644
        --- /dev/null
        +++ b/else/where
        @@ -0,0 +1 @@
        +w
        \ No newline at end of file
        diff --git a/a b/sub/c
        rename from a
        rename to sub/c
        --- a/a
        +++ b/sub/c
        @@ -1,2 +1,2 @@
         hello
        -b
        +c
        diff --git a/gone b/gone
        deleted file mode 100644
        --- a/gone
        +++ /dev/null
        @@ -1 +0,0 @@
        -g
        diff --git a/m b/m2
        rename from m
        rename to m2
        diff --git a/n b/n
        new file mode 100644
        --- /dev/null
        +++ b/n
        @@ -0,0 +1 @@
        +n
        ");
    }

    #[test]
    fn what_is_undone_is_not_shown() {
        let tracker = ChangeTracker::default();
        let turn = TurnId::from("t1");
        let cwd = Path::new("/work");
        assert_ne!(
            tracker.add(&turn, &[step(state("/work/a", "a\n"), None), step(None, state("/work/n", "n\n"))], cwd),
            ""
        );
        assert_eq!(
            tracker.add(&turn, &[step(None, state("/work/a", "a\n")), step(state("/work/n", "n\n"), None)], cwd),
            ""
        );
    }

    #[test]
    fn another_turn_begins_anew() {
        let tracker = ChangeTracker::default();
        let cwd = Path::new("/");
        tracker.add(&TurnId::from("t1"), &[step(None, state("/a", "a\n"))], cwd);
        let diff = tracker.add(&TurnId::from("t2"), &[step(state("/a", "a\n"), state("/a", "b\n"))], cwd);
        assert!(diff.contains("-a\n+b\n") && !diff.contains("new file"), "{diff}");
    }

    #[test]
    fn the_length_is_limited() {
        let tracker = ChangeTracker::default();
        let long = "x".repeat(MAX_TURN_DIFF_BYTES);
        let diff = tracker.add(
            &TurnId::from("t"),
            &[step(None, state("/a", &long)), step(None, state("/b", "b\n"))],
            Path::new("/"),
        );
        assert!(
            diff.starts_with("diff --git a/b b/b\n")
                && diff.ends_with("# 1 more files changed; the diff would be too long\n")
        );
    }
}
