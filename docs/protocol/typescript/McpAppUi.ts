// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpAppDisplayMode } from "./McpAppDisplayMode";

/**
 * The surface of a tool's application.
 */
export type McpAppUi = {
/**
 * How the model would like it shown.
 */
preferredModelDisplayMode: McpAppDisplayMode,
/**
 * Where the surface is.
 */
resourceUri: string, };
