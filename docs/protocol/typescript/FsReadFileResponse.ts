// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/readFile`.
 */
export type FsReadFileResponse = {
/**
 * The content in base64.
 */
dataBase64: string, };
