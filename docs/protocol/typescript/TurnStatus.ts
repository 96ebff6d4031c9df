// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a turn is.
 */
export type TurnStatus = "completed" | "interrupted" | "failed" | "inProgress";
