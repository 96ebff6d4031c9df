// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Sort keys of found threads.
 */
export type ThreadSearchSortKey = "created_at" | "updated_at" | "recency_at";
