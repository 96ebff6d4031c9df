// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStatus } from "./McpServerStatus";

/**
 * Result of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusResponse = {
/**
 * The requested entries.
 */
data: Array<McpServerStatus>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
