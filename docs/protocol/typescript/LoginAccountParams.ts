// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { LoginAppBrand } from "./LoginAppBrand";
import type { SecretText } from "./SecretText";

/**
 * Params of `account/login/start`.
 */
export type LoginAccountParams = { "type": "apiKey",
/**
 * The key.
 */
apiKey: SecretText, } | { "type": "chatgpt",
/**
 * The product whose name the page shows.
 */
appBrand?: LoginAppBrand | null,
/**
 * Whether the page is the short one.
 */
codexStreamlinedLogin?: boolean | null,
/**
 * Whether the page at the end is a hosted one.
 */
useHostedLoginSuccessPage?: boolean | null, } | { "type": "chatgptDeviceCode" } | { "type": "chatgptAuthTokens",
/**
 * The token.
 */
accessToken: SecretText,
/**
 * The account that it belongs to.
 */
chatgptAccountId: string,
/**
 * The kind of subscription.
 */
chatgptPlanType?: string | null, } | { "type": "amazonBedrock",
/**
 * The key.
 */
apiKey: SecretText,
/**
 * The region.
 */
region: string, } | { "type": "amazonBedrockAccessKeys",
/**
 * Id of the key.
 */
accessKeyId: string,
/**
 * The region.
 */
region: string,
/**
 * The key.
 */
secretAccessKey: SecretText,
/**
 * The token of a session.
 */
sessionToken?: SecretText | null, };
