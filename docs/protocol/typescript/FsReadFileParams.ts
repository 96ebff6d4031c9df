// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/readFile`.
 */
export type FsReadFileParams = {
/**
 * Path of the file.
 */
path: AbsolutePath, };
