// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerStartupFailureReason } from "./McpServerStartupFailureReason";
import type { McpServerStartupState } from "./McpServerStartupState";

/**
 * Params of the notification `mcpServer/startupStatus/updated`.
 */
export type McpServerStatusUpdatedNotification = {
/**
 * The name.
 */
name: string,
/**
 * How far it is, or what became of it.
 */
status: McpServerStartupState,
/**
 * The thread.
 */
threadId?: string | null,
/**
 * What went wrong; `null` if nothing did.
 */
error?: string | null,
/**
 * What can be done about it.
 */
failureReason?: McpServerStartupFailureReason | null, };
