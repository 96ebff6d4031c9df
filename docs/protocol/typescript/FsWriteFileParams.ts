// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/writeFile`.
 */
export type FsWriteFileParams = {
/**
 * The content in base64.
 */
dataBase64: string,
/**
 * Path of the file.
 */
path: AbsolutePath, };
