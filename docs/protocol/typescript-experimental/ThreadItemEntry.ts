// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";

/**
 * An item with its turn.
 */
export type ThreadItemEntry = {
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The item.
 */
item: ThreadItem,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Whether output was left out. `thread/items/read` returns it.
 */
outputDeferred?: boolean | null, };
