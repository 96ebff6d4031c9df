// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Which end of a list comes first.
 */
export type SortDirection = "asc" | "desc";
