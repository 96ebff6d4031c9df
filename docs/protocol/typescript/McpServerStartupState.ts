// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far the start of a tool server is.
 */
export type McpServerStartupState = "starting" | "ready" | "failed" | "cancelled";
