// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { ThreadItemOutputDeferral } from "./ThreadItemOutputDeferral";
import type { ThreadItemsListCursor } from "./ThreadItemsListCursor";

/**
 * Params of `thread/items/list`.
 */
export type ThreadItemsListParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Only items of this turn.
 */
turnId?: string | null,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: ThreadItemsListCursor | null,
/**
 * Which large outputs are left out.
 */
deferOutput?: ThreadItemOutputDeferral | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * Which end comes first.
 */
sortDirection?: SortDirection | null, };
