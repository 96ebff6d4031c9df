// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * Result of `thread/revert`.
 */
export type ThreadRevertResponse = {
/**
 * The thread.
 */
thread: Thread,
/**
 * Where paging through the items begins, from now backwards.
 */
itemsBackwardsCursor?: string | null,
/**
 * Where paging through the turns begins, from now backwards.
 */
turnsBackwardsCursor?: string | null, };
