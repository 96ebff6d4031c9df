// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpAppUi } from "./McpAppUi";
import type { McpToolCallAppContext } from "./McpToolCallAppContext";
import type { McpToolCallError } from "./McpToolCallError";
import type { McpToolCallResult } from "./McpToolCallResult";
import type { McpToolCallStatus } from "./McpToolCallStatus";

/**
 * A call of a tool of an MCP server.
 */
export type McpToolCallItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * Name of the MCP server.
 */
server: string,
/**
 * The status.
 */
status: McpToolCallStatus,
/**
 * Name of the tool.
 */
tool: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * The application that the tool belongs to.
 */
appContext?: McpToolCallAppContext | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Duration in milliseconds.
 */
durationMs?: number | null,
/**
 * The error. `null` if there was none.
 */
error?: McpToolCallError | null,
/**
 * URI of the user interface of the tool's application.
 */
mcpAppResourceUri?: string | null,
/**
 * The user interface of the tool's application.
 */
mcpAppUi?: McpAppUi | null,
/**
 * Id of the plugin that it belongs to.
 */
pluginId?: string | null,
/**
 * Whether the tool declares that it changes nothing.
 */
readOnlyHint?: boolean | null,
/**
 * The result. `null` if there is none.
 */
result?: McpToolCallResult | null, };
