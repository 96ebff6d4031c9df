//! What an agent is doing, in a few words, for `notifications/progress`.

use trace_protocol::ServerNotification;
use trace_protocol::item::ThreadItem;
use trace_text::Usage;

/// Most columns of a title.
const COLUMNS: usize = 120;

/// Returns the title of an item that began, or of one that is told only when it is whole.
pub(super) fn of(told: &ServerNotification) -> Option<String> {
    match told {
        ServerNotification::ItemStarted(started) => begun(&started.item),
        ServerNotification::ItemCompleted(completed) => whole(&completed.item),
        ServerNotification::Error(error) if error.will_retry => Some(prose(&error.error.message)),
        _ => None,
    }
}

fn begun(item: &ThreadItem) -> Option<String> {
    Some(match item {
        ThreadItem::CommandExecution(item) => {
            format!("running {}", trace_text::preview(&item.command, Usage::Command, COLUMNS))
        }
        ThreadItem::FileChange(item) => {
            let paths: Vec<&str> = item.changes.iter().map(|change| change.path.as_str()).collect();
            format!("changing {}", trace_text::preview(&paths.join(", "), Usage::Command, COLUMNS))
        }
        ThreadItem::McpToolCall(item) => format!("calling {}", prose(&format!("{}.{}", item.server, item.tool))),
        ThreadItem::WebSearch(item) => format!("searching the web for {}", prose(&item.query)),
        ThreadItem::ContextCompaction(_) => "compacting the history".to_owned(),
        _ => return None,
    })
}

fn whole(item: &ThreadItem) -> Option<String> {
    Some(match item {
        ThreadItem::AgentMessage(item) => prose(&item.text),
        ThreadItem::SubAgentActivity(item) => {
            format!("agent {} {}", prose(&item.agent_path), format!("{:?}", item.kind).to_lowercase())
        }
        _ => return None,
    })
}

fn prose(text: &str) -> String {
    trace_text::preview(text, Usage::Prose, COLUMNS)
}
