// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnPlanStep } from "./TurnPlanStep";

/**
 * Params of the notification `turn/plan/updated`.
 */
export type TurnPlanUpdatedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The steps.
 */
plan: Array<TurnPlanStep>,
/**
 * Why the plan is as it is.
 */
explanation?: string | null, };
