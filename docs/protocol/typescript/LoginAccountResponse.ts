// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `account/login/start`.
 */
export type LoginAccountResponse = { "type": "apiKey", } | { "type": "chatgpt",
/**
 * The URL.
 */
authUrl: string,
/**
 * Id of the login.
 */
loginId: string, } | { "type": "chatgptDeviceCode",
/**
 * Id of the login.
 */
loginId: string,
/**
 * The code.
 */
userCode: string,
/**
 * The URL.
 */
verificationUrl: string, } | { "type": "chatgptAuthTokens", } | { "type": "amazonBedrock", };
