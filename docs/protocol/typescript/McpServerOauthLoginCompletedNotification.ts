// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `mcpServer/oauthLogin/completed`.
 */
export type McpServerOauthLoginCompletedNotification = {
/**
 * Name of the MCP server.
 */
name: string,
/**
 * Whether the user has logged in.
 */
success: boolean,
/**
 * Why not.
 */
error?: string | null,
/**
 * Id of the login.
 */
loginId?: string | null,
/**
 * Id of the thread that the login named.
 */
threadId?: string | null, };
