// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { TurnItemsView } from "./TurnItemsView";

/**
 * Params of `thread/turns/list`.
 */
export type ThreadTurnsListParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Which items of each turn are returned.
 */
itemsView?: TurnItemsView | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Order of the entries.
 */
sortDirection?: SortDirection | null, };
