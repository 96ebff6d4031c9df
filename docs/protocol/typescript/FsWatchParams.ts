// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/watch`.
 */
export type FsWatchParams = {
/**
 * Path of the file or directory to watch.
 */
path: AbsolutePath,
/**
 * Id of the watch, chosen by the connection.
 */
watchId: string, };
