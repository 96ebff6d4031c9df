// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `account/logout`.
 */
export type LogoutAccountResponse = Record<symbol, never>;
