// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `trace/unsubscribe`.
 */
export type TraceUnsubscribeParams = {
/**
 * Id of the subscription to end.
 */
subscriptionId: string, };
