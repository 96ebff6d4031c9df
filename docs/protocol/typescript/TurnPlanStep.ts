// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnPlanStepStatus } from "./TurnPlanStepStatus";

/**
 * A step of a plan.
 */
export type TurnPlanStep = {
/**
 * How far it is, or what became of it.
 */
status: TurnPlanStepStatus,
/**
 * What is done.
 */
step: string, };
