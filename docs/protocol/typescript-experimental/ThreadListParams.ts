// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { ThreadListCwdFilter } from "./ThreadListCwdFilter";
import type { ThreadSortKey } from "./ThreadSortKey";
import type { ThreadSourceKind } from "./ThreadSourceKind";

/**
 * Params of `thread/list`.
 */
export type ThreadListParams = {
/**
 * Only the threads that descend from this one.
 */
ancestorThreadId?: string | null,
/**
 * Whether archived threads are wanted instead of the others.
 */
archived?: boolean | null,
/**
 * Only threads that belong to this one.
 */
attachedToThreadId?: string | null,
/**
 * Only threads of the account that is logged in.
 */
currentAccountOnly?: boolean | null,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * Only threads that work in exactly this directory, or one of these.
 */
cwd?: ThreadListCwdFilter | null,
/**
 * Threads that are left out.
 */
excludedThreadIds?: Array<string> | null,
/**
 * Whether threads that belong to others are wanted too.
 */
includeAttachedThreads?: boolean | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * Only threads of these providers; all of them if it is empty.
 */
modelProviders?: Array<string> | null,
/**
 * Only threads of these clients.
 */
originators?: Array<string> | null,
/**
 * Only the threads that this one started.
 */
parentThreadId?: string | null,
/**
 * Only threads of this project; `null` asks for those without one.
 */
projectId?: string | null,
/**
 * A part of the title.
 */
searchTerm?: string | null,
/**
 * Only threads of this section; `null` asks for those without one.
 */
sectionId?: string | null,
/**
 * Which end comes first.
 */
sortDirection?: SortDirection | null,
/**
 * What they are sorted by.
 */
sortKey?: ThreadSortKey | null,
/**
 * Only threads that were started by these; if it is empty, by people.
 */
sourceKinds?: Array<ThreadSourceKind> | null,
/**
 * Whether only the index is looked at.
 */
useStateDbOnly?: boolean | null, };
