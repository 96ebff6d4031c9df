// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Result of `thread/list`.
 */
export type ThreadListResponse = {
/**
 * The requested entries.
 */
data: Array<Thread>,
/**
 * Cursor for a list in the opposite direction, which returns entries that are newer than this page.
 */
backwardsCursor?: string | null,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null,
/**
 * Read states of the listed threads, by thread id.
 */
readStates?: { [key in string]: ThreadReadState } | null, };
