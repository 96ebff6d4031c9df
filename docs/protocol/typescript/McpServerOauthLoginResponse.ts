// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginResponse = {
/**
 * The address that the user has to open.
 */
authorizationUrl: string,
/**
 * Id of the login, which the notification of the end has as well.
 */
loginId?: string | null,
/**
 * With `device`: the code that the user types. An addition of this server.
 */
userCode?: string | null,
/**
 * With `device`: the address at which the user types it. An addition of this server.
 */
verificationUrl?: string | null, };
