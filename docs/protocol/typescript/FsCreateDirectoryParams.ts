// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/createDirectory`.
 */
export type FsCreateDirectoryParams = {
/**
 * Path of the directory.
 */
path: AbsolutePath,
/**
 * Whether parent directories are created too. Defaults to true.
 */
recursive?: boolean | null, };
