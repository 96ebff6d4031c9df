// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `mcpServer/prompt/list`.
 */
export type McpServerPromptListParams = {
/**
 * Id of a loaded thread.
 */
threadId: string,
/**
 * Name of the MCP server. If absent, the prompts of all MCP servers of the thread.
 */
server?: string | null,
/**
 * Cursor of the previous page (its `nextCursor`).
 */
cursor?: string | null,
/**
 * Most entries of a page.
 */
limit?: number | null, };
