// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A pause that the model made.
 */
export type SleepItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * Duration in milliseconds.
 */
durationMs: number,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
