// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/readDirectory`.
 */
export type FsReadDirectoryParams = {
/**
 * Path of the directory.
 */
path: AbsolutePath, };
