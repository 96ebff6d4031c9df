// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The start of a review.
 */
export type EnteredReviewModeItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * What is reviewed, or the text of the reviewer.
 */
review: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
