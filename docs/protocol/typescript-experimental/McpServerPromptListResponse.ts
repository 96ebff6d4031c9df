// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpPrompt } from "./McpPrompt";

/**
 * Result of `mcpServer/prompt/list`.
 */
export type McpServerPromptListResponse = {
/**
 * The prompts.
 */
data: Array<McpPrompt>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
