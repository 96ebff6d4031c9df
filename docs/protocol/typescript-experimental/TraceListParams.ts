// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TraceStatus } from "./TraceStatus";

/**
 * Params of `trace/list`.
 */
export type TraceListParams = {
/**
 * Where to go on: the `nextCursor` of the page before.
 */
cursor?: string | null,
/**
 * The most traces on a page.
 */
limit?: number | null,
/**
 * Only traces in this status.
 */
status?: TraceStatus | null, };
