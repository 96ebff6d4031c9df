//! Asks the user for an approval.

use crate::host::{Answer, Decision, Question};
use crate::item::WorkStatus;
use crate::tool::{AfterCall, ToolContext};

/// What the user agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approved {
    /// This call only.
    Once,
    /// All equal calls in this thread.
    ForSession,
    /// All commands that begin with these words.
    Prefix(Vec<String>),
}

/// The user did not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotApproved {
    /// Final status of the item.
    pub(crate) status: WorkStatus,
    /// Message for the model.
    pub(crate) why: String,
    /// Whether the turn continues.
    pub(crate) then: AfterCall,
}

/// Asks the user. Withdraws the question if the turn is interrupted.
pub(crate) async fn ask(context: &ToolContext, question: Question) -> Result<Approved, NotApproved> {
    let refused = |status, why: &str, then| Err(NotApproved { status, why: why.to_owned(), then });
    let answer = tokio::select! {
        biased;
        () = context.cancelled.cancelled() => return refused(WorkStatus::Interrupted, "aborted by the user", AfterCall::Continue),
        answer = context.agent.ask(question) => answer,
    };
    match answer {
        Answer::Decision(Decision::Accept) => Ok(Approved::Once),
        Answer::Decision(Decision::AcceptForSession) => Ok(Approved::ForSession),
        Answer::Decision(Decision::AcceptPrefix(words)) => Ok(Approved::Prefix(words)),
        Answer::Decision(Decision::Decline) => refused(WorkStatus::Declined, "rejected by user", AfterCall::Continue),
        Answer::Decision(Decision::Cancel) => refused(WorkStatus::Declined, "rejected by user", AfterCall::Interrupt),
        Answer::Failed { message } => {
            refused(WorkStatus::Failed, &format!("not run: nobody could be asked ({message})"), AfterCall::Continue)
        }
        Answer::UserInput(_) | Answer::DynamicTool { .. } | Answer::Elicitation { .. } => {
            refused(WorkStatus::Failed, "not run: the answer to the question made no sense", AfterCall::Continue)
        }
    }
}
