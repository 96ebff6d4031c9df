// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `item/fileChange/outputDelta`.
 */
export type FileChangeOutputDeltaNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Text to append.
 */
delta: string, };
