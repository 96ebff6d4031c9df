// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/archive`.
 */
export type ThreadArchiveParams = {
/**
 * Id of the thread.
 */
threadId: string, };
