// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoal } from "./ThreadGoal";

/**
 * Result of `thread/goal/get`.
 */
export type ThreadGoalGetResponse = {
/**
 * The goal. `null` if there is none.
 */
goal?: ThreadGoal | null, };
