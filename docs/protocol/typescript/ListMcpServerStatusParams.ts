// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStatusDetail } from "./McpServerStatusDetail";

/**
 * Params of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusParams = {
/**
 * The thread.
 */
threadId?: string | null,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * How much is told; everything if nothing is said.
 */
detail?: McpServerStatusDetail | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * The tool server.
 */
serverName?: string | null, };
