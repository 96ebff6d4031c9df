// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a step.
 */
export type TurnPlanStepStatus = "pending" | "inProgress" | "completed";
