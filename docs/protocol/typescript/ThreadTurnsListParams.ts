// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { TurnItemsView } from "./TurnItemsView";

/**
 * Params of `thread/turns/list`.
 */
export type ThreadTurnsListParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * How much of each turn's items is wanted.
 */
itemsView?: TurnItemsView | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * Which end comes first.
 */
sortDirection?: SortDirection | null, };
