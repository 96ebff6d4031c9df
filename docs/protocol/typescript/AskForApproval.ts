// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * When the user is asked before a command runs or a file changes.
 */
export type AskForApproval = "untrusted" | "on-request" | "never" | { "granular": {
/**
 * Whether the user is asked what tool servers want to know.
 */
mcp_elicitations: boolean,
/**
 * Whether the user is asked where a rule says so.
 */
rules: boolean,
/**
 * Whether the user is asked when the sandbox is in the way.
 */
sandbox_approval: boolean,
/**
 * Whether the user is asked for permissions.
 */
request_permissions?: boolean | null,
/**
 * Whether the user is asked before a skill runs.
 */
skill_approval?: boolean | null, } };
