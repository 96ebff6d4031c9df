// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStartupFailureReason } from "./McpServerStartupFailureReason";
import type { McpServerStartupState } from "./McpServerStartupState";

/**
 * Params of the notification `mcpServer/startupStatus/updated`.
 */
export type McpServerStatusUpdatedNotification = {
/**
 * Name of the MCP server.
 */
name: string,
/**
 * The status.
 */
status: McpServerStartupState,
/**
 * Id of the thread.
 */
threadId?: string | null,
/**
 * The error. `null` if there was none.
 */
error?: string | null,
/**
 * What the user can do about the error.
 */
failureReason?: McpServerStartupFailureReason | null, };
