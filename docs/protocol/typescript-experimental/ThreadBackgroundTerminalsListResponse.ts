// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadBackgroundTerminal } from "./ThreadBackgroundTerminal";

/**
 * Result of `thread/backgroundTerminals/list`.
 */
export type ThreadBackgroundTerminalsListResponse = {
/**
 * The requested entries.
 */
data: Array<ThreadBackgroundTerminal>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
