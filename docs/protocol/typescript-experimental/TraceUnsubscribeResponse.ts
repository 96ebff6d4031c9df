// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `trace/unsubscribe`.
 */
export type TraceUnsubscribeResponse = Record<symbol, never>;
