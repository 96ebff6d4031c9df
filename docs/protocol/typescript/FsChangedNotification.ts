// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of the notification `fs/changed`.
 */
export type FsChangedNotification = {
/**
 * What changed.
 */
changedPaths: Array<AbsolutePath>,
/**
 * The connection's own name for the watch.
 */
watchId: string, };
