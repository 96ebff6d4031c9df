// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a call of a collaboration tool is.
 */
export type CollabAgentToolCallStatus = "inProgress" | "completed" | "failed" | "interrupted";
