// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * Decision about a command.
 */
export type CommandExecutionApprovalDecision = "accept" | "acceptForSession" | { "acceptWithExecpolicyAmendment": {
/**
 * First words of the commands that the rule allows.
 */
execpolicy_amendment: Array<string>, } } | { "applyNetworkPolicyAmendment": {
/**
 * The rule.
 */
network_policy_amendment: NetworkPolicyAmendment, } } | "decline" | "cancel";
