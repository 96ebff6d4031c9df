// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/unarchive`.
 */
export type ThreadUnarchiveParams = {
/**
 * The thread.
 */
threadId: string, };
