// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a written value is combined with an existing one.
 */
export type MergeStrategy = "replace" | "upsert";
