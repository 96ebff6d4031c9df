// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `mcpServer/tool/call`, as the MCP server sent it.
 */
export type McpServerToolCallResponse = {
/**
 * The parts of the result.
 */
content: Array<JsonValue>,
/**
 * Whether the tool reports an error.
 */
isError?: boolean | null,
/**
 * The result as data.
 */
structuredContent?: JsonValue | null,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, };
