// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TraceSummary } from "./TraceSummary";

/**
 * Result of `trace/list`, newest recordings first.
 */
export type TraceListResponse = {
/**
 * The traces of this page.
 */
data: Array<TraceSummary>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
