// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/goal/get`.
 */
export type ThreadGoalGetParams = {
/**
 * Id of the thread.
 */
threadId: string, };
