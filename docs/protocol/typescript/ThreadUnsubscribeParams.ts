// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeParams = {
/**
 * Id of the thread.
 */
threadId: string, };
