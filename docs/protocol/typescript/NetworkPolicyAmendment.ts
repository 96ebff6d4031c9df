// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkPolicyRuleAction } from "./NetworkPolicyRuleAction";

/**
 * A rule about a host.
 */
export type NetworkPolicyAmendment = {
/**
 * The effect of the rule.
 */
action: NetworkPolicyRuleAction,
/**
 * The host.
 */
host: string, };
