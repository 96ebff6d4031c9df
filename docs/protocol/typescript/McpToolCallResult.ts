// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of a tool call.
 */
export type McpToolCallResult = {
/**
 * The parts of the result.
 */
content: Array<JsonValue>,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null,
/**
 * The result as JSON.
 */
structuredContent?: JsonValue | null, };
