// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStatusDetail } from "./McpServerStatusDetail";

/**
 * Params of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusParams = {
/**
 * Id of the thread.
 */
threadId?: string | null,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * How much is returned for each server. Everything if absent.
 */
detail?: McpServerStatusDetail | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Name of the MCP server.
 */
serverName?: string | null, };
