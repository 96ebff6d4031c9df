// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpServerElicitationAction } from "./McpServerElicitationAction";

/**
 * Response to `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestResponse = {
/**
 * What the user did.
 */
action: McpServerElicitationAction,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null,
/**
 * The data that the user entered.
 */
content?: JsonValue | null, };
