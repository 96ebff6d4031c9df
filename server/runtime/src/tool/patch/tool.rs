//! The tool `apply_patch`, and patches that arrive as commands.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use trace_recorder::format::{ExecutionStatus, ToolKind};
use trace_recorder::write::Json;

use super::grammar::{self, FilePatch};
use super::plan::{Plan, Target};
use super::tracker::ChangeTracker;
use super::write;
use crate::approval::{self, Accepted, GrantedRights, Verdict};
use crate::event::EventKind;
use crate::host::Question;
use crate::id::ItemId;
use crate::item::{FileChange, FileChangeKind, Item, ItemKind, WorkStatus};
use crate::sandbox::{self, Confinement, CreatedFolder, Folder, Repositories};
use crate::settings::Settings;
use crate::tool::ask::{Approved, ask};
use crate::tool::options::ToolOptions;
use crate::tool::outcome::{describe, done, failed};
use crate::tool::{
    AfterCall, CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Changes files by patches.
#[derive(Debug)]
pub struct PatchTool {
    options: Arc<ToolOptions>,
}

impl PatchTool {
    /// Creates the tool.
    pub fn new(options: Arc<ToolOptions>) -> Self {
        Self { options }
    }
}

const DESCRIPTION: &str = "Changes files. The input is a patch:\n\
*** Begin Patch\n\
*** Add File: PATH        (every line of the new file behind a `+`)\n\
*** Delete File: PATH\n\
*** Update File: PATH     (then perhaps `*** Move to: PATH`, then changes)\n\
@@ a line before the change, such as the head of its function (may be left out)\n\
\u{20}a line that stays\n\
-a line that goes\n\
+a line that comes\n\
*** End Patch\n\
Put about three lines that stay around each change. Either all changes are made or none.";

#[derive(Deserialize)]
struct Arguments {
    #[serde(alias = "patch")]
    input: String,
}

impl Tool for PatchTool {
    fn family(&self) -> ToolFamily {
        ToolFamily::Files
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        Some(json!({
            "type": "function",
            "name": "apply_patch",
            "description": DESCRIPTION,
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": { "input": { "type": "string", "description": "The whole patch." } },
                "required": ["input"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "apply_patch"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("apply_patch", call)
    }

    fn order(&self, _: &ToolCall) -> CallOrder {
        CallOrder::Changes(Resource::Files)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let options = Arc::clone(&self.options);
        Box::pin(async move {
            let patch = match call.input {
                ToolInput::Text(patch) => patch,
                ToolInput::Arguments(arguments) => match serde_json::from_str::<Arguments>(&arguments) {
                    Ok(arguments) => arguments.input,
                    Err(error) => return failed(format!("failed to parse function arguments: {error}")),
                },
            };
            let cwd = context.settings.cwd.clone();
            apply(&options, &context, &call.id, &patch, &cwd).await
        })
    }
}

/// Applies a patch from any kind of call. Relative paths are resolved against `cwd`.
pub(crate) async fn apply(
    options: &ToolOptions,
    context: &ToolContext,
    call: &ItemId,
    patch: &str,
    cwd: &Path,
) -> ToolOutcome {
    let settings = &context.settings;
    let confinement = options.surroundings.confinement(&settings.sandbox, &settings.cwd);
    let repositories = Arc::clone(&options.surroundings.repositories);
    let (plan, files, confinement) = match make_plan(patch.to_owned(), cwd.to_owned(), confinement, repositories).await
    {
        Ok(made) => made,
        Err(error) => {
            if options.shows_refusals {
                show_refused(context, call, named_changes(patch, cwd), WorkStatus::Failed);
            }
            return failed(format!("apply_patch verification failed: {error}"));
        }
    };
    let accepted = context.agent.extension::<Accepted>();
    let verdict = approval::judge_change(settings.approval, confinement.as_ref(), &files, &accepted);
    if let Verdict::Refuse { why } = verdict {
        if options.shows_refusals {
            show_refused(context, call, plan.changes, WorkStatus::Declined);
        }
        return failed(format!("patch rejected: {why}"));
    }
    let shown = |status| ItemKind::FileChange { changes: plan.changes.clone(), status };
    let item = Item { id: call.clone(), kind: shown(WorkStatus::InProgress) };
    let open = context.agent.start_item(&context.turn, item);
    let mut is_approved = true;
    let run = match &verdict {
        Verdict::Run(run) | Verdict::Ask { then: run, .. } => *run,
        Verdict::Refuse { .. } => unreachable!("dealt with above"),
    };
    if let Verdict::Ask { reason, .. } = verdict {
        is_approved = false;
        let question =
            Question::FileChange { turn: context.turn.clone(), item: call.clone(), reason, grant_root: None };
        match ask(context, question).await {
            Ok(Approved::Once | Approved::Prefix(_)) => {}
            Ok(Approved::ForSession) => accepted.accept_files(&files),
            Err(refusal) => {
                open.complete(shown(refusal.status));
                return ToolOutcome {
                    output: json!(format!("patch {}", refusal.why)),
                    success: false,
                    then: refusal.then,
                };
            }
        }
    }
    let begun = json!({
        "call_id": call.as_str(),
        "turn_id": context.turn.as_str(),
        "auto_approved": is_approved,
        "changes": changes_report(&plan.changes),
    });
    context.trace.start_runtime(ToolKind::ApplyPatch, Json(&begun));
    let targets = plan.files.clone();
    let confinement = confinement.filter(|_| run == GrantedRights::Confined);
    // The changes are not interrupted: they take only moments, and either all of them are made or none.
    let written = tokio::task::spawn_blocking(move || write(&targets, &files, confinement.as_ref())).await;
    let error = match written {
        Ok(done) => done.err(),
        Err(error) => Some(format!("the writer broke down: {error}")),
    };
    let status = if error.is_none() { WorkStatus::Completed } else { WorkStatus::Failed };
    let summary = format!("Success. Updated the following files:\n{}\n", plan.summary.join("\n"));
    let mut ended = begun;
    ended["success"] = json!(error.is_none());
    ended["status"] = json!(if error.is_none() { "completed" } else { "failed" });
    ended["stdout"] = json!(if error.is_none() { summary.as_str() } else { "" });
    ended["stderr"] = json!(error.as_deref().unwrap_or(""));
    let execution = if error.is_none() { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
    context.trace.end_runtime(execution, Json(&ended));
    open.complete(shown(status));
    if let Some(error) = error {
        return failed(format!("apply_patch failed: {error}"));
    }
    let diff = context.agent.extension::<ChangeTracker>().add(&context.turn, &plan.steps, &settings.cwd);
    context.agent.event(EventKind::DiffChanged { turn: context.turn.clone(), diff: diff.into() });
    ToolOutcome { then: AfterCall::Continue, ..done(format!("Exit code: 0\nOutput:\n{summary}")) }
}

/// Shows a patch that changes nothing as an item.
fn show_refused(context: &ToolContext, call: &ItemId, changes: Vec<FileChange>, status: WorkStatus) {
    let item = Item { id: call.clone(), kind: ItemKind::FileChange { changes, status } };
    context.agent.show_item(&context.turn, item);
}

/// Returns the changes that a patch names, without their texts. A patch that is not well-formed names none.
fn named_changes(patch: &str, cwd: &Path) -> Vec<FileChange> {
    let change = |file: FilePatch| {
        let (path, kind) = match file {
            FilePatch::Add { path, .. } => (path, FileChangeKind::Add),
            FilePatch::Delete { path } => (path, FileChangeKind::Delete),
            FilePatch::Update { path, moved_to, .. } => {
                (path, FileChangeKind::Update { moved_to: moved_to.map(|path| cwd.join(path)) })
            }
        };
        FileChange { path: cwd.join(path), kind, diff: String::new() }
    };
    grammar::parse(patch).map(|files| files.into_iter().map(change).collect()).unwrap_or_default()
}

/// Returns what a patch would do, the real paths of the files that it changes, and the confinement. In the confinement,
/// files that Git runs or reads settings from are read-only.
async fn make_plan(
    patch: String,
    cwd: PathBuf,
    mut confinement: Option<Confinement>,
    repositories: Arc<Repositories>,
) -> Result<(Plan, Vec<PathBuf>, Option<Confinement>), String> {
    let work = move || {
        let files = grammar::parse(&patch).map_err(|error| error.to_string())?;
        let plan = Plan::new(&files, &cwd, confinement.as_ref()).map_err(|error| error.to_string())?;
        let files: Vec<PathBuf> = plan.files.iter().map(|(path, target)| write::place_of(path, target)).collect();
        let mut seen = HashSet::new();
        if let Some(twice) = files.iter().find(|file| !seen.insert(*file)) {
            // Each part was computed from the file as it is, so the last one would overwrite the others.
            return Err(format!("two paths of the patch lead to {}; use one of them", twice.display()));
        }
        if let Some(confinement) = &mut confinement {
            let made = plan.files.values().zip(&files).filter(|(target, _)| target.after.is_some());
            let made: Vec<PathBuf> = made.map(|(_, file)| file.clone()).collect();
            repositories.close_to_patch(confinement, &files, &made);
        }
        Ok((plan, files, confinement))
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(format!("the reader broke down: {error}")))
}

/// Writes the files that were judged, and only where commands may write if the verdict says so.
fn write(
    targets: &BTreeMap<PathBuf, Target>,
    judged: &[PathBuf],
    confinement: Option<&Confinement>,
) -> Result<(), String> {
    let Some(confinement) = confinement else {
        return write::write(targets, judged, None).map_err(|error| error.to_string());
    };
    // A missing folder cannot be opened for writing. The working folder may be missing.
    let mut made = Vec::new();
    let written = make_roots(judged, confinement, &mut made).and_then(|()| {
        match sandbox::within(confinement, || write::write(targets, judged, Some(confinement))) {
            Ok(written) => written.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    });
    if written.is_err() {
        made.into_iter().rev().for_each(CreatedFolder::undo);
    }
    written
}

fn make_roots(judged: &[PathBuf], confinement: &Confinement, made: &mut Vec<CreatedFolder>) -> Result<(), String> {
    for root in confinement.writable.iter().filter(|root| !root.exists()) {
        if judged.iter().any(|path| path.starts_with(root)) {
            Folder::open(root, made).map_err(|error| format!("cannot make {}: {error}", root.display()))?;
        }
    }
    Ok(())
}

fn changes_report(changes: &[FileChange]) -> Value {
    let changes = changes.iter().map(|change| {
        let report = match &change.kind {
            FileChangeKind::Add => json!({ "type": "add", "content": change.diff }),
            FileChangeKind::Delete => json!({ "type": "delete", "content": change.diff }),
            FileChangeKind::Update { moved_to } => {
                json!({ "type": "update", "unified_diff": change.diff, "move_path": moved_to.as_ref().map(|path| path.to_string_lossy()) })
            }
        };
        (change.path.to_string_lossy().into_owned(), report)
    });
    Value::Object(changes.collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use trace_needs::{Need, skip};

    use super::*;
    use crate::settings::Network;

    fn places(plan: &Plan) -> Vec<PathBuf> {
        plan.files.iter().map(|(path, target)| write::place_of(path, target)).collect()
    }

    #[test]
    fn a_link_that_changes_after_the_verdict_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["work", "work/sub", "other"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        let patch = "*** Begin Patch\n*** Add File: sub/made\n+x\n*** End Patch\n";
        let plan = Plan::new(&grammar::parse(patch).expect("is valid"), &at("work"), None).expect("a plan");
        let judged = places(&plan);
        let confinement = Confinement::new(vec![at("work")], Network::Closed);
        assert!(confinement.allows_writing(&judged[0]));
        fs::remove_dir(at("work/sub")).expect("removes");
        symlink(at("other"), at("work/sub")).expect("a link");
        let error = write(&plan.files, &judged, None).expect_err("an error");
        assert!(error.ends_with("has changed meanwhile; read it again"), "{error}");
        // The same holds for a symlink that changes after the check: the folder is held open and the thread is confined.
        let error = write(&plan.files, &[at("other/made")], Some(&confinement)).expect_err("an error");
        assert!(error.contains("permission denied"), "{error}");
        match sandbox::availability() {
            Ok(_) => {
                let written = sandbox::within(&confinement, || fs::write(at("other/made"), "x"));
                let error = written.expect("it can be set up").expect_err("an error");
                assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
            }
            Err(error) => skip(Need::Sandbox, format_args!("patches that only the kernel stops: {error}")),
        }
        assert_eq!(fs::read_dir(at("other")).expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_for_writing_need_not_be_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path").join("new/work");
        let patch = "*** Begin Patch\n*** Add File: sub/made\n+x\n*** End Patch\n";
        let plan = Plan::new(&grammar::parse(patch).expect("is valid"), &root, None).expect("a plan");
        let confinement = Confinement::new(vec![root.clone()], Network::Closed);
        let judged = places(&plan);
        assert_eq!(judged, [root.join("sub/made")]);
        // A failing patch does not leave it behind.
        let error = write(&plan.files, &[root.join("elsewhere")], Some(&confinement)).expect_err("an error");
        assert!(error.contains("changed meanwhile"), "{error}");
        assert!(!root.parent().expect("a folder").exists());
        assert_eq!(write(&plan.files, &judged, Some(&confinement)), Ok(()));
        assert_eq!(fs::read_to_string(root.join("sub/made")).expect("reads"), "x\n");
    }
}
