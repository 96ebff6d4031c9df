// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SecretText } from "./SecretText";

/**
 * Response to `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshResponse = {
/**
 * The new token.
 */
accessToken: SecretText,
/**
 * The id of the account.
 */
chatgptAccountId: string,
/**
 * The kind of subscription.
 */
chatgptPlanType?: string | null, };
