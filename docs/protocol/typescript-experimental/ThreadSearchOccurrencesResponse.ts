// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchOccurrence } from "./ThreadSearchOccurrence";

/**
 * Result of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesResponse = {
/**
 * The requested entries.
 */
data: Array<ThreadSearchOccurrence>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
