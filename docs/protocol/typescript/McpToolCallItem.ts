// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpAppUi } from "./McpAppUi";
import type { McpToolCallAppContext } from "./McpToolCallAppContext";
import type { McpToolCallError } from "./McpToolCallError";
import type { McpToolCallResult } from "./McpToolCallResult";
import type { McpToolCallStatus } from "./McpToolCallStatus";

/**
 * A call of a tool on a tool server.
 */
export type McpToolCallItem = {
/**
 * The id.
 */
id: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * The tool server.
 */
server: string,
/**
 * How far it is, or what became of it.
 */
status: McpToolCallStatus,
/**
 * The tool.
 */
tool: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * The application that the tool belongs to.
 */
appContext?: McpToolCallAppContext | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * How long it took, in milliseconds.
 */
durationMs?: number | null,
/**
 * What went wrong; `null` if nothing did.
 */
error?: McpToolCallError | null,
/**
 * The surface of the tool's application.
 */
mcpAppResourceUri?: string | null,
/**
 * How that surface is shown.
 */
mcpAppUi?: McpAppUi | null,
/**
 * The plugin that it comes with.
 */
pluginId?: string | null,
/**
 * Whether the tool says of itself that it changes nothing.
 */
readOnlyHint?: boolean | null,
/**
 * What the tool answered; `null` unless it did.
 */
result?: McpToolCallResult | null, };
