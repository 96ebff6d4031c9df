// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Response to `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshResponse = {
/**
 * The new token.
 */
accessToken: string,
/**
 * The id of the account.
 */
chatgptAccountId: string,
/**
 * The kind of subscription.
 */
chatgptPlanType?: string | null, };
