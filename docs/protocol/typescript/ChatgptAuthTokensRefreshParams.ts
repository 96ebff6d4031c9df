// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ChatgptAuthTokensRefreshReason } from "./ChatgptAuthTokensRefreshReason";

/**
 * Params of the request to the client `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshParams = {
/**
 * Why the tokens have to be refreshed.
 */
reason: ChatgptAuthTokensRefreshReason,
/**
 * The account that was used before.
 */
previousAccountId?: string | null, };
