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
 * Only threads with this working directory, or one of these.
 */
cwd?: ThreadListCwdFilter | null,
/**
 * Ids of threads that are left out.
 */
excludedThreadIds?: Array<string> | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Only threads with these model providers. All threads if it is empty.
 */
modelProviders?: Array<string> | null,
/**
 * Only threads that these clients created.
 */
originators?: Array<string> | null,
/**
 * Only threads with this text in the title.
 */
searchTerm?: string | null,
/**
 * Only threads of this section. `null` for threads without a section.
 */
sectionId?: string | null,
/**
 * Order of the entries.
 */
sortDirection?: SortDirection | null,
/**
 * Sort key of the entries.
 */
sortKey?: ThreadSortKey | null,
/**
 * Only threads from these sources. If empty, only threads that people started.
 */
sourceKinds?: Array<ThreadSourceKind> | null,
/**
 * Whether only the index is read, and not the files of the threads.
 */
useStateDbOnly?: boolean | null, };
