// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Result of `fs/watch`.
 */
export type FsWatchResponse = {
/**
 * The watched path.
 */
path: AbsolutePath, };
