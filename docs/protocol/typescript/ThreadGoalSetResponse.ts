// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoal } from "./ThreadGoal";

/**
 * Result of `thread/goal/set`.
 */
export type ThreadGoalSetResponse = {
/**
 * The goal.
 */
goal: ThreadGoal, };
