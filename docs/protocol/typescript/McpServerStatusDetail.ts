// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How much is returned for an MCP server.
 */
export type McpServerStatusDetail = "full" | "toolsAndAuthOnly";
