// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A pause that the model made.
 */
export type SleepItem = {
/**
 * The id.
 */
id: string,
/**
 * How long it took, in milliseconds.
 */
durationMs: number,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
