// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `config/mcpServer/reload`.
 */
export type McpServerRefreshResponse = Record<symbol, never>;
