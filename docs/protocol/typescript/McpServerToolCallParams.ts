// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of `mcpServer/tool/call`.
 */
export type McpServerToolCallParams = {
/**
 * Name of the MCP server.
 */
server: string,
/**
 * Id of a loaded thread that has the MCP server.
 */
threadId: string,
/**
 * Name of the tool at the MCP server.
 */
tool: string,
/**
 * Arguments of the call.
 */
arguments?: JsonValue | null,
/**
 * Metadata for the MCP server.
 */
_meta?: JsonValue | null, };
