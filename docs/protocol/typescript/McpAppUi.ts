// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpAppDisplayMode } from "./McpAppDisplayMode";

/**
 * The user interface of a tool's application.
 */
export type McpAppUi = {
/**
 * Display mode that the model prefers.
 */
preferredModelDisplayMode: McpAppDisplayMode,
/**
 * URI of the user interface.
 */
resourceUri: string, };
