//! The eight questions about recorded sessions. Each is a function from the arguments of a call to the result of the call; what it
//! says comes from `trace-explain` and `trace-query`.

mod asked;
mod audit;
mod context;
mod filling;
mod grep;
mod overview;
mod postmortem;
mod query;
mod row;
mod sessions;
mod why;

use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

pub(crate) use self::asked::Asked;
pub use self::grep::MAX_SECONDS as MAX_GREP_SECONDS;
pub use self::query::{MAX_QUERY_ROWS, MAX_QUERY_SESSIONS};
use crate::arguments::Arguments;
use crate::problem::Problem;

/// Answers a call of a question. `known` are the properties of the tool's schema. The permit is
/// given back when the work has ended.
pub(crate) async fn answer(
    asked: Asked,
    tool: String,
    given: Map<String, Value>,
    known: &'static Map<String, Value>,
    permit: OwnedSemaphorePermit,
) -> Result<Value, Problem> {
    if tool == "query" {
        return query::answer(&asked, Arguments::new(&tool, &given, known)?).await;
    }
    // Answers read files and use all cores, so they run beside the tasks that read and write messages.
    let work = move || {
        // A question that is cancelled runs to its end, and counts until then.
        let _permit = permit;
        let arguments = Arguments::new(&tool, &given, known)?;
        match tool.as_str() {
            "sessions" => sessions::answer(&asked, arguments),
            "overview" => overview::answer(&asked, arguments),
            "postmortem" => postmortem::answer(&asked, arguments),
            "audit" => audit::answer(&asked, arguments),
            "why" => why::answer(&asked, arguments),
            "grep" => grep::answer(&asked, arguments),
            "context" => context::answer(&asked, arguments),
            _ => Err(Problem::new(format!("there is no tool {}", trace_text::quoted(&tool, 60)))),
        }
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(Problem::new("an internal error: this is a bug in trace; stderr has more")))
}
