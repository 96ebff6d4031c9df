// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * Params of the notification `item/started`.
 */
export type ItemStartedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs: number,
/**
 * The item.
 */
item: ThreadItem, };
