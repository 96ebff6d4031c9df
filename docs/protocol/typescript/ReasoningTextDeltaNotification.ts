// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/reasoning/textDelta`.
 */
export type ReasoningTextDeltaNotification = {
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
 * Index of the part of the content.
 */
contentIndex: number,
/**
 * Text to append.
 */
delta: string, };
