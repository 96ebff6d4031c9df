// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `account/read`.
 */
export type GetAccountParams = {
/**
 * Whether tokens are refreshed first.
 */
refreshToken?: boolean | null, };
