// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/unarchive`.
 */
export type ThreadUnarchiveParams = {
/**
 * Id of the thread.
 */
threadId: string, };
