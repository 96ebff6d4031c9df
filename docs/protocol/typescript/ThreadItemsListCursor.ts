// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItemsListAnchor } from "./ThreadItemsListAnchor";

/**
 * Where a page of items starts.
 */
export type ThreadItemsListCursor = string | ThreadItemsListAnchor;
