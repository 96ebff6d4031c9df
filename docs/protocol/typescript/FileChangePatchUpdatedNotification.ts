// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileUpdateChange } from "./FileUpdateChange";

/**
 * Params of the notification `item/fileChange/patchUpdated`.
 */
export type FileChangePatchUpdatedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * The changes, file by file.
 */
changes: Array<FileUpdateChange>, };
