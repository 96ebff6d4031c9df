// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/compact/start`.
 */
export type ThreadCompactStartParams = {
/**
 * Id of the thread.
 */
threadId: string, };
