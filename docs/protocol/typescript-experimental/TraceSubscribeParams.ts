// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `trace/subscribe`.
 */
export type TraceSubscribeParams = {
/**
 * A thread of a live trace.
 */
threadId: string, };
