// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a call of a collaboration tool.
 */
export type CollabAgentToolCallStatus = "inProgress" | "completed" | "failed" | "interrupted";
