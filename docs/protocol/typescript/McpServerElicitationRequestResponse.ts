// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpServerElicitationAction } from "./McpServerElicitationAction";

/**
 * Answer to `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestResponse = {
/**
 * What the user did.
 */
action: McpServerElicitationAction,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null,
/**
 * What the user filled in.
 */
content?: JsonValue | null, };
