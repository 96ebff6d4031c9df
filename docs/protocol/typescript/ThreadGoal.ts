// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalStatus } from "./ThreadGoalStatus";

/**
 * What a thread works towards by itself.
 */
export type ThreadGoal = {
/**
 * The thread.
 */
threadId: string,
/**
 * When it was set, in Unix seconds.
 */
createdAt: number,
/**
 * What is to be reached.
 */
objective: string,
/**
 * How far it is, or what became of it.
 */
status: ThreadGoalStatus,
/**
 * How long it was worked on, in seconds.
 */
timeUsedSeconds: number,
/**
 * How many tokens were used for it.
 */
tokensUsed: number,
/**
 * When it last changed, in Unix seconds.
 */
updatedAt: number,
/**
 * How many tokens may be used for it; `null` for any number.
 */
tokenBudget?: number | null, };
