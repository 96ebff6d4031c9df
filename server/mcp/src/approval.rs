//! Decides whether a tool call is made, needs an approval, or is refused.

use rmcp::model::ToolAnnotations;
use trace_runtime::settings::{ApprovalPolicy, SandboxPolicy};

use crate::config::Approval;

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call is made.
    Call,
    /// The user is asked for an approval.
    Ask,
    /// The call is refused without a question.
    Refuse,
}

/// The output of a refused call, for the model.
pub(crate) const REFUSED: &str =
    "this call needs somebody's approval, and nobody may be asked (approval policy `never`)";

/// Decides about a call.
pub(crate) fn judge(
    mode: Approval,
    annotations: Option<&ToolAnnotations>,
    policy: ApprovalPolicy,
    sandbox: &SandboxPolicy,
) -> Verdict {
    let is_asked = match mode {
        Approval::Approve => false,
        Approval::Prompt => true,
        Approval::Writes => !is_read_only(annotations),
        Approval::Auto => may_do_harm(annotations),
    };
    let is_free = matches!(sandbox, SandboxPolicy::FullAccess | SandboxPolicy::External { .. });
    match (is_asked, policy) {
        (false, _) => Verdict::Call,
        (true, ApprovalPolicy::Untrusted | ApprovalPolicy::OnRequest) => Verdict::Ask,
        // A user who allows every command without questions also allows every tool.
        (true, ApprovalPolicy::Never) if is_free => Verdict::Call,
        (true, ApprovalPolicy::Never) => Verdict::Refuse,
    }
}

fn is_read_only(annotations: Option<&ToolAnnotations>) -> bool {
    annotations.is_some_and(|hints| hints.read_only_hint == Some(true))
}

/// Returns whether a tool may destroy something or reach the outside world. If the server sends no annotation, the
/// protocol says that the tool may.
fn may_do_harm(annotations: Option<&ToolAnnotations>) -> bool {
    let Some(hints) = annotations else { return true };
    match hints.destructive_hint {
        Some(true) => true,
        _ if is_read_only(annotations) => false,
        destructive => destructive.unwrap_or(true) || hints.open_world_hint.unwrap_or(true),
    }
}

#[cfg(test)]
mod tests {
    use trace_runtime::settings::Network;

    use super::*;

    const POLICIES: [ApprovalPolicy; 3] = [ApprovalPolicy::Untrusted, ApprovalPolicy::OnRequest, ApprovalPolicy::Never];

    fn hints(read_only: Option<bool>, destructive: Option<bool>, open_world: Option<bool>) -> ToolAnnotations {
        ToolAnnotations::from_raw(None, read_only, destructive, None, open_world)
    }

    #[test]
    fn hints_decide_whether_a_person_is_asked() {
        let (yes, no) = (Some(true), Some(false));
        let sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
        for (hints, auto, writes) in [
            (None, true, true),
            (Some(hints(None, None, None)), true, true),
            (Some(hints(yes, None, None)), false, false),
            (Some(hints(yes, yes, None)), true, false),
            (Some(hints(no, no, no)), false, true),
            (Some(hints(None, no, no)), false, true),
            (Some(hints(no, no, None)), true, true),
            (Some(hints(no, no, yes)), true, true),
            (Some(hints(no, None, no)), true, true),
            (Some(hints(no, yes, no)), true, true),
        ] {
            let judged = |mode| judge(mode, hints.as_ref(), ApprovalPolicy::OnRequest, &sandbox) == Verdict::Ask;
            assert_eq!((judged(Approval::Auto), judged(Approval::Writes)), (auto, writes), "{hints:?}");
            assert!(judged(Approval::Prompt) && !judged(Approval::Approve));
        }
    }

    #[test]
    fn policies_decide_who_is_asked() {
        let sandboxes = [SandboxPolicy::ReadOnly { network: Network::Open }, SandboxPolicy::FullAccess];
        let judged: Vec<_> = sandboxes
            .iter()
            .flat_map(|sandbox| POLICIES.map(|policy| judge(Approval::Prompt, None, policy, sandbox)))
            .collect();
        use Verdict::{Ask, Call, Refuse};
        assert_eq!(judged, [Ask, Ask, Refuse, Ask, Ask, Call]);
        for policy in POLICIES {
            assert_eq!(judge(Approval::Approve, None, policy, &sandboxes[0]), Call);
        }
    }
}
