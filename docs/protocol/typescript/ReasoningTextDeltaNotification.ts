// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/reasoning/textDelta`.
 */
export type ReasoningTextDeltaNotification = {
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
 * Which part of the content.
 */
contentIndex: number,
/**
 * What is new at the end of the text.
 */
delta: string, };
