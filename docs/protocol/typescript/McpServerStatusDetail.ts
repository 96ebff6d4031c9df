// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How much is told of a tool server.
 */
export type McpServerStatusDetail = "full" | "toolsAndAuthOnly";
