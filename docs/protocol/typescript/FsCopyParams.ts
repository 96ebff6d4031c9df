// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/copy`.
 */
export type FsCopyParams = {
/**
 * Path of the copy.
 */
destinationPath: AbsolutePath,
/**
 * Path of the source.
 */
sourcePath: AbsolutePath,
/**
 * Whether directories are copied with their contents.
 */
recursive?: boolean | null, };
