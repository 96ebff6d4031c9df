// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * An item with the turn it belongs to.
 */
export type ThreadItemEntry = {
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
item: ThreadItem,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Whether output was left out, and can be read by the item's id.
 */
outputDeferred?: boolean | null, };
