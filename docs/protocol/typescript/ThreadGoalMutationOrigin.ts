// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Who changed a goal.
 */
export type ThreadGoalMutationOrigin = "user" | "automatic";
