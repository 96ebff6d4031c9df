// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStatus } from "./McpServerStatus";

/**
 * Result of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<McpServerStatus>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
