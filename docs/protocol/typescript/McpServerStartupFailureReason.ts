// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why an MCP server did not start, if the user can do something about it.
 */
export type McpServerStartupFailureReason = "reauthenticationRequired";
