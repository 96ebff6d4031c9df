//! The instructions and context that the model gets in addition to messages of the user: its role, its environment, and the
//! instructions of the project.
//!
//! The base instructions are sent with every request. The rest are messages of the conversation: they are sent once, and
//! again when they change.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::history;
use crate::item::{Mark, ModelItem};
use crate::options::RuntimeOptions;
use crate::sandbox::Confinement;
use crate::settings::{ApprovalPolicy, Network, SandboxPolicy, Settings};
use crate::tool::regular;

/// Name of the files with instructions of a project for agents.
pub const PROJECT_FILE: &str = "AGENTS.md";

/// Most folders from the working folder up to the root of its repository that are searched.
pub const MAX_PROJECT_FOLDERS: usize = 32;

const BASE: &str = "\
You are a coding agent. You work on the user's computer, in the folder that the environment names, with the tools that you \
are offered.

How to work:
- Find out before you decide: read the code, run the commands, look at what they print. Do not guess names, paths or results.
- Do what was asked, whole, and nothing beside it. Leave other people's changes alone.
- Keep to the style of the code that is there. Mend the cause, not the symptom.
- Check what you did: run the tests or the program where you can, and say so where you cannot.
- When a command is refused, do not look for a way around: say what you need it for, or go another way.
- Never undo or delete work that you did not make unless the user asks for it.

How to answer:
- Before a longer piece of work say in one sentence what you are about to do.
- In the end say what you did, what you saw, and what is left. Be short and exact; name files with their paths.
- If something is unclear and a wrong guess would cost much, ask. Otherwise choose, and say what you chose.";

/// Tags at the start of the messages that the runtime writes.
const TAGS: [Mark; 6] = [
    Mark::DeveloperInstructions,
    Mark::ModeInstructions,
    Mark::ProjectInstructions,
    Mark::EnvironmentContext,
    Mark::TurnAborted,
    Mark::UserShellCommand,
];

const DEVELOPER: &str = Mark::DeveloperInstructions.text();
const MODE: &str = Mark::ModeInstructions.text();
const PROJECT: &str = Mark::ProjectInstructions.text();
const ENVIRONMENT: &str = Mark::EnvironmentContext.text();

/// Returns the base instructions.
pub(crate) fn base(settings: &Settings) -> String {
    settings.base_instructions.clone().unwrap_or_else(|| BASE.to_owned())
}

/// Returns the developer instructions in a request.
pub(crate) fn developer_of(request: &Value) -> Option<String> {
    let items = request.get("input")?.as_array()?;
    let message = items.iter().find(|item| tag(item) == Some(Mark::DeveloperInstructions))?;
    let text = message.get("content")?.get(0)?.get("text")?.as_str()?;
    let end = DEVELOPER.replacen('<', "</", 1);
    Some(text.strip_prefix(DEVELOPER)?.strip_suffix(end.as_str())?.trim_matches('\n').to_owned())
}

/// Returns the context that the model has not seen in `items` yet, or that has changed since.
pub(crate) async fn news(items: &[ModelItem], settings: &Settings, options: &RuntimeOptions) -> Vec<ModelItem> {
    let context = context(settings, options).await;
    context.into_iter().filter(|message| is_news(items, message)).collect()
}

/// Returns the whole context for a new conversation.
pub(crate) async fn context(settings: &Settings, options: &RuntimeOptions) -> Vec<ModelItem> {
    let mut messages = Vec::new();
    let mut say = |role: &str, tag: &str, text: &str| {
        let end = tag.replacen('<', "</", 1);
        messages.push(history::text_message(role, &format!("{tag}\n{text}\n{end}")));
    };
    if let Some(text) = &settings.developer_instructions {
        say("developer", DEVELOPER, text);
    }
    if let Some(text) = &settings.mode_instructions {
        say("developer", MODE, text);
    }
    let confinement = options.surroundings.confinement(&settings.sandbox, &settings.cwd);
    if let Some(text) = project(settings.cwd.clone(), confinement, options.project_bytes).await {
        say("user", PROJECT, &text);
    }
    say("user", ENVIRONMENT, &environment(settings, &options.shell, &options.clock.date()));
    messages
}

/// Returns whether a message was written by the runtime.
pub(crate) fn is_context(item: &Value) -> bool {
    tag(item).is_some()
}

/// Returns whether the content of a message differs from the newest message with the same tag.
fn is_news(items: &[ModelItem], message: &Value) -> bool {
    let kind = tag(message);
    let may_be = |item: &ModelItem| kind.is_none_or(|tag| item.may_have(tag));
    let newest = items.iter().rev().find(|item| may_be(item) && tag(item) == kind);
    newest.is_none_or(|newest| newest.get("content") != message.get("content"))
}

fn tag(item: &Value) -> Option<Mark> {
    let text = item.get("content")?.get(0)?.get("text")?.as_str()?;
    TAGS.into_iter().find(|tag| text.starts_with(tag.text()))
}

fn environment(settings: &Settings, shell: &Path, date: &str) -> String {
    let shell = shell.file_name().unwrap_or(shell.as_os_str()).to_string_lossy();
    let approval = match settings.approval {
        ApprovalPolicy::Untrusted => "the user is asked before commands that are not known to be harmless",
        ApprovalPolicy::OnRequest => "the user is asked when you ask to leave the sandbox",
        ApprovalPolicy::Never => "the user is never asked; what the sandbox does not allow is refused",
    };
    let (files, network) = match &settings.sandbox {
        SandboxPolicy::FullAccess => ("no sandbox".to_owned(), Network::Open),
        SandboxPolicy::External { network } => ("shut in by somebody else".to_owned(), *network),
        SandboxPolicy::ReadOnly { network } => ("files can be read, not written".to_owned(), *network),
        SandboxPolicy::WorkspaceWrite { writable_roots, network, .. } => {
            let mut text = "files can be read; those below the working folder can be written".to_owned();
            for root in writable_roots {
                let _ = write!(text, ", and those below {}", root.display());
            }
            (text, *network)
        }
    };
    let network = match network {
        Network::Open => "open",
        Network::Closed => "closed",
    };
    format!(
        "Working folder: {}\nShell: {shell}\nSandbox: {files}\nNetwork: {network}\nApproval: {approval}\nDate: {date}",
        settings.cwd.display(),
    )
}

/// Returns the project instructions: the files from the root of the repository down to the working folder. Reads at most
/// `bytes` bytes; 0 means that no file is opened.
async fn project(cwd: PathBuf, confinement: Option<Confinement>, bytes: usize) -> Option<String> {
    if bytes == 0 {
        return None;
    }
    tokio::task::spawn_blocking(move || read_project(&cwd, confinement.as_ref(), bytes)).await.ok().flatten()
}

fn read_project(cwd: &Path, confinement: Option<&Confinement>, bytes: usize) -> Option<String> {
    let folders: Vec<&Path> = cwd.ancestors().take(MAX_PROJECT_FOLDERS).collect();
    let root = folders.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    let mut left = bytes;
    let mut text = String::new();
    for folder in folders[..=root].iter().rev() {
        let path = folder.join(PROJECT_FILE);
        if left == 0 || !path.exists() {
            continue;
        }
        let mut bytes = Vec::new();
        let most = (left as u64).saturating_add(1);
        let opened = regular::open(&path, confinement);
        match opened.and_then(|file| file.map(|file| file.take(most).read_to_end(&mut bytes)).transpose()) {
            Ok(Some(_)) => {}
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot read instructions of the project");
                continue;
            }
        }
        let is_cut = bytes.len() > left;
        bytes.truncate(left);
        left -= bytes.len();
        let said = String::from_utf8_lossy(&bytes);
        let more = if is_cut { "\n[The rest is left out: it is too long.]" } else { "" };
        let _ = write!(
            text,
            "{}From {}:\n{}{more}",
            if text.is_empty() { "" } else { "\n\n" },
            path.display(),
            said.trim()
        );
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use std::fs;

    use super::*;
    use crate::history::text_message;
    use crate::options::MAX_PROJECT_BYTES;

    #[test]
    fn project_files_are_read_from_the_root_down() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("repository");
        let inner = root.join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(directory.path().join(PROJECT_FILE), "outside").unwrap();
        fs::write(root.join(PROJECT_FILE), "first\n").unwrap();
        fs::write(inner.join(PROJECT_FILE), "second").unwrap();
        let text = read_project(&inner, None, MAX_PROJECT_BYTES).unwrap();
        let expected = format!(
            "From {}:\nfirst\n\nFrom {}:\nsecond",
            root.join(PROJECT_FILE).display(),
            inner.join(PROJECT_FILE).display()
        );
        assert_eq!(text, expected);
        // Without a repository, only the working folder is searched.
        assert!(read_project(directory.path(), None, MAX_PROJECT_BYTES).unwrap().ends_with("outside"));
        assert_eq!(read_project(&directory.path().join("absent"), None, MAX_PROJECT_BYTES), None);
        // A command may have replaced the file by a symlink to a file that only the server can read.
        fs::remove_file(inner.join(PROJECT_FILE)).unwrap();
        std::os::unix::fs::symlink("/proc/self/environ", inner.join(PROJECT_FILE)).unwrap();
        assert!(read_project(&inner, None, MAX_PROJECT_BYTES).unwrap().ends_with("first"));
    }

    #[test]
    fn project_files_are_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(directory.path().join(".git")).unwrap();
        fs::write(directory.path().join(PROJECT_FILE), "é".repeat(MAX_PROJECT_BYTES)).unwrap();
        fs::write(inner.join(PROJECT_FILE), "never read").unwrap();
        let text = read_project(&inner, None, MAX_PROJECT_BYTES).unwrap();
        assert!(text.len() < MAX_PROJECT_BYTES + 1000 && text.ends_with("too long.]"));
        assert!(!text.contains("never read"));
        let text = read_project(&inner, None, 10).unwrap();
        assert!(text.contains("\nééééé\n[The rest") && !text.contains("éééééé"), "{text}");
    }

    #[tokio::test]
    async fn no_project_file_is_read_where_none_is_wanted() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(PROJECT_FILE), "here").unwrap();
        assert!(project(directory.path().to_owned(), None, 4).await.unwrap().ends_with("here"));
        assert_eq!(project(directory.path().to_owned(), None, 0).await, None);
    }

    #[test]
    fn only_what_changed_is_news() {
        let old = text_message("user", "<environment_context>\nDate: 1\n</environment_context>");
        let new = text_message("user", "<environment_context>\nDate: 2\n</environment_context>");
        let again = text_message("user", "<environment_context>\nDate: 1\n</environment_context>");
        assert!(is_news(&[], &old));
        assert!(!is_news(&[old.clone(), text_message("user", "hello")], &again));
        assert!(is_news(&[old.clone(), new.clone()], &again));
        assert!(is_news(std::slice::from_ref(&old), &new));
        assert!(is_context(&old) && !is_context(&text_message("user", "hello")));
    }
}
