// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `trace/unsubscribe`.
 */
export type TraceUnsubscribeParams = {
/**
 * The subscription that ends.
 */
subscriptionId: string, };
