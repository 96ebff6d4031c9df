// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Reasoning of the model, as far as the provider reveals it.
 */
export type ReasoningItem = {
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
completedAtMs?: number | null,
/**
 * The parts of the reasoning.
 */
content?: Array<string> | null,
/**
 * The parts of the summary.
 */
summary?: Array<string> | null, };
