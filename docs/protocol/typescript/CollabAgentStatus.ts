// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What another agent is doing.
 */
export type CollabAgentStatus = "pendingInit" | "running" | "interrupted" | "completed" | "errored" | "shutdown" | "notFound";
