// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/goal/clear`.
 */
export type ThreadGoalClearResponse = {
/**
 * Whether there was a goal.
 */
cleared: boolean, };
