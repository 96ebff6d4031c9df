// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a thread's history is stored, which decides how it can be read.
 */
export type ThreadHistoryMode = "legacy" | "paginated";
