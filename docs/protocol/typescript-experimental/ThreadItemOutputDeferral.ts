// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Items of which large outputs are left out of a page.
 */
export type ThreadItemOutputDeferral = {
/**
 * Whether outputs of commands are left out.
 */
commandExecution?: boolean | null,
/**
 * Whether outputs of MCP tool calls are left out.
 */
mcpToolCall?: boolean | null, };
