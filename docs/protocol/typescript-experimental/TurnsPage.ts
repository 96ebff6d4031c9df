// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * A page of a thread's turns.
 */
export type TurnsPage = {
/**
 * The requested entries.
 */
data: Array<Turn>,
/**
 * Cursor for a list in the opposite direction, which returns entries that are newer than this page.
 */
backwardsCursor?: string | null,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
