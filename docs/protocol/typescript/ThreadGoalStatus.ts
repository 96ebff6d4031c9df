// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a goal.
 */
export type ThreadGoalStatus = "active" | "paused" | "blocked" | "usageLimited" | "budgetLimited" | "complete";
