// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The effect of a rule about a host.
 */
export type NetworkPolicyRuleAction = "allow" | "deny";
