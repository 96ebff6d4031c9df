// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of the start of an MCP server.
 */
export type McpServerStartupState = "starting" | "ready" | "failed" | "cancelled";
