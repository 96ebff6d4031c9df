// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalStatus } from "./ThreadGoalStatus";

/**
 * The goal of a thread.
 */
export type ThreadGoal = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Creation time in Unix seconds.
 */
createdAt: number,
/**
 * The objective.
 */
objective: string,
/**
 * The status.
 */
status: ThreadGoalStatus,
/**
 * Time that was spent on it, in seconds.
 */
timeUsedSeconds: number,
/**
 * Number of tokens that were used for it.
 */
tokensUsed: number,
/**
 * Time of the last change in Unix seconds.
 */
updatedAt: number,
/**
 * Most tokens that may be used for it. `null` for no limit.
 */
tokenBudget?: number | null, };
