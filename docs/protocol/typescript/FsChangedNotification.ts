// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of the notification `fs/changed`.
 */
export type FsChangedNotification = {
/**
 * Paths that changed.
 */
changedPaths: Array<AbsolutePath>,
/**
 * Id of the watch, chosen by the connection.
 */
watchId: string, };
