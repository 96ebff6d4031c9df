// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `mcpServer/prompt/get`.
 */
export type McpServerPromptGetResponse = {
/**
 * Description of the prompt.
 */
description?: string | null,
/**
 * The messages of the prompt, as the MCP server sent them.
 */
messages: Array<JsonValue>,
/**
 * The texts of the prompt, for the user's next message. Parts that are no texts are named in square brackets.
 */
text: string, };
