// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a turn.
 */
export type TurnStatus = "completed" | "interrupted" | "failed" | "inProgress";
