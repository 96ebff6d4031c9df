// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoal } from "./ThreadGoal";

/**
 * Params of the notification `thread/goal/updated`.
 */
export type ThreadGoalUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The goal.
 */
goal: ThreadGoal,
/**
 * Id of the turn.
 */
turnId?: string | null, };
