// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * The answer to an older approval request.
 */
export type ReviewDecision = "approved" | { "approved_execpolicy_amendment": {
/**
 * The words that a command begins with.
 */
proposed_execpolicy_amendment: Array<string>, } } | "approved_for_session" | "approved_mcp_policy_amendment" | { "network_policy_amendment": {
/**
 * The rule about the host.
 */
network_policy_amendment: NetworkPolicyAmendment, } } | { "denied": {
/**
 * Why not.
 */
rejection: string, } } | "timed_out" | "abort";
