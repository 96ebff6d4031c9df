// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of another agent.
 */
export type CollabAgentStatus = "pendingInit" | "running" | "interrupted" | "completed" | "errored" | "shutdown" | "notFound";
