// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/getMetadata`.
 */
export type FsGetMetadataParams = {
/**
 * Path of the file or directory.
 */
path: AbsolutePath, };
