// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why new tokens are asked for.
 */
export type ChatgptAuthTokensRefreshReason = "unauthorized";
