// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItemEntry } from "./ThreadItemEntry";

/**
 * Result of `thread/items/read`.
 */
export type ThreadItemsReadResponse = {
/**
 * The items.
 */
data: Array<ThreadItemEntry>, };
