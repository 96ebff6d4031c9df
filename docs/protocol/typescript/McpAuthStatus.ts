// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Authentication status of the user at an MCP server.
 */
export type McpAuthStatus = "unknown" | "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth";
