//! Patches of files.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::tools::{Call, Form};
use super::{Agent, Session};

/// A patch of one file.
#[derive(Debug, Clone)]
pub struct Patch {
    file: String,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Add(String),
    Update(Vec<String>),
    Delete(String),
}

impl Patch {
    /// Adds a file. A relative path is taken relative to the working directory of the session.
    pub fn add(file: &str, content: &str) -> Self {
        Self { file: file.to_owned(), change: Change::Add(content.to_owned()) }
    }

    /// Changes a file. Each line begins with `+`, `-` or a space, as in a diff.
    pub fn update(file: &str, lines: &[String]) -> Self {
        Self { file: file.to_owned(), change: Change::Update(lines.to_vec()) }
    }

    /// Deletes a file with this content.
    pub fn delete(file: &str, content: &str) -> Self {
        Self { file: file.to_owned(), change: Change::Delete(content.to_owned()) }
    }

    /// Returns the patch as the model writes it.
    pub fn text(&self) -> String {
        let file = &self.file;
        let body = match &self.change {
            Change::Add(content) => {
                let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
                format!("*** Add File: {file}\n{added}")
            }
            Change::Update(lines) => format!("*** Update File: {file}\n@@\n{}\n", lines.join("\n")),
            Change::Delete(_) => format!("*** Delete File: {file}\n"),
        };
        format!("*** Begin Patch\n{body}*** End Patch\n")
    }

    /// Returns the changes that the runtime reports.
    fn changes(&self, cwd: &str) -> Value {
        let change = match &self.change {
            Change::Add(content) => json!({ "type": "add", "content": content }),
            Change::Update(lines) => {
                let count = |but: char| lines.iter().filter(|line| !line.starts_with(but)).count();
                let head = format!("@@ -1,{} +1,{} @@", count('+'), count('-'));
                json!({ "type": "update", "unified_diff": format!("{head}\n{}\n", lines.join("\n")), "move_path": null })
            }
            Change::Delete(content) => json!({ "type": "delete", "content": content }),
        };
        let mut changes = json!({});
        let path = if self.file.starts_with('/') { self.file.clone() } else { format!("{cwd}/{}", self.file) };
        changes[path] = change;
        changes
    }

    fn letter(&self) -> char {
        match self.change {
            Change::Add(_) => 'A',
            Change::Update(_) => 'M',
            Change::Delete(_) => 'D',
        }
    }
}

/// Whether a patch is approved automatically or needs the approval of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approval {
    Automatic,
    ByUser,
}

/// # Errors
///
/// Every method returns an I/O error when something cannot be written.
impl Session {
    /// Records that the agent's model adds a file with a patch. Returns the id of the call.
    pub fn patch(&mut self, agent: Agent, file: &str, content: &str) -> io::Result<String> {
        self.apply(agent, &Patch::add(file, content))
    }

    /// Records that the agent's model makes a patch, which applies. Returns the id of the call.
    pub fn apply(&mut self, agent: Agent, patch: &Patch) -> io::Result<String> {
        let (call, changes) = self.begin_patch(agent, patch, Approval::Automatic)?;
        let done = format!("Success. Updated the following files:\n{} {}\n", patch.letter(), patch.file);
        let report = json!({
            "call_id": call.id,
            "turn_id": self.turn_id(agent),
            "stdout": done,
            "stderr": "",
            "success": true,
            "changes": changes,
            "status": "completed",
        });
        self.end_runtime(agent, &call, ExecutionStatus::Completed, &report)?;
        let output = json!(format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}"));
        self.answer_call(agent, &call, ExecutionStatus::Completed, &output)?;
        self.accept_answer(agent, &call, &output)?;
        Ok(call.id)
    }

    /// Records that the agent's model adds a file with a patch and the user declines it. Returns the id of the call.
    pub fn decline_patch(&mut self, agent: Agent, file: &str, content: &str) -> io::Result<String> {
        let (call, changes) = self.begin_patch(agent, &Patch::add(file, content), Approval::ByUser)?;
        self.advance(5_200);
        let report = json!({
            "call_id": call.id,
            "turn_id": self.turn_id(agent),
            "stdout": "",
            "stderr": "patch rejected by user",
            "success": false,
            "changes": changes,
            "status": "declined",
        });
        self.end_runtime(agent, &call, ExecutionStatus::Cancelled, &report)?;
        self.refuse_call(agent, &call, "patch rejected by user")
    }

    /// Records a response with a patch and the start of the patch. Returns the call and the changes of the patch.
    fn begin_patch(&mut self, agent: Agent, patch: &Patch, approval: Approval) -> io::Result<(Call, Value)> {
        let mut call = self.call("apply_patch", None, ToolKind::ApplyPatch, &Value::Null);
        call.form = Form::Custom;
        call.arguments = patch.text();
        self.ask_for(agent, &call)?;
        let changes = patch.changes(&self.setup.cwd);
        let report = json!({
            "call_id": call.id,
            "turn_id": self.turn_id(agent),
            "auto_approved": approval == Approval::Automatic,
            "changes": changes,
        });
        self.advance(2);
        self.start_runtime(agent, &call, &report)?;
        self.advance(6);
        Ok((call, changes))
    }
}
