// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a tool call is.
 */
export type McpToolCallStatus = "inProgress" | "completed" | "failed";
