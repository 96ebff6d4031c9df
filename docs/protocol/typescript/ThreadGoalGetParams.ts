// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/goal/get`.
 */
export type ThreadGoalGetParams = {
/**
 * The thread.
 */
threadId: string, };
