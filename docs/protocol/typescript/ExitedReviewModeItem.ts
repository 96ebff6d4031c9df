// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The point where a review ends.
 */
export type ExitedReviewModeItem = {
/**
 * The id.
 */
id: string,
/**
 * What is reviewed, or what the reviewer says.
 */
review: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
