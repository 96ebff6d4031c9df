// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { TurnItemsView } from "./TurnItemsView";

/**
 * The page of turns that is returned with a resumed thread.
 */
export type ThreadResumeInitialTurnsPageParams = {
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
