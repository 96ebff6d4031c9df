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
 * Cursor to list the items backwards from the newest.
 */
itemsBackwardsCursor?: string | null,
/**
 * Cursor to list the turns backwards from the newest.
 */
turnsBackwardsCursor?: string | null, };
