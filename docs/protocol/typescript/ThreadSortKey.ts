// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Sort keys of threads.
 */
export type ThreadSortKey = "created_at" | "updated_at" | "recency_at" | "section_position";
