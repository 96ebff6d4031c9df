// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why new tokens are requested.
 */
export type ChatgptAuthTokensRefreshReason = "unauthorized";
