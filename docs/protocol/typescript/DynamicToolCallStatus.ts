// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a call of a client's tool is.
 */
export type DynamicToolCallStatus = "inProgress" | "completed" | "failed";
