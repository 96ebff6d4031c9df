// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FsReadDirectoryEntry } from "./FsReadDirectoryEntry";

/**
 * Result of `fs/readDirectory`.
 */
export type FsReadDirectoryResponse = {
/**
 * The entries of the directory.
 */
entries: Array<FsReadDirectoryEntry>, };
