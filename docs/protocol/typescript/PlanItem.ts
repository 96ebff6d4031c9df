// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A plan that the model made in plan mode.
 */
export type PlanItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The text.
 */
text: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
