// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The app and account of a hosted resource. This server has none.
 */
export type McpResourceReadTarget = {
/**
 * Id of the app.
 */
connectorId: string,
/**
 * Id of the account.
 */
linkId: string | null, };
