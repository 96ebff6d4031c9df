// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/revert`.
 */
export type ThreadRevertParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the first turn that is dropped.
 */
beforeTurnId: string, };
