// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/copy`.
 */
export type FsCopyParams = {
/**
 * Where the copy goes.
 */
destinationPath: AbsolutePath,
/**
 * What is copied.
 */
sourcePath: AbsolutePath,
/**
 * Whether directories are taken with all that is in them.
 */
recursive?: boolean | null, };
