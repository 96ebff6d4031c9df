// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Order of a list.
 */
export type SortDirection = "asc" | "desc";
