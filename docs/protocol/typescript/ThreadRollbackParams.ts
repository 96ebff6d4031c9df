// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/rollback`, which older clients call for what is `thread/revert` now.
 */
export type ThreadRollbackParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * How many of its last turns are dropped; at least one.
 */
numTurns: number, };
