// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An image that the model viewed.
 */
export type ImageViewItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * Path of the image.
 */
path: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
