// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnPlanStepStatus } from "./TurnPlanStepStatus";

/**
 * A step of a plan.
 */
export type TurnPlanStep = {
/**
 * The status.
 */
status: TurnPlanStepStatus,
/**
 * Description of the step.
 */
step: string, };
