// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/remove`.
 */
export type FsRemoveParams = {
/**
 * Path of the file or directory.
 */
path: AbsolutePath,
/**
 * Whether a missing path is not an error.
 */
force?: boolean | null,
/**
 * Whether directories are removed with their contents. Defaults to true.
 */
recursive?: boolean | null, };
