// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * Decision about an older approval request.
 */
export type ReviewDecision = "approved" | { "approved_execpolicy_amendment": {
/**
 * First words of the commands that the rule allows.
 */
proposed_execpolicy_amendment: Array<string>, } } | "approved_for_session" | "approved_mcp_policy_amendment" | { "network_policy_amendment": {
/**
 * The rule.
 */
network_policy_amendment: NetworkPolicyAmendment, } } | { "denied": {
/**
 * Reason of the user.
 */
rejection: string, } } | "timed_out" | "abort";
