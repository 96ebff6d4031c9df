// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/watch`.
 */
export type FsWatchParams = {
/**
 * The path.
 */
path: AbsolutePath,
/**
 * The connection's own name for the watch.
 */
watchId: string, };
