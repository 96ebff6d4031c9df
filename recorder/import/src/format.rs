//! The interface of an importer for one format.

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::ImportError;

/// Reads the sessions of one agent, or of one era of an agent whose files changed.
pub trait Format: Sync {
    /// Stable name of the format, such as `claude-code`.
    fn name(&self) -> &'static str;

    /// Name of the agent for people.
    fn agent(&self) -> &'static str;

    /// What the files tell. `docs/import.md` has it as a table.
    fn knowledge(&self) -> Knowledge;

    /// Returns whether a file or folder is of this format.
    fn recognizes(&self, source: &Source<'_>) -> bool;

    /// Returns the sessions of a file or folder that this format recognizes. A store has several; a file that belongs to
    /// another one, such as that of a child, has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or folder cannot be read.
    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError>;

    /// Reads a session and everything that belongs to it. `session` may also name the file of a child.
    ///
    /// # Errors
    ///
    /// Returns an error if the session's file cannot be read. Damage inside of it is noted in the draft.
    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError>;

    /// Returns whether what [`sessions`](Self::sessions) says of a file depends on that file alone.
    fn stands_alone(&self, _path: &Path) -> bool {
        false
    }

    /// Returns whether a file below the folder of a session may be read with it.
    fn may_read(&self, _path: &Path) -> bool {
        true
    }

    /// Returns the files elsewhere that are read with the session of a file, if they are there.
    fn companions(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the files and folders in which the agent keeps the sessions of a user. They need not exist.
    fn stores(&self, homes: &Homes) -> Vec<PathBuf>;
}

/// A file or folder that may be of some format.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The first bytes of a file, after it was unpacked; at most [`HEAD_BYTES`]. Empty for a folder.
    pub head: &'a [u8],
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// Bytes of a file by which its format is recognized. The first line of a Codex rollout has the system prompt.
pub const HEAD_BYTES: usize = 256 << 10;

impl<'a> Source<'a> {
    /// Returns the lines of the head that are complete, and the last one if the file ends with it.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let is_cut = self.head.len() >= HEAD_BYTES;
        let head = self.head;
        let end = if is_cut { memchr::memrchr(b'\n', head).unwrap_or(head.len()) } else { head.len() };
        head[..end].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
    }

    /// Returns the extension of the path, without that of a compression.
    pub fn extension(&self) -> &'a str {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_suffix(".zst").unwrap_or(name);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// A session that can be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionRef {
    /// Name of its format.
    pub format: &'static str,
    /// The file of the session, or the store that it is in.
    pub path: PathBuf,
    /// Id of the session in a store. `None` if the path is that of the session.
    pub id: Option<String>,
}

impl SessionRef {
    /// Names the session that is a file of its own.
    pub fn file(format: &'static str, path: &Path) -> Self {
        Self { format, path: path.to_owned(), id: None }
    }
}

impl SessionRef {
    /// Returns whether `name` is the id of the session, or the beginning of it. The id of a session that is a file is in the
    /// name of the file.
    pub fn is_named(&self, name: &str) -> bool {
        if let Some(id) = &self.id {
            return name.len() >= MIN_NAME_CHARS && id.starts_with(name);
        }
        is_id_in(self.path.file_name().and_then(|file| file.to_str()).unwrap_or_default(), name)
    }
}

/// Shortest beginning of an id that names a session.
pub const MIN_NAME_CHARS: usize = 4;

/// Returns whether `name` is the beginning of a file's name, or of an id in it. An id is a UUID, or, in a name without one, what
/// is behind any hyphen.
pub fn is_id_in(file: &str, name: &str) -> bool {
    if name.len() < MIN_NAME_CHARS {
        return false;
    }
    let uuids: Vec<usize> = (0..file.len()).filter(|at| is_uuid_at(file.as_bytes(), *at)).collect();
    let begins_id = |at: usize| {
        let is_behind_hyphen = at > 0 && file.as_bytes()[at - 1] == b'-';
        at == 0 || if uuids.is_empty() { is_behind_hyphen } else { uuids.contains(&at) }
    };
    file.match_indices(name).any(|(at, _)| begins_id(at))
}

/// Returns whether a UUID begins at a place of a text.
fn is_uuid_at(text: &[u8], at: usize) -> bool {
    let Some(uuid) = text.get(at..at + UUID_CHARS) else { return false };
    let is_hyphen = |index: usize| matches!(index, 8 | 13 | 18 | 23);
    let is_alone = at == 0 || !text[at - 1].is_ascii_hexdigit();
    is_alone
        && uuid.iter().enumerate().all(|(index, byte)| match is_hyphen(index) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        })
}

/// Characters of a UUID.
const UUID_CHARS: usize = 36;

/// Where agents keep their files for a user.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    /// The user's home directory.
    pub home: PathBuf,
    /// `CODEX_HOME`, if it is set.
    pub codex: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, if it is set.
    pub claude: Option<PathBuf>,
    /// `XDG_DATA_HOME`, if it is set.
    pub xdg_data: Option<PathBuf>,
}

/// Whether the files of a format have something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is in the files.
    Yes,
    /// It is made from what is in the files.
    Rebuilt,
    /// Some versions, or some sessions, have it.
    Sometimes,
    /// It is not in the files.
    No,
}

impl Known {
    /// Returns the word of `docs/import.md`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Rebuilt => "rebuilt",
            Self::Sometimes => "sometimes",
            Self::No => "no",
        }
    }
}

macro_rules! knowledge {
    ($($(#[$doc:meta])* $field:ident = $title:literal,)*) => {
        /// What the files of a format tell.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Knowledge {
            $($(#[$doc])* pub $field: Known,)*
        }

        impl Knowledge {
            /// Titles of the columns in `docs/import.md`.
            pub const TITLES: &[&str] = &[$($title),*];

            /// Returns the columns in the order of the titles.
            pub fn columns(&self) -> Vec<Known> {
                vec![$(self.$field),*]
            }
        }
    };
}

knowledge! {
    /// Ids of turns.
    turn_ids = "turn ids",
    /// Ids of requests or responses.
    request_ids = "request ids",
    /// When requests were sent.
    request_start = "request start",
    /// When answers were complete.
    request_end = "request end",
    /// What the model saw.
    request_body = "request body",
    /// When tools ran.
    tool_times = "tool times",
    /// Which call spawned a child.
    children = "children",
    /// Requests that failed and were repeated.
    failed_attempts = "failed attempts",
    /// Tokens of each request.
    usage = "usage",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_the_beginning_of_its_id() {
        let file = SessionRef::file("x", Path::new("a/rollout-2026-11-22T21-13-37-01a2051b-7f72.jsonl"));
        assert!(file.is_named("01a2051b-7f72") && file.is_named("01a2"));
        assert!(!file.is_named("1a2051b") && !file.is_named("01a") && !file.is_named("7f73"));
        let file = SessionRef::file(
            "x",
            Path::new("a/rollout-2026-11-22T21-13-37-01a2051b-0d54-7e41-a528-ca5c72628276.jsonl"),
        );
        assert!(file.is_named("01a2051b-0d54") && file.is_named("rollout-2026-11"));
        assert!(!file.is_named("7e41") && !file.is_named("2026"), "no beginning of the id");
        let stored = SessionRef { id: Some("ses_1".to_owned()), ..file };
        assert!(stored.is_named("ses_") && !stored.is_named("01a2051b"));
    }

    #[test]
    fn a_head_has_whole_lines() {
        let lines = |head: &'static [u8]| {
            let source = Source { path: Path::new("a.jsonl.zst"), head, is_dir: false };
            assert_eq!(source.extension(), "jsonl");
            source.lines().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(lines(b"one\n\n two"), [b"one".to_vec(), b" two".to_vec()]);
        let mut long = b"one\n".to_vec();
        long.resize(HEAD_BYTES, b'x');
        let source = Source { path: Path::new("a"), head: &long, is_dir: false };
        assert_eq!(source.lines().collect::<Vec<_>>(), [b"one"]);
    }
}
