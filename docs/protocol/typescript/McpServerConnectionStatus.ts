// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of the connection to an MCP server.
 */
export type McpServerConnectionStatus = "notStarted" | "starting" | "connected" | "authenticationRequired" | "failed" | "cancelled" | "disabled";
