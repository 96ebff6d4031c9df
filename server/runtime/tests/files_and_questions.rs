//! Patches, plans, questions, pictures and client tools, as a model calls them.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Reply, World, text};
use tempfile::TempDir;
use trace_runtime::event::{EventKind, PlanStatus};
use trace_runtime::host::{Answer, Decision, Question};
use trace_runtime::item::{FileChange, FileChangeKind, Item, ItemKind, WorkStatus};
use trace_runtime::settings::{ApprovalPolicy, ClosedTemporary, Mode, Network, SandboxPolicy};
use trace_runtime::tool::{AfterCall, ToolInput, ToolOptions, dynamic};

const ADD: &str = "*** Begin Patch\n*** Add File: made.txt\n+alpha\n+beta\n*** End Patch\n";

fn world() -> (TempDir, World) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::new(&folder.path().canonicalize().expect("a path"), ToolOptions::default());
    (folder, world)
}

fn asking(approval: ApprovalPolicy) -> (TempDir, World) {
    let (folder, mut world) = world();
    world.settings.approval = approval;
    world.settings.sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
    (folder, world)
}

fn change(item: &Item) -> (&[FileChange], WorkStatus) {
    match &item.kind {
        ItemKind::FileChange { changes, status } => (changes, *status),
        other => panic!("no change of files: {other:?}"),
    }
}

fn diffs(world: &World) -> Vec<String> {
    let events = world.events().into_iter();
    events
        .filter_map(|event| if let EventKind::DiffChanged { diff, .. } = event { Some(diff.to_string()) } else { None })
        .collect()
}

fn made(cwd: &Path) -> Option<String> {
    fs::read_to_string(cwd.join("made.txt")).ok()
}

#[tokio::test]
async fn a_patch_is_applied_in_every_form_it_comes_in() {
    let heredoc = format!("apply_patch <<'EOF'\n{ADD}EOF\n");
    let calls: [(&str, ToolInput); 5] = [
        ("apply_patch", ToolInput::Text(ADD.to_owned())),
        ("apply_patch", ToolInput::Arguments(json!({ "input": ADD }).to_string())),
        ("exec_command", ToolInput::Arguments(json!({ "cmd": heredoc }).to_string())),
        ("shell", ToolInput::Arguments(json!({ "command": ["bash", "-lc", heredoc] }).to_string())),
        ("shell", ToolInput::Arguments(json!({ "command": ["apply_patch", ADD] }).to_string())),
    ];
    for (name, input) in calls {
        let (_folder, world) = world();
        let outcome = world.call_raw(None, name, input).await;
        assert!(
            outcome.success && text(&outcome).ends_with("Success. Updated the following files:\nA made.txt\n"),
            "{outcome:?}"
        );
        assert_eq!(made(&world.settings.cwd).as_deref(), Some("alpha\nbeta\n"));
        let path = world.settings.cwd.join("made.txt");
        let expected = [FileChange { path, kind: FileChangeKind::Add, diff: "alpha\nbeta\n".to_owned() }];
        assert_eq!(change(&world.started()[0]), (&expected[..], WorkStatus::InProgress));
        assert_eq!(change(&world.completed()[0]), (&expected[..], WorkStatus::Completed));
        assert_eq!(
            diffs(&world),
            [
                "diff --git a/made.txt b/made.txt\nnew file mode 100644\n--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1,2 @@\n+alpha\n+beta\n"
            ]
        );
    }
}

#[tokio::test]
async fn a_patch_after_a_change_of_folder_starts_there() {
    let (folder, world) = world();
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    world.call("exec_command", &json!({ "cmd": format!("cd sub && apply_patch <<'EOF'\n{ADD}EOF\n") })).await;
    assert!(made(&folder.path().join("sub")).is_some());
    assert!(diffs(&world)[0].starts_with("diff --git a/sub/made.txt b/sub/made.txt\n"));
}

#[tokio::test]
async fn the_diff_grows_with_the_turn() {
    let (_folder, world) = world();
    world.call_raw(None, "apply_patch", ToolInput::Text(ADD.to_owned())).await;
    let second = "*** Begin Patch\n*** Update File: made.txt\n*** Move to: moved.txt\n@@\n alpha\n-beta\n+gamma\n*** End Patch\n";
    let outcome = world.call_raw(None, "apply_patch", ToolInput::Text(second.to_owned())).await;
    assert!(text(&outcome).ends_with("M moved.txt\n"), "{outcome:?}");
    assert_eq!(
        diffs(&world)[1],
        "diff --git a/moved.txt b/moved.txt\nnew file mode 100644\n--- /dev/null\n+++ b/moved.txt\n@@ -0,0 +1,2 @@\n+alpha\n+gamma\n"
    );
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing_and_shows_nothing() {
    let (_folder, world) = world();
    for patch in [
        "*** Begin Patch\n*** Add File: made.txt\n+x\n*** Update File: absent.txt\n@@\n-x\n+y\n*** End Patch\n",
        "*** Begin Patch\n*** Foo: n.txt\n*** End Patch\n",
    ] {
        let outcome = world.call("exec_command", &json!({ "cmd": format!("apply_patch <<'EOF'\n{patch}EOF\n") })).await;
        assert!(!outcome.success && text(&outcome).starts_with("apply_patch verification failed: "), "{outcome:?}");
    }
    assert!(world.events().is_empty() && made(&world.settings.cwd).is_none());
}

#[tokio::test]
async fn one_file_is_not_changed_by_two_paths() {
    let (folder, world) = world();
    fs::write(folder.path().join("a"), "1\n2\n").expect("writes");
    std::os::unix::fs::symlink("a", folder.path().join("b")).expect("a link");
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+x\n*** Update File: b\n@@\n-2\n+y\n*** End Patch\n";
    let outcome = world.call_raw(None, "apply_patch", ToolInput::Text(patch.to_owned())).await;
    assert!(!outcome.success && text(&outcome).contains("two paths of the patch lead to "), "{outcome:?}");
    assert_eq!(fs::read_to_string(folder.path().join("a")).expect("reads"), "1\n2\n");
}

#[tokio::test]
async fn a_patch_that_cannot_be_written_fails() {
    let (folder, world) = world();
    fs::write(folder.path().join("file"), "").expect("writes");
    let patch = "*** Begin Patch\n*** Add File: file/below\n+x\n*** End Patch\n";
    let outcome = world.call_raw(None, "apply_patch", ToolInput::Text(patch.to_owned())).await;
    assert!(!outcome.success && diffs(&world).is_empty(), "{outcome:?}");
}

#[tokio::test]
async fn people_are_asked_about_files_they_can_see() {
    for (answer, status, then) in [
        (Answer::Decision(Decision::Accept), WorkStatus::Completed, AfterCall::Continue),
        (Answer::Decision(Decision::Decline), WorkStatus::Declined, AfterCall::Continue),
        (Answer::Decision(Decision::Cancel), WorkStatus::Declined, AfterCall::Interrupt),
        (Answer::Failed { message: "no".to_owned() }, WorkStatus::Failed, AfterCall::Continue),
    ] {
        let (_folder, world) = asking(ApprovalPolicy::OnRequest);
        world.reply(Reply::Give(answer));
        let outcome = world.call_raw(None, "apply_patch", ToolInput::Text(ADD.to_owned())).await;
        assert!(matches!(&world.questions()[0], Question::FileChange { item, .. } if item.as_str() == "call_1"));
        assert_eq!(change(&world.started()[0]).0[0].diff, "alpha\nbeta\n");
        assert_eq!((change(&world.completed()[0]).1, outcome.then), (status, then));
        assert_eq!(made(&world.settings.cwd).is_some(), status == WorkStatus::Completed);
    }
}

#[tokio::test]
async fn files_that_were_accepted_are_not_asked_for_again() {
    let (_folder, world) = asking(ApprovalPolicy::OnRequest);
    world.reply(Reply::Give(Answer::Decision(Decision::AcceptForSession)));
    world.call_raw(None, "apply_patch", ToolInput::Text(ADD.to_owned())).await;
    let delete = "*** Begin Patch\n*** Delete File: made.txt\n*** End Patch\n";
    assert!(world.call_raw(None, "apply_patch", ToolInput::Text(delete.to_owned())).await.success);
    assert_eq!(world.questions().len(), 1);
}

#[tokio::test]
async fn what_is_accepted_is_a_file_and_not_a_way_to_it() {
    let (folder, mut world) = asking(ApprovalPolicy::Untrusted);
    for name in ["work", "work/sub", "other"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    world.settings.cwd = world.settings.cwd.join("work");
    let closed = ClosedTemporary { tmpdir: true, slash_tmp: true };
    world.settings.sandbox = SandboxPolicy::WorkspaceWrite { writable_roots: vec![], network: Network::Closed, closed };
    let add = ToolInput::Text(ADD.replace("made.txt", "sub/made.txt"));
    world.reply(Reply::Give(Answer::Decision(Decision::AcceptForSession)));
    assert!(world.call_raw(None, "apply_patch", add.clone()).await.success);
    fs::remove_dir_all(world.settings.cwd.join("sub")).expect("removes");
    std::os::unix::fs::symlink("../other", world.settings.cwd.join("sub")).expect("a link");
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    assert!(!world.call_raw(None, "apply_patch", add).await.success);
    let Some(Question::FileChange { reason: Some(reason), .. }) = world.questions().pop() else { panic!("a reason") };
    assert!(reason.ends_with("/other/made.txt"), "{reason}");
    assert!(made(&folder.path().join("other")).is_none());
}

#[tokio::test]
async fn the_sandbox_holds_for_patches_too() {
    let (folder, mut world) = asking(ApprovalPolicy::Never);
    let outcome = world.call_raw(None, "apply_patch", ToolInput::Text(ADD.to_owned())).await;
    assert!(!outcome.success && text(&outcome).starts_with("patch rejected: "), "{outcome:?}");
    assert!(world.events().is_empty() && made(&world.settings.cwd).is_none());
    fs::create_dir(folder.path().join("work")).expect("a folder");
    world.settings.cwd = world.settings.cwd.join("work");
    let closed = ClosedTemporary { tmpdir: true, slash_tmp: true };
    world.settings.sandbox = SandboxPolicy::WorkspaceWrite { writable_roots: vec![], network: Network::Closed, closed };
    assert!(world.call_raw(None, "apply_patch", ToolInput::Text(ADD.to_owned())).await.success);
    let outside = ADD.replace("made.txt", "../made.txt");
    assert!(!world.call_raw(None, "apply_patch", ToolInput::Text(outside)).await.success);
    std::os::unix::fs::symlink("..", world.settings.cwd.join("link")).expect("a link");
    let through = ADD.replace("made.txt", "link/made.txt");
    assert!(!world.call_raw(None, "apply_patch", ToolInput::Text(through)).await.success);
    assert!(made(folder.path()).is_none() && world.questions().is_empty());
}

#[tokio::test]
async fn a_plan_is_told() {
    let (_folder, world) = world();
    let plan = json!({ "explanation": "why", "plan": [{ "step": "a", "status": "completed" }, { "step": "b", "status": "in_progress" }] });
    assert_eq!(text(&world.call("update_plan", &plan).await), "Plan updated");
    let events = world.events();
    let EventKind::PlanChanged { explanation, steps, .. } = &events[0] else { panic!("a plan") };
    assert_eq!(explanation.as_deref(), Some("why"));
    assert_eq!(
        steps.iter().map(|step| step.status).collect::<Vec<_>>(),
        [PlanStatus::Completed, PlanStatus::InProgress]
    );
    assert!(!world.call("update_plan", &json!({ "plan": [{ "step": "a", "status": "soon" }] })).await.success);
    let long: Vec<Value> = (0..101).map(|_| json!({ "step": "a", "status": "pending" })).collect();
    assert!(!world.call("update_plan", &json!({ "plan": long })).await.success);
}

#[tokio::test]
async fn the_user_is_asked_in_plan_mode_only() {
    let (_folder, mut world) = world();
    let question = json!({ "id": "q1", "header": "Pick", "question": "Which?", "options": [{ "label": "A", "description": "a" }] });
    let arguments = json!({ "questions": [question] });
    assert!(!world.call("request_user_input", &arguments).await.success);
    world.settings.mode = Mode::Plan;
    let answers = BTreeMap::from([("q1".to_owned(), vec!["B".to_owned()])]);
    world.reply(Reply::Give(Answer::UserInput(answers)));
    assert_eq!(text(&world.call("request_user_input", &arguments).await), r#"{"answers":{"q1":{"answers":["B"]}}}"#);
    let questions = world.questions();
    assert!(
        matches!(&questions[0], Question::UserInput { item, questions, .. } if item.as_str() == "call_2" && questions[0] == question)
    );
    world.reply(Reply::Give(Answer::Failed { message: "gone".to_owned() }));
    assert_eq!(text(&world.call("request_user_input", &arguments).await), "the user was not asked: gone");
    for bad in [
        json!({ "questions": [] }),
        json!({ "questions": [question, question] }),
        json!({ "questions": [{ "id": "x" }] }),
    ] {
        assert!(!world.call("request_user_input", &bad).await.success);
    }
    assert_eq!(world.questions().len(), 2);
}

#[tokio::test]
async fn a_tool_of_the_client_is_called_there() {
    let (_folder, mut world) = world();
    let function = |name: &str| json!({ "type": "function", "name": name, "description": "d", "inputSchema": { "type": "object" } });
    world.tools = dynamic::tools(&[
        function("lookup"),
        json!({ "type": "namespace", "name": "ns", "tools": [function("lookup")] }),
    ])
    .expect("definitions");
    let content = vec![json!({ "type": "inputText", "text": "v" })];
    world.reply(Reply::Give(Answer::DynamicTool { success: true, content: content.clone() }));
    let outcome = world.call("lookup", &json!({ "key": "k" })).await;
    assert_eq!((outcome.success, &outcome.output), (true, &json!([{ "type": "input_text", "text": "v" }])));
    let questions = world.questions();
    assert!(
        matches!(&questions[0], Question::DynamicTool { tool, arguments, namespace: None, .. } if tool == "lookup" && *arguments == json!({ "key": "k" }))
    );
    let items = world.completed();
    let ItemKind::DynamicCall { status, success, content: shown, .. } = &items[0].kind else { panic!("a call") };
    assert_eq!((*status, *success, shown), (WorkStatus::Completed, Some(true), &Some(Value::Array(content))));
    world.reply(Reply::Give(Answer::DynamicTool { success: false, content: vec![] }));
    assert!(!world.call_raw(Some("ns"), "lookup", ToolInput::Arguments(String::new())).await.success);
    world.reply(Reply::Give(Answer::Failed { message: "gone".to_owned() }));
    assert!(text(&world.call("lookup", &json!({})).await).ends_with("gone"));
    world.reply(Reply::Hold);
    let call = tokio::spawn(world.call("lookup", &json!({})));
    world.until("the question", |world| world.questions().len() == 4).await;
    world.cancelled.cancel();
    assert!(!call.await.expect("it ends").success);
    assert_eq!((world.withdrawn(), world.started().len(), world.completed().len()), (1, 4, 4));
    assert!(!world.call("lookup", &json!("{")).await.success);
}

#[tokio::test]
async fn a_picture_is_shown_to_both() {
    let (folder, world) = world();
    fs::write(folder.path().join("a.gif"), b"GIF89a").expect("writes");
    let outcome = world.call("view_image", &json!({ "path": "a.gif" })).await;
    assert_eq!(outcome.output, json!([{ "type": "input_image", "image_url": "data:image/gif;base64,R0lGODlh" }]));
    assert!(
        matches!(&world.completed()[0].kind, ItemKind::ImageView { path } if *path == world.settings.cwd.join("a.gif"))
    );
    assert!(!world.call("view_image", &json!({ "path": "b.gif" })).await.success);
    assert_eq!(world.completed().len(), 1);
}

#[tokio::test]
async fn the_standard_tools_are_offered_where_they_work() {
    let (_folder, mut world) = world();
    let offered = |world: &World| -> Vec<String> {
        let specifications = world.tools.iter().filter_map(|tool| tool.specification(&world.settings));
        specifications.map(|specification| specification["name"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(offered(&world), ["exec_command", "write_stdin", "apply_patch", "update_plan", "view_image"]);
    world.settings.mode = Mode::Plan;
    assert!(offered(&world).contains(&"request_user_input".to_owned()));
    let can_escalate = |world: &World| {
        world.tools[0].specification(&world.settings).expect("offered")["parameters"]["properties"]["sandbox_permissions"]
            .is_object()
    };
    assert!(!can_escalate(&world));
    world.settings.sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
    assert!(can_escalate(&world));
}
