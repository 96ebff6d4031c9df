// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TraceStatus } from "./TraceStatus";

/**
 * Params of `trace/list`.
 */
export type TraceListParams = {
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Most traces of a page.
 */
limit?: number | null,
/**
 * Only traces with this status.
 */
status?: TraceStatus | null, };
