// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/reasoning/summaryTextDelta`.
 */
export type ReasoningSummaryTextDeltaNotification = {
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
 * Text to append.
 */
delta: string,
/**
 * Index of the part of the summary.
 */
summaryIndex: number, };
