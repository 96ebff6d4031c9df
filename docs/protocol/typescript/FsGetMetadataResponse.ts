// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/getMetadata`.
 */
export type FsGetMetadataResponse = {
/**
 * When it was made, in Unix milliseconds; 0 where the file system does not know.
 */
createdAtMs: number,
/**
 * Whether it is a directory.
 */
isDirectory: boolean,
/**
 * Whether it is a file.
 */
isFile: boolean,
/**
 * Whether it is a symbolic link.
 */
isSymlink: boolean,
/**
 * When it was last changed, in Unix milliseconds; 0 where the file system does not know.
 */
modifiedAtMs: number, };
