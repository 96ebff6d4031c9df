// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a tool call.
 */
export type McpToolCallStatus = "inProgress" | "completed" | "failed";
