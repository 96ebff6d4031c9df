// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/mcpToolCall/progress`.
 */
export type McpToolCallProgressNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * What there is to say.
 */
message: string, };
