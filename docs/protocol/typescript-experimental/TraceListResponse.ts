// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TraceSummary } from "./TraceSummary";

/**
 * Result of `trace/list`: the newest recordings first.
 */
export type TraceListResponse = {
/**
 * The traces of this page.
 */
data: Array<TraceSummary>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
