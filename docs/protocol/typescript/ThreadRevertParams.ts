// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/revert`.
 */
export type ThreadRevertParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The first turn that is dropped.
 */
beforeTurnId: string, };
