// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Result of `thread/list`.
 */
export type ThreadListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<Thread>,
/**
 * Where a list in the opposite direction begins, to get what is new since.
 */
backwardsCursor?: string | null,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null,
/**
 * What of the threads was read, in the order of the threads.
 */
readStates?: { [key in string]: ThreadReadState } | null, };
