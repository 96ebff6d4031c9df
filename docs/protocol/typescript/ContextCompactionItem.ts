// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A compaction of the history.
 */
export type ContextCompactionItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
