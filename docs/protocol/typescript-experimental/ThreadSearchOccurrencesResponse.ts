// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchOccurrence } from "./ThreadSearchOccurrence";

/**
 * Result of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ThreadSearchOccurrence>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
