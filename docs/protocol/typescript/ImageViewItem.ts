// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A picture that the model looked at.
 */
export type ImageViewItem = {
/**
 * The id.
 */
id: string,
/**
 * The path.
 */
path: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
