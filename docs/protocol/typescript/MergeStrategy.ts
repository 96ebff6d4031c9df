// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What becomes of a value that is there already.
 */
export type MergeStrategy = "replace" | "upsert";
