// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * Params of the notification `item/completed`.
 */
export type ItemCompletedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs: number,
/**
 * The item.
 */
item: ThreadItem,
/**
 * How many tokens the item has for the model, where it is known.
 */
contentTokenCount?: number | null, };
