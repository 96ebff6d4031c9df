// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a call of a client's tool.
 */
export type DynamicToolCallStatus = "inProgress" | "completed" | "failed";
