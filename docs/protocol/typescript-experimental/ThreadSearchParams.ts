// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { ThreadSearchSortKey } from "./ThreadSearchSortKey";
import type { ThreadSourceKind } from "./ThreadSourceKind";

/**
 * Params of `thread/search`.
 */
export type ThreadSearchParams = {
/**
 * The text to search for.
 */
searchTerm: string,
/**
 * Whether archived threads are listed instead of the others.
 */
archived?: boolean | null,
/**
 * Whether only threads of the logged-in account are listed.
 */
currentAccountOnly?: boolean | null,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Whether threads that are attached to other threads are listed too.
 */
includeAttachedThreads?: boolean | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Order of the entries.
 */
sortDirection?: SortDirection | null,
/**
 * Sort key of the entries.
 */
sortKey?: ThreadSearchSortKey | null,
/**
 * Only threads from these sources. If empty, only threads that people started.
 */
sourceKinds?: Array<ThreadSourceKind> | null, };
