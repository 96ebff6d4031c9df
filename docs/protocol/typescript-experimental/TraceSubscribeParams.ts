// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `trace/subscribe`.
 */
export type TraceSubscribeParams = {
/**
 * Id of a thread whose trace is being recorded.
 */
threadId: string, };
