// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A plan that the model made in plan mode.
 */
export type PlanItem = {
/**
 * The id.
 */
id: string,
/**
 * The text.
 */
text: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
