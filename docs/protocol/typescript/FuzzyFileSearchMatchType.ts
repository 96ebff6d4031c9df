// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Type of a search result.
 */
export type FuzzyFileSearchMatchType = "file" | "directory";
