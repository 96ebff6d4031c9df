// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether a tool server knows the user.
 */
export type McpAuthStatus = "unknown" | "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth";
