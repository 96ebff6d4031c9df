// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a step is.
 */
export type TurnPlanStepStatus = "pending" | "inProgress" | "completed";
