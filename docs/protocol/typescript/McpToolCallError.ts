// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why a tool call failed.
 */
export type McpToolCallError = {
/**
 * The message for people.
 */
message: string, };
