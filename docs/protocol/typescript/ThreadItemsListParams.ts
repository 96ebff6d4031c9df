// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { ThreadItemOutputDeferral } from "./ThreadItemOutputDeferral";
import type { ThreadItemsListCursor } from "./ThreadItemsListCursor";

/**
 * Params of `thread/items/list`.
 */
export type ThreadItemsListParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Only items of this turn.
 */
turnId?: string | null,
/**
 * Where the page starts. Without it, at the beginning of the list.
 */
cursor?: ThreadItemsListCursor | null,
/**
 * Which large outputs are left out.
 */
deferOutput?: ThreadItemOutputDeferral | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Order of the entries.
 */
sortDirection?: SortDirection | null, };
