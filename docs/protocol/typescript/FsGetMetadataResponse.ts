// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/getMetadata`.
 */
export type FsGetMetadataResponse = {
/**
 * Creation time in Unix milliseconds. 0 if the file system does not store it.
 */
createdAtMs: number,
/**
 * Whether it is a directory.
 */
isDirectory: boolean,
/**
 * Whether it is a regular file.
 */
isFile: boolean,
/**
 * Whether it is a symlink.
 */
isSymlink: boolean,
/**
 * Modification time in Unix milliseconds. 0 if the file system does not store it.
 */
modifiedAtMs: number, };
