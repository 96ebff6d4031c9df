// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * Params of the notification `item/started`.
 */
export type ItemStartedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs: number,
/**
 * The item.
 */
item: ThreadItem, };
