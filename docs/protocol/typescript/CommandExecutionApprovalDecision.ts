// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * The answer to a request to run a command.
 */
export type CommandExecutionApprovalDecision = "accept" | "acceptForSession" | { "acceptWithExecpolicyAmendment": {
/**
 * The words that a command begins with.
 */
execpolicy_amendment: Array<string>, } } | { "applyNetworkPolicyAmendment": {
/**
 * The rule about the host.
 */
network_policy_amendment: NetworkPolicyAmendment, } } | "decline" | "cancel";
