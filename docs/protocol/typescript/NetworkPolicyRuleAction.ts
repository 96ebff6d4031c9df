// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a rule about a host does.
 */
export type NetworkPolicyRuleAction = "allow" | "deny";
