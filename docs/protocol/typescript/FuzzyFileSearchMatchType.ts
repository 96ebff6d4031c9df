// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What was found.
 */
export type FuzzyFileSearchMatchType = "file" | "directory";
