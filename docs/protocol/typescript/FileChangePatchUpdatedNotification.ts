// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileUpdateChange } from "./FileUpdateChange";

/**
 * Params of the notification `item/fileChange/patchUpdated`.
 */
export type FileChangePatchUpdatedNotification = {
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
 * The changes, by file.
 */
changes: Array<FileUpdateChange>, };
