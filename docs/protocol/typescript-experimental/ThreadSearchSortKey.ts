// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What found threads are sorted by.
 */
export type ThreadSearchSortKey = "created_at" | "updated_at" | "recency_at";
