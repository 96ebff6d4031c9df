// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpResourceReadTarget } from "./McpResourceReadTarget";

/**
 * Params of `mcpServer/resource/read`.
 */
export type McpResourceReadParams = {
/**
 * Name of the MCP server.
 */
server: string,
/**
 * Address of the resource.
 */
uri: string,
/**
 * Id of a loaded thread that has the MCP server. Without it, the MCP server is started for this request.
 */
threadId?: string | null,
/**
 * Metadata for the MCP server.
 */
_meta?: { [key in string]: JsonValue } | null,
/**
 * Ignored.
 */
connectorId?: string | null,
/**
 * Ignored.
 */
originCallId?: string | null,
/**
 * Ignored.
 */
target?: McpResourceReadTarget | null, };
