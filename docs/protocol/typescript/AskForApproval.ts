// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * When the user is asked for approval before a command runs or a file changes.
 */
export type AskForApproval = "untrusted" | "on-request" | "never" | { "granular": {
/**
 * Whether the user is asked for the input that MCP servers request.
 */
mcp_elicitations: boolean,
/**
 * Whether the user is asked when a rule requires it.
 */
rules: boolean,
/**
 * Whether the user is asked when a command fails because of the sandbox.
 */
sandbox_approval: boolean,
/**
 * Whether the user is asked when the model requests permissions.
 */
request_permissions?: boolean | null,
/**
 * Whether the user is asked before a skill runs.
 */
skill_approval?: boolean | null, } };
