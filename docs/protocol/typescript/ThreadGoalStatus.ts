// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is with a goal.
 */
export type ThreadGoalStatus = "active" | "paused" | "blocked" | "usageLimited" | "budgetLimited" | "complete";
