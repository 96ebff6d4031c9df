// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What the model thought, as far as it tells.
 */
export type ReasoningItem = {
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
completedAtMs?: number | null,
/**
 * The parts of it.
 */
content?: Array<string> | null,
/**
 * The thoughts, summed up, part by part.
 */
summary?: Array<string> | null, };
