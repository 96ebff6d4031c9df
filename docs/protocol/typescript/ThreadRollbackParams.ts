// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/rollback`, the predecessor of `thread/revert` that older clients call.
 */
export type ThreadRollbackParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Number of turns to drop from the end; at least one.
 */
numTurns: number, };
