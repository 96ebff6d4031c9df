// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * One entry of a directory.
 */
export type FsReadDirectoryEntry = {
/**
 * Name without the directory.
 */
fileName: string,
/**
 * Whether it is a directory.
 */
isDirectory: boolean,
/**
 * Whether it is a regular file.
 */
isFile: boolean, };
