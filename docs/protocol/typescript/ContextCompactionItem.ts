// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The point where the history was made shorter for the model.
 */
export type ContextCompactionItem = {
/**
 * The id.
 */
id: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
