// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnPlanStep } from "./TurnPlanStep";

/**
 * Params of the notification `turn/plan/updated`.
 */
export type TurnPlanUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The steps of the plan.
 */
plan: Array<TurnPlanStep>,
/**
 * Explanation of the plan.
 */
explanation?: string | null, };
