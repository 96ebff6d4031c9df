// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { ThreadSearchSortKey } from "./ThreadSearchSortKey";
import type { ThreadSourceKind } from "./ThreadSourceKind";

/**
 * Params of `thread/search`.
 */
export type ThreadSearchParams = {
/**
 * The text to look for.
 */
searchTerm: string,
/**
 * Whether archived threads are wanted instead of the others.
 */
archived?: boolean | null,
/**
 * Only threads of the account that is logged in.
 */
currentAccountOnly?: boolean | null,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * Whether threads that belong to others are wanted too.
 */
includeAttachedThreads?: boolean | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * Which end comes first.
 */
sortDirection?: SortDirection | null,
/**
 * What they are sorted by.
 */
sortKey?: ThreadSearchSortKey | null,
/**
 * Only threads that were started by these; if it is empty, by people.
 */
sourceKinds?: Array<ThreadSourceKind> | null, };
