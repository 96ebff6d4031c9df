// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/reasoning/summaryPartAdded`.
 */
export type ReasoningSummaryPartAddedNotification = {
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
 * Which part of the summary.
 */
summaryIndex: number, };
