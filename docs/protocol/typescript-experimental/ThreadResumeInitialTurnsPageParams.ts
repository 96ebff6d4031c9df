// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SortDirection } from "./SortDirection";
import type { TurnItemsView } from "./TurnItemsView";

/**
 * The page of turns that comes with a resumed thread.
 */
export type ThreadResumeInitialTurnsPageParams = {
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
