// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/mcpToolCall/progress`.
 */
export type McpToolCallProgressNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * The message for people.
 */
message: string, };
