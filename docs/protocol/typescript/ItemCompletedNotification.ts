// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * Params of the notification `item/completed`.
 */
export type ItemCompletedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * End time in Unix milliseconds.
 */
completedAtMs: number,
/**
 * The item.
 */
item: ThreadItem,
/**
 * Number of tokens that the item has for the model, if known.
 */
contentTokenCount?: number | null, };
